"""`scrapy export` as it is typed: what it writes, says and leaves, read by others' readers."""

import csv
import gzip
import json
import os
import re
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from export_pages import several
from export_place import AT, Place, lines
from exported_crawl import begin
from sites import OPEN, Answer, Crawl, Site, crawl, page, serving
from sqlalchemy import insert, select, update
from sqlalchemy.engine import make_url
from warcio.archiveiterator import ArchiveIterator

from crawler.atomic_files import MARKER
from crawler.export.jsonl import jsonl
from crawler.items import PageItem
from crawler.reports import stored_pages
from crawler.store import crawl_tables, page_tables

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FIELDS = list(asdict(PageItem("", "", "", 0, 0, None)))
ODD = 'a "b",\nc\r\nd\u2028蜜蜂'


def test_what_a_finished_crawl_wrote_is_what_is_exported(finished: Place, crawled: Crawl) -> None:
    said = finished.export()
    mine = (crawled.folder / "output" / "bees.jsonl").read_bytes()
    assert sorted(said.out.encode().splitlines()) == sorted(mine.splitlines())
    assert len(lines(mine)) == 4
    assert any(one["markdown"] for one in lines(mine))
    assert re.fullmatch(r"export: 4 of 4 pages .*\bbees\b.* \d\S* s\.\n", said.err)


@pytest.mark.parametrize(("ending", "unpack"), [("", bytes), (".gz", gzip.decompress), (".zst", zstd.decompress)])
def test_the_end_of_the_name_says_how_it_is_packed(
    finished: Place, crawled: Crawl, tmp_path: Path, ending: str, unpack: Any
) -> None:
    assert finished.export("-o", f"{tmp_path}/a.jsonl{ending}").status == 0
    found = lines(unpack((tmp_path / f"a.jsonl{ending}").read_bytes()))
    assert sorted(found, key=str) == sorted(crawled.items("bees"), key=str)


def test_other_readers_read_the_same(finished: Place, crawled: Crawl, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert finished.export("-o", str(path)).status == 0
    items = {one["url"]: one for one in crawled.items("bees")}
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["url"]: row for row in csv.DictReader(file, strict=True)}
    assert {url: (row["text"], json.loads(row["images"])) for url, row in rows.items()} == {
        url: (one["text"], one["images"]) for url, one in items.items()
    }
    texts = dict(duckdb.execute("SELECT url, text FROM read_csv(?, all_varchar=true)", [str(path)]).fetchall())
    assert {url: text or "" for url, text in texts.items()} == {url: one["text"] for url, one in items.items()}


def test_a_folder_has_a_file_for_each_page(finished: Place, crawled: Crawl, tmp_path: Path) -> None:
    for _ in range(2):  # the second takes the place of the first
        said = finished.export("-o", f"{tmp_path}/pages/")
        assert said.status == 0
        assert "no Markdown" not in said.err  # although one page has neither that nor a text
        files = list((tmp_path / "pages").rglob("*.md"))
        fronts = [yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1]) for path in files]
        expected = [
            {name: one[name] for name in FIELDS if name not in ("text", "markdown")} for one in crawled.items("bees")
        ]
        assert sorted(fronts, key=str) == sorted(expected, key=str)
        assert (tmp_path / "pages" / MARKER).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["pages"]


def test_what_is_wanted_is_written(either: Place) -> None:
    either.fill(8, first_seen="2026-11-20T00:00:00+00:00")
    for n, more in {
        1: {"changed_round": 2, "changed_at": AT},
        2: {"relevance": 0.5},
        3: {"language": "zh"},
        4: {"language": "de"},
        5: {"first_round": 2, "first_seen": AT},
        6: {"gone_round": 2, "gone_at": AT},
        7: {"gone_round": 2, "gone_at": AT, "noindex": True},
    }.items():
        either.change(update(page_tables.page).where(page_tables.page.c.depth == n).values(**more))
    either.change(update(crawl_tables.crawl).values(round=2))
    for words, expected in (
        ([], "012345"),
        (["--only", "new"], "5"),
        (["--only", "gone"], "6"),
        (["--only", "noindex"], "7"),
        (["--only", "changed", "--since", "1"], "1"),
        (["--since", "2"], "15"),
        (["--since", "2026-11-22T13:00+01:00"], "15"),
        (["--min-relevance", "0.5"], "2"),
        (["--where", "zh"], "3"),
        (["--where", "zh", "--where", "de/bees.example", "--where", "en/other.example"], "34"),
        (["--where", "bees.example:80"], ""),
        (["--name", "bees"], "012345"),
    ):
        said = either.export(*words, "--fields", "depth,url")
        assert said.status == 0
        pages = lines(said.out.encode())
        assert [list(page) for page in pages] == [["depth", "url"]] * len(expected)
        assert "".join(str(page["depth"]) for page in pages) == expected
        assert re.search(rf"\b{len(expected)} of 8 pages\b", said.err)
        names_left_out = re.search(r"\b2 pages .*--only gone", said.err) is not None
        assert names_left_out == (not {"gone", "noindex"}.intersection(words))


