"""The labelled links that the learned model of images is trained on.

Each link is found on its saved page as in a crawl, with the evidence of all pages of its site. Labelled images of
crawls are read from the database as the crawl saw them, with the evidence that it counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.engine import URL

from crawler.contrib.bulk.archives.records import Broken, BrokenError, Raw, ReadResult
from crawler.contrib.bulk.judge_images import FILE, NAMELESS, SavedPage, page_of, read_all
from crawler.contrib.bulk.judge_images import evidence as evidence_of
from crawler.contrib.lab.evaluation.gold import ImageLabel, PendingLabels, set_name
from crawler.contrib.lab.training.examples import Tell
from crawler.extraction import EXTRACTORS
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import sightings
from crawler.noise.learned_model import Floats, features_of
from crawler.noise.li2006 import description
from crawler.noise.verdict import scores_of
from crawler.processes.function_pool import DIED
from crawler.store.crawl_tables import crawl, site
from crawler.store.labels import NOISE, Label, all_labels
from crawler.store.page_tables import LabelKind, evidence
from crawler.store.read_only import reading
from crawler.translation.message import counted
from crawler.urls.address import address_of

METHOD = "auto"
"""The extractor that finds the main text."""
SET = "crawl {}"
"""The name of the set of a crawl's labels."""


@dataclass(frozen=True, slots=True)
class ImageExample:
    """A labelled link that was found on its page."""

    label: ImageLabel
    site: str
    """The site of its page; a page without an address is a separate site."""
    pages: int
    """How many pages the site has."""
    features: tuple[Floats, ...]
    """The features of each occurrence of the image on the page."""
    _: KW_ONLY
    words: tuple[str, ...] = ()
    """The words that describe it at its first occurrence."""


def find_images(labels: Sequence[ImageLabel], files: Sequence[Path], jobs: int, tell: Tell) -> list[ImageExample]:
    """The labelled links that are found on the pages of some files."""
    counts = evidence_of(read_all(files), jobs, lambda: tell(DIED), NAMELESS)
    waiting = PendingLabels(labels, files)
    image_examples = [
        image_example for line in read_all(files) for image_example in _examples_of_line(line, waiting, counts, tell)
    ]
    sites = {image_example.site for image_example in image_examples}
    labelled = counted(len(labels), "labelled link")
    tell(f"{len(image_examples):,} of {labelled} found, on pages of {counted(len(sites), 'site')}")
    return image_examples


def _examples_of_line(
    line: ReadResult, waiting: PendingLabels, counts: Mapping[str, Evidence], tell: Tell
) -> Iterator[ImageExample]:
    """The labelled links of the page of a line; reports a broken line."""
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
    for sighting in sightings(saved.page, EXTRACTORS[METHOD](saved.page)):
        shown.setdefault(sighting.url, []).append(sighting)
    site = _site(saved, line)
    count = counts.get(saved.site) or Evidence()
    for label in waiting.take(line.head[FILE], saved.id, shown):
        copies = shown[label.img]
        places = tuple(_features(sighting, count) for sighting in copies)
        yield ImageExample(label=label, site=site, pages=count.pages, features=places, words=description(copies[0]))


def _site(saved: SavedPage, line: Raw) -> str:
    """The site of a page; for a page without an address a name that does not depend on the folder of its file."""
    if saved.page.url == NAMELESS:
        return f"{set_name(Path(line.head[FILE]))} {saved.id}"
    return saved.site


def _features(sighting: Sighting, count: Evidence) -> Floats:
    """The features of an image, from its page and from the evidence of its site."""
    scores = scores_of(sighting, count)
    return features_of(sighting, count, scores.entropy, scores.keyword)


def labelled_images(url: URL, name: str | None, tell: Tell) -> list[ImageExample]:
    """The images with labels in the database, of one crawl or of all."""
    counts: dict[tuple[str, str], Evidence] = {}
    with reading(url) as connection:
        image_examples = [
            _example_of_label(connection, label, counts) for label in all_labels(connection, name, LabelKind.IMAGE)
        ]
    sites = {image_example.site for image_example in image_examples}
    tell(f"{counted(len(image_examples), 'labelled image')} to learn from, of {counted(len(sites), 'site')}")
    return image_examples


def _example_of_label(connection: Connection, label: Label, counts: dict[tuple[str, str], Evidence]) -> ImageExample:
    sighting = Sighting.of(label.detail)
    name = address_of(sighting.page).site
    key = label.crawl, name
    if key not in counts:
        counts[key] = Evidence()
        for record in _records(connection, *key):
            counts[key].add(Evidence.of(record))
    labelled = ImageLabel(
        set=SET.format(label.crawl), page=sighting.page, img=sighting.url, is_noise=label.value == NOISE, kind=""
    )
    return ImageExample(
        label=labelled,
        site=name,
        pages=counts[key].pages,
        features=(_features(sighting, counts[key]),),
        words=description(sighting),
    )


def _records(connection: Connection, crawl_name: str, site_name: str) -> Iterator[str]:
    """The evidence rows of a site in a crawl."""
    rows = select(evidence.c.counts).join(site, site.c.id == evidence.c.site_id)
    rows = rows.join(crawl, crawl.c.id == site.c.crawl_id).where(crawl.c.name == crawl_name, site.c.name == site_name)
    yield from connection.execute(rows.order_by(evidence.c.id)).scalars()
