"""Labelled links from what people said of the pictures of crawls: as the crawl saw them, with what it has counted."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, select
from sqlalchemy.engine import URL

from crawler.evaluation.picture_labels import Label
from crawler.noise.evidence import Evidence
from crawler.noise.place import SIGNS
from crawler.noise.sighting import Sighting
from crawler.noise.words import description
from crawler.state.labels import NOISE, PICTURE, all_labels
from crawler.state.labels import Label as Said
from crawler.state.report import reading
from crawler.state.schema import crawl, evidence, site
from crawler.training.sighted import Sighted, signs
from crawler.training.teacher import Tell
from crawler.urls import site as site_of
from crawler.wording import counted

SET = "crawl {}"
"""What the labels of a crawl are called as a set."""


class Marked(NamedTuple):
    """What labels teach."""

    found: list[Sighted]
    marks: int
    """With those of which nothing can be learned, as it is not known how a page shows the picture."""


def marked(url: URL, name: str | None, tell: Tell) -> Marked:
    """The pictures that people marked in the database of the state, of a crawl or of all."""
    counts: dict[tuple[str, str], Evidence] = {}
    found, number = [], 0
    with reading(url) as connection:
        for said in all_labels(connection, name, PICTURE):
            number += 1
            if (sighting := sighting_of(said)) is not None:
                found.append(_sighted(connection, said, sighting, counts))
    sites = {one.site for one in found}
    tell(f"{len(found):,} of {counted(number, 'marked picture')} can be learned from, of {counted(len(sites), 'site')}")
    return Marked(found, number)


def sighting_of(said: Said) -> Sighting | None:
    """The picture as a page shows it; None where that is not known, or is no record of it."""
    try:
        one = Sighting.of(said.detail)
        texts = (one.url, one.target, one.page, one.alt, one.title, one.anchor_text)
        whole = len(one.signs) == len(SIGNS) and all(isinstance(text, str) for text in texts)
        sizes = all(size is None or isinstance(size, int) for size in one.size)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return one if whole and sizes else None


def _sighted(
    connection: Connection, said: Said, sighting: Sighting, counts: dict[tuple[str, str], Evidence]
) -> Sighted:
    name = site_of(sighting.page)
    key = said.crawl, name
    if key not in counts:
        counts[key] = Evidence()
        for record in _records(connection, *key):
            counts[key].add(Evidence.of(record))
    label = Label(SET.format(said.crawl), sighting.page, sighting.url, said.value == NOISE, "")
    return Sighted(label, name, counts[key].pages, (signs(sighting, counts[key]),), description(sighting))


def _records(connection: Connection, crawl_name: str, site_name: str) -> Iterator[str]:
    """What was counted of the pictures of a site by a crawl, row by row."""
    rows = select(evidence.c.counts).join(site, site.c.id == evidence.c.site_id)
    rows = rows.join(crawl, crawl.c.id == site.c.crawl_id).where(crawl.c.name == crawl_name, site.c.name == site_name)
    yield from connection.execute(rows.order_by(evidence.c.id)).scalars()
