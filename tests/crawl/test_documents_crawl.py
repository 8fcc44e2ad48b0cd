"""A crawl with documents=yes: linked documents become items; those that cannot be read are counted by why."""

from pathlib import Path
from random import randbytes

import pytest
from document_files import R, Text, W, docx, epub, odt, packed, paragraph, pdf
from sites import COUNTED, OPEN, Answer, Crawl, Route, Site, crawl, page, serving

from crawler.page.document_type import DOCX, EPUB, ODT, PDF

BEES = "Bees dance in the dark of the hive, and the others follow them to the flowers."
LINKED = f'<w:p><w:r><w:t>{BEES}</w:t></w:r><w:hyperlink r:id="L"><w:r><w:t>More</w:t></w:r></w:hyperlink></w:p>'
BOOK = pdf([Text(["Of bees"], size=18), Text([BEES], y=120)], info={"Title": "Of bees", "Author": "Ann Smith"})
NAMED = {"Content-Disposition": 'attachment; filename="bees.pdf"'}
FILES: dict[str, Route] = {
    "/bees.pdf": Answer(BOOK, content_type=PDF),
    "/bees.docx": Answer(docx(paragraph("Of bees", "H1") + paragraph(BEES)), content_type=DOCX),
    "/bees.odt": Answer(odt(f"<text:h>Of bees</text:h><text:p>{BEES}</text:p>"), content_type="application/zip"),
    "/bees.epub": Answer(epub(f"<h1>Of bees</h1><p>{BEES}</p>"), content_type=EPUB),
    "/get?id=1": Answer(BOOK, content_type=PDF),
    "/get?id=2": Answer(BOOK, content_type="application/octet-stream", headers=NAMED),
    "/get?id=3": Answer(BOOK),
}
OTHERS: dict[str, Route] = {
    "/page.pdf": Answer(page(BEES, links={"/more": "More"}), content_type=PDF),
    "/noindex.pdf": Answer(BOOK, content_type=PDF, headers={"X-Robots-Tag": "noindex"}),
}
FAULTY: dict[str, Route] = {
    "/scan.pdf": Answer(pdf([], []), content_type=PDF),
    "/locked.pdf": Answer(pdf([Text([BEES])], password="bees"), content_type=PDF),
    "/broken.pdf": Answer(b"%PDF-1.7 nothing", content_type=PDF),
    "/nothing.pdf": Answer("bees", content_type=PDF),
    "/picture.pdf": Answer(b"\x89PNG\r\n\x1a\n", content_type="image/png"),
    "/get?id=4": Answer(BOOK, content_type="application/octet-stream"),
    "/large.pdf": Answer(BOOK + b" " * 100_000, content_type=PDF),
}


SETTINGS = COUNTED | {"DOCUMENT_MAX_BYTES": "50000"}


def site_of(routes: dict[str, Route]) -> Site:
    """A site whose first page links to all these routes."""
    return Site({"/": page("Hello.", links=dict.fromkeys(routes, "document")), **routes})


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Crawl, Site]:
    """One crawl of all documents."""
    with serving(site_of(FILES | FAULTY | OTHERS)) as site:
        arguments = {"seeds": site.url, "documents": "yes", "markdown": "yes"}
        return crawl(tmp_path_factory.mktemp("documents"), arguments, SETTINGS), site


def linking_docx(url: str, before: str = "") -> dict[str, str | bytes]:
    """The files of a DOCX file with a link, after other elements."""
    relation = f'<Relationship Id="L" TargetMode="External" Target="{url}"/>'
    return {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {W} {R}><w:body>{before}{LINKED}</w:body></w:document>",
        "word/_rels/document.xml.rels": f"<Relationships>{relation}</Relationships>",
    }


def test_documents_are_items(crawled: tuple[Crawl, Site]) -> None:
    ended, site = crawled
    items = {item["url"].removeprefix(site.url.rstrip("/")): item for item in ended.items()}
    assert {path: item["content_type"] for path, item in items.items() if path not in OTHERS} == {
        "/": "text/html", "/bees.pdf": PDF, "/bees.docx": DOCX, "/bees.odt": ODT, "/bees.epub": EPUB,
        "/get?id=1": PDF, "/get?id=2": PDF, "/get?id=3": PDF,
    }  # fmt: skip
    for path in FILES:
        item = items[path]
        assert item["text"] == f"Of bees\n{BEES}", path
        assert item["markdown"] == f"# Of bees\n\n{BEES}"
        assert (item["title"], item["language"], item["extractor"]) == ("Of bees", "en", "document")
    book = items["/bees.pdf"]
    assert (book["author"], book["published"], book["page_count"]) == ("Ann Smith", "2000-01-01", 1)
    assert items["/"]["page_count"] is None


