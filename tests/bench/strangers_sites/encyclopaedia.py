"""Encyclopaedia articles with links among them, as the content systems of Debian are filled with."""

import json
import lzma
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any
from urllib.parse import unquote

from webs import SHARED

from strangers_sites.sources import Document

CATEGORIES = {
    "Science.Biology.Birds": "Birds",
    "Geography.Natural_Disasters": "Disasters",
    "Design_and_Technology.Railway_transport": "Railways",
    "Music.Musical_genres_styles_eras_and_events": "Music",
}
ARTICLES_OF_CATEGORY = 25
TITLES = {
    3: "4 Vesta",
    11: "10 tips for better sleep",
    19: "31 December",
    27: "The my_module module",
    43: "1984 in birds",
    51: "24-hour clock – a history",
    67: "7 Days: what we heard",
    83: "Death of a river - part 2",
}
"""Titles by the number of their article: with digits, underscores and separators, as people write them."""
AUTHORS = ("Ann Lee", "Bert Moss", "Cleo Park")
FIRST_DAY = date(2009, 1, 1)
DAYS_BETWEEN_ARTICLES = 37  # 100 articles end in 2019
TAGS = ("species", "island", "century", "europe", "station", "pacific", "popular", "western", "northern")
MOST_SHARED_TAGS, MOST_OWN_TAGS = 2, 3
OWN_TAG = re.compile(r"\b[a-z]{9,}\b")
"""A word that may be a tag of few articles."""
MOST_CHARACTERS = 6_000
MOST_LINKS = 8
LEAST_PARAGRAPH = 80  # characters
PHOTO_EVERY = 3  # articles
NOTICE = "Retrieved from"
"""Begins what the encyclopaedia says below each article."""
COMMENT = "Remark {number} on this:"
"""How a comment begins; no article has these words."""


@dataclass(frozen=True)
class Article:
    """An article as its author wrote it."""

    number: int
    title: str
    category: str
    paragraphs: Sequence[str]
    links: Sequence[str]
    """Titles of other articles."""

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return slug(self.title)

    @property
    def author(self) -> str:
        return AUTHORS[self.number % len(AUTHORS)]

    @property
    def published(self) -> str:
        """The day, ISO 8601."""
        return str(FIRST_DAY + timedelta(days=DAYS_BETWEEN_ARTICLES * self.number))

    @property
    def tags(self) -> list[str]:
        """Words that many articles have, and words that few have, as blogs grow them."""
        text = " ".join(self.paragraphs).lower()
        own_words = dict.fromkeys(word for word in OWN_TAG.findall(text) if word not in TAGS)
        return [word for word in TAGS if word in text][:MOST_SHARED_TAGS] + list(own_words)[-MOST_OWN_TAGS:]

    @property
    def has_photo(self) -> bool:
        return self.number % PHOTO_EVERY == 0

    @property
    def comments(self) -> list[str]:
        """What readers say: twenty of every third article, four of the others."""
        count = 4 if self.number % 3 else 20
        ends = [paragraph[-160:] for paragraph in self.paragraphs]
        return [f"{COMMENT.format(number=number)} {ends[number % len(ends)]}" for number in range(count)]

    def document(self, address: str, author: str = "", published: str = "") -> Document:
        """The article as the crawl is to find it, at the end of an address."""
        see_also = ["See also", *self.links] if self.links else []
        return Document(
            slug=address,
            title=self.title,
            markdown="\n\n".join(self.paragraphs),
            language="en",
            author=author,
            published=published,
            text="\n\n".join([self.title, *self.paragraphs, *see_also]),
        )


def slug(title: str) -> str:
    """A title as a part of an address.

    >>> slug("Death of a river - part 2")
    'death-of-a-river-part-2'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@cache
def articles() -> Sequence[Article]:
    """The articles of all categories in turn, with the links among them."""
    rows_by_category: dict[str, list[dict[str, Any]]] = {name: [] for name in CATEGORIES}
    with lzma.open(SHARED / "data/wiki/articles.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            names = [name for name in row["categories"] if name in CATEGORIES]
            if row["title"].isascii() and len(_paragraphs(row["text"])) > 1:
                for name in names[:1]:
                    rows_by_category[name].append(row)
    rows = [row for of_category in zip(*rows_by_category.values(), strict=False) for row in of_category]
    rows = rows[: ARTICLES_OF_CATEGORY * len(CATEGORIES)]
    categories = list(CATEGORIES.values())
    titles = {row["name"]: TITLES.get(number, row["title"]) for number, row in enumerate(rows)}
    return [
        Article(
            number=number,
            title=titles[row["name"]],
            category=categories[number % len(categories)],
            paragraphs=_paragraphs(row["text"]),
            links=_titles(row["links"], titles),
        )
        for number, row in enumerate(rows)
    ]


def _titles(links: Sequence[str], titles: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys(unquote(link) for link in links)
    return [titles[name] for name in names if name in titles][:MOST_LINKS]


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of an article after its head, up to a length."""
    own_text = text[:MOST_CHARACTERS].partition(NOTICE)[0]
    parts = [" ".join(part.split()) for part in own_text.split("\n\n")[2:]]
    return [part for part in parts if len(part) > LEAST_PARAGRAPH]
