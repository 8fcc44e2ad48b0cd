"""Dataset cards: the head that hubs read, and sentences in which nothing from the web is markup."""

import re
from typing import Any

import yaml
from export_pages import FIELDS, stored
from markdown_it import MarkdownIt

from crawler.contrib.corpus.dataset_card import LEGAL, LONGEST_TOPIC, dataset_card, size_category
from crawler.contrib.corpus.manifest import Contents, CrawlOrigin, KnownOrigin, Origin, manifest

HOSTILE = [
    "a\"b'c: d # e",
    "]]> \n---\nlicense: mit\n---\n# Heading",
    "`code` ``` <script>alert(1)</script>",
    "[x](javascript:alert(1)) ![y](http://a.example/z.png) https://a.example/ www.a.example",
    "a | b | c\n\n| - | - |",
    "\u202egone\x1b[2J\x85\u2028\ud800",
    "- item\n1. item\n> quote\n&lt;b&gt; \\`",
    "`" * 40,
    "a\n```\n# Heading\n<b>x</b>",
    "   ",
]
HEADINGS = "How it was made,Fields,Languages and domains,Rights,Personal data,Filters".split(",")
SHARD = {"name": "part-00000.parquet", "records": 1, "bytes": 1, "sha256": ""}


def card(
    pages: list[dict[str, Any]], count: int | None = None, topics: dict[str, str] | None = None, **more: Any
) -> str:
    """The card of a data set of these pages."""
    contents = Contents()
    for page in pages:
        contents.add({**stored(1).values, "extractor_version": "2:auto", **page})
    crawls = [CrawlOrigin(name, topic, 9, 1) for name, topic in (topics or {"bees": "honey"}).items()]
    about: dict[str, Any] = {"crawls": crawls, "fields": FIELDS}
    about |= {"options": {"--into": ["a"]}, "removed": {}, "masked": {}, "made_at": "2026-11-27T00:00:00+00:00"}
    shard = SHARD | {"records": len(pages) if count is None else count}
    return dataset_card(manifest(Origin(**about | more), contents, "parquet", [shard]))


def head(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return found


def test_the_head_is_what_hubs_read() -> None:
    pages = [{"language": one} for one in ("en", "no", "zh", "zh", None, "x: y")]
    assert head(card(pages)) == {
        "pretty_name": "bees: honey",
        "language": ["zh", "en", "no"],
        "license": "other",
        "size_categories": ["n<1K"],
        "task_categories": ["text-generation"],
        "configs": [{"config_name": "default", "data_files": "part-*.parquet"}],
    }


def test_a_licence_is_named_if_all_pages_have_it() -> None:
    rows = [
        (["CC-BY-4.0", "CC-BY-4.0"], {"license": "cc-by-4.0"}),
        (["CC-BY-4.0", None], {"license": "other"}),
        (["CC-BY-4.0", "CC-BY-SA-4.0"], {"license": "other"}),
        ([None], {"license": "other"}),
        ([], {"license": "other"}),
        (["CC-BY-3.0-AT"], {"license": "other", "license_name": "cc-by-3.0-at"}),
        (["null\nx: [y"], {"license": "other", "license_name": "null\nx: [y"}),
    ]
    for licences, expected in rows:
        found = head(card([{"rights": {"licence": one, "uses": {}}} for one in licences]))
        assert {name: value for name, value in found.items() if name.startswith("license")} == expected


def test_sizes_have_the_names_of_hubs() -> None:
    rows = [(0, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (10**9 - 1, "100M<n<1B"), (10**9, "n>1B")]
    for count, name in rows:
        assert size_category(count) == name
        assert head(card([{}], count))["size_categories"] == [name]


def test_nothing_from_the_web_is_markup() -> None:
    for text in HOSTILE:
        page = {
            "url": f"http://{text.replace('/', '')}/",
            "language": text,
            "extractor": text,
            "extractor_version": text,
        }
        page["rights"] = {"licence": text, "uses": {}}
        options = {"--into": [text], "--where": [text]}
        known = [KnownOrigin(text, 1, 0, 0)]
        found = card([page], topics={text: text}, removed={text: 3}, options=options, made_at=text, known_sources=known)
        found.encode("utf-8")
        before, front, body = found.split("---\n", 2)
        assert before == ""
        assert sorted(yaml.safe_load(front)) == sorted(
            ["pretty_name", "license", "license_name", "size_categories", "task_categories", "configs"]
        )
        parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")
        tokens = parser.parse(body)
        inline = [one for token in tokens for one in token.children or []]
        kinds = {one.type for one in (*tokens, *inline)}
        assert not kinds & {"html_block", "html_inline", "link_open", "image", "blockquote_open", "code_block", "hr"}
        assert kinds <= KINDS
        levels = [token.tag for token in tokens if token.type == "heading_open"]
        assert levels == ["h1", *["h2"] * len(HEADINGS)]
        assert sum(token.type == "fence" for token in tokens) == 1
        assert sum(token.type == "table_open" for token in tokens) == 2
        assert all(letter.isprintable() or letter == "\n" for letter in body)


KINDS = {"inline", "text", "softbreak", "code_inline", "fence", "heading_open", "heading_close"}
KINDS |= {f"{name}_{end}" for name in "paragraph bullet_list list_item".split() for end in ("open", "close")}
KINDS |= {f"{name}_{end}" for name in "table thead tbody tr th td".split() for end in ("open", "close")}


def test_the_sentences() -> None:
    found = card([{}], masked={"email": 2_000}, options={"--mask": ["email,ip"], "--keep": ["c4"]}, removed={"c4": 3})
    assert [line[3:] for line in found.split("\n") if line.startswith("## ")] == HEADINGS
    for part in (
        LEGAL,
        " `honey`.",
        "| `url` | The page's address, after redirects. |",
        "| search | 0 | 0 | 1 | 0 |",
        "- `a.example`: 1 page\n",
        "- `email`: 2,000 times\n- `ip`: 0 times",
        "- `--keep c4`",
        "- `c4`: 3 pages",
    ):
        assert part in found
    assert "Nothing was masked." in card([{}])
    assert "No filter was used." in card([{}])
    several = card([{}], topics={"bees": "honey", "wasps": ""})
    assert re.search("`bees` .*`honey`, `wasps` ", several)
    assert head(several)["pretty_name"] == "bees: honey; wasps"
    assert re.search("- `wasps`: 9 pages, 1 ", several)


def test_long_lists_and_topics_are_cut() -> None:
    pages = [{"language": f"a{chr(97 + n)}"} for n in range(21)]
    assert "- 1 more " in card(pages)
    assert " more in " not in card(pages[:20])
    assert "b" * LONGEST_TOPIC in card([{}], topics={"bees": "b" * 10_000})
    assert "b" * (LONGEST_TOPIC + 1) not in card([{}], topics={"bees": "b" * 10_000})
