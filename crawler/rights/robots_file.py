"""A robots.txt (RFC 9309): what a crawler may request, its pauses, the sitemaps, and the use of pages.

A record is a line with a name and a value; a group is one or more User-agent records and the records after them. A
crawler obeys the groups that name it or, if none does, those of `*`. Of the Allow and Disallow rules that match a path,
the longest counts; of equally long ones, Allow. Misspelled names, missing colons and long lines are read as by Google's
parser (https://github.com/google/robotstxt).

Only Allow and Disallow end a list of User-agent lines (https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1). Any other
record applies only to the last User-agent lines above it:

    User-agent: a
    Crawl-delay: 5      (for a)
    User-agent: b
    Disallow: /x        (for a and b)

Content-Usage and Content-Signal may begin with a path; the rules with the longest path that matches count. License
counts in the group of this crawler. If that group has none, a License outside the groups counts: one before the first
group, or after an empty line.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import takewhile

from crawler.page.head import BOT
from crawler.rights.content_signals import signals
from crawler.rights.path_patterns import NOT_COMPARED, PathPattern, matching, path_of
from crawler.rights.statement import ALL_MALFORMED, MAX_SAYS, NOTHING, RightsEvidence, Signal, State, Use, Uses
from crawler.rights.training_crawlers import TRAINING_CRAWLERS
from crawler.rights.usage_preferences import preferences

MAX_SIZE = 500 * 1024
"""Bytes of a robots.txt that are read; RFC 9309 requires at least this many."""
MAX_LINE = 8 * 2_083 - 1
"""Bytes of a line that are read, as many as Google's parser reads."""
MAX_STATEMENTS = 1_000
"""Content-Usage rules of a group that are read; the same limit holds for its Content-Signal rules."""
MAX_LICENCES = 3
"""Addresses of licence files that are read."""
MAX_SITEMAPS = 1_000
MAX_ADDRESS = 2_083
"""Characters of the address of a sitemap or a licence file; longer ones are ignored."""
_NAME = re.compile(
    rb"(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>dis{1,2}al{1,2}ow|diasllow|disallaw)"
    rb"|(?P<sitemap>site-?map)|(?P<delay>crawl[- ]delay$)|(?P<licence>license$)"
    rb"|(?P<content_usage>content-usage$)|(?P<content_signal>content-signal$)",
    re.IGNORECASE,
)
"""The names of records, each kind in a group. Google's parser compares only the beginning of a name for the first four
kinds.
"""
_BYTE_ORDER_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?")
_TOKEN = re.compile(rb"[a-z_-]*", re.IGNORECASE)
_TOKEN_WITH_DIGITS = re.compile(rb"[a-z0-9_-]*", re.IGNORECASE)
_PATH = re.compile(rb"(/\S*+)\s++")
_ANY = "*"
_CRAWLERS = {name.lower(): name for name in TRAINING_CRAWLERS}
"""The training crawlers, by their names in lower case."""
_KNOWN = frozenset((BOT, _ANY, *_CRAWLERS))
"""The crawlers whose rules are kept."""
_MEANINGS: dict[str, Callable[[str], Uses]] = {"content_usage": preferences, "content_signal": signals}
"""For each kind of rules about uses, the function that reads their values. The kinds are groups in `_NAME`, and values
of `Signal`.
"""
_NO_TRAINING = {Use.AI_TRAIN: State.DISALLOWED}
_MAY_BE_NO_TRAINING = {Use.AI_TRAIN: State.MALFORMED}
MORE_RULES = f"more than {MAX_STATEMENTS:,} rules; the further ones were not read"
"""The text of the evidence for rules that were not read."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for the paths that its pattern matches: Allow, Disallow, Content-Usage or Content-Signal."""

    pattern: PathPattern
    line: str
    """The line of the file, cut to `MAX_SAYS`."""
    _: KW_ONLY
    agents: frozenset[str] = frozenset()
    """The crawlers that an Allow or Disallow rule is for."""
    is_allow: bool = False
    uses: Uses = field(default_factory=lambda: NOTHING)
    """What a Content-Usage or Content-Signal rule says."""


