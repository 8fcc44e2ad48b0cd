from crawler.metadata.structured_data import site_keys
from crawler.page.page import Page


def test_metas_by_any_of_their_names() -> None:
    page = Page.from_html('<meta property="OG:Title" name=author content=a><meta itemprop=headline content=b>')
    assert page.head.metas == {"og:title": "a", "author": "a", "headline": "b"}


def test_site_keys() -> None:
    rows = [
        ("", "", set()),
        ("", "https://www.valleypost.example:80/a", {"wwwvalleypostexample", "valleypostexample", "valleypost"}),
        ("<meta property=og:site_name content='The Valley-Post!'>", "", {"thevalleypost"}),
        ("<meta name=application-name content=河边网>", "x:", {"河边网"}),
    ]
    for html, url, expected in rows:
        assert expected <= site_keys(Page.from_html(html, url))
