"""`noai` and `noimageai` among the directives for robots, in X-Robots-Tag headers and `<meta name="robots">`.

They are read as DeviantArt introduced them in November 2022: noai excludes the page from data sets for training,
noimageai excludes its images. No other text defines them.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawler.page.head import BOT
from crawler.page.page import Page
from crawler.rights.statement import NOTHING, RightsEvidence, Signal, State, Use

NOAI = "noai"
NOIMAGEAI = "noimageai"
_NO_TRAINING = {Use.AI_TRAIN: State.DISALLOWED}


def directives(page: Page) -> Iterator[RightsEvidence]:
    """The headers and meta elements that have `noai` or `noimageai`, each with its whole text. `noimageai` alone says
    nothing about the text of the page.
    """
    if NOAI not in page.robots and NOIMAGEAI not in page.robots:
        return
    # `page.robots` has only directives for this crawler or for all.
    uses = _NO_TRAINING if NOAI in page.robots else NOTHING
    sources = {"header X-Robots-Tag": page.robots_header.replace("\n", ", ")}
    sources |= {f"meta {name}": page.meta.get(name, "") for name in ("robots", BOT)}
    for where, says in sources.items():
        if NOAI in says.lower() or NOIMAGEAI in says.lower():
            yield RightsEvidence(Signal.NOAI, where, says, uses)
