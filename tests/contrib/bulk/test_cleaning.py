"""Cleaning of saved pages, apart from where they come from."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import saved_pages
from fallback_servers import DOUBTFUL, second_text
from saved_pages import answer, html, text, url
from wall_pages import FAILED, KEPT, WALLS, Response

from crawler.contrib.bulk.archives import json_lines
from crawler.contrib.bulk.archives.records import ArchiveRecord, Broken, Raw, ReadResult, Skipped
from crawler.contrib.bulk.archives.warc_and_tianwang import warc_record
from crawler.contrib.bulk.cleaning import (
    MOST_NAMED,
    Cleaned,
    Cleaner,
    CleaningCounts,
    FileCleaner,
    FileResult,
    cleaning_results,
    method_cleaner,
)
from crawler.contrib.bulk.resume_manifest import MANIFEST, files_to_clean, maker, write_manifest
from crawler.extraction import EXTRACTORS
from crawler.extraction.extractor_fallback import ExtractorFallback
from crawler.outcomes import Code, Outcome
from crawler.page.page import Extraction, Page


def fail(raw: Raw) -> ArchiveRecord:
    raise RecursionError("deep")


def exhaust(raw: Raw) -> ArchiveRecord:
    raise MemoryError


def raws(count: int) -> list[ReadResult]:
    """Records of several kinds."""
    kinds: list[ReadResult] = []
    for n in range(count):
        kinds += [
            Raw(f"a: line {n}", json_lines.record, saved_pages.line(n)),
            Raw(f"a: line {n}", json_lines.record, b"{"),
            Broken(f"b: byte {n}", "it is cut off"),
            Skipped(Outcome(Code.NO_RESPONSE, "request")),
            Raw(f"c: byte {n}", warc_record, answer(b"", content_type="a/b"), head={"warc-type": "response"}),
            Raw(f"d: byte {n}", fail, b""),
        ]
    return kinds


def named(method: str) -> Cleaner:
    """What cleans by the method of this name."""
    return method_cleaner(method, EXTRACTORS[method])


def record_of(response: Response) -> Raw:
    """A WARC record of a response."""
    headers = [f"{name}: {value}" for name, value in response.headers.items()]
    data = answer(response.body.encode(), *headers).replace(b" 200 OK", f" {response.status} ".encode(), 1)
    return Raw("a: byte 0", warc_record, data, head={"warc-type": "response"})


@pytest.mark.parametrize(("html", "method"), [(DOUBTFUL, "second"), ("<p>Bees dance in the dark of the hive.", "auto")])
def test_a_second_method_cleans_pages_in_doubt(html: str, method: str) -> None:
    fallback = ExtractorFallback("second", second_text)
    data = json.dumps({"url": "http://a.example/hives", "html": html}).encode()
    clean = pickle.loads(pickle.dumps(method_cleaner("auto", EXTRACTORS["auto"], fallback=fallback)))
    result = clean(Raw("a: line 1", json_lines.record, data))
    assert isinstance(result, Cleaned)
    assert json.loads(result.line)["method"] == method


def test_walls_in_archives_are_left_out() -> None:
    for name in ["cloudflare 403", "imperva 200", "river security 412", "vercel denied"]:
        service, response = WALLS[name]
        assert named("auto")(record_of(response)) == Skipped(Outcome(Code.WALLED, service))


@pytest.mark.parametrize("response", [KEPT["cloudflare beacon"], FAILED["nginx 403"]])
def test_other_responses_in_archives_are_cleaned(response: Response) -> None:
    assert isinstance(named("auto")(record_of(response)), Cleaned)


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_the_same_in_order_with_any_number_of_processes(jobs: int) -> None:
    found = list(cleaning_results(raws(30), named("auto"), jobs, lambda: None))
    for n in range(30):
        page, *others = found[6 * n : 6 * n + 6]
        assert isinstance(page, Cleaned)
        assert json.loads(page.line) == {
            "id": n,
            "url": url(n),
            "text": text(n),
            "title": f"Title {n}",
            "method": "auto",
        }
        assert (page.before, page.after) == (len(html(n).encode()), len(text(n).encode()))
        assert others == [
            Broken(f"a: line {n}", others[0].why),
            Broken(f"b: byte {n}", "it is cut off"),
            Skipped(Outcome(Code.NO_RESPONSE, "request")),
            Skipped(Outcome(Code.NOT_HTML, "a/b")),
            Broken(f"d: byte {n}", others[-1].why),
        ]
    assert len(found) == 180


def test_every_method() -> None:
    for method in EXTRACTORS:
        result = named(method)(Raw("a", json_lines.record, saved_pages.line(1)))
        assert isinstance(result, Cleaned)
        extraction = EXTRACTORS[method](Page.from_html(html(1), url(1)))
        found = json.loads(result.line)
        assert (found["text"], found["title"], found["method"]) == (extraction.text, extraction.title, method)


def test_a_method_that_fails_costs_the_page() -> None:
    failing = method_cleaner("failing", lambda page: {}[page.url])
    found = failing(Raw("a", json_lines.record, saved_pages.line(1)))
    assert isinstance(found, Broken)
    assert (found.place, f"(KeyError: '{url(1)}')" in found.why) == ("a", True)
    assert isinstance(named("auto")(Raw("a", exhaust, b"")), Broken)

    surrogate = method_cleaner("surrogate", lambda page: Extraction("A bee \ud800 dances.", ""))
    assert isinstance(surrogate(Raw("a", json_lines.record, saved_pages.line(1))), Broken)


def test_a_line_is_one_line_and_json() -> None:
    for sign in ["\x85", "\u2028", "\u2029", '"', "\\", "{}", "\ufeff", "😀"]:
        page = f"<title>T{sign}t</title><p>One {sign}here and two{sign}.</p>"
        result = named("leaf-tags")(Raw("a", json_lines.record, saved_pages.line(1, html=page, id=[sign], url=sign)))
        assert isinstance(result, Cleaned)
        assert result.line.endswith(b"\n")
        assert len(result.line.decode().splitlines()) == 1
        expected = EXTRACTORS["leaf-tags"](Page.from_html(page, sign))
        found = json.loads(result.line)
        assert (found["id"], found["url"], found["text"], found["title"]) == (
            [sign],
            sign,
            expected.text,
            expected.title,
        )


def test_the_tally() -> None:
    tally = CleaningCounts()
    for result in map(named("auto"), raws(3)):
        tally.add(result)
    assert (tally.pages, tally.broken) == (3, 9)
    assert tally.skipped == {Outcome(Code.NO_RESPONSE, "request"): 3, Outcome(Code.NOT_HTML, "a/b"): 3}
    assert tally.before == sum(len(html(n).encode()) for n in range(3))
    assert tally.after == sum(len(text(n).encode()) for n in range(3))


def by(method: str) -> Cleaner:
    return method_cleaner(method, EXTRACTORS[method])


@pytest.fixture
def work(tmp_path: Path) -> FileCleaner:
    (tmp_path / "out").mkdir()
    return FileCleaner(tmp_path / "out", write_manifest(tmp_path / "out", {}, []), by("leaf-tags"), maker())


def clean(work: FileCleaner, folder: Path, name: str, data: bytes | None) -> FileResult:
    """What becomes of a file with these bytes, through the pickles by which others get it."""
    path = folder / name
    if data is not None:
        path.write_bytes(data)
    (file,) = files_to_clean([str(path)])
    found = pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(file)))
    return pickle.loads(pickle.dumps(found))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", saved_pages.line(1) + saved_pages.line(2)),
        ("a.warc.xz", saved_pages.PACK[".xz"](saved_pages.warc(1) + saved_pages.warc(2))),
        ("raw", saved_pages.tianwang(1) + saved_pages.tianwang(2)),
        ("蜂\n\x1b[2J", saved_pages.line(1) + saved_pages.line(2)),
    ],
)
def test_an_archive_becomes_lines_in_their_order(work: FileCleaner, tmp_path: Path, name: str, data: bytes) -> None:
    outcome = clean(work, tmp_path, name, data)
    assert (outcome.failed, outcome.stops, outcome.existed, outcome.named_broken) == ("", False, False, [])
    assert (outcome.tally.pages, outcome.tally.broken) == (2, 0)
    output = (work.folder / f"{name}.jsonl").read_text("utf-8")
    assert output.index(saved_pages.text(1)) < output.index(saved_pages.text(2))
    assert sorted(path.name for path in work.folder.iterdir()) == sorted([MANIFEST, f"{name}.jsonl"])


def test_a_file_that_is_there_is_not_touched(work: FileCleaner, tmp_path: Path) -> None:
    (work.folder / "a.jsonl.jsonl").write_bytes(b"before")
    outcome = clean(work, tmp_path, "a.jsonl", saved_pages.line(1))
    assert (outcome.existed, outcome.tally.pages) == (True, 0)
    assert (work.folder / "a.jsonl.jsonl").read_bytes() == b"before"


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.warc", None, "a.warc' cannot be read (No such file or directory)"),
        ("odd", b"bees", "odd' is not an input that can be cleaned; inputs are"),
        ("page", b"<html><p>Bees dance.", "page' is a single page; --into cleans WARC"),
    ],
)
def test_what_cannot_be_read_has_no_output(
    work: FileCleaner, tmp_path: Path, name: str, data: bytes | None, why: str
) -> None:
    outcome = clean(work, tmp_path, name, data)
    assert why in outcome.failed
    assert (outcome.stops, list(work.folder.iterdir())) == (False, [work.folder / MANIFEST])


@pytest.mark.parametrize("count", [MOST_NAMED, MOST_NAMED + 1])
def test_of_broken_records_the_first_are_named_and_all_counted(work: FileCleaner, tmp_path: Path, count: int) -> None:
    outcome = clean(work, tmp_path, "a.jsonl", b"{\n" * count + saved_pages.line(1))
    assert (outcome.tally.broken, len(outcome.named_broken), outcome.tally.pages) == (count, MOST_NAMED, 1)
    assert outcome.named_broken[0].place.endswith("a.jsonl: line 1")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ({"folder": Path("missing")}, "is not the output folder of this run"),
        ({"folder_id": "0" * 32}, "is not the output folder of this run"),
        ({"maker": "Winnow 0.0.0"}, "has another version of Winnow or Python: Winnow 0."),
    ],
)
def test_what_stops_all_files(work: FileCleaner, tmp_path: Path, trouble: dict[str, Any], said: str) -> None:
    outcome = clean(replace(work, **trouble), tmp_path, "a.jsonl", saved_pages.line(1))
    assert outcome.stops
    assert said in outcome.failed
    assert list(work.folder.iterdir()) == [work.folder / MANIFEST]


def test_a_full_disk_stops_all_files(work: FileCleaner, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(saved_pages.line(1))
    (file,) = files_to_clean([str(tmp_path / "a.jsonl")])
    outcome = work(replace(file, output="b" * 300))  # which no file system takes, as a full one takes nothing
    assert outcome.stops
    assert "(File name too long)" in outcome.failed
