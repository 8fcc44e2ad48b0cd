"""Real crawls of pages that a server on loopback holds, and in which order they asked for them."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sites import OPEN, Answer, Site, crawl, serving
from webs import BASE, address

# One request at a time, or what is asked for next would be chosen before the last page has been read.
IN_TURN = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "LOG_LEVEL": "WARNING"}
TIMEOUT = 900.0


class Pages(Site):
    """Web pages by the one spelling of their addresses, whatever spelling they are asked for by."""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        return super().answer(address(path), headers)


def pages_of(site: Path) -> Pages:
    """The web pages of a built site."""
    files = sorted(site.rglob("*.html"))
    return Pages({address(f"/{file.relative_to(site).as_posix()}"): Answer(file.read_bytes()) for file in files})


def crawled(pages: Pages, seeds: Sequence[str], most: int, settings: Mapping[str, str], **arguments: Any) -> list[str]:
    """The addresses of so many pages in the order in which a crawl from these seeds asked for them."""
    with TemporaryDirectory(prefix="focus-") as name, serving(Pages(pages.routes)) as site:
        places = ",".join(site.url.rstrip("/") + seed.removeprefix(BASE) for seed in seeds)
        wanted = {"seeds": places, "images": "no", "max_pages": most} | arguments
        ended = crawl(Path(name), wanted, IN_TURN | dict(settings), timeout=TIMEOUT)
        if ended.status:
            sys.exit(f"A crawl ended with {ended.status}:\n{ended.err[-2000:]}")
        return [url for url in map(address, site.paths()) if url in site.routes]
