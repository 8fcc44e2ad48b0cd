"""Text files are pages of a crawl: plain text, mail, Markdown, and the lists of llms.txt; code and data are not."""

from pathlib import Path

import pytest
from sites import COUNTED, Answer, Crawl, Route, Site, crawl, page, serving

BEES = "Bees dance in the dark of the hive, and the others follow them to the flowers."
PLAIN, MARKDOWN = "text/plain; charset=utf-8", "text/markdown"
MAIL = f"From: Ann Smith <ann@bees.example>\nSubject: Bees\nDate: Thu, 02 May 2024 10:00:00 +0200\n\n{BEES}\n"
FIELDS = f"---\ntitle: Of bees\nauthor: Bob\ndate: 2024-05-03\n---\n\n{BEES} See [more](more.md).\n"
LIST = "# Bees\n\n> All about bees.\n\n## Manual\n\n- [Listed](/listed.md): about them\n- [Out](http://b.example/)\n"
ROUTES: dict[str, Route] = {
    "/bees.txt": Answer(BEES, content_type=PLAIN),
    "/gbk": Answer("蜜蜂在黑暗的蜂巢里跳舞，其他的蜜蜂跟着它飞到花丛中去。".encode("gbk"), content_type="text/plain"),
    "/mail": Answer(MAIL, content_type=PLAIN),
    "/bees.md": Answer(FIELDS, content_type=PLAIN),
    "/more.md": Answer(f"# More\n\n{BEES}", content_type=MARKDOWN),
    "/vague.md": Answer(f"# Vague\n\n{BEES}", content_type="application/octet-stream"),
    "/llms.txt": Answer(LIST, content_type=PLAIN),
    "/listed.md": Answer(f"# Listed\n\n{BEES}", content_type=MARKDOWN),
    "/code.txt": Answer("int main(void) {\n  return bees[0] + x;\n}\n", content_type=PLAIN),
    "/binary": Answer(b"\x00\x01\x02" * 100, content_type="text/plain"),
    "/page.txt": Answer(page(BEES), content_type="text/plain"),
    "/noindex.txt": Answer(BEES, content_type=PLAIN, headers={"X-Robots-Tag": "noindex"}),
    "/reserved.txt": Answer(BEES, content_type=PLAIN, headers={"tdm-reservation": "1"}),
    "/html.md": Answer(page(BEES)),
    "/wax.html": Answer(page("Bees make wax in the dark of the hive.", links={"/_sources/wax.md.txt": "Source"})),
    "/_sources/wax.md.txt": Answer("Bees make wax in the dark of the hive.", content_type=PLAIN),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Crawl, Site]:
    links = dict.fromkeys(ROUTES.keys() - {"/more.md", "/listed.md", "/_sources/wax.md.txt"}, "on")
    site = Site({"/": page("Hello.", links=links), **ROUTES})
    with serving(site):
        return crawl(tmp_path_factory.mktemp("texts"), {"seeds": site.url}, COUNTED), site


def test_text_files_are_items(crawled: tuple[Crawl, Site]) -> None:
    ended, site = crawled
    items = {item["url"].removeprefix(site.url.rstrip("/")): item for item in ended.items()}
    kinds = {path: item["content_type"] for path, item in items.items()}
    assert kinds == {
        "/": "text/html", "/bees.txt": "text/plain", "/gbk": "text/plain", "/mail": "text/plain",
        "/bees.md": "text/markdown", "/more.md": "text/markdown", "/vague.md": "text/markdown",
        "/listed.md": "text/markdown", "/reserved.txt": "text/plain", "/html.md": "text/html", "/wax.html": "text/html",
    }  # fmt: skip
    assert items["/bees.txt"]["text"] == BEES
    assert items["/gbk"]["text"].startswith("蜜蜂在黑暗的蜂巢里跳舞")
    mail, fields = items["/mail"], items["/bees.md"]
    assert (mail["title"], mail["author"], mail["published"]) == ("Bees", "Ann Smith", "2024-05-02")
    assert (fields["title"], fields["author"], fields["published"]) == ("Of bees", "Bob", "2024-05-03")
    assert {items[path]["extractor"] for path in ("/mail", "/bees.md", "/bees.txt")} == {"document"}
    assert items["/listed.md"]["via"] == "sitemap"
    assert items["/reserved.txt"]["rights"]["uses"]["ai-train"] == "disallowed"


def test_what_is_no_text_is_counted_by_why(crawled: tuple[Crawl, Site]) -> None:
    counts = {"unread_document/broken": 2, "unread_document/no_sentences": 1, "noindex": 1, "outside_scope": 1}
    counts["source_of_page"] = 1
    assert crawled[0].outcomes() == counts


def test_an_llms_list_as_the_seed_leads_to_its_pages(tmp_path: Path) -> None:
    site = Site(ROUTES)
    with serving(site):
        ended = crawl(tmp_path, {"seeds": f"{site.url}llms.txt", "max_pages": "5"}, COUNTED)
    assert [(item["url"], item["via"]) for item in ended.items()] == [(f"{site.url}listed.md", "sitemap")]
