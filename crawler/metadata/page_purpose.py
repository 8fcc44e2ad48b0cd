"""Recognises pages that are not for reading: forms to log in, and lists of other pages. Only sure signs count.

A list has entries, which are titles that link to other pages of the site. An entry may have a date, a count, and a
teaser, which is the beginning of the other page. A page is a list if its markup says so, or if its text mostly consists
of entries. The text of a page is what the extraction kept of it (`kept`). Blocks are looked up by their `id`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

from lxml.etree import _Element

from crawler.metadata.date_notation import dates, has_digits_of_a_date
from crawler.metadata.structured_data import as_list
from crawler.page.blocks import Block
from crawler.page.json_ld import json_documents
from crawler.page.links import Link
from crawler.page.page import Extraction, Page, PageType
from crawler.page.text import width
from crawler.urls.address import address_of
from crawler.urls.parsing import host_of, route

SHORT = 400
"""From this many characters of text on, a page with a login form is a text, and not a login."""
LOGIN_WORDS = re.compile(
    r"\b(log|sign)[ _-]?(in|on|up)\b|userlogin|createaccount|wp-login|\bregist(er|rieren|ro|rati)|lost[ -]?password"
    r"|\banmeld|\bconnexion\b|\binscription\b|\biniciar sesi|\bentrar\b|\baccedi\b|\bвойти\b|\bвход\b"
    r"|登录|登入|注册|註冊|ログイン",
    re.IGNORECASE,
)
"""Words in the titles and addresses of logins. Many articles have a form beside the text, so a form alone proves
nothing.
"""
TYPED = frozenset(("text", "email", "tel", "number", "search", "password"))
"""Types of fields that a reader types into."""
ARCHIVE_CLASSES = ("category", "tag", "author", "date", "post-type-archive")
LIST_CLASSES = tuple(
    map(
        frozenset,
        [
            *(("archive", kind) for kind in ARCHIVE_CLASSES),
            ("home", "blog"),
            ("search", "search-results"),
            ("mediawiki", "ns-14"),
        ],
    )
)
"""Classes of the body that together mark a list: lists of WordPress, and categories of MediaWiki."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4"))
WHOLLY = 0.9
"""From this share of link text on, a line is wholly a link (`ListEntry.is_whole`)."""
FEW_TEASERS_SHARE = 0.9
"""The least share of the text that fewer than SEVERAL teasers must have."""
SEVERAL = 3
"""From this many entries on, a list may have any length."""
MOST_BEFORE = 200
"""The most characters before the first entry of a list, or a tenth of the text if that is more: entries after more text
are related pages below an article.
"""
LITTLE_TEXT = 300
"""The most characters of a list with fewer than SEVERAL entries, such as the page of a tag that only one post has."""
MOST_OTHER_TEXT = 60
"""The most characters of a list besides its entries, such as the name of the list and the number of entries."""
LONGEST_DATE = 40
"""The most characters of a line that is a date, with a word or the time beside it."""
NARROWEST_TITLE = 15
"""The least width of the title of a post."""
LETTERS_OF_CHARACTER = 3
"""The width of a Chinese character, which says as much as three letters. Any other character has the width 1."""
SAME_BEGINNING = 20
"""How many characters at the beginning of a block are looked for in the title of the page."""
LONGEST_LINE = 100
"""The most characters of a line that is not prose."""
LONGEST_COUNT = 6
"""The most characters of the number beside a link that counts the pages behind it."""
COUNT = re.compile(r"\d+\W?$")
"""The number of pages at the end of a line, as in a list of tags."""
DAY = re.compile(r"(?<!\d)(?:0\d|1[012])[-/.](?:0[1-9]|[12]\d|3[01])(?!\d)")
"""A day without its year, as in a list by years."""
MOST_ENTRY_SHARE = 0.6
"""The largest share of the text that one entry of a list has; more is an article with related pages in it."""
LEAST_LIST_SHARE = 0.6
"""The least share of the text that the rows of a list have, or its teasers if there are SEVERAL or more."""
FEWEST_ROWS = 5
"""The least number of rows of an index."""
NARROWEST_ROW = 8
"""The least width of the title of a row. The names of authors are often narrower, and a thread has few authors."""
MOST_ROW_TEXT = 250
"""The most characters outside of links that a row may have besides its title."""
MAY_LIST_POSTS = frozenset(("", PageType.ARTICLE, PageType.COLLECTION, PageType.LISTING))
"""Types of pages that may be lists of posts; the posts of a forum have links and dates, too."""
HAS_LITTLE_TEXT = frozenset((PageType.PRODUCT, PageType.SERVICE, PageType.DOCUMENTATION))
"""Types of pages that may have next to no text."""
LEAST_TEASER_TEXT = 40
"""The least number of characters outside of links in a teaser."""
MOST_TEASER_LINES = 20
"""The most lines from the title of a page to the link to the rest of its text."""
MOST_BETWEEN = 8
"""At most this many lines below a title may be its date or text; author, category and tags may come between."""
CLOUD = 10
"""The least number of links in a line that is a cloud of tags."""
BESIDE = frozenset(("nav", "aside", "footer"))
"""Elements beside the text."""
SINGLE = frozenset(("single", "singular", "page"))
"""Classes of the body that mark a single page of WordPress."""
LIST_TYPES = frozenset(("CollectionPage", "SearchResultsPage"))
"""Types of JSON-LD that mark a list."""
TEXT_TYPES = re.compile(r"Article|Posting|Product|Recipe|Review|HowTo|FAQ|QAPage|Course|Event|Book|Report")
"""Types of JSON-LD and of og:type that mark a text."""