def test_changes_after_an_offset(either: Place) -> None:
    either.fill(3)
    changes, pages = page_tables.page_change, page_tables.page
    either.change(insert(changes).from_select(["key", "crawl_id"], select(pages.c.key, pages.c.crawl_id)))
    either.change(update(pages).where(pages.c.depth == 1).values(gone_at=AT, gone_round=1))
    either.change(update(pages).where(pages.c.depth == 2).values(gone_at=AT, gone_round=1, noindex=True))
    said = either.export("--changes-after", "0", "-o", "a.jsonl", "--fields", "url")
    found = lines(Path("a.jsonl").read_bytes())
    assert [list(one) for one in found] == [["offset", "change", "page_id", "url"]] * 3
    assert [(one["change"], one["url"][-1]) for one in found] == [("new", "0"), ("gone", "1"), ("noindex", "2")]
    first, middle, last = (int(one["offset"]) for one in found)
    assert first < middle < last
    assert re.search(rf"\b3 changes .*\ba\.jsonl\b.*--changes-after {last}\b", said.err)
    (whole,) = lines(either.export("--changes-after", str(middle)).out.encode())
    assert list(whole) == ["offset", "change", "page_id", *(name for name in FIELDS if name != "change")]
    said = either.export("--changes-after", str(last), "-o", "a.jsonl")
    assert (said.status, said.out) == (0, "")
    assert re.search(rf"\bbees\b.* {last}\b.*\ba\.jsonl\b", said.err)
    assert lines(Path("a.jsonl").read_bytes()) == found  # whose last line has still the offset to come back with
    assert "a.jsonl.gz" in either.export("--changes-after", str(last - 1), "-o", "a.jsonl.gz").err
    assert either.export("--changes-after", str(last + 1)).status == 2


DUE = OPEN | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
"""Every page is due at once."""
DANCE = "Bees dance in the dark of the hive, and the others follow the dancer to learn the way. "
HONEY = "Honey is made of nectar, which the foragers carry home and the house bees fan until it keeps. "


@pytest.mark.long
def test_rounds_of_a_crawl_and_the_responses_of_their_pages(place: Place) -> None:
    home = "A garden of bees, in which there is much to read on them."
    with serving(
        Site({"/": page(home, links={"/a": "a page", "/b": "b page"}), "/a": page(DANCE * 3), "/b": page(HONEY * 3)})
    ) as site:
        given = {"seeds": site.url, "topic": "bees", "name": "bees", "images": "no"}
        assert crawl(place.folder, given, DUE).status == 0
        site.routes["/"] = page(home, links={"/a": "a page", "/b": "b page", "/c": "c page"})
        site.routes |= {"/a": page(DANCE * 2 + HONEY), "/b": Answer("", 404), "/c": page(HONEY * 2 + DANCE)}
        for _ in range(2):  # what is not there is gone when it is missed twice
            assert crawl(place.folder, given, DUE).status == 0
    place.url = make_url("sqlite:///output/crawl.db")

    def paths(*words: str) -> list[str]:
        return sorted("/" + one["url"].split("/", 3)[3] for one in lines(place.export(*words).out.encode()))

    assert paths() == ["/", "/a", "/c"]
    assert paths("--only", "gone") == ["/b"]
    assert paths("--only", "new", "--since", "2") == ["/c"]
    assert paths("--only", "changed", "--since", "2") == ["/a"]
    assert paths("--since", "2") == ["/a", "/c"]
    assert paths("--only", "new") == paths("--only", "changed") == []
    assert place.export("-o", "a.warc").status == 0
    with Path("a.warc").open("rb") as file:
        kept = {
            one.rec_headers["WARC-Target-URI"][-2:]: one.content_stream().read()
            for one in ArchiveIterator(file)
            if one.rec_type == "response"
        }
    assert len(kept) == 3
    assert (DANCE * 2 + HONEY).encode() in kept["/a"]


