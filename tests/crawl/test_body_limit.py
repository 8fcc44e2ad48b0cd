"""A body is read up to DOWNLOAD_MAXSIZE, compressed or not, and no further, whatever the server sends."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import brotli
import pytest
from sites import COUNTED, Answer, Asked, Crawl, Route, Site, command, crawl, environment, page, serving

from crawler.middlewares.compression import MOST_PARTS
from crawler.outcomes import Code
from crawler.page.html_tree import MAX_TAGS, Cut

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MIB = 1024 * 1024
LIMIT = 10 * MIB
TOO_LARGE = Code.BODY_TOO_LARGE.value


def plain(size: int) -> bytes:
    start = page("This is a large page.").encode()
    return start + b" " * (size - len(start))


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // MIB):
        yield b" " * MIB


def encoded(body: bytes, encoding: str) -> Answer:
    return Answer(body, headers={"Content-Encoding": encoding})


def peak(pid: int) -> int:
    """The most memory that a process had so far, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def test_bodies_up_to_the_limit_are_read(tmp_path: Path) -> None:
    text = plain(LIMIT)
    routes: dict[str, Route] = {
        "/plain": Answer(text),
        "/pieces": lambda asked: Answer([text[: LIMIT // 2], text[LIMIT // 2 :]]),
        "/gzip": encoded(gzip.compress(text, 1), "gzip"),
        "/over": Answer(text + b" "),
        "/pieces/over": lambda asked: Answer([text, b" "]),
        "/gzip/over": encoded(gzip.compress(text + b" ", 1), "gzip"),
        "/gzip/parts": encoded(gzip.compress(b"") * (MOST_PARTS + 1), "gzip"),
    }
    with serving(Site({"/": page("Hello.", links=dict.fromkeys(routes, "large")), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED)
    assert {item["url"] for item in ended.items()} == {site.url + path for path in ("", "plain", "pieces", "gzip")}
    assert ended.outcomes() == {TOO_LARGE: 4, f"page_cut/{Cut.BYTES}": 3}


def test_what_is_not_read_of_a_page_is_counted_without_its_links_too(tmp_path: Path) -> None:
    with serving(Site({"/": page("Bees dance.") + "<p>x" * MAX_TAGS})) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "max_depth": 0}, COUNTED)
    assert len(ended.items()) == 1
    assert ended.outcomes() == {f"page_cut/{Cut.TAGS}": 1}


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_what_is_larger_costs_neither_memory_nor_other_pages(tmp_path: Path) -> None:
    huge = b" " * (200 * MIB)
    once = gzip.compress(huge, 9)
    bombs: dict[str, Route] = {
        "/declared": Answer(b" " * 12 * MIB),
        "/undeclared": lambda asked: Answer(pieces(200 * MIB)),
        "/gzip": encoded(once, "gzip"),
        "/gzip/twice": encoded(gzip.compress(once), "gzip, gzip"),
        "/deflate": encoded(zlib.compress(huge), "deflate"),
        "/brotli": encoded(brotli.compress(huge, quality=5), "br"),
        "/zstd": encoded(zstd.compress(huge), "zstd"),
    }
    peaks: list[int] = []

    def fine(asked: Asked) -> Answer:
        peaks.append(peak(process.pid))
        return Answer(page("This is fine."))

    routes = {**bombs, "/fine": fine}
    site = Site({"/": page("Hello.", links=dict.fromkeys(routes, "on")), **routes})
    site.routes["/sitemap.xml.gz"] = Answer(once, content_type="application/gzip")
    with serving(site):
        line = command(
            {"seeds": f"{site.url}sitemap.xml.gz {site.url}"}, COUNTED | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
        )
        process = Popen(line, cwd=tmp_path, env=environment(), stderr=PIPE, encoding="utf-8")
        said = process.communicate(timeout=60)[1]
        ended = Crawl(process.returncode, "", said, tmp_path)
    assert [item["url"] for item in ended.items()] == [site.url + path for path in ("", "fine")]
    assert ended.outcomes()[TOO_LARGE] == len(bombs)
    assert peaks[0] < 320 * MIB, "a crawl takes 200 MiB anyway, most for its language model, and one bomb 200 more"
