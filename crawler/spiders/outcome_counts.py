"""Counts of what was left out or failed, for the statistics and the closing lines."""

from collections.abc import Callable

from crawler.frontier.messages import RecentNumbers
from crawler.outcomes import Code, Group, Outcome, Outcomes, of_group

MOST_OUTCOMES = 100
"""Of a group, that are counted apart; a server may think of another media type for each page."""
REMEMBERED = 200_000
"""Addresses left out, each counted once."""
OTHERS = {Group.SKIPPED: Outcome(Code.OTHER_REASONS), Group.FAILED: Outcome(Code.OTHER_FAILURES)}


class OutcomeCounts:
    """Counts outcomes, with some memory of the addresses that were left out."""

    def __init__(self, count_statistic: Callable[[str, int], None]) -> None:
        self.outcomes = Outcomes()
        self.nofollowed, self.left_out = RecentNumbers(REMEMBERED), RecentNumbers(REMEMBERED)
        self._count_statistic = count_statistic

    def of(self, group: Group) -> Outcomes:
        """The counts of one group."""
        return of_group(self.outcomes, group)

    def leave_out(self, url: str, outcome: Outcome) -> None:
        """Count an address that is not followed, once however many links lead to it, while it is remembered."""
        if self.left_out.add(hash(url)):
            self.count(outcome)

    def mark_nofollow(self, url: str) -> None:
        """Count an address that a page asks not to follow; another page may lead there all the same."""
        if self.nofollowed.add(hash(url)):
            self.count(Outcome(Code.NOFOLLOW))

    def count(self, outcome: Outcome, by: int = 1) -> None:
        """Count an outcome; those of a group beyond the first 100 are counted as one."""
        if not by:
            return
        if outcome not in self.outcomes and len(self.of(outcome.code.group)) >= MOST_OUTCOMES:
            outcome = OTHERS[outcome.code.group]
        self.outcomes[outcome] += by
        self._count_statistic(outcome.key, by)