def test_what_a_spreadsheet_would_run_is_said(place: Place) -> None:
    place.fill(2, title="=1+1")
    said = place.export("--format", "csv", "--fields", "title")
    assert said.out == "title\r\n=1+1\r\n=1+1\r\n"
    assert re.search(r"\b2 cells\b.*--spreadsheet", said.err)
    said = place.export("--format", "csv", "--fields", "title", "--spreadsheet")
    assert said.out == "title\r\n'=1+1\r\n'=1+1\r\n"
    assert re.search(r"\b2 cells\b.* ' ", said.err)


def test_what_is_not_stored_is_said(place: Place) -> None:
    place.fill(2)
    assert re.search(r"\b2 pages .* Markdown\b.*markdown=yes", place.export("-o", "a/").err)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--name", "wasps"], "there is no crawl 'wasps'; there are bees, other"),
        ([], "there are several crawls; set --name to one of bees, other"),
        (["--name", "bees", "--since", "2"], "--since 2: the crawl 'bees' has had 1 round"),
        (["--name", "bees", "--since", "soon"], "argument --since: 'soon' is wrong; allowed are"),
        (["--only", "old"], "argument --only: invalid choice: 'old'"),
        (["--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["--format", "markdown"], "markdown cannot be written to standard output; use -o"),
        (["-o", ""], "the name '' does not tell the format"),
        (
            ["-o", "a.txt"],
            "the name 'a.txt' does not tell the format; give --format, or one of the extensions .jsonl",
        ),
        (["-o", "a.md.zst"], "markdown cannot be compressed with .gz, .zst"),
        (["-o", "a.jsonl", "--spreadsheet"], "--spreadsheet goes with csv alone, and this is jsonl"),
        (["--fields", "url,body"], "argument --fields: there is no 'body'; there are url, requested_url"),
        (["--where", "https://a.example/"], "argument --where: 'https://a.example/' is wrong"),
        (["--min-relevance", "2"], "argument --min-relevance: '2' is wrong; allowed are numbers from 0 to 1"),
        (["--changes-after", "-1"], "argument --changes-after: "),
        (["--changes-after", "0", "--since", "1"], "--since does not go with --changes-after"),
        (["--changes-after", "0", "--labels"], "--labels does not go with --changes-after"),
        (["--changes-after", "0", "--format", "csv"], "--changes-after writes JSON lines, and this is csv"),
        (["bees"], "'bees' is not recognized; see winnow export --help"),
        (["--all"], "'--all' is not recognized; see winnow export --help"),
        (["--name", "bees", "-o", "no/a.jsonl"], "'no/a.jsonl' cannot be written to (No such file or directory)"),
        (["--name", "bees", "-o", "mine/"], "'mine/' exists and was not written by an export"),
        (["--name", "bees", "-o", "crawl.db", "--format", "csv"], "'crawl.db' is an input and cannot be the output"),
        (["--name", "bees", "-o", "crawl.db-wal", "--format", "csv"], "is an input and cannot be the output"),
        (["--name", "bees", "-o", "crawl.db-shm", "--format", "csv"], "is an input and cannot be the output"),
        (["--name", "bees", "-o", "output/bees.jsonl"], "'output/bees.jsonl' is a file that a crawl writes"),
        (["--name", "bees", "-o", "output/other-12.jsonl"], "is a file that a crawl writes: give another name"),
        (["--name", "bees", "-o", "output/bees.images.jsonl"], "is a file that a crawl writes: give another name"),
    ],
)
def test_wrong_use_is_one_sentence_and_writes_nothing(place: Place, words: list[str], why: str) -> None:
    (place.folder / "mine" / "work").mkdir(parents=True)
    (place.folder / "output").mkdir()
    place.fill(1)
    place.fill(1, name="other")
    said = place.export(*words)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"export: {why}") or why in said.err
    assert said.err.count("\n") == 1
    assert place.names() == ["mine", "output"]
    assert [*(place.folder / "output").iterdir()] == []


