"""What one answer of a host can cost a crawl: the time and memory of pages and files that are made to cost much.

`python tests/bench/hostile.py [--only NAME ...]` serves each answer on loopback and crawls it in a separate process,
with the usual settings. A line has the CPU seconds from the first request on and the peak memory of the process, both
beyond those of a crawl of one small page, the costliest answer first. An answer that exceeds a limit is crawled twice
more, and the least costs count, because a shared machine is slower at times. The exit status is 1 if any answer costs
more than a second of CPU time or 100 MB.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import brotli

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from fork_server import environment
from sites import Answer, Site, command, page, serving

from crawler.rights.training_crawlers import TRAINING_CRAWLERS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_SECONDS, MOST_MEGABYTES = 1.0, 100.0
SIZE = 9 * 1024 * 1024
LARGEST = 10 * 1024 * 1024
"""Bytes that a list has at most when it has the name of its host: larger bodies are refused."""
ROBOTS = 500 * 1024
LIST_SECONDS = 8  # in which a crawl reads a list and requests the first of what it names
HTML = "text/html; charset=utf-8"
SETTINGS = {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8", "LOG_LEVEL": "WARNING"}


class Cost(NamedTuple):
    """The cost of one crawl."""

    seconds: float
    megabytes: float

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.seconds - other.seconds, self.megabytes - other.megabytes)

    @property
    def share(self) -> float:
        """The cost as a multiple of its limit."""
        return max(self.seconds / MOST_SECONDS, self.megabytes / MOST_MEGABYTES)


def full(unit: bytes | str, before: bytes | str = "", after: bytes | str = "", size: int = SIZE) -> bytes:
    """A body of about this size: `before`, the unit repeated, and `after`."""
    unit, before, after = (part.encode() if isinstance(part, str) else part for part in (unit, before, after))
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def numbered(
    write: Callable[[int], str], before: str = "", after: str = "", size: int = SIZE, most: int = 10**9
) -> bytes:
    """A body of about this size: `before`, a unit for each number, at most `most`, and `after`."""
    units, length, number = [before], len(before) + len(after), 0
    while length < size and number < most:
        units.append(write(number))
        length += len(units[-1].encode())
        number += 1
    return "".join((*units, after)).encode()


SET, INDEX = "<urlset>", "<sitemapindex>"
RSS = "<rss><channel>"
JSON_FEED = '{"version": "https://jsonfeed.org/version/1", "items": [{"url": "/a", "content_text": "'
PAGES: Mapping[str, Callable[[], bytes]] = {
    "words": lambda: full("Some words make up a text. ", "<p>"),
    "sentences in p": lambda: numbered(lambda n: f"<p>This is sentence {n} of a long page, which says little.</p>"),
    "%e4%b8": lambda: full("%e4%b8", "<p>"),
    "%e4%b8 in an address": lambda: full("%e4%b8", "<a href='/", "'>x</a>"),
    "addresses of %e4%b8": lambda: numbered(lambda n: f"<a href='/{'%e4%b8' * 300}{n}'>x</a>"),
    "invalid GB18030": lambda: full(b"\x81\x30\x81\xff", "<meta charset=gb18030><p>"),
    "half valid GB18030": lambda: full("中文".encode("gb18030") * 20 + b"\xff\xff ", "<meta charset=gb18030><p>"),
    "a byte without a letter": lambda: full(b"\x81", "<meta charset=windows-1252><p>"),
    "invalid UTF-8": lambda: full(b"caf\xc3\xa9 \xc3( ", "<p>"),
    "&": lambda: full("&", "<p>"),
    "& in an attribute": lambda: full("&", "<p title='", "'>One."),
    "unknown entities": lambda: full("&bogus; ", "<p>"),
    "references": lambda: full("&#20013;", "<p>"),
    "hanzi": lambda: full("春天来了，公园里的花都开了。", "<p>"),
    "a word": lambda: full("x", "<p>"),
    "lists in lists": lambda: full("<ul><li>x"),
    "tables in tables": lambda: full("<table><tr><td>x"),
    "divs in divs": lambda: full("<div>x"),
    "closed divs in divs": lambda: b"<div>" * 2_000 + full("<div><p>One is.</p></div>"),
    "50,000 links": lambda: numbered(lambda n: f"<a href=/{n}>link {n}</a> ", "<p>Hello.", most=50_000),
    "images": lambda: numbered(lambda n: f"<img src=/{n}.png alt='image {n}'>", "<p>Hello."),
    "an attribute": lambda: full("x ", "<p title='", "'>One."),
    "an address": lambda: full("x/", "<a href='", "'>One.</a>"),
    "a srcset": lambda: full("x 1w, ", "<img srcset='", "'>"),
    "attributes": lambda: numbered(lambda n: f"a{n} ", "<p "),
    "classes": lambda: numbered(lambda n: f"<p class=c{n}>x"),
    "open tags": lambda: full("<"),
    "comments": lambda: full("<!---->"),
    "a script": lambda: full("var a = '<p>x.';", "<script>"),
    "JSON-LD": lambda: full('{"datePublished":"x",', "<script type='application/ld+json'>"),
    "a title": lambda: full("ab ", "<title>", "</title><p>One."),
    "meta elements": lambda: full("<meta name=robots content=index>"),
    "a ligature of 18 letters": lambda: full("\ufdfa", "<p>"),
    "cells of 1,000 rows": lambda: full("<tr><td colspan=1000 rowspan=1000>x<td>y", "<table>"),
    "notes": lambda: numbered(lambda n: f"<p id=n{n}><a href=#m{n}>{n}</a> See <a id=m{n} href=#n{n}>{n}</a>."),
    "images in links": lambda: numbered(lambda n: f"<a href=/{n}.jpg><img src=/{n}.png></a>"),
    "links that resolve to 2 KB": lambda: numbered(lambda n: f"<a href={n}>x</a>", f"<base href='/{';a' * 950}/'>"),
}
LISTS: Mapping[str, Callable[[], bytes]] = {
    "sitemap": lambda: numbered(lambda n: f"<url><loc>http://HOST/{n}</loc></url>", SET, "</urlset>"),
    "sitemap: entry of many children": lambda: full("<a/>", f"{SET}<url>", "<loc>http://HOST/a</loc></url></urlset>"),
    "sitemap: children in each other": lambda: full("<a>", f"{SET}<url>"),
    "feed": lambda: numbered(lambda n: f"<item><link>http://HOST/{n}</link></item>", RSS, "</channel></rss>"),
    "feed: entry of many children": lambda: full("<a/>", f"{RSS}<item>", "</item></channel></rss>"),
    "sitemap: attributes": lambda: full("a='' ", "<urlset ", "/>"),
    "sitemap: unknown entities": lambda: full("&x;", f"{SET}<url><loc>"),
    "sitemap: addresses of %e4": lambda: numbered(lambda n: f"<url><loc>http://HOST/{'a%e4' * 40}{n}</loc></url>", SET),
    "sitemap: gzipped": lambda: gzip.compress(full("<url><loc>/a</loc></url>", SET, size=20 * SIZE), 1),
    "sitemap: gzipped often": lambda: gzip.compress(SET.encode()) + full(gzip.compress(b" ")),
    "feed: texts": lambda: numbered(
        lambda n: f"<item><link>http://HOST/{n}</link><content:encoded>&lt;p&gt;{n}</content:encoded></item>", RSS
    ),
    "feed: titles of an entry": lambda: full("<title>x</title>", f"{RSS}<item><link>/a</link><encoded>x</encoded>"),
    "JSON feed: lists": lambda: full("[],", '{"version": "https://jsonfeed.org/version/1", "items": [', "[]]}"),
    "JSON feed: a text of lines": lambda: full("x\\n", JSON_FEED, '"}]}'),
    "sitemap of text": lambda: numbered(lambda n: f"http://HOST/{n}\n"),
    "indexes of indexes": lambda: numbered(
        lambda n: f"<sitemap><loc>http://HOST/index/{n}</loc></sitemap>", INDEX, "</sitemapindex>"
    ),
}
AGENTS = "".join(f"user-agent: a{n}\n" for n in range(3_000))
RULES: Mapping[str, Callable[[], bytes]] = {
    "many agents and rules": lambda: numbered(lambda n: f"allow: /{n}\n", f"{AGENTS}user-agent: *\n", size=ROBOTS),
    "quoted rules": lambda: numbered(lambda n: f"allow:/%e4%b8%ad%e6{n}$\n", "user-agent:*\n", size=ROBOTS),
    "rules of stars": lambda: numbered(lambda n: f"allow:*%e4*{n}*%b8*$\n", "user-agent:*\n", size=ROBOTS),
    "stars for training crawlers": lambda: full(
        "disallow: *" + "a*" * 400 + "z\n",
        "".join(f"user-agent: {name}\ndisallow: /{n}\n" for n, name in enumerate(TRAINING_CRAWLERS))
        + "".join(f"user-agent: {name}\n" for name in TRAINING_CRAWLERS),
        size=ROBOTS,
    ),
    "20 times as long as is read": lambda: full("allow: /a\n", "user-agent: *\n", size=19 * ROBOTS),
    "index.html": lambda: numbered(lambda n: f"allow:/%e4{n}$/index.html\n", "user-agent:*\n", size=ROBOTS),
}


CHUNK = b"10000\r\n%b\r\n" % bytes(0x10000)
BOMB = bytes(20 * SIZE)
ENCODED: Mapping[tuple[str, str], Callable[[], bytes]] = {
    ("a bomb of gzip", "gzip"): lambda: gzip.compress(BOMB),
    ("a bomb of gzip in gzip", "gzip, gzip"): lambda: gzip.compress(gzip.compress(BOMB)),
    ("a bomb of deflate", "deflate"): lambda: zlib.compress(BOMB),
    ("a bomb of br", "br"): lambda: brotli.compress(BOMB, quality=1),
    ("a bomb of zstd", "zstd"): lambda: zstd.compress(BOMB),
    ("empty parts of gzip", "gzip"): lambda: full(gzip.compress(b"")),
    ("empty parts of zstd", "zstd"): lambda: full(zstd.compress(b"")),
    ("10,000 codings", ", ".join(["gzip"] * 10_000)): lambda: gzip.compress(b""),
}
"""Bodies by what they are and their Content-Encoding."""


class Hostile(Site):
    """A site whose seed is one answer; below /on/ each page refreshes to the next, below /away/ it is a redirect to
    it, below /index/ each list is alike.
    """

    def __init__(
        self, body: bytes, content_type: str = HTML, robots: bytes = b"", status: int = 200, **headers: str
    ) -> None:
        super().__init__({"/robots.txt": Answer(robots, content_type="text/plain")})
        self.body, self.content_type, self.status, self.headers = body, content_type, status, headers
        self.crawler = 0
        """The number of the process that crawls it."""
        self.used_before = 0.0
        """The seconds of CPU that it had used before its first request: those of its start."""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        if not self.asked:
            self.used_before = seconds_of(self.crawler)
        kind, _, number = path.strip("/").partition("/")
        if kind == "on":
            head = f'<meta http-equiv="refresh" content="0; url=/on/{int(number) + 1}">'
            self.routes[path] = page("On.", head=head)
        elif kind == "away":
            self.routes[path] = Answer("", 302, headers={"Location": f"/away/{int(number) + 1}"})
        elif kind in ("", "index"):
            place = (headers["Host"] + path).rstrip("/").encode()
            body = self.body.replace(b"HOST", place)[:LARGEST] if b"HOST" in self.body else self.body
            self.routes[path] = Answer(body, self.status, self.content_type, self.headers)
        return super().answer(path, headers)


def cases() -> dict[str, Callable[[], Hostile]]:
    """The sites by what they are made of; each is made when it is crawled."""
    small = page("Hello.").encode()
    sites: dict[str, Callable[[], Hostile]] = {}
    for name, make in PAGES.items():
        sites[f"page: {name}"] = lambda make=make, name=name: Hostile(make(), "text/html" if "GB" in name else HTML)
    for name, make in LISTS.items():
        sites[f"list: {name}"] = lambda make=make: Hostile(make(), "text/xml")
    for name, make in RULES.items():
        sites[f"robots.txt: {name}"] = lambda make=make: Hostile(small, robots=make())
    for (name, coding), make in ENCODED.items():
        sites[f"body: {name}"] = lambda make=make, coding=coding: Hostile(make(), **{"Content-Encoding": coding})
    chunks = {"Content-Length": "", "Transfer-Encoding": "chunked"}
    sites["body: chunks of a byte"] = lambda: Hostile(full("1\r\nx\r\n", after="0\r\n\r\n", size=6 * SIZE), **chunks)
    sites["body: 20 times the limit"] = lambda: Hostile(b"<p>" + BOMB)
    sites["body: 20 times the limit, in chunks"] = lambda: Hostile(full(CHUNK, size=20 * SIZE), **chunks)
    on = page("On.", head='<meta http-equiv="refresh" content="0; url=/on/1">').encode()
    sites["refreshes without end"] = lambda: Hostile(on)
    sites["redirects without end"] = lambda: Hostile(small, status=302, Location="/away/1")
    sites["a cookie"] = lambda: Hostile(small, **{"Set-Cookie": "a=" + "b" * 60_000})
    sites["headers"] = lambda: Hostile(small, **{f"X-{n}": "b" for n in range(25_000)})
    sites["headers beyond the limit"] = lambda: Hostile(small, **{f"X-{n}": "b" * 100 for n in range(80_000)})
    return sites


def seconds_of(process: int) -> float:
    """The seconds of CPU that a process has used so far."""
    user, system = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def peak_of(process: int) -> int:
    """The most memory that a process has used so far, in kilobytes; 0 when it has ended."""
    match = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    return int(match[1]) if match else 0


def cost_of(site: Hostile) -> Cost:
    """The cost of a crawl of a site, which ends with its first page, or soon if it is a list."""
    ends = {"CLOSESPIDER_TIMEOUT": str(LIST_SECONDS)}
    with TemporaryDirectory() as folder, serving(site):
        line = command({"seeds": site.url, "max_pages": "1"}, SETTINGS | ends)
        child = subprocess.Popen(
            line, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        site.crawler, peak = child.pid, 0
        # The peak that the system tells at the end counts in this process, from which that one was made.
        while not (ended := os.wait4(child.pid, os.WNOHANG))[0]:
            peak = max(peak, peak_of(child.pid))
            time.sleep(0.02)
        _, status, used = ended
        child.returncode = os.waitstatus_to_exitcode(status)
    if len(site.asked) < 2:
        raise SystemExit("a crawl did not ask for its seed")
    return Cost(used.ru_utime + used.ru_stime - site.used_before, peak / 1024)


def least(costs: Iterable[Cost]) -> Cost:
    """The least time and the least memory."""
    return Cost(*map(min, zip(*costs, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], help="crawl only what has any of these in its name")
    only = parser.parse_args().only
    idle = least(cost_of(Hostile(page("Hello.").encode())) for _ in range(3))
    print(f"A crawl of one small page: {idle.seconds:.2f} s of CPU, {idle.megabytes:.0f} MB. Beyond that:", flush=True)
    costs: dict[str, Cost] = {}
    for name, make in cases().items():
        if any(words in name for words in only):
            cost = cost_of(make()) - idle
            if cost.share > 1:
                cost = least([cost, *(cost_of(make()) - idle for _ in range(2))])
            costs[name] = cost
            print(f"{name}: {cost.seconds:.2f} s, {cost.megabytes:.0f} MB", file=sys.stderr, flush=True)
    print(f"{'answer':40} {'CPU seconds':>11} {'MB':>5}")
    for name, cost in sorted(costs.items(), key=lambda entry: -entry[1].share):
        print(f"{name:40} {cost.seconds:11.2f} {cost.megabytes:5.0f}{'  too much' if cost.share > 1 else ''}")
    raise SystemExit(any(cost.share > 1 for cost in costs.values()))


if __name__ == "__main__":
    main()
