"""`scrapy export --into`: shards, manifest and card, read by others' readers."""

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from export_pages import FIELDS, several, stored
from export_place import AT, Place
from exported_crawl import begin
from fork_server import environment
from sqlalchemy import case, insert, update

from crawler.atomic_files import MARKER
from crawler.contrib.corpus import parquet as parquet_writer
from crawler.contrib.corpus.data_set import DataSet, size_of
from crawler.contrib.corpus.parquet import parquet
from crawler.errors import WrongUseError
from crawler.reports.stored_pages import StoredPage
from crawler.store import crawl_tables, page_tables

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RIGHTS = {"licence": "CC-BY-4.0", "uses": {"search": "allowed", "ai-input": "unknown", "ai-train": "disallowed"}}
TEXTS = [random.Random(seed).randbytes(50_000).hex() for seed in range(24)]
"""Texts that compression only halves."""
FORMATS = {"parquet": "parquet", "jsonl.zst": "jsonl"}


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return found


def counted(page: StoredPage) -> StoredPage:
    """A page with the column that is counted and is no field."""
    return replace(page, values={**page.values, "extractor_version": None})


def head_of(folder: Path) -> dict[str, Any]:
    """What the card says to hubs."""
    found: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    return found


def records_of(folder: Path, format: str) -> list[dict[str, Any]]:
    """What is in the shards, in their order."""
    paths = sorted(folder.glob(f"part-*.{format}"))
    if format == "parquet":
        from pyarrow import dataset  # brings pandas, which other tests do not wait for

        return list(dataset.dataset([str(path) for path in paths], format="parquet").to_table().to_pylist())
    return [json.loads(line) for path in paths for line in zstd.decompress(path.read_bytes()).splitlines()]


@pytest.mark.parametrize("format", FORMATS)
def test_other_readers_read_all_shards(place: Place, format: str) -> None:
    place.fill(24, rights=json.dumps(RIGHTS))
    table = page_tables.page
    place.change(update(table).values(text=case(dict(enumerate(TEXTS)), value=table.c.depth)))
    said = place.export("--into", "corpus", "--format", format, "--shard-size", "1MB")
    assert said.status == 0, said.err
    folder = place.folder / "corpus"
    found = manifest_of(folder)
    shards = {shard["name"]: shard for shard in found["shards"]}
    assert sorted(path.name for path in folder.iterdir()) == sorted([MARKER, "README.md", "manifest.json", *shards])
    assert [*shards] == [f"part-{number:05}.{format}" for number in range(len(shards))]
    assert len(shards) == 2
    for name, shard in shards.items():
        data = (folder / name).read_bytes()
        assert (shard["bytes"], shard["sha256"]) == (len(data), sha256(data).hexdigest())
    records = records_of(folder, format)
    assert [one["url"] for one in records] == [f"http://bees.example/{n}" for n in range(24)]
    assert [*records[0]] == FIELDS == found["fields"]
    assert [one["text"] for one in records] == TEXTS
    assert found["records"] == sum(shard["records"] for shard in found["shards"]) == 24
    reader = "read_parquet" if format == "parquet" else "read_json_auto"
    large = ", maximum_object_size=1000000" * (format != "parquet")
    asked = f"SELECT count(*), min(rights.licence), sum(len(text)) FROM {reader}('{folder}/*.{format}'{large})"
    assert duckdb.execute(asked).fetchall() == [(24, "CC-BY-4.0", 24 * 100_000)]
    assert "24 of 24 pages " in said.err
    assert f"{found['bytes'] / 1e6:.1f} MB" in said.err
    assert "2 shards" in said.err


def test_a_shard_is_closed_when_it_has_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "MOST_ROWS", 1)
    pages = [counted(stored(number, text=TEXTS[number][:900])) for number in range(7)]
    ends = [*accumulate(len(part) for part in parquet(pages, FIELDS))]
    for size, records in ((ends[1], [2, 2, 2, 1]), (ends[1] + 1, [3, 3, 1]), (ends[6], [7]), (1, [1] * 7)):
        with DataSet(str(tmp_path / "a"), "parquet", size) as target:
            target.fill(pages, FIELDS)
            assert [shard.records for shard in target.shards] == records


@pytest.mark.parametrize(("texts", "groups"), [(["a" * 10] * 4, [2, 2]), (["a" * 9] * 4, [3, 1])])
def test_row_groups_are_no_larger_than_shards(tmp_path: Path, texts: list[str], groups: list[int]) -> None:
    data = b"".join(parquet([stored(n, text=text) for n, text in enumerate(texts)], ["text"], 20))
    (tmp_path / "a.parquet").write_bytes(data)
    found = group_rows(tmp_path / "a.parquet")
    assert found == groups


def group_rows(path: Path) -> list[int]:
    """The rows of each row group."""
    asked = "SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata(?) ORDER BY 1"
    return [rows for _, rows in duckdb.execute(asked, [str(path)]).fetchall()]


