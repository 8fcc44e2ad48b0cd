"""How the items of a crawl compare with the documents that a site was built of."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, unquote_plus, urlsplit

from crawler.contrib.lab.evaluation.metadata_scores import is_right
from crawler.contrib.lab.evaluation.structure_scores import MarkdownParts, parts
from crawler.contrib.lab.evaluation.text_metrics import CountedText, f1, precision_recall
from strangers_sites.sources import Document

Item = Mapping[str, Any]
TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>\n]*>", re.DOTALL)
DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]: *\S+.*$", re.MULTILINE)
CODE = re.compile(r"(^ *(?:`{3,}|~{3,}).*?^ *(?:`{3,}|~{3,}) *$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^([ >]*)(`{3,}|~{3,})[^\n`]*\n(.*?)^[ >]*\2[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)
QUOTE = " {0,3}> ?"
"""The mark of a quoted line: https://spec.commonmark.org/0.31.2/#block-quote-marker."""
STRAIGHT = str.maketrans("‘’“”\xa0", "''\"\" ", "")
"""Many generators make quotation marks typographic."""
REFERENCE = re.compile(r"\[([^\]\n]+)\]\[[^\]\n]*\]")


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    count: int
    of: int

    def __str__(self) -> str:
        return f"{self.count}/{self.of}" if self.of else "-"


@dataclass(frozen=True)
class Comparison:
    """A row of the table."""

    site: str
    documents: Share
    """Found among those of the source."""
    lists: int
    """Items that are no document of the source."""
    f1: float
    """The mean word F1 of the documents that were found."""
    code: Share
    """Code blocks that are whole."""
    cells: Share
    formulas: Share
    titles: Share
    authors: Share
    dates: Share
    languages: Share
    requests: float
    """For each item that is no copy."""
    twice: int
    """Items of documents that another item has."""
    empty: int
    """Items without text."""
    copies: int
    """Items that are marked as near-duplicates."""
    comments: int
    """Items with comments of readers in their text."""


@dataclass(frozen=True)
class Matched:
    """The items of a crawl, each with its document."""

    items: Mapping[str, Item]
    """The item of each document, by its slug."""
    others: Sequence[Item]
    repeated: Sequence[Item]
    copies: Sequence[Item]


def plain_markdown(markdown: str) -> str:
    """The Markdown without the HTML and the link definitions in it; code stays as it is."""
    pieces = CODE.split(markdown)
    for number in range(0, len(pieces), 2):
        text = DEFINITION.sub("", TAG.sub("", pieces[number]))
        pieces[number] = REFERENCE.sub(r"\1", text)
    return "".join(pieces)


def text_of(markdown: MarkdownParts) -> str:
    """All words of a Markdown text."""
    cells = chain.from_iterable(chain.from_iterable(markdown.tables))
    return "\n".join((markdown.text, markdown.code, *cells, markdown.formulas))


def code_blocks(markdown: str) -> list[str]:
    """The fenced code blocks, without the indentation and the quotation marks of the fence."""
    blocks = []
    for fence in FENCE.finditer(markdown):
        before = QUOTE * fence[1].count(">") or " " * len(fence[1])
        lines = [re.sub(f"^(?:{before})", "", line).rstrip() for line in fence[3].splitlines()]
        blocks.append("\n".join(lines).strip("\n"))
    return [block for block in blocks if block]


def slug_path(url: str) -> str:
    """The path of an address, or of the route in its fragment, without an ending, in lower case.

    >>> slug_path("http://127.0.0.1/guides/Hooks.html"), slug_path("http://127.0.0.1/#/guides/hooks?id=a")
    ('/guides/hooks', '/guides/hooks')
    """
    address = urlsplit(url)
    route = address.fragment.partition("?")[0] if address.fragment.startswith(("/", "!/")) else address.path
    path = unquote(route).lstrip("!").rstrip("/").removesuffix("/index.html")
    return str(PurePosixPath("/", path).with_suffix("") if re.search(r"\.(?:html?|md)$", path) else path).lower()


def match(items: Iterable[Item], documents: Sequence[Document]) -> Matched:
    """The items by document, without a seed that is none, which is kept by intention.

    The longest slug decides, as one may be the end of another. A slug with a query is compared with path and query.
    """
    slugs = sorted((document.slug for document in documents), key=len, reverse=True)
    by_slug: dict[str, Item] = {}
    others: list[Item] = []
    repeated: list[Item] = []
    copies: list[Item] = []
    for item in items:
        path = slug_path(item["url"])
        query = f"{path}?{unquote_plus(urlsplit(item['url']).query).lower()}"
        slug = next((slug for slug in slugs if (query if "?" in slug else path).endswith(f"/{slug.lower()}")), None)
        if item["duplicate_of"]:
            copies.append(item)
        elif slug is None:
            others += [] if item["via"] == "seed" else [item]
        elif slug in by_slug:
            repeated.append(item)
        else:
            by_slug[slug] = item
    return Matched(items=by_slug, others=others, repeated=repeated, copies=copies)


