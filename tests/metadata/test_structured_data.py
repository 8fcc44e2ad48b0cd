import json
import time

import pytest

from crawler.metadata.structured_data import (
    MAX_ALL_JSON,
    MAX_NODES,
    MAX_POSTS,
    Post,
    Structured,
    structured,
)
from crawler.page.head import MAX_JSON
from crawler.page.json_ld import MAX_DOCUMENTS, MAX_REPAIRED
from crawler.page.page import Page

NEWS = '{"@type": "NewsArticle", "headline": "Bees dance", "author": %s}'


def of(data: str, title: str = "") -> Structured:
    script = f'<script type="application/ld+json">{data}</script>'
    return structured(Page.from_html(f"<html><head><title>{title}</title>{script}</head><body><p>text"))


def test_headline() -> None:
    rows = [
        (NEWS % '"Ann"', "Bees dance"),
        ("[" + NEWS % '"Ann"' + "]", "Bees dance"),
        ('{"@graph": [{"@type": "WebPage", "name": "Page"}, ' + NEWS % '"Ann"' + "]}", "Bees dance"),
        ('{"@type": "QAPage", "mainEntity": {"@type": "Question", "name": "Do bees dance?"}}', "Do bees dance?"),
        ('{"@type": ["Thing", "BlogPosting"], "name": "Bees"}', "Bees"),
        ('{"@type": "Article", "headline": "Bees &amp; <i>wasps</i>\\n"}', "Bees & wasps"),
        (r'{"@type": "Article", "headline": "Bees \ud83d\udc1d \ud83d"}', "Bees \U0001f41d ?"),
        ('{"@type": "WebSite", "headline": "The Valley Post"}', ""),
        ('{"@type": "WebPage", "hasPart": ' + NEWS % '"Ann"' + "}", ""),
        ('{"@type": "ItemList", "itemListElement": [' + NEWS % '"Ann"' + "]}", ""),
        ('{"@type": "Article", "headline": 7, "text": ["a"]}', ""),
        ("{}", ""),
        ("", ""),
        ("null", ""),
        ("Bees", ""),
    ]
    for data, expected in rows:
        assert of(data).headline == expected


@pytest.mark.parametrize(
    ("title", "expected"), [("Wasps sing - Post", "Wasps sing"), ("The Valley Post", ""), ("Bees dance", "Bees dance")]
)
def test_of_several_articles_the_one_in_the_title(title: str, expected: str) -> None:
    assert of(f'[{NEWS % 1}, {{"@type": "Article", "headline": "Wasps sing"}}]', title).headline == expected


def test_mended() -> None:
    rows = [
        '{"@type": "Article", "headline": "Bees\ndance",}',
        '{"@type": "Article", "keywords": ["a", "b", ], "headline": "Bees dance"}',
        '{"@type": "Article", // the type\n"url": "https://example.org/", "headline": "Bees dance" // the title\n}',
        '//<![CDATA[\n{"@type": "Article", "headline": "Bees dance"}\n//]]>',
        '/*<![CDATA[*/{"@type": "Article", "headline": "Bees dance"}/*]]>*/',
        '<!-- {"@type": "Article", "headline": "Bees dance"} -->',
        '{"@type": "Article", "headline": "Bees dance"};',
        '{"@type": "Thing"} {"@type": "Article", "headline": "Bees dance"}',
        '{"@type": "Article", "headline": "Bees dance"}, "text": "a"}',
        r'{"@type": "Article", "text": "it\'s \uZZ \x", "headline": "Bees dance"}',
        '{"@type": "Article", "text": "an "ill" quote", "headline": "Bees dance"}',
    ]
    for data in rows:
        assert of(data).headline == "Bees dance"


def test_authors() -> None:
    rows = [
        ('"Ann Lee"', ("Ann Lee",)),
        ('{"@type": "Person", "name": " Ann  Lee "}', ("Ann Lee",)),
        ('[{"name": "Ann"}, "Bo", {"name": ["Cy", "Di"]}]', ("Ann", "Bo", "Cy", "Di")),
        ('[{"name": ""}, {"url": "x"}, 7, null]', ()),
        ("null", ()),
    ]
    for author, expected in rows:
        assert of(NEWS % author).authors == expected


def test_an_author_elsewhere() -> None:
    person = '{"@type": "Person", "@id": "#a", "name": "Ann Lee"}'
    assert of(f'{{"@graph": [{NEWS % json.dumps({"@id": "#a"})}, {person}]}}').authors == ("Ann Lee",)


def test_dates_of_articles_come_first() -> None:
    site = '{"@type": "WebSite", "datePublished": "2001-02-03"}'
    assert of(f'[{site}, {{"@type": "Article", "datePublished": "2024-05-06"}}]').dates == ("2024-05-06", "2001-02-03")


