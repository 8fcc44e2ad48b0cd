"""The sentence about links that wait because they are unlikely to lead to the topic."""

from crawler.translation.message import Message, plural


def unlikely_links(links: int) -> Message:
    """How many links wait, why, and how they are requested.

    >>> str(unlikely_links(2_000))
    '2,000 links wait, as they are unlikely to lead to the topic; -a min_chance=0 requests them.'
    """
    return plural(
        "{n} link waits, as it is unlikely to lead to the topic; -a min_chance=0 requests it.",
        "{n} links wait, as they are unlikely to lead to the topic; -a min_chance=0 requests them.",
        links,
    )
