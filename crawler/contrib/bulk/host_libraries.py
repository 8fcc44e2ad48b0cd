"""Learns which parts the pages of a host have in common, from the saved pages themselves before they are cleaned.

A library holds the common parts of one host. The records are read twice. The first pass counts the pages of each host.
The second pass learns from a sample of each host that has at least N1 pages, the size of a batch to learn from
(crawler/extraction/methods/template.py). The pages of a sample are taken at regular intervals, so that it is small and
has pages of all kinds. The libraries are complete before any page is cleaned, so the texts are the same with any number
of processes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from crawler.contrib.bulk.archives.records import BrokenError, Raw, ReadResult, WalledError
from crawler.extraction.methods.template import N1, Learner, Library
from crawler.extraction.site_libraries import MAX_KEPT
from crawler.page.document import DocumentError
from crawler.page.page import NotHtmlError, Page
from crawler.urls.parsing import host_of

PAGES_A_HOST = 2 * N1
"""The most pages in the sample of a host."""

Libraries = Mapping[str, Library]
"""The library of each host, by its name."""


def learned_libraries(
    read: Callable[[], Iterator[ReadResult]], new_library: type[Library], show: Callable[[], object]
) -> Libraries:
    """The libraries of hosts with enough pages among the records; `show`, which shows progress, is called for each
    record.
    """
    page_counts = Counter(host for host, _ in _pages(read(), show) if host)
    # A sample takes each page whose number is a multiple of the host's step.
    steps = {host: max(1, count // PAGES_A_HOST) for host, count in page_counts.items() if count >= N1}
    if not steps:
        return {}

    learners: dict[str, Learner] = {}
    pages_seen: Counter[str] = Counter()
    template_count = 0
    for host, page in _pages(read(), show):
        if host not in steps:
            continue
        pages_seen[host] += 1
        is_in_sample = pages_seen[host] % steps[host] == 0 and pages_seen[host] <= PAGES_A_HOST * steps[host]
        if is_in_sample:
            learner = learners.setdefault(host, Learner(new_library()))
            template_count += len(learner.add(page))  # the templates that are new in the library
            if template_count > MAX_KEPT:  # as many as a crawl keeps in memory
                break
    return {host: learner.library for host, learner in learners.items() if learner.library}


def _pages(records: Iterator[ReadResult], show: Callable[[], object]) -> Iterator[tuple[str, Page]]:
    """The web pages among the records, each with its host; documents and broken pages are skipped."""
    for record in records:
        show()
        if isinstance(record, Raw):
            try:
                page = record.decode(record).page
            except (BrokenError, NotHtmlError, WalledError, DocumentError):
                continue
            if page.document is None:
                yield host_of(page.url), page