TOO_COSTLY = Rule(pattern=PathPattern.of(""), line=NOT_COMPARED, agents=_KNOWN, uses=ALL_MALFORMED)
"""Stands for the rules that were not compared with a path, because that would take too long: they may be refusals."""


@dataclass
class Statements:
    """What a robots.txt says to one crawler, besides Allow and Disallow. It is filled while the file is read."""

    rules: dict[str, list[Rule]] = field(default_factory=lambda: {name: [] for name in _MEANINGS})
    """Content-Usage and Content-Signal rules by kind, those with the longest paths first."""
    cut: set[str] = field(default_factory=set)
    """The kinds of rules of which some were not read, because there were too many."""
    licences: list[str] = field(default_factory=list)
    """The addresses of licence files."""
    crawl_delay: float | None = None
    """Seconds between two requests."""


@dataclass(frozen=True)
class RobotsFile:
    """A robots.txt as it was fetched."""

    url: str
    read_at: str
    """When it was fetched: ISO 8601, in UTC."""
    body: bytes
    digest: str
    """SHA-256 of the body, as hexadecimal digits."""
    rules: tuple[Rule, ...]
    """The Allow and Disallow rules for this crawler, sorted so that the first one that matches a path decides."""
    own: Statements
    """What it says to this crawler."""
    crawlers: Mapping[str, str]
    """The training crawlers that obey different groups from this crawler, each with the name of its groups: its own
    name in lower case, or `*`.
    """
    crawler_rules: tuple[Rule, ...]
    """The Allow and Disallow rules for the crawlers in `crawlers`: the first one for a crawler that matches decides."""
    sitemaps: tuple[str, ...]
    """The addresses of sitemaps, which are for all crawlers."""

    @property
    def where(self) -> str:
        """Its address, with the digest as a fragment."""
        return f"{self.url}#sha256={self.digest}"

    def access_rule(self, path: str) -> Rule | None:
        """The rule that lets this crawler request a path, or refuses it; None if there is none."""
        return next(matching(self.rules, path, TOO_COSTLY), None)

    def allows(self, url: str) -> bool:
        """Whether this crawler may request an address of its host."""
        rule = self.access_rule(path_of(url))
        return rule is None or rule.is_allow

    def evidence(self, url: str) -> list[RightsEvidence]:
        """What it says about an address of its host, and the rule by which the address may be requested."""
        path = path_of(url)
        access_rule = self.access_rule(path)
        access_line = ""
        if access_rule is not None:
            access_line = access_rule.line
        evidence = [self._evidence(Signal.ROBOTS_TXT, access_line)]
        for name, rules in self.own.rules.items():
            evidence += [self._evidence(Signal(name), rule.line, rule.uses) for rule in _longest(rules, path)]
            if name in self.own.cut:
                evidence.append(self._evidence(Signal(name), MORE_RULES, ALL_MALFORMED))
        return [*evidence, *self._refusals(path)]

    def _refusals(self, path: str) -> Iterator[RightsEvidence]:
        """The rules that refuse a path to training crawlers, each with the crawlers that it refuses."""
        # For each group, the first rule that matches.
        groups = frozenset(self.crawlers.values())
        rule_of_group: dict[str, Rule] = {}
        for rule in matching(self.crawler_rules, path, TOO_COSTLY):
            for agent in rule.agents:
                rule_of_group.setdefault(agent, rule)
            if groups <= rule_of_group.keys():
                break

        # Crawlers that the same line refuses are in one statement.
        agents_by_line: dict[str, list[str]] = {}
        for crawler, group in self.crawlers.items():
            if group in rule_of_group and not rule_of_group[group].is_allow:
                agents_by_line.setdefault(rule_of_group[group].line, []).append(f"User-agent: {crawler}")
        for line, agents in agents_by_line.items():
            uses = _MAY_BE_NO_TRAINING if line == TOO_COSTLY.line else _NO_TRAINING
            yield self._evidence(Signal.TRAINING_CRAWLERS, "\n".join((*agents, line)), uses)

    def _evidence(self, signal: Signal, says: str, uses: Uses = NOTHING) -> RightsEvidence:
        return RightsEvidence(signal, self.where, says, uses, self.read_at)