@dataclass(frozen=True)
class ListEntry:
    """A line of a list: the title of another page, which is a link to it."""

    target: str
    """The address of the other page."""
    is_dated: bool
    """Whether a date is in the line or beside it."""
    is_whole: bool
    """Whether the line is wholly a link."""
    width: int
    """The width of the text in letters, see LETTERS_OF_CHARACTER."""
    links: int
    """How many links the line has."""

    @property
    def is_dated_title(self) -> bool:
        """Whether the line may be the title of a post with a date, and not the name of an author or a category."""
        return self.is_dated and self.is_whole and self.links == 1 and self.width >= NARROWEST_TITLE


def is_login(page: Page, extraction: Extraction) -> bool:
    """Whether a page has little else than a form to log in or to register, or to enter the password of its text."""
    # Most pages are ruled out without reading their elements.
    if b"password" not in page.body.lower() or len(extraction.text) >= SHORT:
        return False
    fields = [field for field in page.root.iter("input") if field.get("type", "").lower() == "password"]
    if not fields:
        return False
    return LOGIN_WORDS.search(f"{page.title} {page.url}") is not None or any(map(_asks_for_password_only, fields))


def _asks_for_password_only(field: _Element) -> bool:
    """Whether the form of a password field has no other field to type into, as on a page protected by a password."""
    form = next(field.iterancestors("form"), None)
    if form is None:
        return False
    return not any(other is not field and other.get("type", "text").lower() in TYPED for other in form.iter("input"))


@dataclass(frozen=True)
class _ListingTest:
    """The test whether a page is a list. `Page.once` caches its result for each extraction."""

    extraction: Extraction

    def __call__(self, page: Page) -> bool:
        is_list = _is_list_by_classes(page)
        if is_list is not None:
            return is_list
        if _is_list_by_types(page):
            return True
        return _shows_a_list(page, self.extraction)


def is_listing(page: Page, extraction: Extraction) -> bool:
    """Whether a page is a list of other pages of its site, according to its markup or its text; tested once."""
    return page.once(_ListingTest(extraction))


def page_type(page: Page, extraction: Extraction) -> str:
    """The type of a page: a listing if it is a list, otherwise the type of its text."""
    if extraction.page_type == PageType.COLLECTION or page.document is not None:
        return extraction.page_type
    if is_listing(page, extraction):
        return PageType.LISTING.value
    return extraction.page_type


def has_only_names(page: Page, extraction: Extraction) -> bool:
    """Whether the text of a page is only a few words in headings and links, such as the names of site and page."""
    if page.document is not None or extraction.page_type in HAS_LITTLE_TEXT or _is_text_by_head(page):
        return False
    kept = extraction.blocks
    if not kept or sum(width(block.text, LETTERS_OF_CHARACTER) for block in kept) > MOST_OTHER_TEXT:
        return False
    return not _unlinked_length(block for block in kept if block.tag not in HEADINGS)


