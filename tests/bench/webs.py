"""A web of pages that are extracted once, so that orders of a crawl can be compared without fetching anything."""

import json
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from crawler.extraction import EXTRACTORS
from crawler.metadata.record_readers import READERS
from crawler.page.page import Page
from crawler.settings import EXTRACTOR
from crawler.topic.page_translations import NamedTranslations, named_translations

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
BASE = "http://127.0.0.1"
HTML = "text/html; charset=utf-8"
PROCESSES = 2


class Link(NamedTuple):
    """A link that a crawl follows, with the words around it."""

    url: str
    anchor: str
    near: str


class Read(NamedTuple):
    """What a crawl knows of a page it has fetched."""

    title: str
    text: str
    links: Sequence[Link]
    language: str = ""
    translations: NamedTranslations = NamedTranslations()


@dataclass(frozen=True)
class Web:
    """Pages by their addresses, and the categories of the pages that are counted."""

    pages: Mapping[str, Read]
    categories: Mapping[str, Sequence[str]]

    def about(self, topic: str) -> set[str]:
        """The pages of a category and of those in it."""
        within = f"{topic}."
        return {url for url, names in self.categories.items() if any(f"{n}.".startswith(within) for n in names)}

    def next_to(self, url: str) -> Iterable[str]:
        """The pages that a page leads to, in its order."""
        return (link.url for link in self.pages[url].links)


def address(target: str) -> str:
    """The one spelling of a page's address, from an address or from a path.

    >>> address("http://127.0.0.1:8123/wiki/A_(b).html")
    'http://127.0.0.1/wiki/A_%28b%29.html'
    """
    return BASE + quote(unquote(urlsplit(target).path))


def read(url: str, body: bytes, content_type: str = HTML) -> Read:
    """A page's clean text, and its links within the web that have a text."""
    page = Page(url, body, content_type)
    extraction = page.once(EXTRACTORS[EXTRACTOR])
    alts = {image.target: image.alt for image in page.images if image.target and image.alt}
    links: dict[str, Link] = {}
    for link in page.links:
        if link.text and link.url.startswith(f"{BASE}/") and link.url not in links:
            words = " ".join(filter(None, (link.text, link.title, alts.get(link.url, ""))))
            links[link.url] = Link(address(link.url), words, page.near_text(link))
    language = READERS["language"](page, extraction) or ""
    return Read(extraction.title, extraction.text, list(links.values()), language, named_translations(page))


def _read_file(place: tuple[str, str]) -> Read:
    return read(place[0], Path(place[1]).read_bytes())


def _read_all(site: Path) -> dict[str, Read]:
    files = sorted(site.rglob("*.html"))
    places = [(address(f"/{file.relative_to(site).as_posix()}"), str(file)) for file in files]
    with get_context("spawn").Pool(PROCESSES) as pool:
        pages = pool.map(_read_file, places, chunksize=50)
    return {url: page for (url, _), page in zip(places, pages, strict=True)}


def within(pages: Mapping[str, Read]) -> dict[str, Read]:
    """The same pages without links that lead out of the web, or from a page to itself."""
    return {
        url: page._replace(links=[link for link in page.links if link.url in pages and link.url != url])
        for url, page in pages.items()
    }


@contextmanager
def built(site: Path | None) -> Iterator[Path]:
    """The site, or one that is built for as long as it is needed."""
    if site is not None:
        yield site
        return
    tool = SHARED / "tools" / "wikiweb.py"
    if not tool.exists():
        sys.exit(f"The encyclopaedia is not there: {tool} is looked for beside the project.")
    with TemporaryDirectory(prefix="focus-site-") as name:
        subprocess.run([sys.executable, str(tool), "build", name], check=True, stdout=sys.stderr)
        yield Path(name)


def web_of(site: Path, cache: Path | None = None) -> Web:
    """The web of a built site; what is read of it is kept in the folder `cache`, if one is named."""
    kept = cache / "pages.json" if cache else None
    if kept is not None and kept.exists():
        record = json.loads(kept.read_text(encoding="utf-8"))
        pages = {
            url: Read(
                title,
                text,
                [Link(*link) for link in links],
                language,
                NamedTranslations(declared=tuple(named[0]), linked=tuple(named[1])),
            )
            for url, (title, text, links, language, named) in record.items()
        }
    else:
        pages = within(_read_all(site))
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(pages), encoding="utf-8")
    truth = json.loads((site / "truth.json").read_text(encoding="utf-8"))
    return Web(pages, {address(path): names for path, names in truth["categories"].items()})


def recall(order: Iterable[str], counted: Collection[str], on_topic: Collection[str], pages: int) -> float:
    """The share of the pages on topic that are among the first `pages` counted pages of an order."""
    met: set[str] = set()
    for url in order:
        if url in counted:
            met.add(url)
            if len(met) >= pages:
                break
    return len(met.intersection(on_topic)) / len(on_topic)
