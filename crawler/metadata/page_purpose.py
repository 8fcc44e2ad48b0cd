"""Whether a page serves something else than to be read: to log in, or to list other pages. Only sure signs count."""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from crawler.page.json_ld import json_documents
from crawler.page.page import Extraction, Page
from crawler.urls.parsing import route, site

SHORT = 400
"""Characters of main text from which a page with a log-in form is there for its text."""
LOGIN_WORDS = re.compile(
    r"\b(log|sign)[ _-]?(in|on|up)\b|userlogin|createaccount|wp-login|\bregist(er|rieren|ro|rati)|lost[ -]?password"
    r"|\banmeld|\bconnexion\b|\binscription\b|\biniciar sesi|\bentrar\b|\baccedi\b|\bвойти\b|\bвход\b"
    r"|登录|登入|注册|註冊|ログイン",
    re.IGNORECASE,
)
"""Words of titles and addresses. Many articles have a form at their side, so the form alone proves nothing."""
OF_ARCHIVES = ("category", "tag", "author", "date", "post-type-archive")
LISTS = tuple(
    map(
        frozenset,
        [
            *(("archive", kind) for kind in OF_ARCHIVES),
            ("home", "blog"),
            ("search", "search-results"),
            ("mediawiki", "ns-14"),
        ],
    )
)
"""Classes of the body that together name a list: of WordPress, and a category of MediaWiki."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4"))
WHOLLY = 0.9
"""Share of a heading that a link to an entry covers."""
SEVERAL = 3
"""Entries that make a list of any length."""
MOST_BEFORE = 200
"""Characters before the first entry, or a tenth of the text: related pages come after an article."""
LITTLE = 300
"""Characters of a list with fewer entries, such as the page of a tag that one post has."""
SINGLE = frozenset(("single", "singular", "page"))
LIST_TYPES = frozenset(("CollectionPage", "SearchResultsPage"))
TEXT_TYPES = re.compile(r"Article|Posting|Product|Recipe|Review|HowTo|FAQ|QAPage|Course|Event|Book|Report")


def is_login(page: Page, extraction: Extraction) -> bool:
    """Whether a page is a form to log in or to register, with little else."""
    if b"password" not in page.body.lower():
        return False
    has_field = any(one.get("type", "").lower() == "password" for one in page.root.iter("input"))
    return has_field and len(extraction.text) < SHORT and LOGIN_WORDS.search(f"{page.title} {page.url}") is not None


def is_listing(page: Page, extraction: Extraction) -> bool:
    """Whether a page is a list of other pages of its site, as it says itself or as its text shows."""
    if (is_list := _by_classes(page)) is not None:
        return is_list
    if _by_types(page):
        return True
    # Articles may end in a list of others.
    return (extraction.page_type != "article" or _is_linked(extraction)) and _shows_a_list(page, extraction)


def _by_classes(page: Page) -> bool | None:
    """Whether the classes of the body name a list; None if they do not say it.

    >>> [_by_classes(Page.from_html(f"<body class='{name}'>")) for name in ("archive tag", "single archive tag", "x")]
    [True, False, None]
    """
    body = page.root.find("body")
    classes = set(body.get("class", "").lower().split()) if body is not None else set()
    return not classes & SINGLE if any(classes >= names for names in LISTS) else None


def _by_types(page: Page) -> bool:
    """Whether JSON-LD says that the page is a list, and not that a list is somewhere on it or around it."""
    scripts = page.head.scripts
    if not any(name in script for script in scripts for name in LIST_TYPES):
        return False
    types = {kind for script in scripts for document in json_documents(script) for kind in _top_types(document)}
    return bool(types & LIST_TYPES) and not any(map(TEXT_TYPES.search, types))


def _top_types(document: Any) -> Iterator[str]:
    """The types of the nodes that are not parts of others."""
    graph = document.get("@graph", document) if isinstance(document, dict) else document
    for node in graph if isinstance(graph, list) else [graph]:
        given = node.get("@type") if isinstance(node, dict) else None
        yield from (kind for kind in (given if isinstance(given, list) else [given]) if isinstance(kind, str))


def _is_linked(extraction: Extraction) -> bool:
    """Whether most of the text is links."""
    kept = extraction.blocks
    return 2 * sum(block.linked for block in kept) > sum(len(block.text) for block in kept)


def _shows_a_list(page: Page, extraction: Extraction) -> bool:
    """Whether at least half of the headings of the text are links to other pages of the site, and they make up the
    text: there are several, from its beginning on, or there is little else.
    """
    kept = extraction.blocks
    headings = [block for block in kept if block.tag in HEADINGS and block.text]
    linked = [block for block in headings if block.linked >= WHOLLY * len(block.text)]
    if not linked or len(linked) < len(headings) / 2:
        return False
    targets = _targets(page)
    entries = {id(block): targets[id(block)] for block in linked if id(block) in targets}
    count = len(set(entries.values()))
    if not entries or count < len(headings) / 2:
        return False
    letters = sum(len(block.text) for block in kept)
    if count < SEVERAL:
        return letters < LITTLE and sum(len(block.text) for block in linked) >= letters / 5
    before = takewhile(lambda block: id(block) not in entries, kept)
    return sum(len(block.text) for block in before) <= max(MOST_BEFORE, letters / 10)


def _targets(page: Page) -> dict[int, str]:
    """For the id of each block, the first other page of the site that it links to."""
    ours, itself = site(page.url), page.url.partition("#")[0] + route(page.url)
    found: dict[int, str] = {}
    for link in page.links:
        if link.at < len(page.blocks) and link.url != itself and site(link.url) == ours:
            found.setdefault(id(page.blocks[link.at]), link.url)
    return found
