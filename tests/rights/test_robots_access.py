"""What robots.txt allows: the cases of Google's parser, the rules of RFC 9309, and a naive reader of the whole file."""

import random
import re
import time
from collections.abc import Iterator

from crawler.rights.path_patterns import MAX_WORK, PathPattern, path_of
from crawler.rights.robots_file import MAX_LINE, MAX_SIZE, RobotsFile, read_robots, readable_part

HOST = "http://a.example"


def robots(text: str | bytes) -> RobotsFile:
    body = text if isinstance(text, bytes) else text.encode()
    return read_robots(body, f"{HOST}/robots.txt", "2026-11-27T10:00:00+00:00")


ALL = "user-agent: winnow\ndisallow: /\n"
GROUPS = """allow: /foo/bar/

user-agent: FooBot
disallow: /
allow: /x/
user-agent: BarBot
disallow: /
allow: /y/


allow: /w/
user-agent: BazBot

user-agent: FooBot
allow: /z/
disallow: /
"""
TWO_WORDS = "User-Agent: WINNOW BAR\nAllow: /x/\nDisallow: /\n"
FISH = ("/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.html?id=anything")
LONG = "/x/" + "a" * 16_649
LONG_B = "/x/" + "b" * 16_652

GOOGLE: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    # A file, the paths it allows, and those it forbids.
    ("", ("", "/"), ()),
    (ALL, (), ("", "/x/y")),
    ("foo: winnow\nbar: /\n", ("/x/y",), ()),
    ("user-agent winnow\ndisallow /\n", (), ("/x/y",)),
    (GROUPS.replace("FooBot", "winnow"), ("/x/b", "/z/d"), ("/y/c", "/foo/bar/")),
    (GROUPS.replace("BarBot", "winnow"), ("/y/c", "/w/a"), ("/z/d", "/foo/bar/")),
    (GROUPS.replace("BazBot", "winnow"), ("/z/d",), ("/foo/bar/",)),
    # Other records end no group.
    ("User-agent: BarBot\nSitemap: https://foo.bar/sitemap\nUser-agent: *\nDisallow: /\n", (), ("/",)),
    ("User-agent: winnow\nSitemap: https://foo.bar/sitemap\nUser-agent: *\nDisallow: /\n", (), ("/",)),
    ("User-agent: FooBot\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /\n", (), ("/",)),
    ("User-agent: winnow\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /\n", (), ("/",)),
    # Names are compared without case, paths with it.
    ("USER-AGENT: winnow\nALLOW: /x/\nDISALLOW: /\n", ("/x/y",), ("/a/b",)),
    ("user-agent: winnow\nallow: /x/\ndisallow: /\n", ("/x/y",), ("/a/b",)),
    ("uSeR-aGeNt: winnow\nAlLoW: /x/\ndIsAlLoW: /\n", ("/x/y",), ("/a/b",)),
    (TWO_WORDS, ("/x/y",), ("/a/b",)),
    (TWO_WORDS.lower(), ("/x/y",), ("/a/b",)),
    (TWO_WORDS.replace("WINNOW BAR", "WiNnOw bAr"), ("/x/y",), ("/a/b",)),
    ("User-Agent: *\nDisallow: /\n" + TWO_WORDS, ("/x/y",), ("/a/b",)),
    ("user-agent: winnow\ndisallow: /x/\n", (), ("/x/y",)),
    ("user-agent: winnow\ndisallow: /X/\n", ("/x/y",), ()),
    # The group of all.
    ("user-agent: *\nallow: /\nuser-agent: winnow\ndisallow: /\n", (), ("/x/y",)),
    ("user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n", ("/x/y",), ()),
    ("user-agent: a\nallow: /\nuser-agent: b\ndisallow: /\nuser-agent: c\ndisallow: /\n", ("/x/y",), ()),
    # The longest match.
    ("user-agent: winnow\ndisallow: /x/page.html\nallow: /x/\n", (), ("/x/page.html",)),
    ("user-agent: winnow\nallow: /x/page.html\ndisallow: /x/\n", ("/x/page.html",), ("/x/",)),
    ("user-agent: winnow\ndisallow: \nallow: \n", ("/x/page.html",), ()),
    ("user-agent: winnow\ndisallow: /\nallow: /\n", ("/x/page.html",), ()),
    ("user-agent: winnow\ndisallow: /x\nallow: /x/\n", ("/x/",), ("/x",)),
    ("user-agent: winnow\ndisallow: /x/page.html\nallow: /x/page.html\n", ("/x/page.html",), ()),
    ("user-agent: winnow\nallow: /page\ndisallow: /*.html\n", ("/page",), ("/page.html",)),
    ("user-agent: winnow\nallow: /x/page.\ndisallow: /*.html\n", ("/x/page.html",), ("/x/y.html",)),
    ("User-agent: *\nDisallow: /x/\nUser-agent: winnow\nDisallow: /y/\n", ("/x/page",), ("/y/page",)),
    # Escapes. Google compares the octets as they are written; RFC 9309, 2.2.2 compares them in one spelling, so that
    # an unescaped letter of the address, and an escaped one of the rule that needs no escape, match here.
    (
        ALL + "allow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par\n",
        ("/foo/bar?qux=taz&baz=http://foo.bar?tar&par",),
        (),
    ),
    (ALL + "allow: /foo/bar/\u30c4\n", ("/foo/bar/%E3%83%84", "/foo/bar/\u30c4"), ()),
    (ALL + "allow: /foo/bar/%E3%83%84\n", ("/foo/bar/%E3%83%84", "/foo/bar/\u30c4"), ()),
    (ALL + "allow: /foo/bar/%62%61%7A\n", ("/foo/bar/%62%61%7A", "/foo/bar/baz"), ()),
    # Characters with a meaning.
    (
        "User-agent: winnow\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux\n",
        ("/foo/quz", "/foo//quz", "/foo/bax/quz"),
        ("/foo/bar/quz",),
    ),
    (
        "User-agent: winnow\nDisallow: /foo/bar$\nAllow: /foo/bar/qux\n",
        ("/foo/bar/qux", "/foo/bar/", "/foo/bar/baz"),
        ("/foo/bar",),
    ),
    (
        "User-agent: winnow\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /\n",
        ("/foo/bar",),
        ("/foo/quz",),
    ),
    (
        "User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /\n",
        ("/allowed-slash/", "/allowed-slash/index.html"),
        ("/allowed-slash/index.htm", "/anyother-url"),
    ),
    # Lines that are cut.
    (f"user-agent: winnow\ndisallow: {LONG}/qux\n", ("/fux",), (f"{LONG}/fux",)),
    (
        f"{ALL}allow: {LONG[:-1]}/qux\nallow: {LONG_B}/qux\n",
        (f"{LONG[:-1]}/qux", f"{LONG_B}/fux"),
        ("/",),
    ),
    # The documentation of Google's crawler.
    (ALL + "allow: /fish\n", FISH, ("/bar", "/Fish.asp", "/catfish", "/?id=fish")),
    (ALL + "allow: /fish*\n", FISH, ("/bar", "/Fish.bar", "/catfish", "/?id=fish")),
    (
        ALL + "allow: /fish/\n",
        ("/fish/", "/fish/salmon", "/fish/?salmon", "/fish/salmon.html", "/fish/?id=anything"),
        ("/bar", "/fish", "/fish.html", "/Fish/Salmon.html"),
    ),
    (
        ALL + "allow: /*.php\n",
        (
            *("/filename.php", "/folder/filename.php", "/folder/filename.php?parameters"),
            *("//folder/any.php.file.html", "/filename.php/", "/index?f=filename.php/"),
        ),
        ("/bar", "/php/", "/index?php", "/windows.PHP"),
    ),
    (
        ALL + "allow: /*.php$\n",
        ("/filename.php", "/folder/filename.php"),
        (
            *("/bar", "/filename.php?parameters", "/filename.php/", "/filename.php5", "/php/", "/filename?php"),
            *("/aaaphpaaa", "//windows.PHP"),
        ),
    ),
    (ALL + "allow: /fish*.php\n", ("/fish.php", "/fishheads/catfish.php?parameters"), ("/bar", "/Fish.PHP")),
    (ALL + "allow: /p\n", ("/page",), ()),
    ("user-agent: winnow\nallow: /folder\ndisallow: /folder\n", ("/folder/page",), ()),
    ("user-agent: winnow\nallow: /page\ndisallow: /*.htm\n", (), ("/page.htm",)),
    (ALL + "allow: /$\n", ("/",), ("/page.html",)),
]