def _longest(rules: Sequence[Rule], path: str) -> list[Rule]:
    """Of the rules that match a path, those with the longest pattern. `rules` have the longest patterns first."""
    matches = matching(rules, path, TOO_COSTLY)
    first = next(matches, None)
    if first is None:
        return []
    return [first, *takewhile(lambda rule: rule.pattern.length == first.pattern.length, matches)]


def readable_part(body: bytes) -> bytes:
    """The part of a robots.txt that is read. It ends with a whole line, because the beginning of a rule may allow more
    than the whole rule.
    """
    if len(body) <= MAX_SIZE:
        return body
    return body[: 1 + max(body.rfind(end, 0, MAX_SIZE) for end in (b"\n", b"\r"))]


def read_robots(body: bytes, url: str, read_at: str) -> RobotsFile:
    """The rules and statements in a robots.txt."""
    reader = _Reader()
    for line in _BYTE_ORDER_MARK.sub(b"", body, count=1).splitlines():
        reader.read(line[:MAX_LINE])
    return reader.file(body, url, read_at)


class _Reader:
    """Reads a robots.txt line by line; only the rules for this crawler and for training crawlers are kept."""

    def __init__(self) -> None:
        self._rules: dict[tuple[frozenset[str], bool, bytes], Rule] = {}
        """The Allow and Disallow rules by crawlers, kind and path, so that a repeated rule is kept once."""
        self._statements = {BOT: Statements(), _ANY: Statements()}
        """The statements to this crawler, and those to `*`, by the name that User-agent lines give."""
        self._licences: list[str] = []
        """Addresses of licence files outside the groups."""
        self._sitemaps: dict[str, None] = {}
        self._named: set[str] = set()
        """The known crawlers that any User-agent line has named."""
        self._agents: frozenset[str] = frozenset()
        """The crawlers to which the next Allow or Disallow applies."""
        self._nearest_agents: frozenset[str] = frozenset()
        """The crawlers to which the next record of another kind applies."""
        self._is_after_access = False
        """Whether an Allow or Disallow has followed the last User-agent line."""
        self._is_after_record = False
        """Whether any record of a group, Allow and Disallow included, has followed the last User-agent line."""
        self._is_apart = True
        """Whether a License would be outside the groups: before the first one, or after an empty line that follows the
        last User-agent line. Other records stay in the group after an empty line.
        """

    def read(self, line: bytes) -> None:
        """Read one line."""
        text = line.partition(b"#")[0].strip()
        if not text:
            is_empty = not line.strip()  # not even a comment
            self._is_apart = self._is_apart or is_empty
            return
        name, value = _name_and_value(text)
        record = _NAME.match(name)
        if record is None:
            return
        kind = str(record.lastgroup)
        if kind == "agent":
            self._name_agent(value)
        elif kind == "sitemap":  # belongs to no group
            self._add_sitemap(value)
        else:
            self._is_after_record = True
            self._add(kind, value, text)

    def _name_agent(self, value: bytes) -> None:
        """Begin a group, or name another crawler of the group that has begun."""
        if self._is_after_access:
            self._agents = frozenset()
        if self._is_after_record:
            self._nearest_agents = frozenset()
        self._is_after_access = False
        self._is_after_record = False
        self._is_apart = False
        agents = _agents_of(value)
        self._named |= agents
        self._agents |= agents
        self._nearest_agents |= agents

    def _add_sitemap(self, value: bytes) -> None:
        address = _decoded(value.partition(b" ")[0])
        if 0 < len(address) <= MAX_ADDRESS and len(self._sitemaps) < MAX_SITEMAPS:
            self._sitemaps[address] = None

    def _add(self, kind: str, value: bytes, text: bytes) -> None:
        """Add a record of a group."""
        if kind in ("allow", "disallow"):
            self._is_after_access = True
            self._add_access_rule(kind == "allow", value, text)
        elif kind == "licence":
            self._add_licence(_decoded(value))
        else:
            for statements in self._nearest_statements():
                _add_statement(statements, kind, value, text)

    def _add_access_rule(self, is_allow: bool, value: bytes, text: bytes) -> None:
        """Add an Allow or Disallow rule, unless it has no path or is for no known crawler."""
        key = self._agents, is_allow, value
        if not value or not self._agents or key in self._rules:
            return
        self._rules[key] = Rule(
            pattern=PathPattern.of(value), line=_decoded(text)[:MAX_SAYS], agents=self._agents, is_allow=is_allow
        )
        folder, slash, page = value.rpartition(b"/")
        if is_allow and slash and page.startswith(b"index.htm"):  # as in Google's parser, this also allows the folder
            self._add_access_rule(is_allow, folder + b"/$", text)

    def _add_licence(self, address: str) -> None:
        """Add the address of a licence file to the nearest groups, or to the addresses outside the groups."""
        lists = [statements.licences for statements in self._nearest_statements()]
        if self._is_apart:
            lists = [self._licences]
        for licences in lists:
            if len(licences) < MAX_LICENCES and 0 < len(address) <= MAX_ADDRESS:
                licences.append(address)

    def _nearest_statements(self) -> list[Statements]:
        """The statements to the crawlers to which a record other than Allow and Disallow applies."""
        return [statements for name, statements in self._statements.items() if name in self._nearest_agents]

    def file(self, body: bytes, url: str, read_at: str) -> RobotsFile:
        """The file, with the rules and statements that were read."""
        # The statements to this crawler.
        own_group = self._group_of(BOT)
        own = self._statements[own_group]
        own.licences = own.licences or self._licences
        for rules in own.rules.values():
            rules.sort(key=lambda rule: -rule.pattern.length)

        # The training crawlers that obey other groups than this crawler.
        group_of_crawler = {spelled: self._group_of(name) for name, spelled in _CRAWLERS.items()}
        crawlers = {spelled: group for spelled, group in group_of_crawler.items() if group != own_group}
        groups = frozenset(crawlers.values())
        rules = sorted(self._rules.values(), key=lambda rule: (-rule.pattern.length, not rule.is_allow))
        return RobotsFile(
            url=url,
            read_at=read_at,
            body=body,
            digest=hashlib.sha256(body).hexdigest(),
            rules=tuple(rule for rule in rules if own_group in rule.agents),
            own=own,
            crawlers=crawlers,
            crawler_rules=tuple(rule for rule in rules if groups & rule.agents),
            sitemaps=tuple(self._sitemaps),
        )

    def _group_of(self, crawler: str) -> str:
        """The name of the groups that a crawler obeys: its own name if any group has it, otherwise `*`."""
        if crawler in self._named:
            return crawler
        return _ANY


