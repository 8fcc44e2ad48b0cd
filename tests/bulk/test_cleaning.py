"""Cleaning of saved pages, apart from where they come from."""

import json

import pytest
import saved
from saved import answer, html, text, url

from crawler.archives import json_lines, warc
from crawler.archives.records import Broken, Raw, ReadResult, Record, Skipped
from crawler.bulk.cleaning import Cleaned, Cleaner, CleaningCounts, cleaned, cleaner
from crawler.extraction import EXTRACTORS
from crawler.outcomes import Code, Outcome
from crawler.page.page import Page


def fail(raw: Raw) -> Record:
    raise RecursionError("deep")


def exhaust(raw: Raw) -> Record:
    raise MemoryError


def raws(count: int) -> list[ReadResult]:
    """Records of several kinds."""
    kinds: list[ReadResult] = []
    for n in range(count):
        kinds += [
            Raw(f"a: line {n}", json_lines.record, saved.line(n)),
            Raw(f"a: line {n}", json_lines.record, b"{"),
            Broken(f"b: byte {n}", "it is cut off"),
            Skipped(Outcome(Code.NO_RESPONSE, "request")),
            Raw(f"c: byte {n}", warc.record, answer(b"", content_type="a/b"), {"warc-type": "response"}),
            Raw(f"d: byte {n}", fail, b""),
        ]
    return kinds


def named(method: str) -> Cleaner:
    """What cleans by the method of this name."""
    return cleaner(method, EXTRACTORS[method])


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_the_same_in_order_with_any_number_of_processes(jobs: int) -> None:
    found = list(cleaned(raws(30), named("auto"), jobs, lambda: None))
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
            Broken(f"a: line {n}", "not JSON: Expecting value at character 2"),
            Broken(f"b: byte {n}", "it is cut off"),
            Skipped(Outcome(Code.NO_RESPONSE, "request")),
            Skipped(Outcome(Code.NOT_HTML, "a/b")),
            Broken(f"d: byte {n}", "it cannot be cleaned (RecursionError: deep)"),
        ]
    assert len(found) == 180


@pytest.mark.parametrize("method", EXTRACTORS)
def test_every_method(method: str) -> None:
    result = named(method)(Raw("a", json_lines.record, saved.line(1)))
    assert isinstance(result, Cleaned)
    extraction = EXTRACTORS[method](Page.from_html(html(1), url(1)))
    found = json.loads(result.line)
    assert (found["text"], found["title"], found["method"]) == (extraction.text, extraction.title, method)


def test_a_method_that_fails_costs_the_page() -> None:
    failing = cleaner("failing", lambda page: {}[page.url])
    found = failing(Raw("a", json_lines.record, saved.line(1)))
    assert found == Broken("a", f"it cannot be cleaned (KeyError: '{url(1)}')")
    assert named("auto")(Raw("a", exhaust, b"")) == Broken("a", "it cannot be cleaned (MemoryError: )")


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029", '"', "\\", "{}", "\ufeff", "😀"])
def test_a_line_is_one_line_and_json(sign: str) -> None:
    page = f"<title>T{sign}t</title><p>One {sign}here and two{sign}.</p>"
    result = named("leaf-tags")(Raw("a", json_lines.record, saved.line(1, html=page, id=[sign], url=sign)))
    assert isinstance(result, Cleaned)
    assert result.line.endswith(b"\n")
    assert len(result.line.decode().splitlines()) == 1
    expected = EXTRACTORS["leaf-tags"](Page.from_html(page, sign))
    found = json.loads(result.line)
    assert (found["id"], found["url"], found["text"], found["title"]) == ([sign], sign, expected.text, expected.title)


def test_the_tally() -> None:
    tally = CleaningCounts()
    for result in map(named("auto"), raws(3)):
        tally.add(result)
    assert (tally.pages, tally.broken) == (3, 9)
    assert tally.skipped == {Outcome(Code.NO_RESPONSE, "request"): 3, Outcome(Code.NOT_HTML, "a/b"): 3}
    assert tally.before == sum(len(html(n).encode()) for n in range(3))
    assert tally.after == sum(len(text(n).encode()) for n in range(3))