def test_cases_of_googles_parser() -> None:
    for text, allowed, forbidden in GOOGLE:
        file = robots(text)
        assert [path for path in (*allowed, *forbidden) if file.allows(HOST + path)] == list(allowed)


FORBIDDING = {
    "version": "User-agent: Winnow/1.0\nDisallow: /",
    "two words": "User-agent: Winnow bot\nDisallow: /",
    "comment in brackets": "User-agent: Winnow (focused crawler)\nDisallow: /",
    "digits": "User-agent: Winnow2\nDisallow: /",
    "star": "User-agent: winnow*\nDisallow: /",
    "unknown record": "User-agent: winnow\nFoo: bar\nUser-agent: *\nDisallow: /",
    "delay": "User-agent: winnow\nCrawl-delay: 1\nUser-agent: *\nDisallow: /",
    "bare address": "User-agent: winnow\nhttps://a.example/sitemap.xml\nUser-agent: *\nDisallow: /",
    "usage": "User-agent: winnow\nContent-Usage: train-ai=n\nUser-agent: *\nDisallow: /",
    "licence": "User-agent: winnow\nLicense: https://a.example/l\nUser-agent: *\nDisallow: /",
    "many rules": "User-agent: *\n" + "".join(f"Allow: /{n}\n" for n in range(30_000)) + "Disallow: /",
    "prefix of the name": "User-agent: Win\nDisallow:\n\nUser-agent: *\nDisallow: /",
    "longer name": "User-agent: winnow-news\nDisallow:\n\nUser-agent: *\nDisallow: /",
    "star and words": "User-agent: * all robots\nDisallow: /",
    "line separator": "User-agent: *\nDisallow: /\n#\u2028Allow: /",
    "next line": "User-agent: *\nDisallow: /\n#\x85Allow: /",
    "vertical tab": "User-agent: *\nDisallow: /\n#\x0bAllow: /",
    "form feed": "User-agent: *\nDisallow: /\n#\x0cAllow: /",
    "carriage returns": "User-agent: *\rDisallow: /\r",
    "byte order mark": "\ufeffUser-agent: *\nDisallow: /",
    "part of a mark": b"\xef\xbbUser-agent: *\nDisallow: /",
    "no colon": "useragent *\nDisallow /",
    **{name: f"User-agent: *\n{name}: /" for name in ("Dissallow", "Dissalow", "Disalow", "Diasllow", "Disallaw")},
    "two groups": "User-agent: winnow\nAllow: /b\n\nUser-agent: x\nAllow: /\n\nUser-agent: winnow\nDisallow: /",
    "long pattern": "User-agent: *\nDisallow: /*" + "a" * 3_000 + "$",
    "many stars": "User-agent: *\nDisallow: /" + "*a" * 100,
    "escaped star": "User-agent: *\nDisallow: /aaa%2A",
    "escaped dollar": "User-agent: *\nDisallow: /aaa%24$",
    "space": "User-agent: *\nDisallow: /aaa b",
    "octets": b"User-agent: *\nDisallow: /aaa\xe9",
}
PATHS = {
    "long pattern": "/" + "a" * 3_000,
    "many stars": "/" + "a" * 100,
    "escaped star": "/aaa*",
    "escaped dollar": "/aaa$",
    "space": "/aaa%20b",
    "octets": "/aaa%e9",
}