def test_types() -> None:
    rows = [
        (f'[{NEWS % 1}, {{"@type": "BreadcrumbList", "a": {{"@type": "Thing"}}}}]', ("NewsArticle", "BreadcrumbList")),
        ('{"@type": "Product", "brand": {"@type": "Brand"}}', ("Product",)),
        ('{"@type": ["Product", 7]}</script><script type=application/ld+json>{"@type": "Product"}', ("Product",)),
        ('{"@type": "Thing"}</script><script type=application/ld+json>' + NEWS % 1, ("NewsArticle", "Thing")),
        ("{}", ()),
    ]
    for data, expected in rows:
        assert of(data).types == expected


def test_posts_in_their_order() -> None:
    answers = [{"author": {"name": "Bo"}, "text": "Yes.", "comment": [{"text": "Sure?"}]}, {"text": " "}, "No.", None]
    thread = {"@type": "Question", "name": "Do bees dance?", "text": "Do they?", "author": "Ann"}
    thread |= {
        "datePublished": "2024-05-06",
        "acceptedAnswer": answers[0],
        "suggestedAnswer": [*answers[1:], {"text": "No."}],
    }
    found = of(json.dumps({"@type": "QAPage", "mainEntity": thread}))
    assert found.posts == (
        Post("Ann", "2024-05-06", "Do they?"),
        Post("Bo", "", "Yes."),
        Post("", "", "Sure?"),
        Post("", "", "No."),
    )
    assert found.body == "Do they?"


def test_body() -> None:
    assert of('{"@type": "Article", "headline": "B", "articleBody": "All of it."}').body == "All of it."
    assert of('{"@type": "Article", "headline": "B", "comment": [{"text": "Well."}]}').posts == ()


@pytest.mark.parametrize(("length", "expected"), [(MAX_JSON - 1, "B"), (MAX_JSON, "")])
def test_limit_of_a_script(length: int, expected: str) -> None:
    assert of('{"@type": "WebSite"}{"@type":"Article","name":"B","text":1}'.rjust(length)).headline == expected


@pytest.mark.parametrize(("length", "expected"), [(MAX_REPAIRED, "B"), (MAX_REPAIRED + 1, "")])
def test_limit_of_what_is_mended(length: int, expected: str) -> None:
    assert of('{"@type":"Article","name":"B","text":1,}'.rjust(length)).headline == expected


@pytest.mark.parametrize(("length", "expected"), [(MAX_JSON - 1, ""), (MAX_ALL_JSON % MAX_JSON - 100, "B")])
def test_limit_of_all_scripts(length: int, expected: str) -> None:
    filler = f'<script type="application/ld+json">{"{}".rjust(length)}</script>'
    head = f"{filler * 3}<script type=application/ld+json>{NEWS.replace('Bees dance', 'B') % 1}</script>"
    assert structured(Page.from_html(head)).headline == expected


@pytest.mark.parametrize(("count", "expected"), [(MAX_DOCUMENTS - 1, "B"), (MAX_DOCUMENTS, "")])
def test_limit_of_documents(count: int, expected: str) -> None:
    assert of('{"a": 1}\n' * count + '{"@type":"Article","name":"B","text":1}').headline == expected


@pytest.mark.parametrize(("count", "expected"), [(MAX_NODES - 2, "B"), (MAX_NODES - 1, "")])
def test_limit_of_nodes(count: int, expected: str) -> None:
    assert of("[" + "{}," * count + '{"@type":"Article","name":"B","text":1}]').headline == expected


def test_limit_of_posts() -> None:
    comments = [{"text": "a"}] * (MAX_POSTS + 5)
    thread = {"@type": "DiscussionForumPosting", "name": "B", "text": "b", "comment": comments}
    assert len(of(json.dumps(thread)).posts) == MAX_POSTS


def test_hostile_data_costs_little() -> None:
    rows = [
        "[" * 100_000 + '"headline"',
        '{"a":' * 100_000 + '"headline"',
        '{"headline": "' * 60_000,
        '"headline"' + ", " * 90_000,
        '"headline"' + " //" * 16_000 + '"',
        '"headline"' + " " * 49_000 + "/",
        '"headline"' + "\\" * 49_000,
        '{"@type": "QAPage", "headline": "a", "comment": [' + '{"comment": [' * 900,
        '{"@type":"Question","name":"a","text":"b","comment":' + '[{"text":"' * 400 + '"}]' * 400 + "}",
        '"headline"' + "1" * 190_000,
    ]
    for data in rows:
        page = Page.from_html(f'<script type="application/ld+json">{data}</script>' * 5)
        assert page.root is not None
        started = time.process_time()
        assert isinstance(structured(page), Structured)
        assert time.process_time() - started < 0.3  # measured at most 0.03
