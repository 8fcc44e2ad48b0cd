"""The labelled links that the learned model of images is trained on.

A link is an image on a page, by the address of the image. A sighting is one occurrence of the image on the page. The
evidence of a site counts on how many of its pages each image is shown.

Labels come from two sources. `find_images` reads labels from files and searches their links on saved pages, on which
it counts the evidence anew. `labelled_images` reads labels that were given in the dashboard from the database, with the
sighting and the evidence of the crawl.
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
SET_OF_CRAWL = "crawl {}"
"""The name of the set of a crawl's labels."""


@dataclass(frozen=True, slots=True)
class ImageExample:
    """A labelled link that was found on its page."""

    label: ImageLabel
    site: str
    """The site of its page; a page without an address is a separate site."""
    pages: int
    """How many pages of the site the evidence counts."""
    features: tuple[Floats, ...]
    """The features of each occurrence of the image on the page."""
    _: KW_ONLY
    words: tuple[str, ...] = ()
    """The words that describe the image at its first occurrence."""


def find_images(labels: Sequence[ImageLabel], files: Sequence[Path], jobs: int, tell: Tell) -> list[ImageExample]:
    """The labelled links that are found on the pages of `files`."""
    evidence_by_site = evidence_of(read_all(files), jobs, lambda: tell(DIED), NAMELESS)
    pending = PendingLabels(labels, files)
    image_examples = [
        image_example
        for line in read_all(files)
        for image_example in _examples_of_line(line, pending, evidence_by_site, tell)
    ]
    sites = {image_example.site for image_example in image_examples}
    labelled = counted(len(labels), "labelled link")
    tell(f"{len(image_examples):,} of {labelled} found, on pages of {counted(len(sites), 'site')}")
    return image_examples


def _examples_of_line(
    line: ReadResult, pending: PendingLabels, evidence_by_site: Mapping[str, Evidence], tell: Tell
) -> Iterator[ImageExample]:
    """The labelled links of the page of a line; reports a broken line."""
    if isinstance(line, Broken):
        tell(f"{line.place}: {line.why}")
    if not isinstance(line, Raw):  # broken, or skipped as no page
        return
    try:
        saved = page_of(line, NAMELESS)
    except BrokenError as error:
        tell(f"{line.place}: {error}")
        return
    if saved.id not in pending.pages:
        return

    sightings_by_image: dict[str, list[Sighting]] = {}
    for sighting in sightings(saved.page, EXTRACTORS[METHOD](saved.page)):
        sightings_by_image.setdefault(sighting.url, []).append(sighting)
    site = _site(saved, line)
    site_evidence = evidence_by_site.get(saved.site) or Evidence()
    for label in pending.take(line.head[FILE], saved.id, sightings_by_image):
        image_sightings = sightings_by_image[label.img]
        yield ImageExample(
            label=label,
            site=site,
            pages=site_evidence.pages,
            features=tuple(_features(sighting, site_evidence) for sighting in image_sightings),
            words=description(image_sightings[0]),
        )


def _site(saved: SavedPage, line: Raw) -> str:
    """The site of a page; for a page without an address a name that does not depend on the folder of its file."""
    if saved.page.url == NAMELESS:
        return f"{set_name(Path(line.head[FILE]))} {saved.id}"
    return saved.site


def _features(sighting: Sighting, site_evidence: Evidence) -> Floats:
    """The features of one occurrence of an image, from its page and from the evidence of its site."""
    scores = scores_of(sighting, site_evidence)
    return features_of(sighting, site_evidence, scores.entropy, scores.keyword)


def labelled_images(url: URL, name: str | None, tell: Tell) -> list[ImageExample]:
    """The images with labels in the database, of one crawl or of all."""
    evidence_by_site: dict[tuple[str, str], Evidence] = {}
    with reading(url) as connection:
        image_examples = [
            _example_of_label(connection, label, evidence_by_site)
            for label in all_labels(connection, name, LabelKind.IMAGE)
        ]
    sites = {image_example.site for image_example in image_examples}
    tell(f"{counted(len(image_examples), 'labelled image')} to learn from, of {counted(len(sites), 'site')}")
    return image_examples


def _example_of_label(
    connection: Connection, label: Label, evidence_by_site: dict[tuple[str, str], Evidence]
) -> ImageExample:
    """The image of a label, with the sighting that the label stores. Adds missing evidence to `evidence_by_site`, whose
    keys are a crawl and a site.
    """
    sighting = Sighting.of(label.detail)
    site_name = address_of(sighting.page).site
    key = label.crawl, site_name
    if key not in evidence_by_site:
        evidence_by_site[key] = Evidence()
        for record in _evidence_records(connection, label.crawl, site_name):
            evidence_by_site[key].add(Evidence.of(record))
    site_evidence = evidence_by_site[key]
    image_label = ImageLabel(
        set=SET_OF_CRAWL.format(label.crawl),
        page=sighting.page,
        img=sighting.url,
        is_noise=label.value == NOISE,
        kind="",
    )
    return ImageExample(
        label=image_label,
        site=site_name,
        pages=site_evidence.pages,
        features=(_features(sighting, site_evidence),),
        words=description(sighting),
    )


def _evidence_records(connection: Connection, crawl_name: str, site_name: str) -> Iterator[str]:
    """The evidence of a site in a crawl, as JSON records, which the caller adds up."""
    rows = select(evidence.c.counts).join(site, site.c.id == evidence.c.site_id)
    rows = rows.join(crawl, crawl.c.id == site.c.crawl_id).where(crawl.c.name == crawl_name, site.c.name == site_name)
    yield from connection.execute(rows.order_by(evidence.c.id)).scalars()
