"""Labelled links from what people said of the pictures of crawls: as the crawl saw them, with what it has counted."""

from collections.abc import Iterator

from sqlalchemy import Connection, select
from sqlalchemy.engine import URL

from crawler.evaluation.picture_labels import Label
from crawler.noise.evidence import Evidence
from crawler.noise.sighting import Sighting
from crawler.noise.words import description
from crawler.state.labels import NOISE, PICTURE, all_labels
from crawler.state.labels import Label as Said
from crawler.state.report import reading
from crawler.state.schema import crawl, evidence, site
from crawler.training.sighted import Sighted, signs
from crawler.training.teacher import Tell
from crawler.urls.parsing import site as site_of
from crawler.wording import counted

SET = "crawl {}"
"""What the labels of a crawl are called as a set."""


def labelled_pictures(url: URL, name: str | None, tell: Tell) -> list[Sighted]:
    """The pictures that people labelled in the database of the state, of a crawl or of all."""
    counts: dict[tuple[str, str], Evidence] = {}
    with reading(url) as connection:
        found = [_sighted(connection, said, counts) for said in all_labels(connection, name, PICTURE)]
    sites = {one.site for one in found}
    tell(f"{counted(len(found), 'labelled picture')} to learn from, of {counted(len(sites), 'site')}")
    return found


def _sighted(connection: Connection, said: Said, counts: dict[tuple[str, str], Evidence]) -> Sighted:
    sighting = Sighting.of(said.detail)
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
