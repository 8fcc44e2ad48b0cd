"""The rules of a robots.txt (RFC 9309) for this crawler, parsed in linear time.

Protego copies each rule to each agent of its group, which takes minutes for a file with many agents and many rules. So
it gets the rules of one agent only: the longest name that matches this crawler, or `*`.
"""

import re
from itertools import islice

from protego import Protego

from crawler.page.head import BOT

AGENT = re.compile(r"(?:user-?agent|user\s+agent)\s*(?::|\s|$)\s*(.*)", re.IGNORECASE)
ABOUT_THE_SITE = re.compile(r"(?:sitemaps?|site-map|host)\s*(?::|\s|$)", re.IGNORECASE)
# A line without a colon is a rule if it starts with one of these; Protego knows the misspellings.
RULE = re.compile(
    r"(?:dis{1,2}al{1,2}ow|diasllow|disallaw|allow|(?:crawl[- ]delay)|(?:request[- ]rate)|(?:visit[- ]time))(?:\s|$)",
    re.IGNORECASE,
)
MAX_RULES = 10_000  # different rules that are read; each takes some 30 microseconds
NAMES = ("*", *(BOT[:length] for length in range(1, len(BOT) + 1)))
"""The agents that match this crawler: Protego accepts a prefix of its name."""


def rules_of(text: str) -> Protego:
    """The rules of a robots.txt for this crawler.

    >>> rules = rules_of("User-agent: other\\nDisallow: /\\n\\nUser-agent: *\\nDisallow: /a")
    >>> rules.can_fetch("http://example.com/a", BOT), rules.can_fetch("http://example.com/b", BOT)
    (False, True)
    """
    rules: dict[str, dict[str, None]] = {}
    group: dict[str, dict[str, None]] = {}
    in_rules = False
    for whole_line in text.splitlines():
        line = whole_line.partition("#")[0].strip()
        if not line:
            continue
        if agent := AGENT.match(line):
            if in_rules:
                group, in_rules = {}, False
            name = agent[1].strip().lower()
            for known in {name, name.replace("*", "")}.intersection(NAMES):
                group[known] = rules.setdefault(known, {})
        elif not ABOUT_THE_SITE.match(line) and (":" in line or RULE.match(line)):
            in_rules = True
            for lines in group.values():
                _add(line, lines)
    name = max(rules, key=len, default="*")  # of names of equal length the first, as in Protego
    return Protego.parse("\n".join(("User-agent: *", *rules.get(name, ()))))


SITEMAP = re.compile(r"\s*site-?map\s*:\s*(\S{1,2083})", re.IGNORECASE)
MAX_SITEMAPS = 1_000


def sitemaps_of(text: str) -> list[str]:
    """The addresses of the sitemaps that a robots.txt names; they are for all robots.

    >>> sitemaps_of("User-agent: x\\nSitemap: https://a.example/s.xml # all\\nsitemap:/t.xml")
    ['https://a.example/s.xml', '/t.xml']
    """
    found = (match[1] for match in map(SITEMAP.match, text.splitlines()) if match)
    return list(dict.fromkeys(islice(found, MAX_SITEMAPS)))


def _add(line: str, lines: dict[str, None]) -> None:
    """Add a line as the last one, without duplicates: of several delays the last one counts."""
    lines.pop(line, None)
    if len(lines) < MAX_RULES:
        lines[line] = None