@pytest.mark.parametrize("format", FORMATS.values())
def test_no_page_is_lost_at_the_ends_of_shards(tmp_path: Path, format: str) -> None:
    with DataSet(str(tmp_path / "a"), format, 1) as target:
        target.fill(map(counted, several()), FIELDS)
        target.finish()
    assert [one["url"] for one in records_of(tmp_path / "a", target.format)] == [
        page.values["url"] for page in several()
    ]


@pytest.mark.parametrize(
    ("text", "size"), [("1MB", 10**6), ("0.999MB", 0), ("2 gb", 2 * 10**9), ("100", 0), ("", 0), ("-5MB", 0)]
)
def test_sizes(text: str, size: int) -> None:
    if size:
        assert size_of(text) == size
        return
    with pytest.raises(WrongUseError, match="1MB"):
        size_of(text)


def test_the_manifest_says_what_is_in_the_data_set(place: Place) -> None:
    place.fill(6, rights=json.dumps(RIGHTS), quality=json.dumps({"words": 9}))
    table, crawl = page_tables.page, crawl_tables.crawl
    place.change(update(crawl).values(topic="honey bees 蜜蜂", round=2))
    for n, more in {
        0: {"language": None, "url": "http://a.b.example.org/", "round": 2, "fetched_at": "2026-11-23T00:00:00+00:00"},
        1: {"language": "zh", "rights": None, "text": "Mail to ann@example.org.", "extractor_version": "2:auto"},
        2: {"quality": json.dumps({"words": 8})},
        3: {"gone_at": "2026-11-23T00:00:00+00:00", "gone_round": 2},
        4: {"relevance": 0.5},
    }.items():
        place.change(update(table).where(table.c.depth == n).values(**more))
    place.change(update(table).values(extractor="auto"))
    erased = [{"crawl_id": 1, "digest": digit * 32, "key": None, "erased_at": ""} for digit in "a0"]
    place.change(insert(page_tables.erasure).values(erased))
    words = ["--where", "quality.words > 8", "--where", "depth < 9", "--where", "en", "--where", "zh/bees.example"]
    words += ["--mask", "email", "--fields", "url,text"]
    assert place.export("--into", f"{place.folder}/sets", *words).status == 0
    found = manifest_of(place.folder / "sets")
    of_crawl = {"name": "bees", "topic": "honey bees 蜜蜂", "stored": 6, "gone": 1, "erased": ["0" * 32, "a" * 32]}
    assert found["crawls"] == [of_crawl]
    assert found["fields"] == ["url", "text"]
    assert found["command"] == (
        "winnow export --where 'quality.words > 8' --where 'depth < 9' --where en --where zh/bees.example "
        "--fields url,text --into sets --mask email"
    )
    given = ["quality.words > 8", "depth < 9", "en", "zh/bees.example"]
    assert found["filters"] == {"--where": given, "--mask": ["email"]}
    assert found["removed"] == {"quality.words > 8": 1}
    assert found["masked"] == {"email": 1}
    assert found["records"] == 3
    assert found["languages"] == {"en": 2, "zh": 1}
    assert found["licences"] == {"CC-BY-4.0": 2, "unknown": 1}
    none = {"allowed": 0, "disallowed": 0, "unknown": 0, "malformed": 0}
    assert found["uses"] == {
        "search": none | {"allowed": 2, "unknown": 1},
        "ai-input": none | {"unknown": 3},
        "ai-train": none | {"disallowed": 2, "unknown": 1},
    }
    assert found["extractors"] == [
        {"method": "auto", "version": "unknown", "records": 2},
        {"method": "auto", "version": "2:auto", "records": 1},
    ]
    assert records_of(place.folder / "sets", "parquet")[0]["text"] == "Mail to [EMAIL]."
    assert place.export("--into", "sets", "--name", "bees").status == 0
    found = manifest_of(place.folder / "sets")
    assert found["filters"] == found["removed"] == found["masked"] == {}
    assert found["languages"] == {"en": 3, "unknown": 1, "zh": 1}
    assert (found["domain_count"], found["main_domains"]) == (2, {"bees.example": 4, "example.org": 1})
    assert found["rounds"] == {"1": 4, "2": 1}
    assert (found["first_fetched_at"][:10], found["last_fetched_at"][:10]) == ("2026-11-22", "2026-11-23")
    assert found["command"].split()[2:] == ["--name", "bees", "--into", "sets"]


def test_copies_are_left_out(place: Place) -> None:
    place.fill(3, text_fingerprint="0" * 16)
    place.fill(2, name="wasps", text_fingerprint="1" * 16)
    words = ["--name", "bees,wasps", "--into", "corpus", "--dedupe", "exact", "--prefer", "bees.example"]
    assert place.export(*words).status == 0
    found = manifest_of(place.folder / "corpus")
    assert [one["name"] for one in found["crawls"]] == ["bees", "wasps"]
    assert found["command"] == f"winnow export {' '.join(words)}"
    assert found["filters"] == {"--dedupe": ["exact"], "--prefer": ["bees.example"]}
    assert (found["records"], sum(found["removed"].values())) == (2, 3)


