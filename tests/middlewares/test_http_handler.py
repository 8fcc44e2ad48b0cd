"""Connections that a host keeps open and then closes, and responses on both sides of their limits and lengths."""

import re
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from sites import OPEN, Answer, Asked, Site, crawl, page, serving, serving_all

from crawler.contrib.bulk.archives.http_response import MOST_CHUNKS
from crawler.outcomes import Code, Outcome

PAGES = 30
STATISTICS = ("--set=STATS_DUMP=True",)


def fickle() -> Site:
    """A site that keeps connections open, and closes each without an answer when its second request comes."""
    links = {f"/{n}": f"page {n}" for n in range(PAGES)}
    connection = threading.local()  # the server has a thread for each

    def route(asked: Asked) -> Answer:
        if hasattr(connection, "is_used"):
            raise ConnectionResetError
        connection.is_used = True
        return Answer(page(f"This is {asked.path}.", links=links if asked.path == "/" else {}))

    return Site(dict.fromkeys(("/robots.txt", "/", *links), route))


def statistic(said: str, name: str) -> int:
    found = re.search(rf"'{name}': (\d+)", said)
    return int(found[1]) if found else 0


def test_each_request_is_counted_and_none_is_lost(tmp_path: Path) -> None:
    with serving(fickle()) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN, *STATISTICS)
    assert len(ended.items()) == PAGES + 1
    assert statistic(ended.err, "downloader/request_count") == len(site.asked) > PAGES + 2
    assert statistic(ended.err, "retry/count") == len(site.asked) - (PAGES + 2)


@pytest.mark.long
def test_a_request_is_sent_again_after_a_pause(tmp_path: Path) -> None:
    with serving(fickle()) as site:
        slow = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "DOWNLOAD_DELAY": "0.5"}
        crawl(tmp_path, {"seeds": site.url, "max_pages": 5}, slow)
    assert len(site.asked) > 6
    assert min(after.at - before.at for before, after in pairwise(site.asked)) > 0.25


LARGE_HEADERS = {
    "250 kB": ({f"X-{n}": "x" * 1000 for n in range(250)}, True),
    "350 kB": ({f"X-{n}": "x" * 1000 for n in range(350)}, False),
    "a line of 60 kB": ({"X": "x" * 60_000}, True),
    "a line of 70 kB": ({"X": "x" * 70_000}, False),
}


def test_headers_are_read_up_to_a_size(tmp_path: Path) -> None:
    sites = {
        size: Site(
            {"/": page("Bees dance.", links={"/large": "large"}), "/large": Answer(page("Large."), headers=headers)}
        )
        for size, (headers, _) in LARGE_HEADERS.items()
    }
    with serving_all(sites.values()) as seeds:
        ended = crawl(tmp_path, {"seeds": seeds}, OPEN)
    for size, (_, fits) in LARGE_HEADERS.items():
        assert ended.paths_of(sites[size]) == (["/", "/large"] if fits else ["/"]), size
        assert sites[size].paths().count("/large") == 1, size
    assert ended.counts() == {str(Outcome(Code.HEADERS_TOO_LARGE).message): 2}


def chunked(text: str, chunks: int) -> Answer:
    """A text followed by spaces, in so many chunks."""
    body = b"%x\r\n%b\r\n" % (len(text), text.encode()) + b"1\r\n \r\n" * (chunks - 1) + b"0\r\n\r\n"
    return Answer(body, headers={"Content-Length": "", "Transfer-Encoding": "chunked"})


def test_a_body_has_so_many_chunks(tmp_path: Path) -> None:
    routes = {"/few": chunked(page("Few."), MOST_CHUNKS), "/many": chunked(page("Many."), MOST_CHUNKS + 1)}
    with serving(Site({"/": page("Bees dance.", links=dict.fromkeys(routes, "chunks")), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN)
    assert {item["text"] for item in ended.items()} == {"Bees dance.", "Few."}
    assert ended.counts() == {str(Outcome(Code.BODY_TOO_LARGE).message): 1}
    assert site.paths().count("/many") == 1


FORGED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n<p>Forged."


def test_what_follows_a_body_is_ignored_and_is_no_other_response(tmp_path: Path) -> None:
    """The rest comes in two pieces, the second one when the next request has been sent."""
    first = page("Bees dance.", links={"/next": "next"}).encode()

    def pieces() -> Iterator[bytes]:
        yield first + b"<p>The rest." * 2_000
        time.sleep(1)
        yield FORGED

    headers = {"Content-Length": str(len(first)), "Connection": ""}
    with serving(Site({"/": Answer(pieces(), headers=headers), "/next": page("Wasps do not.")})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN, *STATISTICS)
    assert [item["text"] for item in ended.items()] == ["Bees dance.", "Wasps do not."]
    assert statistic(ended.err, "retry/count") == 0
