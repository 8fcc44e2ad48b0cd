"""What all statements about a page mean together."""

from collections.abc import Mapping

from crawler.outcomes import SIGNALS, Code, Outcome
from crawler.page.page import Page
from crawler.rights.page_rights import NO_FILES, SiteFiles, licence_addresses, page_rights, read_rights
from crawler.rights.robots_file import read_robots
from crawler.rights.rsl import read_file
from crawler.rights.statement import MAX_EVIDENCE, MAX_SAYS, MAX_WHERE, Rights, Signal, Use, refusal

URL = "http://a.example/bees"
RSL = (
    '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><prohibits type="usage">ai-train</prohibits>'
    "</license></content></rsl>"
)
LINKED = '<link rel="license" type="application/rsl+xml" href="/license.xml">'


def rights(head: str = "", headers: Mapping[str, str] = {}, site: SiteFiles = NO_FILES, robots: str = "") -> Rights:
    page = Page(URL, f"<html><head>{head}</head><body><p>Bees dance.".encode(), "text/html; charset=utf-8", robots)
    return read_rights(page, headers, site)


def states(found: Rights) -> list[str]:
    return [found.state(use).value for use in (Use.AI_TRAIN, Use.AI_INPUT, Use.SEARCH)]


def meta(content: str, name: str = "robots") -> str:
    return f'<meta name="{name}" content="{content}">'


def test_states() -> None:
    rows = [
        (rights(), ["unknown", "unknown", "unknown"]),
        (rights(headers={"Content-Usage": "train-ai=n, search=y"}), ["disallowed", "unknown", "allowed"]),
        (rights(headers={"Content-Usage": "no dictionary,"}), ["malformed"] * 3),
        (rights(headers={"Content-Signal": "ai-train=no, ai-input=yes"}), ["disallowed", "allowed", "unknown"]),
        (rights(headers={"tdm-reservation": "1"}), ["disallowed", "disallowed", "unknown"]),
        (rights(meta("1", "tdm-reservation")), ["disallowed", "disallowed", "unknown"]),
        (rights(meta("0", "tdm-reservation"), {"tdm-reservation": "1"}), ["allowed", "allowed", "unknown"]),
        (rights(meta("noai")), ["disallowed", "unknown", "unknown"]),
        (rights(meta("index, NoAI, noimageai")), ["disallowed", "unknown", "unknown"]),
        (rights(meta("noimageai")), ["unknown"] * 3),
        (rights(robots="noai"), ["disallowed", "unknown", "unknown"]),
        (rights(robots="winnow: noai"), ["disallowed", "unknown", "unknown"]),
        (rights(robots="otherbot: noai"), ["unknown"] * 3),
        (rights(meta("noai", "winnow")), ["disallowed", "unknown", "unknown"]),
        (rights(f'<script type="application/rsl+xml">{RSL}</script>'), ["disallowed", "unknown", "unknown"]),
        # Of several signals a refusal wins, then what cannot be parsed.
        (rights(meta("noai"), {"Content-Usage": "train-ai=y"}), ["disallowed", "unknown", "unknown"]),
        (
            rights(headers={"Content-Usage": "train-ai=y", "Content-Signal": "ai-train=x"}),
            ["malformed", "unknown", "unknown"],
        ),
    ]
    for found, expected in rows:
        assert states(found) == expected


def test_the_field() -> None:
    head = meta("noai") + '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">'
    assert rights(head, {"Content-Usage": "train-ai=n"}).field("now") == {
        "licence": "CC-BY-4.0",
        "uses": {"search": "unknown", "ai-input": "unknown", "ai-train": "disallowed"},
        "evidence": [
            {"signal": "content_usage", "where": "header Content-Usage", "says": "train-ai=n", "read_at": "now"},
            {"signal": "noai", "where": "meta robots", "says": "noai", "read_at": "now"},
            {
                "signal": "licence",
                "where": "link rel=license, head",
                "says": "https://creativecommons.org/licenses/by/4.0/",
                "read_at": "now",
            },
        ],
    }


def test_files_of_the_host_and_the_first_signal_that_refuses() -> None:
    text = "User-agent: *\nContent-Usage: train-ai=y, search=n"
    robots = read_robots(text.encode(), "http://a.example/robots.txt", "then")
    site = SiteFiles(robots, None, (read_file(RSL.encode(), "http://a.example/license.xml", "then"),))
    found = rights(LINKED, site=site)
    assert states(found) == ["disallowed", "unknown", "disallowed"]
    assert [one.signal for one in found.evidence] == [Signal.ROBOTS_TXT, Signal.CONTENT_USAGE, Signal.RSL]
    assert refusal(found.evidence, [Use.AI_TRAIN]) is Signal.RSL
    assert refusal(found.evidence, [Use.AI_TRAIN, Use.SEARCH]) is Signal.CONTENT_USAGE
    assert refusal(found.evidence, [Use.AI_INPUT]) is None


def test_a_licence_file_that_was_not_read_is_named() -> None:
    found = rights(LINKED, {"Link": '</l.xml>; rel="license"; type="application/rsl+xml", </a>; rel=next'})
    assert [(one.where, one.says) for one in found.evidence] == [
        ("header Link", "http://a.example/l.xml"),
        ("link rel=license", "http://a.example/license.xml"),
    ]
    assert states(found) == ["unknown"] * 3
    page = Page.from_html(LINKED * 9 + '<link rel="license" type="application/rsl+xml" href="ftp://b/">', URL)
    assert licence_addresses(page, {}) == ["http://a.example/license.xml"]


def test_evidence_is_bounded_and_what_means_something_comes_first() -> None:
    links = "".join(f'<a rel="license" href="/{n}">x</a>' for n in range(99))
    scripts = f'<script type="application/rsl+xml">{RSL}</script>' * 99
    lines = "".join(f"Content-Usage: /bees train-ai={'y' * n}\n" for n in range(99))
    robots = read_robots(f"User-agent: *\n{lines}".encode(), "http://a.example/" + "x" * 2_000, "then")
    found = rights(scripts + links, {"Content-Signal": "ai-train=no," + "x" * 99_999}, SiteFiles(robots))
    field = found.field("")
    assert len(field["evidence"]) == MAX_EVIDENCE
    assert field["evidence"][0]["signal"] != "robots_txt"
    assert max(len(row["says"]) for row in field["evidence"]) == MAX_SAYS
    assert max(len(row["where"]) for row in field["evidence"]) == MAX_WHERE
    assert field["uses"]["ai-train"] == "disallowed"


def test_a_page_alone() -> None:
    assert page_rights(Page.from_html(meta("noai"), URL))["uses"]["ai-train"] == "disallowed"


def test_odd_pages_and_headers_are_no_error() -> None:
    head_rows = ["<meta name=robots>", "<link rel=license>", '<script type="application/rsl+xml">', LINKED[:-9]]
    for head in head_rows:
        for header in ["", "\x00", "\u00ff" * 9, "<" * 9_999, "=," * 9_999]:
            names = ("Content-Usage", "Content-Signal", "tdm-reservation", "tdm-policy", "Link")
            assert rights(head, dict.fromkeys(names, header)).field("")["licence"] is None


def test_every_signal_that_may_refuse_has_a_name() -> None:
    assert {
        signal.value for signal in set(Signal) - {Signal.ROBOTS_TXT, Signal.LICENCE, Signal.OWNER_MARK}
    } == SIGNALS.keys()
    message = Outcome(Code.RIGHTS_RESERVED, Signal.TDM_RESERVATION).message
    assert str(message) == "use is reserved: TDMRep"
