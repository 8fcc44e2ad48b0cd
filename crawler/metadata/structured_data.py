"""The data about a page in its JSON-LD (https://schema.org), parsed once; and the names of its site.

A top node is at the top level, in its @graph, or the mainEntity or mainEntityOfPage of a top node. The main node is the
top node that is the subject of the page: an article, a thread or a question. Entries of lists, related articles and the
like are in other places.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from html import unescape
from itertools import islice
from typing import Any

from crawler.page.head import MAX_HEADLINE, MAX_JSON, MAX_LINE
from crawler.page.json_ld import MAX_DOCUMENTS, json_documents
from crawler.page.page import Page
from crawler.page.text import fold_space

MAX_ALL_JSON = 500_000  # characters of all JSON-LD scripts read
MAX_NODES = 5_000
MAX_POSTS = 1_000
MAX_AUTHORS = 10
MAX_UNPARSED = 10  # values of a key in a script that cannot be parsed

ARTICLE = re.compile("Article|Posting|Report|Review$|Recipe")
THREAD = re.compile("DiscussionForumPosting|SocialMediaPosting|Question|QAPage")
# If a script has none of these words, only its first type is read.
_TELLING = re.compile(r'"(?:datePublished|pubDate|headline|author|articleBody|text)"|Article"|Posting"|Question"')
_FIRST_TYPE = re.compile(r'"@type"\s*+:\s*+"([^"]{1,60})"')
_TO_MAIN = ("@graph", "mainEntity", "mainEntityOfPage")
_TO_POSTS = ("acceptedAnswer", "suggestedAnswer", "comment")
# The values that are read from JSON that cannot be parsed.
_UNPARSED_VALUES = {
    key: re.compile(rf'"{key}"\s*+:\s*+"((?:[^"\\\n]|\\.){{1,{limit}}}+)"')
    for key, limit in (("datePublished", 40), ("headline", MAX_HEADLINE))
}


@dataclass(frozen=True, slots=True)
class Post:
    """One of the posts, answers or comments of a page."""

    author: str
    date: str
    text: str


@dataclass(frozen=True, slots=True)
class Structured:
    """The content of a page's JSON-LD; missing parts are empty."""

    _: KW_ONLY
    types: tuple[str, ...] = ()
    """The types of the top nodes, such as NewsArticle or Product; then the types of scripts that tell nothing else."""
    headline: str = ""
    authors: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    """The publication dates as written, those of articles first."""
    body: str = ""
    """The text of the article or of the first post, which may contain HTML."""
    posts: tuple[Post, ...] = ()


def structured(page: Page) -> Structured:
    """The content of a page's JSON-LD, parsed once."""
    return page.once(_structured)


def _structured(page: Page) -> Structured:
    """The content of a page's JSON-LD."""
    documents: list[Any] = []
    unparsed: list[str] = []
    other_types: list[str] = []
    characters_left = MAX_ALL_JSON
    for script in page.head.scripts:
        characters_left -= len(script)
        if characters_left < 0:
            break
        if not _TELLING.search(script):
            first_type = _FIRST_TYPE.search(script)
            if first_type:
                other_types.append(first_type[1])
            continue

        documents_of_script: list[Any] = []
        if len(script) < MAX_JSON:  # a longer script is cut, and cannot be parsed
            documents_of_script = json_documents(script)
        documents += documents_of_script
        if not documents_of_script:
            unparsed.append(script)
    if not documents and not unparsed:
        return Structured(types=tuple(dict.fromkeys(other_types)))
    data = _read(documents, unparsed, page)
    return replace(data, types=tuple(dict.fromkeys((*data.types, *other_types))))


def _read(documents: list[Any], unparsed: list[str], page: Page) -> Structured:
    """The content of JSON-LD documents, and of scripts that cannot be parsed."""
    tops, name_by_id, dates = _nodes(documents)
    for script in unparsed:
        is_article = bool(ARTICLE.search(script))
        dates += [(is_article, date) for date in _unparsed_values("datePublished", script)]
    dates_of_articles = [date for is_of_article, date in dates if is_of_article]
    other_dates = [date for is_of_article, date in dates if not is_of_article]
    dates_as_written = (*dates_of_articles, *other_dates)
    types = tuple(dict.fromkeys(kind for node in tops for kind in _types(node)))

    main = _main(tops, page)
    if main is None:
        articles = [script for script in unparsed if ARTICLE.search(script)]
        headlines = [line for script in articles for line in _unparsed_values("headline", script)]
        headline = plain(headlines[0]) if len(set(headlines)) == 1 else ""
        return Structured(types=types, headline=headline, dates=dates_as_written)

    body = main.get("articleBody") or main.get("text")
    posts: Iterator[Post] = iter(())
    if THREAD.search(" ".join(_types(main))):
        posts = _posts(main, name_by_id)
    return Structured(
        types=types,
        headline=plain(_headline(main)),
        authors=tuple(islice(_names(main.get("author"), name_by_id), MAX_AUTHORS)),
        dates=dates_as_written,
        body=body if isinstance(body, str) else "",
        posts=tuple(islice(posts, MAX_POSTS)),
    )