def _is_list_by_classes(page: Page) -> bool | None:
    """Whether the classes of the body mark a list; None if they say nothing about it.

    >>> pages = [Page.from_html(f"<body class='{names}'>") for names in ("archive tag", "single archive tag", "x")]
    >>> [_is_list_by_classes(page) for page in pages]
    [True, False, None]
    """
    body = page.root.find("body")
    if body is None:
        return None
    classes = set(body.get("class", "").lower().split())
    if any(classes >= names for names in LIST_CLASSES):
        return not classes & SINGLE
    return None


def _is_list_by_types(page: Page) -> bool:
    """Whether JSON-LD says that the page itself is a list, and not only that it has a list or belongs to one."""
    scripts = page.head.scripts
    if not any(name in script for script in scripts for name in LIST_TYPES):
        return False
    types = {kind for script in scripts for document in json_documents(script) for kind in _top_types(document)}
    return bool(types & LIST_TYPES) and not any(map(TEXT_TYPES.search, types))


def _top_types(document: Any) -> Iterator[str]:
    """The types of the nodes that are not parts of other nodes."""
    graph = document
    if isinstance(document, dict):
        graph = document.get("@graph", document)
    for node in as_list(graph):
        if isinstance(node, dict):
            yield from (kind for kind in as_list(node.get("@type")) if isinstance(kind, str))


def _is_mostly_links(extraction: Extraction) -> bool:
    """Whether most of the text is links."""
    kept = extraction.blocks
    return 2 * sum(block.linked for block in kept) > sum(len(block.text) for block in kept)


def _shows_a_list(page: Page, extraction: Extraction) -> bool:
    """Whether the text consists of entries, in one of several forms: linked headings, lines, rows or teasers."""
    kept = extraction.blocks
    entries = page.once(_entries)
    if not entries:
        return False
    if _has_linked_headings(page, kept, entries) and (
        extraction.page_type != PageType.ARTICLE or _is_mostly_links(extraction)
    ):
        return True
    return (
        _has_linked_text(page, kept, entries)
        or _has_rows(page, kept, entries)
        or _has_teasers(page, extraction, entries)
        or _begins_with_entries(page, extraction, entries)
        or _has_no_text(page, extraction, entries)
    )


def _has_linked_headings(page: Page, kept: Sequence[Block], entries: Mapping[int, ListEntry]) -> bool:
    """Whether at least half of the headings of the text are entries. Several of them must begin near the start of the
    text; fewer must be at least a fifth of a short text.
    """
    headings = [block for block in kept if block.tag in HEADINGS and block.text]
    linked = [block for block in headings if id(block) in entries]
    targets = {entries[id(block)].target for block in linked}
    if not linked or len(targets) < len(headings) / 2:
        return False
    length = _length(kept)
    if len(targets) < SEVERAL:
        return length < LITTLE_TEXT and _length(linked) >= length / 5
    return _length_before(page, kept, linked[0]) <= max(MOST_BEFORE, length / 10)


def _has_linked_text(page: Page, kept: Sequence[Block], entries: Mapping[int, ListEntry]) -> bool:
    """Whether the text is several entries with their dates, and only a few other words."""
    targets = {entries[id(block)].target for block in kept if id(block) in entries}
    if len(targets) < SEVERAL:
        return False
    own = _own_text(page, kept, entries)
    return _length(own) <= max(MOST_OTHER_TEXT, _length(kept) / 10)


def _has_rows(page: Page, kept: Sequence[Block], entries: Mapping[int, ListEntry]) -> bool:
    """Whether most of the text is rows that begin with the title of another page, as in an index of threads.

    Besides the title, a row has names, dates and counts, but little text.
    """
    titles_at = []
    for at, block in enumerate(kept):
        entry = entries.get(id(block))
        if entry and entry.is_whole and entry.links == 1 and entry.width >= NARROWEST_ROW:
            titles_at.append(at)
    targets = {entries[id(kept[at])].target for at in titles_at}
    if len(targets) < FEWEST_ROWS:
        return False
    length = _length(kept)
    if _length(kept[: titles_at[0]]) > max(MOST_BEFORE, length / 10):
        return False

    # A row ends before the next title.
    rows = (kept[start:end] for start, end in pairwise([*titles_at, len(kept)]))
    of_rows = sum(_length(row) for row in rows if _unlinked_length(row[1:]) <= MOST_ROW_TEXT)
    return of_rows >= LEAST_LIST_SHARE * length


