"""Which responses and files are documents, by type, name and first bytes."""

import pytest
from document_files import directory, docx, epub, odt, packed, paragraph, pdf

from crawler.contrib.documents.read_document import type_of
from crawler.page.document import DocumentError, Fault
from crawler.page.document_type import (
    DOCX,
    EPUB,
    MARKDOWN,
    ODT,
    PDF,
    PLAIN_TEXT,
    ZIP,
    may_be_document,
    text_type_of_file,
    type_by_mark,
)

URL = "https://a.example/get?id=3"


def test_responses_that_may_be_documents() -> None:
    rows = [
        (PDF, URL, "", True),
        ("application/x-pdf", URL, "", True),
        ("text/html", "https://a.example/bees.pdf", "", False),
        ("image/png", "https://a.example/bees.pdf", 'attachment; filename="bees.pdf"', False),
        ("application/octet-stream", URL, "", False),
        ("application/octet-stream", "https://a.example/Bees.PDF", "", True),
        ("application/octet-stream", URL, 'attachment; filename="Of bees.docx"', True),
        ("application/octet-stream", URL, "attachment; filename*=UTF-8''bees.epub", True),
        ("application/octet-stream", URL, 'attachment; filename="bees.exe"', False),
        ("application/zip", URL, "", False),
        ("", "https://a.example/bees.odt#a", "", True),
        ("", "https://[a/bees.odt", "", True),
    ]
    for declared, url, disposition, expected in rows:
        assert may_be_document(declared, url, disposition) is expected


def test_the_name_of_a_file_tells_a_text_file() -> None:
    rows = [
        ("bees.txt", PLAIN_TEXT),
        ("a.b/Bees.TXT", PLAIN_TEXT),
        ("what?.txt", PLAIN_TEXT),
        ("thread.eml", PLAIN_TEXT),
        ("2025-May.mbox", PLAIN_TEXT),
        ("C# and more.md", MARKDOWN),
        ("README.markdown", MARKDOWN),
        ("docs/llms.txt", MARKDOWN),
        ("llms-full.txt", MARKDOWN),
        ("my-llms.txt", PLAIN_TEXT),
        ("bees.md/readme", ""),
        ("bees.html", ""),
        ("txt", ""),
    ]
    for name, expected in rows:
        assert text_type_of_file(name) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (pdf([]), PDF),
        (b"\r\n" * 500 + pdf([]), PDF),
        (b"\r\n" * 512 + pdf([]), None),
        (docx(paragraph("x")), ZIP),
        (directory(700_000), ZIP),
        (b"PK\x03\x04", ZIP),
        (b"PK", None),
        (b"<html>%PDF", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_what_may_be_a_document(
    data: bytes, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zipfile.ZipFile", None)  # archives are not opened
    assert type_by_mark(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (pdf([]), PDF),
        (docx(paragraph("x")), DOCX),
        (packed({"[Content_Types].xml": "<Types/>"}), DOCX),
        (odt(""), ODT),
        (epub("x"), EPUB),
        (packed({"book.txt": "x"}), None),
        (docx(paragraph("x"))[:-30], None),
        (b"PK\x03\x04" + b"x" * 100, None),
        (b"<html>", None),
    ],
)
def test_the_files_of_an_archive_tell_its_type(data: bytes, expected: str | None) -> None:
    if expected is not None:
        assert type_of(data) == expected
        return
    with pytest.raises(DocumentError, match=Fault.BROKEN):
        type_of(data)
