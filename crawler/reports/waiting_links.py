"""Sentences about links that are queued at the end of a crawl because it does not request them."""

from crawler.translation.message import Message, plural

MORE_PAGES = Message("a larger max_pages")
"""What continues a crawl that ended although likely links are queued, because it has as many pages as it may have."""


def unlikely_links(links: int) -> Message:
    """How many links wait because they are unlikely to lead to the topic, and which argument requests them.

    >>> str(unlikely_links(2_000))
    '2,000 links wait, as they are unlikely to lead to the topic; -a min_chance=0 requests them.'
    """
    return plural(
        "{n} link waits, as it is unlikely to lead to the topic; -a min_chance=0 requests it.",
        "{n} links wait, as they are unlikely to lead to the topic; -a min_chance=0 requests them.",
        links,
    )


def links_behind_images(links: int, command: Message = MORE_PAGES) -> Message:
    """How many links behind images wait, and which command judges them.

    >>> str(links_behind_images(1))[:70]
    '1 link behind an image was not judged yet; a larger max_pages judges i'
    """
    return plural(
        "{n} link behind an image was not judged yet; {command} judges it, and follows none behind noise.",
        "{n} links behind images were not judged yet; {command} judges them, and follows none behind noise.",
        links,
        command=command,
    )