def test_what_is_forbidden() -> None:
    for name in FORBIDDING:
        file, url = robots(FORBIDDING[name]), HOST + PATHS.get(name, "/aaa")
        assert not file.allows(url)
        assert file.evidence(url)[0].says.lower().startswith("dis") or name == "Diasllow"


def test_what_is_allowed() -> None:
    rows = [
        ("User-agent: winnower\nDisallow: /\n\nUser-agent: now\nDisallow: /", "/"),
        ("User-agent: **\nDisallow: /", "/"),
        ("User-agent: *\nDisallow: /aaa%2A", "/aaab"),
        ("User-agent: *\nDisallow: /aaa%24", "/aaa"),
        ("User-agent: *\nDisallow /a b", "/a"),
        ("User-agent: *\nCrawl-delay: 2\n\nUser-agent: other\nDisallow: /\n\nUser-agent: winnow\nDisallow:", "/"),
        ("<html><head><title>Not found: 404</title></head></html>", "/"),
        ("\x00" * 99, "/"),
    ]
    for text, path in rows:
        assert robots(text).allows(HOST + path)


def test_the_part_that_is_read_ends_with_a_line() -> None:
    start = b"User-agent: *\nDisallow: /\n"
    filling = b"#" * (MAX_SIZE - len(start) - 9)
    assert readable_part(start + filling) == start + filling
    assert not robots(readable_part(start + filling + b"\nAllow: /a")).allows(f"{HOST}/b")
    assert len(readable_part(start + filling + b"\nAllow: /a")) == MAX_SIZE - 8
    assert MAX_LINE < MAX_SIZE


