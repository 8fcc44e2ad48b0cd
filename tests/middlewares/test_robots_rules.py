"""robots.txt is read in linear time, and says what Protego says of the whole file."""

import random
import time

import pytest
from protego import Protego

from crawler.middlewares.robots_rules import MAX_RULES, rules_of
from crawler.page.head import BOT

E = "http://example.com"
PATHS = ("/", "/a", "/a/b", "/a/index.html", "/a?x=1", "/b.pdf", "/b.pdf?x", "/é", "/a$", "/private/x", "/robots.txt")
FILES = {
    "empty": "",
    "all": "User-agent: *\nDisallow: /",
    "nothing": "User-agent: *\nDisallow:",
    "wildcards": "User-agent: *\nDisallow: /*.pdf$\nDisallow: /*?x=\nAllow: /a/",
    "dollar": "User-agent: *\nDisallow: /a$\nAllow: /a/index.html",
    "delay": "User-agent: *\nCrawl-delay: 2.5\nDisallow: /private/",
    "last delay": "User-agent: *\nCrawl-delay: 1\nCrawl-delay: 2\nCrawl-delay: 1\n",
    "wrong delay": "User-agent: *\nCrawl-delay: soon\n",
    "sitemaps": "Sitemap: /s.xml\nUser-agent: *\nSitemap: /t.xml\nDisallow: /a\nSitemap /u.xml\nDisallow: /b",
    "sitemap between agents": "User-agent: other\nSitemap: /s.xml\nHost: example.com\nUser-agent: winnow\nDisallow: /a",
    "shared": "User-agent: GPTBot\nUser-agent: Winnow\nUser-agent: CCBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b",
    "in two groups": "User-agent: *\nDisallow: /a\n\nUser-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /b",
    "longest name": "User-agent: win\nDisallow: /a\n\nUser-agent: winnow\nDisallow: /b\n\nUser-agent: *\nDisallow: /",
    "part of another name": "User-agent: winnower\nDisallow: /\n\nUser-agent: now\nDisallow: /\n",
    "star in a name": "User-agent: winnow*\nDisallow: /a\n\nUser-agent: *\nDisallow: /",
    "two stars": "User-agent: **\nDisallow: /",
    "empty agent": "User-agent: winnow\nDisallow: /a\nUser-agent:\nDisallow: /b",
    "no group": "Disallow: /\nUser-agent: *\nDisallow: /a",
    "no colon": "user agent winnow\ndisallow /a\nuseragent *\nDisallow /",
    "misspelt": "User-agent: *\nDissallow: /a\nDisalow /b\nUser-agent: other\nDisallow: /",
    "unknown ends the agents": "User-agent: winnow\nNoindex: /x\nUser-agent: other\nDisallow: /",
    "words end nothing": "User-agent: winnow\nsome words\nUser-agent: other\nDisallow: /",
    "comments": "# for all\nUser-agent: * # all\n#Disallow: /\nDisallow: /a # not yet",
    "carriage returns": "User-agent: *\r\nDisallow: /a\r\rDisallow: /b\r\n",
    "blank lines": "User-agent: *\n\n\nDisallow: /a\n\nDisallow: /b",
    "html": "<html><head><title>Not found: 404</title></head></html>",
    "absolute": "User-agent: *\nDisallow: http://example.com/a",
    "escaped": "User-agent: *\nDisallow: /%C3%A9\nDisallow: /%61?x=1",
}


def assert_same(text: str) -> None:
    ours, whole = rules_of(text), Protego.parse(text)
    assert ours.crawl_delay(BOT) == whole.crawl_delay(BOT), text
    for path in PATHS:
        assert ours.can_fetch(E + path, BOT) == whole.can_fetch(E + path, BOT), (path, text)


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_the_answers_are_those_of_the_whole_file(text: str) -> None:
    assert_same(text)


def test_so_they_are_for_lines_in_any_order() -> None:
    lines = sorted({line for text in FILES.values() for line in text.splitlines()})
    rng = random.Random(7)
    for _ in range(300):
        assert_same("\n".join(rng.choices(lines, k=rng.randint(2, 15))))


SIZE = 500 * 1024
AGENTS = "".join(f"User-agent:{number}\n" for number in range(15_000))
HOSTILE = {
    "many agents, many rules": AGENTS + "User-agent:*\n" + "Allow:/a\n" * ((SIZE - len(AGENTS)) // 9),
    "our names": "".join(f"User-agent:{BOT[:end]}\n" for end in range(1, 7)) + "User-agent:*\n" + "Allow:$\n" * 60_000,
    "different rules": "User-agent:*\n" + "".join(f"Allow:é{number}$\n" for number in range(35_000)),
    "empty lines": "User-agent:*\n" + "\n" * SIZE,
    "colons": "User-agent:*\n" + ":\n" * (SIZE // 2),
    "changing groups": "User-agent:*\nAllow:/\n" * (SIZE // 21),
    "stars": "User-agent:*\nAllow:" + "*a" * (SIZE // 2),
    "spaces": "user" + " " * SIZE,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_takes_no_time(text: str) -> None:
    start = time.process_time()
    assert rules_of(text).can_fetch(E + "/" + "ab" * 1_000, BOT)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(("rules", "allowed"), [(MAX_RULES - 1, False), (MAX_RULES, True)])
def test_so_many_rules_are_read(rules: int, allowed: bool) -> None:
    text = "User-agent: *\n" + "".join(f"Allow: /{number}\n" for number in range(rules)) * 2 + "Disallow: /a\n"
    assert rules_of(text).can_fetch(E + "/a", BOT) is allowed
