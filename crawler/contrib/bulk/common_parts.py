"""What pages of the same host have in common, learned from the saved pages themselves before they are cleaned.

Records are read twice: the first time the pages of each host are counted, the second time one page in so many of each
host that has enough is learned from. So few pages are parsed twice, and pages of all kinds are among them. As nothing
depends on the order in which pages are cleaned, the texts are the same with any number of processes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from crawler.contrib.bulk.archives.records import BrokenError, Raw, ReadResult, WalledError
from crawler.extraction.methods.template import N1, Learner, Library
from crawler.extraction.site_libraries import MAX_KEPT
from crawler.page.document import DocumentError
from crawler.page.page import NotHtmlError, Page
from crawler.urls.parsing import host_of

PAGES = 2 * N1
"""Pages of a host that are learned from."""

Libraries = Mapping[str, Library]
"""What is known of hosts, by name."""


def learned(read: Callable[[], Iterator[ReadResult]], library: type[Library], show: Callable[[], object]) -> Libraries:
    """The libraries of hosts with enough pages among the records; `show` is called after each record."""
    counts = Counter(name for name, _ in _pages(read(), show) if name)
    steps = {name: max(1, count // PAGES) for name, count in counts.items() if count >= N1}
    learners: dict[str, Learner] = {}
    passed: Counter[str] = Counter()
    size = 0
    for name, page in _pages(read(), show) if steps else ():
        if name not in steps:
            continue
        passed[name] += 1
        if passed[name] % steps[name] == 0 and passed[name] <= PAGES * steps[name]:
            learner = learners.setdefault(name, Learner(library()))
            size += len(learner.add(page))
            if size > MAX_KEPT:
                break
    return {name: learner.library for name, learner in learners.items() if learner.library}


def _pages(records: Iterator[ReadResult], show: Callable[[], object]) -> Iterator[tuple[str, Page]]:
    """The pages among the records, each with its host; those that cannot be read are left out."""
    for record in records:
        show()
        if isinstance(record, Raw):
            try:
                page = record.decode(record).page
            except (BrokenError, NotHtmlError, WalledError, DocumentError):
                continue
            if page.document is None:
                yield host_of(page.url), page