def _own_text(page: Page, kept: Sequence[Block], entries: Mapping[int, ListEntry]) -> list[Block]:
    """The text without headings, entries, dates, and the lines with date and author that follow entries."""
    timed_elements = {element.getparent() for element in page.metadata_elements("time")}
    dates_of_entries = {
        id(line)
        for entry, line in pairwise(page.blocks)
        if id(entry) in entries and id(line) not in entries and _is_date_line(line, timed_elements)
    }
    return [
        block
        for block in kept
        if id(block) not in entries and id(block) not in dates_of_entries
        if block.tag not in HEADINGS and not _is_date(block, timed_elements)
    ]


def _begins_with_entries(page: Page, extraction: Extraction, entries: Mapping[int, ListEntry]) -> bool:
    """Whether the text begins with the title of another page and its date, as in a list of posts with teasers.

    The title must be a heading; or there must be several titles, and no part between them may be most of the text.
    """
    if extraction.page_type not in MAY_LIST_POSTS or _is_text_by_head(page):
        return False
    kept = extraction.blocks
    titles = list(_dated_titles(page, kept, entries))
    if not titles or _length_before(page, kept, titles[0]) > MOST_OTHER_TEXT:
        return False
    has_several = len({entries[id(block)].target for block in titles}) >= SEVERAL
    if has_several and _longest_part(page, kept, titles) <= MOST_ENTRY_SHARE * _length(kept):
        return True
    return titles[0].tag in HEADINGS


def _has_teasers(page: Page, extraction: Extraction, entries: Mapping[int, ListEntry]) -> bool:
    """Whether the text consists of teasers: the beginnings of other pages, each between the title of its page and a
    link to the rest.
    """
    if extraction.page_type not in MAY_LIST_POSTS or _is_text_by_head(page):
        return False

    # The teasers that are in the text.
    teasers = [page.blocks[first : last + 1] for first, last in _teaser_bounds(page, entries)]
    if not teasers:
        return False
    kept = {id(block) for block in extraction.blocks}
    beside = _elements_beside(page, extraction.blocks)
    teasers = [
        teaser
        for teaser in teasers
        if not _is_beside(teaser[0], beside) and not _holds_a_title(page, teaser[1:-1], entries)
    ]
    kept_teasers = [teaser for teaser in teasers if any(id(block) in kept for block in teaser)]
    if not kept_teasers:
        return False

    # Whether they make up the text.
    titles = [teaser[0] for teaser in kept_teasers]
    has_several = len({entries[id(title)].target for title in titles}) >= SEVERAL
    length = _length(extraction.blocks)
    of_teasers = _length(block for teaser in kept_teasers for block in teaser if id(block) in kept)
    begins_with_them = _length_before(page, extraction.blocks, titles[0]) <= max(MOST_OTHER_TEXT, length / 10)
    least_share = LEAST_LIST_SHARE if has_several else FEW_TEASERS_SHARE
    return begins_with_them and of_teasers >= least_share * length


def _teaser_bounds(page: Page, entries: Mapping[int, ListEntry]) -> Iterator[tuple[int, int]]:
    """The first and last block of each teaser: a title that links to another page, and a later link to the same page,
    with some text between them.

    The last link must have another text than the title: a tag or a related page may be linked above and below a text,
    but with the same text.
    """
    links_at: defaultdict[int, list[Link]] = defaultdict(list)
    for link in page.links:
        links_at[link.at].append(link)
    beginning_of_parts = page.url.rstrip("/") + "/"  # parts of the page, such as its print version
    end_of_last = -1
    for at, block in enumerate(page.blocks):
        # The title.
        entry = entries.get(id(block))
        if entry is None or at <= end_of_last or not entry.is_whole or entry.links > 1:
            continue
        is_title = block.tag in HEADINGS or entry.width >= NARROWEST_TITLE
        if not is_title or entry.target.startswith(beginning_of_parts):
            continue

        # The link to the rest of the text.
        for below in range(at + 1, at + MOST_TEASER_LINES + 1):
            has_other_text = any(
                link.url == entry.target and link.text not in block.text for link in links_at.get(below, ())
            )
            if has_other_text and _unlinked_length(page.blocks[at + 1 : below + 1]) >= LEAST_TEASER_TEXT:
                yield at, below
                end_of_last = below
                break