def test_settings_are_not_in_the_command(place: Place) -> None:
    place.fill(1)
    assert place.export("--into", "corpus", AWS_SECRET_ACCESS_KEY="hunter2").status == 0
    for name in ("manifest.json", "README.md"):
        written = (place.folder / "corpus" / name).read_text(encoding="utf-8")
        assert not [secret for secret in ("hunter2", "crawl.db", str(place.folder)) if secret in written]


@pytest.mark.parametrize("count", [20, 21])
def test_at_most_twenty_domains_are_named(place: Place, count: int) -> None:
    place.fill(count)
    table = page_tables.page
    addresses = {n: f"http://{n:02}.example/" for n in range(count)}
    place.change(update(table).values(url=case(addresses, value=table.c.depth)))
    assert place.export("--into", "corpus").status == 0
    found = manifest_of(place.folder / "corpus")
    assert (found["domain_count"], [*found["main_domains"]]) == (count, [f"{n:02}.example" for n in range(20)])


def test_the_same_pages_are_the_same_data_set(place: Place) -> None:
    place.fill(3)
    made = []
    for _ in range(2):  # the second takes the place of the first
        assert place.export("--into", "corpus").status == 0
        found = manifest_of(place.folder / "corpus")
        assert found.pop("made_at")
        made.append(json.dumps(found))
    assert made[0] == made[1]
    assert place.names() == ["corpus"]


def test_without_a_page_there_is_no_shard(place: Place) -> None:
    place.fill(2)
    assert place.export("--into", "corpus", "--where", "depth > 5").status == 0
    found = manifest_of(place.folder / "corpus")
    assert (found["records"], found["shards"], found["first_fetched_at"]) == (0, [], None)
    assert found["removed"] == {"depth > 5": 2}
    assert place.names() == ["corpus", "corpus.removed.jsonl"]
    assert head_of(place.folder / "corpus")["size_categories"] == ["n<1K"]


KILLED = """
import os, sys
from scrapy.cmdline import execute
from crawler.contrib.corpus.data_set import DataSet
setattr(DataSet, sys.argv[1], lambda *given: os.kill(os.getpid(), 9))
execute(["scrapy", "export", "--into", "corpus", "-s", "STATE_URL=sqlite:///crawl.db"])
"""


@pytest.mark.parametrize(("when", "is_there"), [("append", False), ("describe", True)])
def test_a_killed_export_leaves_what_was_there(place: Place, when: str, is_there: bool) -> None:
    place.fill(3)
    if is_there:
        assert place.export("--into", "corpus").status == 0
        place.change(update(page_tables.page).where(page_tables.page.c.depth == 0).values(gone_at=AT))
    line = [sys.executable, "-c", KILLED, when]
    ended = subprocess.run(line, cwd=place.folder, env=environment(), check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert (place.folder / "corpus").exists() == is_there
    if is_there:
        assert manifest_of(place.folder / "corpus")["records"] == 3
    assert place.export("--into", "corpus").status == 0
    records = records_of(place.folder / "corpus", "parquet")
    assert manifest_of(place.folder / "corpus")["records"] == len(records) == 3 - is_there


@pytest.mark.skipif(os.name == "nt", reason="there is no such limit")
def test_a_full_disk_leaves_no_data_set(place: Place) -> None:
    place.fill(3, text=TEXTS[0])
    process = begin(place.folder, "--into", "corpus", limit="100")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "'corpus'" in said
    assert "(File too large)" in said
    assert place.names() == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--into", "a", "-o", "b.jsonl"], "--output cannot be combined with --into, which writes a data set"),
        (["--into", "a", "--labels"], "--labels cannot be combined with --into"),
        (["--into", "a", "--changes-after", "0"], "--changes-after cannot be combined with --into"),
        (["--into", "a", "--spreadsheet"], "--spreadsheet cannot be combined with --into"),
        (["--into", "a", "--format", "csv"], "--into writes parquet or jsonl.zst, not csv"),
        (["--into", "a", "--format", "jsonl"], "--into writes parquet or jsonl.zst, not jsonl"),
        (["--into", ""], "--into needs the name of a folder"),
        (["--into", "mine"], "'mine' exists and was not written by an export; give another name"),
        (["--into", "a", "--shard-size", "1KB"], "argument --shard-size: '1KB' is wrong; allowed are sizes from 1MB"),
        (["-o", "a.parquet", "--shard-size", "5MB"], "--shard-size goes with --into FOLDER"),
        (["-o", "a", "--format", "jsonl.zst"], "--format jsonl.zst goes with --into FOLDER"),
    ],
)
def test_wrong_use_writes_nothing(place: Place, words: list[str], why: str) -> None:
    (place.folder / "mine" / "work").mkdir(parents=True)
    place.fill(1)
    said = place.export(*words)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"export: {why}")
    assert said.err.count("\n") == 1
    assert place.names() == ["mine"]