def _nodes(documents: list[Any]) -> tuple[list[dict[str, Any]], dict[str, str], list[tuple[bool, str]]]:
    """The top nodes; the names of nodes by `@id`; and the publication dates of all nodes, outermost first, each with
    whether it is an article's.
    """
    tops: list[dict[str, Any]] = []
    name_by_id: dict[str, str] = {}
    dates: list[tuple[bool, str]] = []
    # Each value, with whether it is a top node or a list of top nodes.
    queue: deque[tuple[Any, bool]] = deque((document, True) for document in documents)
    for _ in range(MAX_NODES):
        if not queue:
            break
        node, is_top = queue.popleft()
        if isinstance(node, list):
            queue.extend((child, is_top) for child in node[:MAX_NODES] if isinstance(child, dict | list))
        elif isinstance(node, dict):
            if is_top:
                tops.append(node)

            # Its date, its name and its children.
            date = node.get("datePublished") or node.get("pubDate")
            if isinstance(date, str):
                dates.append((any(map(ARTICLE.search, _types(node))), date[:MAX_LINE]))
            name = node.get("name")
            node_id = node.get("@id")
            if isinstance(name, str) and isinstance(node_id, str):
                name_by_id.setdefault(node_id, name)
            for key, child in node.items():
                if isinstance(child, dict | list):
                    queue.append((child, is_top and key in _TO_MAIN))
    return tops, name_by_id, dates


def as_list(value: Any) -> list[Any]:
    """A value of JSON-LD as a list: a single value may stand without brackets."""
    return value if isinstance(value, list) else [value]


def _types(node: dict[str, Any]) -> list[str]:
    """The types of a node."""
    return [kind for kind in as_list(node.get("@type")) if isinstance(kind, str)][:MAX_DOCUMENTS]


def _main(tops: list[dict[str, Any]], page: Page) -> dict[str, Any] | None:
    """The main node; None if there is none, or if there are several and the title of the page names none of them."""
    nodes = [
        node
        for node in tops
        if any(ARTICLE.search(kind) or THREAD.search(kind) for kind in _types(node)) and _headline(node)
    ]
    if len({_headline(node) for node in nodes}) > 1:
        title = page.title[:MAX_HEADLINE]
        nodes = [node for node in nodes if plain(_headline(node)) in title]
    # The same article may occur twice: the node with more keys has more content.
    return max(nodes, key=len, default=None)


def _headline(node: dict[str, Any]) -> str:
    """A node's headline, else its name."""
    for key in ("headline", "name"):
        value = node.get(key)
        if isinstance(value, str) and value.strip():
            return value[:MAX_HEADLINE]
    return ""


def _names(value: Any, name_by_id: dict[str, str]) -> Iterator[str]:
    """The names of authors, which may be texts, nodes or references to nodes."""
    for author_value in as_list(value)[:MAX_AUTHORS]:
        if isinstance(author_value, dict):
            author_value = author_value.get("name") or name_by_id.get(str(author_value.get("@id")))
        for name in as_list(author_value)[:MAX_AUTHORS]:
            if isinstance(name, str) and name.strip():
                yield plain(name)


def _posts(main: dict[str, Any], name_by_id: dict[str, str]) -> Iterator[Post]:
    """The posts of a thread in their order; the answers to a post follow it."""
    waiting = [main]
    for _ in range(MAX_NODES):
        if not waiting:
            break
        node = waiting.pop()
        text = node.get("text") or node.get("articleBody")
        if isinstance(text, str) and text.strip():
            date = node.get("datePublished") or node.get("dateCreated")
            author = next(_names(node.get("author"), name_by_id), "")
            yield Post(author=author, date=date[:MAX_LINE] if isinstance(date, str) else "", text=text)
        replies: list[Any] = []
        for key in _TO_POSTS:
            replies += as_list(node.get(key))[:MAX_POSTS]
        waiting += [reply for reply in reversed(replies) if isinstance(reply, dict)]


def _unparsed_values(key: str, script: str) -> list[str]:
    """The values of a key in JSON that cannot be parsed, with escaped plus signs (as in dates) and slashes decoded."""
    values = islice(_UNPARSED_VALUES[key].finditer(script), MAX_UNPARSED)
    return [re.sub(r"\\u002b", "+", value[1], flags=re.IGNORECASE).replace("\\/", "/") for value in values]


MAX_LABELS = 5  # how many domains of a host count as names of its site, e.g. www.a.example, a.example and example
_SITE_NAMES = ("og:site_name", "application-name")
_TAG = re.compile(r"<[^<>]{1,300}>")
_HOST = re.compile(r"https?://([^/:?#]{1,253})")
_NO_LETTERS = re.compile(r"[\W_]+")


def site_keys(page: Page) -> frozenset[str]:
    """The names of the page's site, from its metadata and its host, each reduced to its letters."""
    return page.once(_site_keys)


def letters(text: str) -> str:
    """The letters and digits of a text, in lower case.

    >>> letters("The Valley-Post!")
    'thevalleypost'
    """
    return _NO_LETTERS.sub("", text.casefold())


def plain(text: str) -> str:
    """A line of text without the entities and tags that some pages leave in plain text.

    >>> plain("Bees &amp; <i>wasps</i>")
    'Bees & wasps'
    """
    text = text[: 2 * MAX_HEADLINE].encode("utf-8", "replace").decode()  # JSON can contain halves of surrogate pairs
    if "&" in text or "<" in text:
        text = _TAG.sub("", unescape(text))
    return fold_space(text)


def _site_keys(page: Page) -> frozenset[str]:
    """The names of a page's site, each reduced to its letters."""
    metas = page.head.metas
    host = _HOST.match(page.url)
    labels = host[1].split(".") if host else [""]
    names = [metas.get(name, "") for name in _SITE_NAMES] + labels
    names += [".".join(labels[number:]) for number in range(min(len(labels), MAX_LABELS))]
    return frozenset(map(letters, names)) - {""}
