"""Data sets as those read them who get them: with `datasets`, pandas, Polars, DuckDB and datatrove."""

import hashlib
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import fork_server
import missing
import pytest
from export_place import Place
from pydantic import BaseModel, ConfigDict
from sqlalchemy.engine import make_url

from crawler.contrib.corpus.record_presets import PRESETS

USES = {"search": "allowed", "ai-input": "unknown", "ai-train": "disallowed"}
RIGHTS = {"licence": "CC-BY-4.0", "uses": USES, "evidence": []}
TEXT = "蜜蜂的舞蹈\n蜜蜂在黑暗的蜂巢里跳舞。\n\n蜜蜂在黑暗的蜂巢里跳舞。\nBees dance in the dark of the hive."
PAGES = 3
FORMATS = ("parquet", "jsonl.zst")
SETS = [(format, preset) for format in FORMATS for preset in ("", *PRESETS)]

Rows = list[dict[str, Any]]
Folders = Mapping[tuple[str, str], Path]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Folders:
    """A data set in each format, with the fields of items and of each preset."""
    folder = tmp_path_factory.mktemp("sets")
    url = f"sqlite:///{folder / 'crawl.db'}"
    more = {"rights": json.dumps(RIGHTS), "quality": json.dumps({"words": 9}), "published": "2025-05-12T08:00:00+00:00"}
    place = Place(folder, make_url(url), None, empty_database)
    place.fill(PAGES, text=TEXT, title="蜜蜂的舞蹈", relevance=0.5, **more)
    found = {one: folder / f"{one[0]}-{one[1]}" for one in SETS}
    started = []
    for (format, preset), path in found.items():
        words = ["export", "--into", path.name, "--format", format, *(["--preset", preset] if preset else [])]
        log = folder / f"{path.name}.log"
        started.append((fork_server.common()(["scrapy", *words, "-s", f"STATE_URL={url}"], folder, log), log))
    for export, log in started:
        assert export.wait(60) == 0, log.read_text()
    return found


def by_datasets(folder: Path, format: str) -> Rows:
    from datasets import load_dataset

    cache = folder.parent / "hub" / folder.name
    return list(load_dataset(str(folder), split="train", cache_dir=str(cache)))


def by_pandas(folder: Path, format: str) -> Rows:
    import pandas

    read = pandas.read_parquet if format == "parquet" else lambda path: pandas.read_json(path, lines=True)
    frames = [read(path) for path in sorted(folder.glob("part-*"))]
    return [{str(name): value for name, value in row.items()} for row in pandas.concat(frames).to_dict("records")]


def by_polars(folder: Path, format: str) -> Rows:
    import polars

    scan = polars.scan_parquet if format == "parquet" else polars.scan_ndjson
    return scan(f"{folder}/part-*.{format}").collect().to_dicts()


def by_duckdb(folder: Path, format: str) -> Rows:
    found = duckdb.execute(f"SELECT * FROM '{folder}/part-*.{format}'")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


READERS: dict[str, Callable[[Path, str], Rows]] = {
    "datasets": by_datasets,
    "pandas": by_pandas,
    "polars": by_polars,
    "duckdb": by_duckdb,
}


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hubs are not asked, and nothing is written into the home folder."""
    patch = pytest.MonkeyPatch()
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        patch.setenv(name, "1")
    patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
    yield
    patch.undo()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("format", FORMATS)
def test_others_read_it(folders: Folders, offline: None, format: str, reader: str) -> None:
    missing.need(reader)
    rows = READERS[reader](folders[format, ""], format)
    assert [row["url"] for row in rows] == [f"http://bees.example/{number}" for number in range(PAGES)]
    for row in rows:
        assert (row["text"], row["title"], row["relevance"]) == (TEXT, "蜜蜂的舞蹈", 0.5)
        assert (row["rights"]["licence"], row["rights"]["uses"]) == ("CC-BY-4.0", USES)
        assert row["quality"]["words"] == 9


@pytest.mark.parametrize("format", FORMATS)
def test_datatrove_reads_its_documents(folders: Folders, offline: None, format: str) -> None:
    missing.need("datatrove", "orjson")
    readers = importlib.import_module("datatrove.pipeline.readers")
    kind = readers.ParquetReader if format == "parquet" else readers.JsonlReader
    found = list(kind(str(folders[format, "datatrove"]), glob_pattern=f"part-*.{format}")())
    assert [one.metadata["url"] for one in found] == [f"http://bees.example/{number}" for number in range(PAGES)]
    assert [one.id for one in found] == [f"{1_000 + number:016x}" for number in range(PAGES)]
    for one in found:
        assert one.text == TEXT
        assert (one.metadata["title"], one.metadata["relevance"]) == ("蜜蜂的舞蹈", 0.5)
        assert (one.metadata["licence"], one.metadata["uses"]) == ("CC-BY-4.0", USES)
        assert (one.metadata["date"][:10], one.metadata["published"][:10]) == ("2026-11-22", "2025-05-12")
        assert one.media == []


class Strict(BaseModel):
    """Fields of which none may be missing, be another type, or be added."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Web(Strict):
    """A record as ChineseWebText publishes it, but for the number of its model."""

    title: str
    score: None
    text: str
    url: str
    source_domain: str


