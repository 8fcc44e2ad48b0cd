"""A stored page read once more, from the response that was kept: its blocks, and which of them are its main text."""

from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus

from sqlalchemy import Connection, RowMapping, select

from crawler.dashboard.desk import Desk
from crawler.dashboard.request import RefusedError
from crawler.dashboard.sources import Source, Sources
from crawler.extraction import EXTRACTORS
from crawler.page.page import Extraction, Page
from crawler.state.raw import TooLargeError, response_of
from crawler.state.schema import crawl, page, raw
from crawler.wording import Message

METHOD = "auto"
"""What judges pages whose own method is not there, or wants to know their site."""
MOST_BYTES = 20_000_000
"""Of a response that is read here: crawls take half of that if nothing else is said, and blanks pack a thousandfold."""
OWN = frozenset(EXTRACTORS) - {"template", "template-svm", "framework"}


@dataclass(frozen=True)
class Reread:
    """A stored page, and what its source says."""

    row: RowMapping
    """Of the table of pages, with the crawl's name as `crawl`."""
    source: bytes | None
    """None where the response was not kept."""
    headers: dict[str, str]
    sources: Sources
    """Those that were read before."""
    source_at: str = ""
    """When the source was fetched, which is before the page was where that came without it."""
    damage: Message | None = None
    """Why what was kept cannot be read."""

    @cached_property
    def read(self) -> Source:
        """The page as it was fetched, or an empty one, read by the method."""
        robots = self.headers.get("x-robots-tag", "")
        page = Page(self.row["url"], self.source or b"", self.headers.get("content-type", ""), robots)
        return self.sources.get(page, self.method)

    @property
    def page(self) -> Page:
        """The same, as it is by itself."""
        return self.read.page

    @property
    def method(self) -> str:
        """The method by which it is read here."""
        return str(self.row["extractor"]) if self.row["extractor"] in OWN else METHOD

    @property
    def extraction(self) -> Extraction:
        """What the method sees in it."""
        return self.read.extraction

    @property
    def kept(self) -> frozenset[int]:
        """The places of the blocks of the main text among all blocks of the page."""
        return self.read.kept


def reread(desk: Desk, connection: Connection, number: int) -> Reread:
    """The page of this number; a RefusedError where there is none."""
    found = select(page, crawl.c.name.label("crawl")).join(crawl, crawl.c.id == page.c.crawl_id)
    row = connection.execute(found.where(page.c.id == number)).mappings().one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
    kept = connection.execute(select(raw).where(raw.c.key == row["key"])).mappings().one_or_none()
    if kept is None:
        return Reread(row, None, {}, desk.sources)
    try:
        response = response_of(kept, MOST_BYTES)
    except TooLargeError as error:
        return Reread(row, None, {}, desk.sources, kept["fetched_at"], error.message)
    headers = {name.lower(): value for name, value in response.headers}
    return Reread(row, response.body, headers, desk.sources, kept["fetched_at"])


def reread_at(desk: Desk, number: int) -> Reread:
    """The same, with a look at the database of its own."""
    with desk.reading() as connection:
        return reread(desk, connection, number)
