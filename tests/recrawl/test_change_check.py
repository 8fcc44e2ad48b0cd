"""What a page is beside what it was before, by its text alone."""

from dataclasses import replace

import pytest

from crawler.extraction import EXTRACTORS
from crawler.page.page import Page
from crawler.recrawl import change_check
from crawler.recrawl.change_check import ChangeDetector
from crawler.recrawl.page_history import ChangeCheck, PageChange, PageHistory

TEXT = "Bees dance in the dark of the hive, and the others follow the dancer with their feelers to learn the way. "
MANY = " ".join(f"The flower of number {number} stands in the meadow of number {number * 7}." for number in range(60))


def page(text: str, menu: str = "All the news", footer: str = "Printed on Monday", title: str = "Bees") -> Page:
    return Page.from_html(
        f"<html><head><title>{title}</title></head><body><nav><ul><li><a href='/'>{menu}</a></li></ul></nav>"
        f"<article><p>{text}</p></article><footer><p>{footer}</p></footer></body></html>",
        "http://a.example/",
    )


def known(check: ChangeCheck) -> PageHistory:
    return PageHistory(
        source_fingerprint=check.source_fingerprint,
        extractor_version=check.extractor_version,
        signature=check.signature,
        title="Bees",
    )


def comparison(method: str = "auto", favour: str = "balance") -> ChangeDetector:
    return ChangeDetector(method, favour, EXTRACTORS[method])


def check(page: Page, before: PageHistory | None = None, method: str = "auto") -> ChangeCheck:
    return comparison(method).check(page, page.once(EXTRACTORS[method]), before)


def test_what_counts_as_a_change() -> None:
    rows = [
        (page(TEXT * 3), PageChange.SAME),
        (page(TEXT * 3, menu="Other news"), PageChange.SAME),
        (page(TEXT * 3, footer="Printed on Tuesday"), PageChange.SAME),
        (page(TEXT.upper() * 3), PageChange.SAME),
        (page(TEXT * 3 + "They sleep."), PageChange.CHANGED),
        (page(TEXT * 3, title="Wasps"), PageChange.CHANGED),
        (page(TEXT * 3, title="BEES!"), PageChange.SAME),
        (page(TEXT * 3, title=""), PageChange.SAME),
    ]
    for method in ["auto", "template", "template-svm"]:
        for now, found in rows:
            first = check(page(TEXT * 3), method=method)
            assert first.change is PageChange.NEW
            assert check(now, known(first), method).change is found


def test_a_block_in_doubt_alone_changes_nothing() -> None:
    """What is kept for balance and for recall differs from the last visit, what is kept for precision does not."""
    first = known(check(page(MANY)))
    balance, precision, recall = str(first.source_fingerprint).split()
    doubtful = replace(first, source_fingerprint=f"{balance[::-1]} {precision} {recall[::-1]}")
    assert check(page(MANY), doubtful).change is PageChange.SAME
    other = replace(first, source_fingerprint=f"{balance[::-1]} {precision[::-1]} {recall[::-1]}")
    assert check(page(MANY), other).change is PageChange.CHANGED


def test_another_version_renews() -> None:
    for before in ["0:auto", "1:auto/recall", "1:template", None]:
        old = replace(known(check(page(MANY))), extractor_version=before)
        found = check(page(TEXT * 3), old)
        assert (found.change, found.distance) == (PageChange.RENEWED, None)
        assert found.extractor_version == comparison().version


def test_how_much_changed() -> None:
    before = known(check(page(MANY)))
    little = check(page(MANY.replace("of number 3", "of hill 3")), before).distance
    all_of_it = check(page(MANY[::-1]), before).distance
    assert little is not None
    assert all_of_it is not None
    assert 0 < little < 0.4
    assert all_of_it > 0.9


def test_a_text_too_short_to_tell_how_much() -> None:
    found = check(page("They sleep in the hive at night, as you know."), known(check(page(TEXT))))
    assert (found.change, found.distance) == (PageChange.CHANGED, None)


def test_pages_without_text_are_the_same() -> None:
    empty = Page.from_html("", "http://a.example/")
    assert check(empty, known(check(empty))).change is PageChange.SAME


def test_the_letters_of_a_block_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    letters = change_check.letters

    def read(text: str) -> bytes:
        texts.append(text)
        return letters(text)

    monkeypatch.setattr(change_check, "letters", read)
    check(page(f"{TEXT * 3}</p><p>{MANY}"))
    assert sorted(texts) == sorted(set(texts))
    assert MANY in texts
