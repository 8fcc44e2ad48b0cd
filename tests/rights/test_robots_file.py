"""What robots.txt says about the use of pages."""

import hashlib

import pytest

from crawler.rights.robots_file import MAX_LICENCES, MAX_STATEMENTS, RobotsFile, read_robots
from crawler.rights.statement import MAX_SAYS, Rights, Signal, Use

READ_AT = "2026-11-27T10:00:00+00:00"


def robots(text: str) -> RobotsFile:
    return read_robots(text.encode(), "http://a.example/robots.txt", READ_AT)


def state(text: str, path: str = "/", use: Use = Use.AI_TRAIN) -> str:
    return Rights(None, tuple(robots(text).evidence(f"http://a.example{path}"))).state(use).value


DRAFT = """User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""
CLOUDFLARE = """# BEGIN managed content
User-agent: *
Content-Signal: search=yes,ai-train=no,use=reference
Allow: /

User-agent: Amazonbot
Disallow: /

User-agent: GPTBot
Disallow: /

User-agent: CCBot
Disallow: /
# END managed content
User-agent: *
Disallow: /wp-admin/
"""


def test_states() -> None:
    rows = [
        # The example of the draft.
        (DRAFT, "/test", Use.AI_TRAIN, "disallowed"),
        (DRAFT, "/ai-ok/test", Use.AI_TRAIN, "allowed"),
        (DRAFT, "/test", Use.SEARCH, "unknown"),
        (DRAFT.replace("ExampleBot", "Winnow"), "/test", Use.AI_TRAIN, "allowed"),
        # Rules with equally long paths count together; the restrictive one wins.
        ("User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n", "/a", Use.AI_TRAIN, "disallowed"),
        # A longer rule hides a shorter one, also where it says nothing about the use.
        ("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a search=y", "/a", Use.AI_TRAIN, "unknown"),
        ("User-agent: *\nContent-Usage: / train-ai=y\nContent-Usage: train-ai=n", "/a", Use.AI_TRAIN, "allowed"),
        ("User-agent: *\n content-usage \t:\t/a\ttrain-ai=n # all", "/a", Use.AI_TRAIN, "disallowed"),
        ("User-agent: *\nContent-Usage: /*.html$ train-ai=n", "/a.html", Use.AI_TRAIN, "disallowed"),
        ("User-agent: *\nContent-Usage: /*.html$ train-ai=n", "/a.html?b", Use.AI_TRAIN, "unknown"),
        ("User-agent: *\nContent-Usage: train-ai=n=y", "/", Use.AI_TRAIN, "malformed"),
        # Of no group, or of that of another crawler.
        ("Content-Usage: train-ai=n\nUser-agent: *\nAllow: /", "/", Use.AI_TRAIN, "unknown"),
        ("User-agent: other\nContent-Usage: train-ai=n", "/", Use.AI_TRAIN, "unknown"),
        ("User-agent: other\nUser-agent: *\nContent-Usage: train-ai=n", "/", Use.AI_TRAIN, "disallowed"),
        ("User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: winnow\nAllow: /", "/", Use.AI_TRAIN, "unknown"),
        # Content signals, with the example of their policy.
        (
            "User-Agent: *\nContent-Signal: ai-train=no, search=yes, ai-input=yes\nAllow: /",
            "/",
            Use.AI_TRAIN,
            "disallowed",
        ),
        (
            "User-Agent: *\nContent-Signal: ai-train=no, search=yes, ai-input=yes\nAllow: /",
            "/",
            Use.AI_INPUT,
            "allowed",
        ),
        ("User-agent: *\nContent-Signal: /blog/ ai-train=no", "/blog/1", Use.AI_TRAIN, "disallowed"),
        ("User-agent: *\nContent-Signal: /blog/ ai-train=no", "/", Use.AI_TRAIN, "unknown"),
        (CLOUDFLARE, "/", Use.SEARCH, "allowed"),
        # Crawlers that collect for training.
        ("User-agent: GPTBot\nDisallow: /", "/", Use.AI_TRAIN, "disallowed"),
        ("User-agent: gptbot/1.0\nDisallow: /a", "/a", Use.AI_TRAIN, "disallowed"),
        ("User-agent: GPTBot\nDisallow: /a", "/b", Use.AI_TRAIN, "unknown"),
        ("User-agent: GPTBot\nDisallow: /a\nAllow: /a/b", "/a/b", Use.AI_TRAIN, "unknown"),
        ("User-agent: GPTBot\nAllow: /\nDisallow: /", "/", Use.AI_TRAIN, "unknown"),
        ("User-agent: GPTBot\nDisallow: /\nAllow: /", "/", Use.AI_TRAIN, "unknown"),
        ("User-agent: GPTBot\nAllow: /", "/", Use.AI_TRAIN, "unknown"),
        ("User-agent: GPTBot\nDisallow: /", "/", Use.AI_INPUT, "unknown"),
        ("User-agent: Amazonbot\nDisallow: /", "/", Use.AI_TRAIN, "unknown"),
        # This crawler is let in by name where all others are refused.
        ("User-agent: winnow\nAllow: /\n\nUser-agent: *\nDisallow: /", "/", Use.AI_TRAIN, "disallowed"),
        # All are refused something, and the page is not in it.
        ("User-agent: *\nDisallow: /a", "/b", Use.AI_TRAIN, "unknown"),
        ("", "/", Use.AI_TRAIN, "unknown"),
    ]
    for text, path, use, expected in rows:
        assert state(text, path, use) == expected


def test_evidence_is_verbatim_and_names_the_file_by_its_digest() -> None:
    text = "User-agent: *\nContent-Usage: /a  train-ai=n # no\nAllow: /a\n\n"
    text += "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /a"
    where = f"http://a.example/robots.txt#sha256={hashlib.sha256(text.encode()).hexdigest()}"
    rows = [one.row("later") for one in robots(text).evidence("http://a.example/a")]
    assert [(row["signal"], row["says"]) for row in rows] == [
        ("robots_txt", "Allow: /a"),
        ("content_usage", "Content-Usage: /a  train-ai=n"),
        ("training_crawlers", "User-agent: CCBot\nUser-agent: GPTBot\nDisallow: /a"),
    ]
    assert {(row["where"], row["read_at"]) for row in rows} == {(where, READ_AT)}


def test_licences() -> None:
    rows = [
        ("License: https://a.example/l.xml\nUser-agent: *\nAllow: /", ["https://a.example/l.xml"]),
        ("User-agent: *\nAllow: /\nLicense: https://a.example/l.xml", ["https://a.example/l.xml"]),
        # The group's own licences replace those for all.
        ("License: https://a/1\nUser-agent: *\nLicense: https://a/2", ["https://a/2"]),
        ("User-agent: other\nLicense: https://a/1\nAllow: /", []),
        # At the end of a file, apart from the group above.
        ("User-agent: GPTBot\nDisallow: /\n\nLicense: https://a/1", ["https://a/1"]),
        ("User-agent: *\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\nLicense: https://a/1", []),
        ("License:\nLicense: " + "x" * 3_000, []),
        ("License: https://a/1\n" * 9, ["https://a/1"] * MAX_LICENCES),
    ]
    for text, licences in rows:
        assert robots(text).own.licences == licences


def test_what_it_allows() -> None:
    rows = [
        ("User-agent: *\nDisallow: /.well-known/", "/.well-known/tdmrep.json", False),
        ("User-agent: *\nDisallow: /\nAllow: /.well-known/", "/.well-known/tdmrep.json", True),
        ("User-agent: window\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
    ]
    for text, path, allows in rows:
        assert robots(text).allows(f"http://a.example{path}") is allows


def test_huge_files_are_read_within_limits() -> None:
    found = robots("User-agent: *\n" + "".join(f"Content-Usage: /{n}* train-ai=n\n" for n in range(2_000)))
    assert {len(rules) for rules in found.own.rules.values() if rules} == {MAX_STATEMENTS}
    (_, signal) = robots("User-agent: *\nContent-Signal: " + "x" * 9_000).evidence("http://a.example/")
    assert len(signal.says) <= MAX_SAYS


def test_malformed_lines_are_no_error() -> None:
    for text in ("\x00" * 99, "User-agent:\nContent-Usage:", ":" * 99, "User-agent: *\nContent-Usage: /", "\ufeff"):
        assert robots(text).evidence("http://a.example/")[0].signal is Signal.ROBOTS_TXT


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("User-agent: *\nContent-Usage: /p{} train-ai=y\n", MAX_STATEMENTS - 1, "allowed"),
        ("User-agent: *\nContent-Usage: /p{} train-ai=y\n", MAX_STATEMENTS, "malformed"),
        ("User-agent: GPTBot\nDisallow: /q{}\n", 30_000, "disallowed"),
    ],
)
def test_rules_that_are_not_read_may_be_refusals(text: str, count: int, expected: str) -> None:
    head, rule = text.split("\n", 1)
    last = "Content-Usage: train-ai=y" if "Usage" in text else "Disallow: /"
    lines = [head, *(rule.format(n).strip() for n in range(count)), last]
    assert state("\n".join(lines), "/other") == expected
