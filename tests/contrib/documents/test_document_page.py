"""The page of a document: its text and what it says about itself, without what says nothing."""

import pytest
from document_files import docx, paragraph

from crawler.contrib.documents import html_body
from crawler.contrib.documents.read_document import read_document
from crawler.extraction.document_text import document_text, with_documents
from crawler.metadata.record_readers import READERS
from crawler.page.document import DocumentContent, Facts
from crawler.page.document_page import document_page
from crawler.page.document_type import DOCX
from crawler.page.page import Extraction, Page


def page(body: str = "<p>Bees.</p>", **facts: object) -> Page:
    return document_page(DocumentContent(body, Facts(**facts)), "https://a.example/", DOCX)  # type: ignore[arg-type]


def test_the_title_is_the_one_it_gives_or_its_first_heading() -> None:
    rows = [
        ("Of  bees", "<h1>Bees</h1>", "Of bees"),
        ("Microsoft Word - bees.doc", "<h1>Bees</h1>", "Bees"),
        ("bees.indd", "<h2>Part</h2><h1>Bees</h1><h3>x</h3>", "Bees"),
        ("", "<p>The first line.</p><p>x</p>", "The first line."),
        ("", f"<p>Bees dance. {'They sing. ' * 20}</p>", "Bees dance."),
        ("", f"<p>{'蜜蜂' * 50}。</p>", ""),
        ("", f"<p>{'b' * 99}.</p>", f"{'b' * 99}."),
        ("", f"<p>{'b' * 100}.</p>", ""),
        ("Of\x07 bees\x1b[2J", "<h1>Bees</h1>", "Of bees[2J"),
        ("", "", ""),
    ]
    for said, body, title in rows:
        assert document_text(page(body, title=said)).title == title


def test_names_of_programs_are_no_authors() -> None:
    for said, author in [("Ann Smith", "Ann Smith"), ("Administrator", ""), ("微软用户", ""), ("", "")]:
        one = page(author=said)
        assert READERS["author"](one, document_text(one)) == author


def test_the_date_is_a_day() -> None:
    rows = [("2020-02-03T04:05:06Z", "2020-02-03"), ("2020", None), ("2020-13-01", None), ("", None)]
    for said, day in rows:
        one = page(published=said)
        found = document_text(one)
        assert READERS["published"](one, found) == day
        assert READERS["published_source"](one, found) == ("document" if day else "")


def test_all_of_its_text_is_the_text() -> None:
    one = document_page(read_document(docx(paragraph("Menu") + paragraph("Bees."))), "", DOCX)
    found = with_documents(lambda _: Extraction("", ""))(one)
    assert found.text == "Menu\nBees."
    assert (READERS["content_type"](one, found), READERS["page_count"](one, found)) == (DOCX, 3)


def test_a_web_page_goes_to_its_method() -> None:
    assert with_documents(lambda _: Extraction("text", ""))(Page.from_html("<p>x")).text == "text"


@pytest.mark.parametrize(("rows", "kept"), [(4, 4), (5, 4), (9, 4)])
def test_the_first_rows_of_a_long_table_are_kept(rows: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_body, "MAX_BLOCKS", 10)
    body = html_body.Body()
    body.paragraph("Bees")
    body.table([["a", "b"]] * rows)
    body.paragraph("Wasps")
    assert (body.html().count("<tr>"), "Bees" in body.html(), body.is_cut) == (kept, True, True)
