"""Which responses and files are documents, by type, name and first bytes."""

import pytest
from document_files import docx, epub, odt, paragraph, pdf

from crawler.documents.document_type import DOCX, EPUB, ODT, PDF, may_be_document, type_of

URL = "https://a.example/get?id=3"


@pytest.mark.parametrize(
    ("declared", "url", "disposition", "expected"),
    [
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
        ("", "https://[a/bees.odt", "", False),
    ],
)
def test_responses_that_may_be_documents(declared: str, url: str, disposition: str, expected: bool) -> None:
    assert may_be_document(declared, url, disposition) is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (pdf([]), PDF),
        (b"\r\n" * 500 + pdf([]), PDF),
        (b"\r\n" * 512 + pdf([]), None),
        (docx(paragraph("x")), DOCX),
        (odt(""), ODT),
        (epub("x"), EPUB),
        (b"PK\x03\x04" + b"x" * 26 + b"mimetype" + ODT.encode(), ODT),
        (b"PK\x03\x04" + b"x" * 100, None),
        (b"<html>%PDF", None),
        (b"", None),
    ],
)
def test_the_type_is_that_of_the_bytes(data: bytes, expected: str | None) -> None:
    assert type_of(data) == expected
