"""The order in which Focus would have the pages of a web fetched, without a crawl around it."""

from collections.abc import Iterator, Sequence

from orders import Waiting
from webs import Web

from crawler.focus.focus import Focus, Manner
from crawler.focus.lead import Lead
from crawler.topic import Topic


def focused(web: Web, seeds: Sequence[str], manner: Manner, topic: str = "") -> Iterator[str]:
    """The addresses as Focus ranks them, renewed after every page, as the spider and its middleware do it."""
    focus = Focus(Topic.of(topic), manner)
    waiting = Waiting(seeds)
    for url in waiting:
        yield url
        page = web.pages[url]
        if not topic and url in seeds:
            focus.example(page.text)
        focus.fetched(url, page.title, page.text)
        leads = [Lead(*link) for link in page.links]
        known, new = ([lead for lead in leads if (lead.url in waiting) is seen] for seen in (True, False))
        focus.seen_again(url, known)
        for lead, priority in zip(new, focus.found(url, new), strict=True):
            waiting.put(lead.url, priority)
        for found, priority in focus.renewed().items():
            if found in waiting.priority:
                waiting.put(found, priority)
