"""A site that never ends."""

import time
from collections.abc import Mapping

from sites import Answer, Site, page

BEES = "Honey bees dance in the dark of the hive to tell the others where the flowers are."


class Endless(Site):
    """A site whose every page links to the next two."""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        if path == "/robots.txt":
            return super().answer(path, headers)
        number = int(path.strip("/") or 0)
        self.routes[path] = page(f"{BEES} Page {number}.", links={f"/{number + n}": f"Bees {n}" for n in (1, 2)})
        time.sleep(0.02)
        return super().answer(path, headers)