def test_crawl_delay() -> None:
    rows = [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nCrawl-delay: 1\nCrawl-delay: 2\nCrawl-delay: 1\n", 1),
        ("User-agent: *\nCrawl-delay: 1\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: inf", 1),
        ("User-agent: *\nCrawl-delay: 5\n\nUser-agent: winnow\nDisallow: /a", None),
        ("User-agent: *\nCrawl-delay: 5\n\nUser-agent: winnow\nCrawl-delay: 1", 1),
        # Whom a delay is for is said right before it.
        ("User-agent: *\nCrawl-delay: 1\n\nUser-agent: other\nCrawl-delay: 100\nDisallow: /a", 1),
        ("User-agent: *\nUser-agent: other\nCrawl-delay: 1", 1),
        ("Crawl-delay: 1", None),
    ]
    for text, delay in rows:
        assert robots(text).own.crawl_delay == delay


def test_sitemaps() -> None:
    rows = [
        (
            "User-agent: x\nSitemap: https://a.example/s.xml # all\nsitemap:/t.xml",
            ("https://a.example/s.xml", "/t.xml"),
        ),
        ("Site-map: /a\nsitemap: /b c\nSitemap: /a\nSitemap:\nsitemap /d", ("/a", "/b", "/d")),
        ("Sitemap: /" + "x" * 3_000, ()),
        ("".join(f"Sitemap: /{n}\n" for n in range(1_001)), tuple(f"/{n}" for n in range(1_000))),
    ]
    for text, sitemaps in rows:
        assert robots(text).sitemaps == sitemaps


def positions(pattern: str, path: str) -> bool:
    """Whether a pattern matches, by all positions of the path that each of its characters can lead to."""
    reached = {0}
    for at, character in enumerate(pattern):
        if character == "$" and at == len(pattern) - 1:
            return len(path) in reached
        if character == "*":
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {where + 1 for where in reached if path[where : where + 1] == character}
        if not reached:
            return False
    return True


def naive(text: str, path: str) -> bool:
    """Whether a file allows a path, by a reader that knows Allow and Disallow of whole groups only."""
    groups: list[tuple[set[str], list[tuple[str, str]]]] = []
    for line in re.split("\r\n|\r|\n", text):
        name, colon, value = (part.strip() for part in line.partition("#")[0].partition(":"))
        if name.lower() == "user-agent" and colon:
            if not groups or groups[-1][1]:
                groups.append((set(), []))
            groups[-1][0].add("*" if value == "*" else re.split("[^a-z_-]", value.lower())[0])
        elif name.lower() in ("allow", "disallow") and groups:
            groups[-1][1].append((name.lower(), value))
    named = [rules for agents, rules in groups if "winnow" in agents]
    if not named:
        named = [rules for agents, rules in groups if "*" in agents]
    matches = [
        (len(value), name == "allow") for rules in named for name, value in rules if value and positions(value, path)
    ]
    return max(matches, default=(0, True))[1]


