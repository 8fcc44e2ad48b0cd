"""Labelled links on their pages as a crawl sees them: their signs, with the evidence of all pages of the site.

Labelled links from what people said of the pictures of crawls: as the crawl saw them, with what it has counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select
from sqlalchemy.engine import URL

from crawler.archives.records import Broken, BrokenError, Found, Raw
from crawler.bulk.image_judging import FILE, NAMELESS, Saved, page_of, read_all
from crawler.bulk.image_judging import evidence as evidence_of
from crawler.bulk.parallel import DIED
from crawler.evaluation.gold import set_name
from crawler.evaluation.image_labels import Label, Waiting
from crawler.extraction import EXTRACTORS
from crawler.labels.labels import NOISE, all_labels
from crawler.labels.labels import Label as Said
from crawler.noise.evidence import Evidence
from crawler.noise.learned_model import Floats, signs_of
from crawler.noise.sighting import Sighting, sightings
from crawler.noise.verdict import scores_of
from crawler.noise.words import description
from crawler.store.images import PICTURE
from crawler.store.page_tables import evidence
from crawler.store.read_only import reading
from crawler.store.schema import crawl, site
from crawler.training.teacher import Tell
from crawler.translation.message import counted
from crawler.urls.parsing import site as site_of

METHOD = "auto"
"""The extractor that tells the main text."""


class Sighted(NamedTuple):
    """A labelled link as it is found on its page."""

    label: Label
    site: str
    """Of its page; a page without an address is a site by itself."""
    pages: int
    """Of the site."""
    signs: tuple[Floats, ...]
    """Of each place where the picture stands."""
    words: tuple[str, ...] = ()
    """That describe it, where it stands first."""


def sighted(labels: Sequence[Label], files: Sequence[Path], jobs: int, tell: Tell) -> list[Sighted]:
    """The labelled links that are found on the pages of some files."""
    counts = evidence_of(read_all(files), jobs, lambda: tell(DIED), NAMELESS)
    waiting = Waiting(labels, files)
    found = [one for line in read_all(files) for one in _of_line(line, waiting, counts, tell)]
    sites = {one.site for one in found}
    tell(f"{len(found):,} of {counted(len(labels), 'labelled link')} found, on pages of {counted(len(sites), 'site')}")
    return found


def _of_line(line: Found, waiting: Waiting, counts: Mapping[str, Evidence], tell: Tell) -> Iterator[Sighted]:
    """The labelled links of the page of a line; what is wrong with a line is told."""
    if isinstance(line, Broken):
        tell(f"{line.place}: {line.why}")
    if not isinstance(line, Raw):
        return
    try:
        saved = page_of(line, NAMELESS)
    except BrokenError as error:
        tell(f"{line.place}: {error}")
        return
    if saved.id not in waiting.pages:
        return
    shown: dict[str, list[Sighting]] = {}
    for one in sightings(saved.page, EXTRACTORS[METHOD](saved.page)):
        shown.setdefault(one.url, []).append(one)
    site, count = _site(saved, line), counts.get(saved.site) or Evidence()
    for label in waiting.take(line.head[FILE], saved.id, shown):
        copies = shown[label.img]
        places = tuple(signs(one, count) for one in copies)
        yield Sighted(label, site, count.pages, places, description(copies[0]))


def _site(saved: Saved, line: Raw) -> str:
    """The site of a page, which does not depend on where its file lies."""
    return f"{set_name(Path(line.head[FILE]))} {saved.id}" if saved.page.url == NAMELESS else saved.site


def signs(sighting: Sighting, count: Evidence) -> Floats:
    """What the model goes by: how a page shows a picture, and what was counted of its site."""
    scores = scores_of(sighting, count)
    return signs_of(sighting, count, scores.entropy, scores.keyword)


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