def word_f1(item: Item, document: Document) -> float:
    """The word F1 of an item's text; the title may be in the text or not, and words of Markdown have no underscores."""
    gold = CountedText((document.text or text_of(parts(plain_markdown(document.with_title)))).replace("_", ""))
    precision, recall = precision_recall(CountedText(item["text"].replace("_", "")).words, gold.words)
    return f1(precision or 0.0, recall or 0.0)


def compare(site: str, matched: Matched, documents: Sequence[Document], requests: int, comment: str = "") -> Comparison:
    """The row of a site."""
    pairs = [(matched.items[document.slug], document) for document in documents if document.slug in matched.items]
    kept = len(matched.items) + len(matched.others) + len(matched.repeated)
    scores = [word_f1(item, document) for item, document in pairs]
    return Comparison(
        site=site,
        documents=Share(len(pairs), len(documents)),
        lists=len(matched.others),
        f1=sum(scores) / max(1, len(scores)),
        code=_sum(_code(item, document) for item, document in pairs),
        cells=_sum(_cells(item, document) for item, document in pairs),
        formulas=_sum(_formulas(item, document) for item, document in pairs),
        titles=_right("title", pairs),
        authors=_right("author", pairs),
        dates=_right("published", pairs),
        languages=Share(sum(item["language"] == document.language for item, document in pairs), len(pairs)),
        requests=requests / max(1, kept),
        twice=len(matched.repeated),
        empty=sum(not item["text"] for item in chain(matched.items.values(), matched.others, matched.repeated)),
        copies=len(matched.copies),
        comments=len(_with_comments(matched, comment)),
    )


def _with_comments(matched: Matched, comment: str) -> list[str]:
    """The addresses of documents whose texts have what comments have."""
    return [item["url"] for item in matched.items.values() if comment and comment in item["text"]]


def faults(matched: Matched, documents: Sequence[Document], comment: str = "") -> dict[str, list[str]]:
    """What is wrong, with addresses, for whoever looks for the cause."""
    pairs = [(matched.items[document.slug], document) for document in documents if document.slug in matched.items]
    lost = [document.slug for document in documents if document.slug not in matched.items]
    lines: dict[str, list[str]] = {
        "lost": lost,
        "lists": [f"{item['url']} {item['page_type']} {item['title']!r}" for item in matched.others],
        "twice": [item["url"] for item in matched.repeated],
        "copies": [f"{item['url']} of {item['duplicate_of']}" for item in matched.copies],
        "empty": [item["url"] for item, _ in pairs if not item["text"]],
        "comments": _with_comments(matched, comment),
    }
    for item, document in pairs:
        golds = {"title": document.title, "author": document.author, "published": document.published}
        golds["language"] = document.language
        for field, gold in golds.items():
            value = item[field] or ""
            is_same = value == gold if field == "language" else is_right(field, value, gold)
            if (gold or value) and not is_same:
                lines.setdefault(field, []).append(f"{item['url']}: {value!r}, not {gold!r}")
        score = word_f1(item, document)
        if score < LEAST_F1:
            lines.setdefault("text", []).append(f"{item['url']}: F1 {score:.3f}")
        for part, share in (("code", _code), ("cells", _cells), ("formulas", _formulas)):
            counted = share(item, document)
            if counted.count < counted.of:
                lines.setdefault(part, []).append(f"{item['url']}: {counted}")
    return {name: addresses for name, addresses in lines.items() if addresses}


LEAST_F1 = 0.97
"""Texts below it are listed."""


def _sum(shares: Iterable[Share]) -> Share:
    shares = list(shares)
    return Share(sum(share.count for share in shares), sum(share.of for share in shares))


def _right(field: str, pairs: Sequence[tuple[Item, Document]]) -> Share:
    values = [(item[field] or "", getattr(document, field)) for item, document in pairs]
    judged = [is_right(field, value, gold) and bool(value) for value, gold in values if gold]
    return Share(sum(judged), len(judged))


def _code(item: Item, document: Document) -> Share:
    code = {block.strip() for block in code_blocks(item["markdown"] or "")}
    blocks = code_blocks(document.markdown)
    return Share(sum(block.strip() in code for block in blocks), len(blocks))


def _cells(item: Item, document: Document) -> Share:
    return _shared(_cells_of(item["markdown"] or ""), _cells_of(plain_markdown(document.markdown)))


def _cells_of(markdown: str) -> Counter[str]:
    cells = chain.from_iterable(chain.from_iterable(parts(markdown.translate(STRAIGHT)).tables))
    return Counter(filter(None, cells))


def _formulas(item: Item, document: Document) -> Share:
    return _shared(Counter(_formulas_of(item["markdown"] or "")), Counter(_formulas_of(document.markdown)))


def _formulas_of(markdown: str) -> list[str]:
    return [formula for formula in parts(markdown).formulas.splitlines() if formula]


def _shared(values: Counter[str], gold: Counter[str]) -> Share:
    return Share((values & gold).total(), gold.total())