def test_where_no_crawl_was_ever_run(place: Place) -> None:
    said = place.export("-o", "a.jsonl")
    assert (said.status, place.names()) == (2, [])
    assert "crawl.db" in said.err
    assert not (place.folder / "crawl.db").exists()


def test_a_database_that_is_away(place: Place) -> None:
    place.url = make_url("postgresql+psycopg://nobody@127.0.0.1:9/none")
    said = place.export("-o", "a.jsonl")
    assert (said.status, place.names()) == (1, [])
    assert "cannot be read" in said.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_no_page_writes_to_a_terminal(place: Place, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place.fill(1, title="\x1b[2Jgone\x9b\u202e")
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert place.export("--format", form, "--fields", "title").status == 0
        shown = os.read(master, 65_536).decode()
    os.close(master)
    assert r"\u001b[2Jgone\u009b\u202e" in shown
    assert re.sub(r"[\r\n]", "", shown).isprintable()


def test_a_crawl_without_a_page_is_an_empty_file(place: Place) -> None:
    place.fill(0)
    assert place.export("-o", "a.jsonl").status == 0
    assert (place.folder / "a.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", [pytest.param("a.jsonl", marks=pytest.mark.long), "pages/"])
def test_a_full_disk_leaves_nothing(place: Place, name: str) -> None:
    place.fill(3, text="Bees. " * 20_000)
    process = begin(place.folder, "-o", name, limit="100")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert re.search(rf"'{name}' .*\(File too large\)", said)
    assert place.names() == []


@pytest.fixture
def slow(place: Place) -> Place:
    """A database of so many pages that an export can be broken off."""
    place.fill(300, text="Bees. " * 20_000)
    return place


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sent", "status"), [("a.jsonl.zst", [signal.SIGINT] * 3, 130), ("pages/", [signal.SIGTERM], 143)]
)
def test_one_that_is_broken_off_leaves_nothing(slow: Place, name: str, sent: list[signal.Signals], status: int) -> None:
    process = begin(slow.folder, "-o", name)
    limit = time.monotonic() + 60
    while not any(one.endswith(".part") for one in slow.names()):
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.002)
    for number in sent:
        process.send_signal(number)
        time.sleep(0.02)
    _, said = process.communicate(timeout=60)
    # As a shell says it: Python no longer handles a signal that comes at its very end.
    assert (process.returncode if process.returncode >= 0 else 128 - process.returncode) == status
    assert "Traceback" not in said
    assert slow.names() == []


def test_memory_does_not_grow_with_the_pages(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many pages are in memory at once as are read at once, however many there are."""
    monkeypatch.setattr(stored_pages, "ROWS_AT_ONCE", 10)
    place.fill(100)
    alive = most = 0
    some = stored_pages.StoredPages._next_rows

    def watched(self: stored_pages.StoredPages, wanted: Any) -> Sequence[Any]:
        nonlocal most, alive
        found = some(self, wanted)
        alive = len(found)
        most = max(most, alive)
        return found

    monkeypatch.setattr(stored_pages.StoredPages, "_next_rows", watched)
    assert place.export("-o", "a.jsonl").status == 0
    assert (most, alive) == (10, 0)
    assert (place.folder / "a.jsonl").stat().st_size > 100 * 100


def refuse(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("fields", [FIELDS, ["title"], ["images", "url"]])
def test_each_page_is_a_line_of_its_fields_in_their_order(fields: list[str]) -> None:
    data = b"".join(jsonl(several(), fields)).decode()
    assert data.endswith("\n")
    lines = data.split("\n")[:-1]
    assert data.splitlines() == lines  # whatever a reader takes for the end of a line
    found = [json.loads(line, parse_constant=refuse) for line in lines]
    assert [list(one) for one in found] == [fields] * 4
    assert found == [{name: page.values[name] for name in fields} for page in several()]


def test_of_no_page_there_is_no_line() -> None:
    assert list(jsonl([], FIELDS)) == []