def fuzzed(count: int, seed: int) -> Iterator[tuple[str, str]]:
    rng = random.Random(seed)
    for _ in range(count):
        pattern = "/" + "".join(rng.choices("ab/*$.", weights=(4, 3, 2, 3, 1, 1), k=rng.randint(0, 12)))
        yield pattern, "/" + "".join(rng.choices("ab/.$*", weights=(6, 6, 6, 3, 1, 1), k=rng.randint(0, 14)))


def test_fuzzed_patterns_match_as_a_naive_matcher_says() -> None:
    for pattern, path in fuzzed(24_000, seed=7):
        assert PathPattern.of(pattern).matches(path) is positions(pattern, path), (pattern, path)


def test_fuzzed_files_say_what_a_naive_reader_says() -> None:
    rng = random.Random(11)
    agents = ("winnow", "Winnow/1.0", "*", "GPTBot", "win", "winnow bot", "other")
    records = [f"User-agent: {agent}" for agent in agents] + ["", "Foo: bar", "Crawl-delay: 1", "Sitemap: /s", "# x"]
    patterns = list(fuzzed(3_000, seed=13))
    for _ in range(3_000):
        rules = [f"{rng.choice(('Allow', 'Disallow'))}: {rng.choice(patterns)[0]}" for _ in range(8)]
        text = rng.choice(("\n", "\r\n", "\r")).join(rng.choices([*records, *rules], k=rng.randint(2, 20)))
        file = robots(text)
        for _, path in rng.sample(patterns, 3):
            assert file.allows(HOST + path) is naive(text, path), (text, path)


AGENTS = "".join(f"User-agent:{number}\n" for number in range(15_000))
KNOWN = "".join(
    f"User-agent:{name}\n" for name in ("*", "winnow", "GPTBot", "CCBot", "Bytespider", "Diffbot", "omgili")
)
HOSTILE = {
    "many agents, many rules": AGENTS + "User-agent:*\n" + "".join(f"Allow:/{n}\n" for n in range(20_000)),
    "known agents, many rules": KNOWN + "".join(f"Disallow:/{n}\nContent-Usage:/{n} a=n\n" for n in range(14_000)),
    "different rules": "User-agent:*\n" + "".join(f"Allow:\u00e9{n}$\n" for n in range(35_000)),
    "many stars": KNOWN + "".join(f"Disallow:/*{n}*a\n" for n in range(28_000)),
    "long stars": "User-agent:*\n" + ("Allow:/" + "*a" * 8_000 + "b\n") * 30,
    "long patterns": "User-agent:*\n" + "".join(f"Disallow:/*{'a' * 2_000}{n}{'a' * 2_000}\n" for n in range(120)),
    "empty lines": "User-agent:*\n" + "\n" * MAX_SIZE,
    "colons": "User-agent:*\n" + ":\n" * (MAX_SIZE // 2),
    "changing groups": "".join(f"User-agent:*\nUser-agent:GPTBot\nAllow:/{n}\n" for n in range(11_000)),
    "stars": "User-agent:*\nAllow:" + "*" * MAX_SIZE,
    "spaces": "user" + " " * MAX_SIZE,
}


def test_a_hostile_file_costs_little() -> None:
    for name in HOSTILE:
        start = time.process_time()
        file = robots(readable_part(HOSTILE[name].encode()))
        for path in ("/" + "a" * 8_000, "/" + "ab" * 4_000, "/a/b.html"):
            file.evidence(HOST + path)
        seconds = time.process_time() - start
        assert seconds < 3  # it takes 0.4 s at most; the square of the rules took minutes


def test_what_is_too_much_to_compare_is_forbidden() -> None:
    pieces = "*a" * 100
    rules = MAX_WORK // (200 * 1_001)
    text = "User-agent: *\nUser-agent: GPTBot\n" + "".join(f"Allow: /{pieces}{n:04}\n" for n in range(rules + 1))
    assert robots(text).allows(f"{HOST}/{'a' * 800}")
    assert not robots(text).allows(f"{HOST}/{'a' * 1_000}")
    assert robots(text + f"Allow: /{'a' * 900}").allows(f"{HOST}/{'a' * 1_000}")


def test_addresses_of_paths() -> None:
    assert path_of(f"{HOST}/%2a%24%2f") == "/*$%2F"
