"""Real crawls of pages that are served on loopback, and the order in which they requested them."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sites import OPEN, Answer, Site, crawl, serving
from webs import BASE, address

# One request at a time; otherwise the next request would be chosen before the last page is read.
IN_TURN = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "LOG_LEVEL": "WARNING"}
TIMEOUT = 900.0


class Pages(Site):
    """Pages by the canonical spelling of their addresses, in whichever spelling they are requested."""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        return super().answer(address(path), headers)


def pages_of(site: Path) -> Pages:
    """The web pages of a built site."""
    files = sorted(site.rglob("*.html"))
    return Pages({address(f"/{file.relative_to(site).as_posix()}"): Answer(file.read_bytes()) for file in files})


def items(arguments: Mapping[str, Any], settings: Mapping[str, str]) -> list[dict[str, Any]]:
    """What a crawl stored, in its order; the end of the benchmark if it failed."""
    with TemporaryDirectory(prefix="focus-") as name:
        ended = crawl(Path(name), {"images": "no"} | dict(arguments), IN_TURN | dict(settings), timeout=TIMEOUT)
        if ended.status:
            sys.exit(f"A crawl ended with {ended.status}:\n{ended.err[-2000:]}")
        return ended.items()


def asked_for(pages: Pages, seeds: Sequence[str], most: int, settings: Mapping[str, str]) -> list[str]:
    """The addresses that a crawl of at most `most` pages requested, in its order."""
    with serving(Pages(pages.routes)) as site:
        places = ",".join(site.url.rstrip("/") + seed.removeprefix(BASE) for seed in seeds)
        items({"seeds": places, "max_pages": most}, settings)
        return [url for url in map(address, site.paths()) if url in site.routes]