def _holds_a_title(page: Page, blocks: Sequence[Block], entries: Mapping[int, ListEntry]) -> bool:
    """Whether these blocks contain the title of the page itself or of another page, as the blocks below a menu do."""
    for entry in (entries[id(block)] for block in blocks if id(block) in entries):
        if entry.is_whole and entry.links == 1 and entry.width >= NARROWEST_TITLE:
            return True
    own = [block for block in blocks if block.text and not block.linked]
    return any(block.tag == "h1" or block.text[:SAME_BEGINNING] in page.title for block in own)


def _unlinked_length(blocks: Iterable[Block]) -> int:
    """How many characters blocks have outside of links."""
    return sum(len(block.text) - block.linked for block in blocks)


def _is_text_by_head(page: Page) -> bool:
    """Whether the head of the page declares the type of a text, such as an article.

    >>> _is_text_by_head(Page.from_html("<meta property='og:type' content='article'>"))
    True
    """
    return TEXT_TYPES.search(page.meta.get("og:type", "").capitalize()) is not None


def _longest_part(page: Page, kept: Sequence[Block], titles: Sequence[Block]) -> int:
    """How many characters the longest part of the text between two titles has."""
    is_title = {id(block) for block in titles}
    is_kept = {id(block) for block in kept}
    longest = 0
    part = 0
    for block in page.blocks:
        if id(block) in is_title:
            part = 0
        elif id(block) in is_kept:
            part += len(block.text)
            longest = max(longest, part)
    return longest


def _dated_titles(page: Page, kept: Sequence[Block], entries: Mapping[int, ListEntry]) -> Iterator[Block]:
    """The entries with dates that are in the text, or a few lines above it if the extraction left out the title."""
    if not any(entry.is_dated_title for entry in entries.values()):
        return
    is_kept = {id(block) for block in kept}
    beside = _elements_beside(page, kept)
    title_above = None
    lines_below = 0
    for block in page.blocks:
        lines_below += 1
        if id(block) in entries and entries[id(block)].is_dated_title and not _is_beside(block, beside):
            if id(block) in is_kept:
                yield block
                title_above = None
            else:
                title_above = block
                lines_below = 0
        elif block.tag in HEADINGS and id(block) not in entries:
            title_above = None
        elif id(block) in is_kept and title_above is not None and lines_below <= MOST_BETWEEN:
            yield title_above
            title_above = None


def _has_no_text(page: Page, extraction: Extraction, entries: Mapping[int, ListEntry]) -> bool:
    """Whether the text says next to nothing, but the page has entries: any entries if the text is only links and
    headings, or entries with a date or a cloud of links if it has a few other words or is empty.
    """
    kept = extraction.blocks
    is_without_blocks = bool(extraction.text) and not kept  # some methods return only the text
    if extraction.page_type in HAS_LITTLE_TEXT or is_without_blocks or _is_text_by_head(page):
        return False
    if any(_is_prose(block) and id(block) not in entries for block in kept):
        return False
    own_text = _own_text(page, kept, entries)
    if _length(own_text) > MOST_OTHER_TEXT:
        return False
    beside = _elements_beside(page, kept)
    listed = [entries[id(block)] for block in page.blocks if id(block) in entries and not _is_beside(block, beside)]
    if kept and not _unlinked_length(own_text):
        return bool(listed)
    return any(entry.is_dated or entry.links >= CLOUD for entry in listed)


def _is_prose(block: Block) -> bool:
    """Whether a block is longer than a line with a date, and not a heading."""
    return len(block.text) > LONGEST_LINE and block.tag not in HEADINGS


def _length(blocks: Iterable[Block]) -> int:
    """How many characters blocks have."""
    return sum(len(block.text) for block in blocks)


def _length_before(page: Page, kept: Sequence[Block], title: Block) -> int:
    """How many characters the text has before a title."""
    is_before = {id(block) for block in takewhile(lambda block: block is not title, page.blocks)}
    return _length(block for block in kept if id(block) in is_before)


