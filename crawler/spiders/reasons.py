"""Why something was left out or failed, counted for the closing lines."""

from collections import defaultdict

from scrapy.crawler import Crawler

from crawler.state.entries import Recent

MOST_REASONS = 100  # that are counted apart; a server may think of another for each page
REMEMBERED = 200_000  # addresses left out, each counted once


class Reasons:
    """Counts why something was left out or failed, with some memory of the addresses."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler  # its stats are not there yet
        self.nofollowed, self.left_out = Recent(REMEMBERED), Recent(REMEMBERED)
        self._known: defaultdict[str, set[str]] = defaultdict(set)

    def leave_out(self, url: str, why: str) -> None:
        """Count an address that is not followed, once however many links lead to it, while it is remembered."""
        if self.left_out.add(hash(url)):
            self.count(f"skipped/{why}")

    def mark_nofollow(self, url: str) -> None:
        """Count an address that a page asks not to follow; another page may lead there all the same."""
        if self.nofollowed.add(hash(url)):
            self.count("skipped/nofollow")

    def count(self, key: str, by: int = 1) -> None:
        """Count why something was left out or failed; the 101st reason and what follows it are counted as one."""
        group, known = key.partition("/")[0], self._known[key.partition("/")[0]]
        if by:
            if len(known) < MOST_REASONS:
                known.add(key)
            self.crawler.stats.inc_value(key if key in known else f"{group}/other reasons", by)
