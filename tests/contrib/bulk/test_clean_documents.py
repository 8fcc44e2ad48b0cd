"""`scrapy clean` and `crawler.clean` read documents: files, folders, WARC files and the stored responses of a crawl."""

import json
from pathlib import Path

import pytest
import saved_pages
from command_line import run_command
from document_files import Text, docx, paragraph, pdf
from sites import OPEN, Answer, Site, crawl, page, serving
from sqlalchemy import create_engine, select, update

from crawler.api.document import clean
from crawler.contrib.bulk.archives.records import Skipped
from crawler.contrib.bulk.clean_stored_rows import MADE_ANEW
from crawler.outcomes import Code, Outcome
from crawler.page.document_type import DOCX, PDF
from crawler.store import page_tables

BEES = "Bees dance in the dark of the hive, and the others follow them to the flowers."
BOOK = pdf([Text(["Of bees"], size=18), Text([BEES], y=120)])
LETTER = docx(paragraph("Of bees", "H1") + paragraph(BEES))
TEXT = f"Of bees\n{BEES}"
FACTS = "content_type,page_count"


def test_files_folders_and_archives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, data in {"a.pdf": BOOK, "b.docx": LETTER, "c.log": BOOK, "d.pdf": b"%PDF-1.7 nothing"}.items():
        (folder / name).write_bytes(data)
    warc = saved_pages.warc(1, saved_pages.answer(BOOK, content_type=PDF))
    (tmp_path / "e.warc").write_bytes(warc)
    words = ("-o", str(tmp_path / "out"), "--with", FACTS, "--jobs", "1")
    status, _, said = run_command(capsys, "clean", str(folder), str(tmp_path / "e.warc"), *words)
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert status == 0
    assert [line["text"] for line in lines] == [TEXT] * 3
    assert [(line["content_type"], line["page_count"]) for line in lines] == [(PDF, 1), (DOCX, 3), (PDF, 1)]
    assert {line["method"] for line in lines} == {"document"}
    for why in (
        "document that is damaged, or of another type than it says (1)",
        "without the name of a page or a document (1)",
    ):
        assert why in said


def test_a_document_in_one_call() -> None:
    document = clean(BOOK, "https://a.example/bees.pdf")
    assert (document.text, document.content_type, document.page_count) == (TEXT, PDF, 1)
    assert document.markdown == f"# Of bees\n\n{BEES}"
    assert clean(b"%PDF-1.7 nothing").text == ""


def test_without_the_extra_documents_are_no_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.doors.find_spec", lambda name: None)
    (tmp_path / "a.pdf").write_bytes(BOOK)
    (tmp_path / "b.warc").write_bytes(saved_pages.warc(1, saved_pages.answer(BOOK, content_type=PDF)))
    found = saved_pages.outcomes(tmp_path / "a.pdf", tmp_path / "b.warc")
    assert found == [Skipped(Outcome(Code.NOT_HTML, PDF))] * 2
    assert clean(BOOK).text == ""


MAIL = f"From: Ann Smith <ann@bees.example>\nSubject: Of bees\nDate: Thu, 02 May 2024 10:00:00 +0200\n\n{BEES}\n"
MARKDOWN = f"---\ntitle: Of bees\nauthor: Ann\n---\n{BEES}\n\n- They *dance*."
STORED = {
    "/bees.pdf": Answer(BOOK, content_type=PDF),
    "/bees.txt": Answer(f"OF BEES\n\n{BEES}\n\n{BEES}", content_type="text/plain"),
    "/marks.txt": Answer(f"A PDF file begins with its mark.\n\n%PDF-1.7\n\n{BEES}", content_type="text/plain"),
    "/latin.txt": Answer(f"{BEES} Dans la forêt.".encode("latin-1"), content_type="text/plain; charset=latin-1"),
    "/bees.eml": Answer(MAIL, content_type="message/rfc822"),
    "/bees.md": Answer(MARKDOWN, content_type="text/plain"),
    "/bees": Answer(MARKDOWN, content_type="text/markdown"),
}


def test_stored_documents_are_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = OPEN | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
    with serving(Site({"/": page("Hello.", links=dict.fromkeys(STORED, "Of bees")), **STORED})) as site:
        arguments = {"seeds": site.url, "documents": "yes", "markdown": "yes"}
        crawl(tmp_path, arguments, settings)
    engine = create_engine(f"sqlite:///{tmp_path / 'output' / 'crawl.db'}")
    stored = page_tables.page
    rows = select(*(stored.c[name] for name in MADE_ANEW)).order_by(stored.c.url)
    with engine.begin() as connection:
        before = connection.execute(rows).mappings().all()
        connection.execute(update(stored).values(text="", title="", author="", published=None, page_count=None))
    status, _, said = run_command(
        capsys, "clean", "--stored", "topic", "--jobs", "1", "-s", f"OUTPUT_DIR={tmp_path / 'output'}"
    )
    assert status == 0, said
    with engine.begin() as connection:
        after = connection.execute(rows).mappings().all()
    engine.dispose()
    assert list(map(dict, after)) == list(map(dict, before))
    assert [row["extractor"] for row in after].count("document") == len(STORED)