def _elements_beside(page: Page, kept: Sequence[Block]) -> set[_Element]:
    """The navigation, sidebars and footers of the page, except those that contain its text."""
    beside = set(page.root.iter(*BESIDE))
    if beside:
        beside -= {above for block in kept for above in _with_ancestors(block)}
    return beside


def _is_beside(block: Block, beside: Container[_Element]) -> bool:
    """Whether a block is in one of the elements beside the text."""
    return any(element in beside for element in _with_ancestors(block))


def _with_ancestors(block: Block) -> Iterator[_Element]:
    """The element of a block, and the elements around it."""
    yield block.element
    yield from block.element.iterancestors()


def _entries(page: Page) -> dict[int, ListEntry]:
    """The entries by the ids of their blocks: blocks that are links to other pages, with at most a date or a number
    beside each. A block whose beginning is in the title of the page is not an entry.
    """
    targets = _targets(page)
    links = Counter(link.at for link in page.links)
    blocks = page.blocks
    timed_elements = {element.getparent() for element in page.metadata_elements("time")}
    entry_of_block: dict[int, ListEntry] = {}
    for at in sorted(targets):
        block = blocks[at]
        if _is_date(block, timed_elements) or block.text[:SAME_BEGINNING] in page.title:
            continue
        # What the block has beside its links: little, a date, or a number for each link.
        rest = len(block.text) - block.linked
        has_date = 0 < rest <= LONGEST_DATE and (block.element in timed_elements or _names_a_date(block.text))
        is_counted = 0 < rest <= LONGEST_COUNT * links[at] and (links[at] >= CLOUD or COUNT.search(block.text))
        is_whole = rest <= (1 - WHOLLY) * len(block.text)
        if not (is_whole or has_date or is_counted):
            continue

        # The date may be in the line before or after the block; below a heading, also a few lines further down.
        after = MOST_BETWEEN if block.tag in HEADINGS else 1
        around = blocks[max(0, at - 1) : at + after + 1]
        is_dated = has_date or any(_is_date_line(neighbour, timed_elements) for neighbour in around)

        entry_of_block[id(block)] = ListEntry(
            target=targets[at],
            is_dated=is_dated,
            is_whole=is_whole,
            width=width(block.text, LETTERS_OF_CHARACTER),
            links=links[at],
        )
    return entry_of_block


def _names_a_date(text: str) -> bool:
    """Whether a text has a date, with or without the year."""
    if not has_digits_of_a_date(text):
        return False
    return next(dates(text), None) is not None or DAY.search(text) is not None


def _is_date(block: Block, timed_elements: Container[_Element | None]) -> bool:
    """Whether a block is a date and little else."""
    if len(block.text) > LONGEST_DATE or 0 < block.linked < len(block.text):
        return False
    return block.element in timed_elements or _names_a_date(block.text)


def _is_date_line(block: Block, timed_elements: Container[_Element | None]) -> bool:
    """Whether a block is a line with a date, such as the one with the author and the category."""
    return len(block.text) <= LONGEST_LINE and (block.element in timed_elements or _names_a_date(block.text))


def _targets(page: Page) -> dict[int, str]:
    """For each block, by its index, the first other page of the site to which it links. A page whose address is a
    folder around this page does not count, such as /bees for /bees/wax.
    """
    if not page.links or not host_of(page.url):
        return {}
    site = address_of(page.url).site
    own_url = page.url.partition("#")[0] + route(page.url)
    target_of_block: dict[int, str] = {}
    for link in page.links:
        if link.at >= len(page.blocks) or link.at in target_of_block or link.url == own_url:
            continue
        is_folder_of_page = own_url.startswith(link.url.rstrip("/") + "/")
        if not is_folder_of_page and address_of(link.url).site == site:
            target_of_block[link.at] = link.url

    # `page.links` has a link around several blocks only with the first of them; the others get its target.
    starts_of_links = {element.at for element in page.link_elements}
    for at, block in enumerate(page.blocks):
        if at - 1 in target_of_block and at not in starts_of_links and block.linked == len(block.text) > 0:
            target_of_block[at] = target_of_block[at - 1]
    return target_of_block