def _name_and_value(text: bytes) -> tuple[bytes, bytes]:
    """The two parts of a record; empty for a line without a colon that is not two words."""
    name, colon, value = text.partition(b":")
    if colon:
        return name.strip(), value.strip()
    words = text.split()
    if len(words) == 2:
        name, value = words
        return name, value
    return b"", b""


def _agents_of(value: bytes) -> frozenset[str]:
    """The known crawlers that a User-agent line names. The name is read up to the first digit and with digits: RFC 9309
    allows none in it, but some names have them.
    """
    if value[:1] == b"*" and not value[1:2].strip():
        return frozenset((_ANY,))
    tokens = (_TOKEN.match(value), _TOKEN_WITH_DIGITS.match(value))
    return _KNOWN.intersection(token[0].decode("ascii").lower() for token in tokens if token is not None)


def _add_statement(statements: Statements, kind: str, value: bytes, text: bytes) -> None:
    """Add a Content-Usage or Content-Signal rule, unless there are too many, or set the Crawl-delay, of which the last
    one counts.
    """
    if kind == "delay":
        seconds = _seconds(value)
        if seconds is not None:
            statements.crawl_delay = seconds
    elif len(statements.rules[kind]) >= MAX_STATEMENTS:
        statements.cut.add(kind)
    elif value:
        path = b""
        match = _PATH.match(value)
        if match:
            path = match[1]
            value = value[match.end() :]
        uses = _MEANINGS[kind](_decoded(value))
        rule = Rule(pattern=PathPattern.of(path), line=_decoded(text)[:MAX_SAYS], uses=uses)
        statements.rules[kind].append(rule)


def _seconds(value: bytes) -> float | None:
    """The value of a Crawl-delay; None if it is wrong."""
    try:
        seconds = float(value)
    except ValueError:
        return None
    if 0 <= seconds < math.inf:
        return seconds
    return None


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")