def test_what_is_no_document_or_none_with_text_is_counted_by_why(crawled: tuple[Crawl, Site]) -> None:
    assert crawled[0].outcomes() == {
        "unread_document/scanned": 1,
        "unread_document/encrypted": 1,
        "unread_document/broken": 1,
        "not_html/application/pdf": 1,
        "not_html/image/png": 1,
        "not_html/application/octet-stream": 1,
        "body_too_large": 1,
        "noindex": 1,
        "http_status/404": 1,
    }


def test_without_the_argument_documents_are_not_requested(tmp_path: Path) -> None:
    with serving(site_of({path: FILES[path] for path in ("/bees.pdf", "/get?id=1")})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, SETTINGS)
    assert site.paths("/robots.txt") == ["/", "/get?id=1"]
    assert ended.outcomes() == {"not_html/.pdf": 1, "not_html/application/pdf": 1}


def test_a_page_that_is_sent_as_a_document_is_a_page(crawled: tuple[Crawl, Site]) -> None:
    ended, site = crawled
    (item,) = [item for item in ended.items() if item["url"].endswith("/page.pdf")]
    assert (item["text"], item["made_from"]) == (BEES, "html")
    assert "/more" in site.paths()


def test_links_of_documents_are_followed_and_a_seed_may_be_one(tmp_path: Path) -> None:
    site = Site({"/more": page(BEES), "/most": page(f"{BEES} That is most of it.")})
    with serving(site):
        site.routes["/bees.docx"] = Answer(packed(linking_docx(f"{site.url}more")), content_type=DOCX)
        site.routes["/bees.pdf"] = Answer(pdf([Text([BEES])], links=[f"{site.url}most"]), content_type=PDF)
        ended = crawl(tmp_path, {"seeds": f"{site.url}bees.docx,{site.url}bees.pdf", "documents": "yes"})
    assert set(ended.paths_of(site)) == {"/bees.docx", "/more", "/bees.pdf", "/most"}


def test_a_new_round_finds_documents_unchanged_or_changed(tmp_path: Path) -> None:
    with serving(site_of({"/bees.pdf": FILES["/bees.pdf"], "/old.pdf": FILES["/bees.pdf"]})) as site:
        arguments = {"seeds": site.url, "documents": "yes"}
        crawl(tmp_path, arguments)
        new = pdf([Text(["Ants, bees"], size=18), Text([BEES], y=120)])
        site.routes["/bees.pdf"] = Answer(new, content_type=PDF)
        ended = crawl(tmp_path, arguments | {"refresh": "all"})
    changed = [item for item in ended.items() if item["change"] == "changed"]
    assert [item["title"] for item in changed] == ["Ants, bees"]


def test_a_crawl_goes_on_beside_a_large_document_that_is_read_slowly(tmp_path: Path) -> None:
    """Bytes of documents in work do not count for the limit above which no request is sent."""
    pages: dict[str, Route] = {f"/{number}": page(f"Hive {number}. {BEES}") for number in range(60)}
    site = Site({"/": page("Hello.", links=dict.fromkeys(pages, "page")), "/more": page(BEES), **pages})
    with serving(site):
        slow = "<w:p>" + "<w:r/>" * 1_000_000 + "</w:p>"
        files = linking_docx(f"{site.url}more", before=slow) | {"word/media/a": randbytes(25_000_000)}
        site.routes["/book.docx"] = Answer(packed(files), content_type=DOCX)
        ended = crawl(tmp_path, {"seeds": f"{site.url}book.docx,{site.url}", "documents": "yes"}, OPEN)
    assert len(ended.items()) == 63
    assert "/book.docx" in site.paths()[1:3]  # one of the two seeds
    assert site.paths()[-1] == "/more"  # the link in the document is known when it has been read