class Paragraph(Strict):
    """A paragraph in MNBVC's format for general texts."""

    行号: int
    是否重复: bool
    是否跨文件重复: bool
    md5: str
    内容: str
    扩展字段: str


class File(Strict):
    """A file in MNBVC's format for general texts."""

    文件名: str
    是否待查文件: bool
    是否重复文件: bool
    文件大小: int
    simhash: int
    最长段落长度: int
    段落数: int
    去重段落数: int
    低质量段落数: int
    段落: list[Paragraph]
    扩展字段: str
    时间: str


@pytest.mark.parametrize("format", FORMATS)
def test_records_of_chinesewebtext(folders: Folders, format: str) -> None:
    for number, row in enumerate(by_duckdb(folders[format, "chinesewebtext"], format)):
        assert [*row] == [*Web.model_fields]
        assert Web(**row).source_domain == "bees.example"
        assert (row["text"], row["url"]) == (TEXT, f"http://bees.example/{number}")


@pytest.mark.parametrize("format", FORMATS)
def test_records_of_mnbvc(folders: Folders, format: str) -> None:
    for number, row in enumerate(by_duckdb(folders[format, "mnbvc"], format)):
        assert [*row] == [*File.model_fields]
        file = File(**row)
        assert (file.文件名, file.文件大小) == (f"http://bees.example/{number}", len(TEXT.encode()))
        assert (file.段落数, file.去重段落数, file.最长段落长度) == (4, 3, 35)
        assert [(one.行号, one.是否重复) for one in file.段落] == [(1, False), (2, False), (4, True), (5, False)]
        assert "\n".join(one.内容 for one in file.段落) == TEXT.replace("\n\n", "\n")
        assert all(hashlib.md5(one.内容.encode()).hexdigest() == one.md5 for one in file.段落)
        assert (file.时间, file.是否待查文件) == ("20250512", False)
        more = {"title": "蜜蜂的舞蹈", "author": "", "language": "en", "licence": "CC-BY-4.0", "uses": USES}
        assert json.loads(file.扩展字段) == more
        assert file.simhash == like_most([*dict.fromkeys(one.md5 for one in file.段落)])


def like_most(digests: list[str]) -> int:
    """The bits that most of the digests have in their last 64."""
    numbers = [int(digest, 16) for digest in digests]
    return sum(1 << bit for bit in range(64) if 2 * sum(number >> bit & 1 for number in numbers) > len(numbers))


def test_a_file_of_few_different_paragraphs_is_to_be_looked_at() -> None:
    rows = [("a\na\na\nb", False), ("a\na\na\na\nb", True), ("", False), (" \n\n", False)]
    for text, is_strange in rows:
        values = {"url": "", "title": "", "author": "", "language": None, "rights": None, "published": None}
        record = PRESETS["mnbvc"].record(1, {**values, "text": text, "fetched_at": "2026-11-22T12:30:00+00:00"})
        assert (record["是否待查文件"], record["时间"]) == (is_strange, "20261122")
        assert record["段落数"] == len(text.split())


@pytest.mark.parametrize("preset", ["", *PRESETS])
def test_the_card_explains_each_field(folders: Folders, preset: str) -> None:
    folder = folders["parquet", preset]
    found = json.loads((folder / "manifest.json").read_bytes())
    assert found["preset"] == (preset or None)
    assert found["filters"] == {}
    card = (folder / "README.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in card.splitlines() if line.startswith("| `")]
    assert [name.strip("|` ") for name, *_ in rows] == found["fields"]
    assert all(len(words) > 2 for _, words in rows)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["--preset", "fineweb"],
            "argument --preset: there is no 'fineweb'; there are datatrove, chinesewebtext, mnbvc",
        ),
        (["--preset", "mnbvc", "--fields", "url"], "--fields does not go with --preset, whose fields are fixed"),
        (["--preset", "mnbvc", "-o", "a.csv"], "--preset writes jsonl or parquet, not csv"),
        (["--preset", "mnbvc", "-o", "a/"], "--preset writes jsonl or parquet, not markdown"),
        (["--preset", "mnbvc", "--labels"], "--preset does not go with --labels"),
        (["--preset", "mnbvc", "--changes-after", "0"], "--preset does not go with --changes-after"),
    ],
)
def test_wrong_use_of_presets(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_a_preset_in_one_file(place: Place, ending: str) -> None:
    place.fill(2, text="Write to ann@example.org.")
    said = place.export("--preset", "datatrove", "-o", f"a.{ending}", "--mask", "email")
    assert said.status == 0, said.err
    rows = duckdb.execute(f"SELECT text, metadata.url FROM '{place.folder}/a.{ending}'").fetchall()
    assert rows == [("Write to [EMAIL].", f"http://bees.example/{number}") for number in range(2)]
