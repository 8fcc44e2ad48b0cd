"""What a robots.txt says about the use of pages: Content-Usage, Content-Signal, License, and refused training crawlers.

A crawler obeys the group that names it, else that of `*` (RFC 9309). Content-Usage and Content-Signal may begin with a
path; the rules with the longest path that matches count. License counts in the group of this crawler; where that has
none, outside of the groups: before the first one, or after an empty line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.page.head import BOT
from crawler.rights.content_signals import signals
from crawler.rights.path_patterns import PathPattern, longest, path_of
from crawler.rights.statement import ALL_MALFORMED, MAX_SAYS, NOTHING, Evidence, Signal, State, Use, Uses
from crawler.rights.training_crawlers import TRAINING_CRAWLERS
from crawler.rights.usage_preferences import preferences

MAX_SIZE = 500 * 1024
"""Bytes of a robots.txt that are read; RFC 9309 requires at least this many."""
MAX_RULES = 1_000
"""Rules of a kind in a group that are read."""
MAX_LICENCES = 3
"""Addresses of licence files that are read."""
MAX_ADDRESS = 2_083
_LINE = re.compile(
    r"\s*+(user[- ]?agent|allow|disallow|content-usage|content-signal|license)\s*+:\s*+([^#]*+)", re.IGNORECASE
)
_PATH = re.compile(r"(/\S*+)\s++")
_SHORT_OF_US = frozenset(BOT[:length] for length in range(1, len(BOT) + 1))
"""Names that mean this crawler, as in the rules that it obeys."""
_ANY = "*"
_CRAWLERS = {name.lower(): name for name in TRAINING_CRAWLERS}
_KNOWN = _SHORT_OF_US | _CRAWLERS.keys() | {_ANY}
_MEANINGS: dict[str, Callable[[str], Uses]] = {"content-usage": preferences, "content-signal": signals}
_NO_TRAINING = {Use.AI_TRAIN: State.DISALLOWED}
_MAY_BE_NO_TRAINING = {Use.AI_TRAIN: State.MALFORMED}
MORE_RULES = f"more than {MAX_RULES:,} rules, of which the others were not read"


class Rule(NamedTuple):
    """A rule for the paths that its pattern matches."""

    line: str
    """As it is written."""
    is_allow: bool = False
    uses: Uses = NOTHING


@dataclass
class Group:
    """The rules for one crawler, by their names; none is added once the file is read."""

    rules: dict[str, list[tuple[PathPattern, Rule]]] = field(
        default_factory=lambda: {"access": [], "content-usage": [], "content-signal": []}
    )
    licences: list[str] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)
    """The names under which it has more rules than are read."""

    def access_rule(self, path: str) -> Rule | None:
        """The rule that lets a path be requested or refuses it; None if there is none."""
        found = longest(self.rules["access"], path)
        return next((rule for rule in found if rule.is_allow), found[0] if found else None)

    @property
    def refuses(self) -> tuple[str, ...]:
        """The lines of its Allow and Disallow rules; empty if it refuses nothing."""
        access = [rule for _, rule in self.rules["access"]]
        return tuple(rule.line for rule in access) if any(not rule.is_allow for rule in access) else ()


@dataclass(frozen=True)
class RobotsFile:
    """A robots.txt as it was fetched."""

    url: str
    read_at: str
    """When it was fetched: ISO 8601, in UTC."""
    body: bytes
    digest: str
    own: Group
    """The rules for this crawler."""
    crawlers: tuple[tuple[str, Group], ...]
    """The groups that refuse something to training crawlers but not to this one, with their User-agent lines."""

    @property
    def where(self) -> str:
        """Its address, with the digest of the file that was read there."""
        return f"{self.url}#sha256={self.digest}"

    def allows(self, url: str) -> bool:
        """Whether this crawler may request an address of its host."""
        rule = self.own.access_rule(path_of(url))
        return rule is None or rule.is_allow

    def evidence(self, url: str) -> list[Evidence]:
        """What it says about an address of its host, and the rule by which the address may be requested."""
        path = path_of(url)
        let_in = self.own.access_rule(path)
        said = [self._said(Signal.ROBOTS_TXT, let_in.line if let_in is not None else "")]
        for name, signal in (("content-usage", Signal.CONTENT_USAGE), ("content-signal", Signal.CONTENT_SIGNAL)):
            if rules := self.own.rules[name]:
                said += [self._said(signal, rule.line, rule.uses) for rule in longest(rules, path)]
            if name in self.own.cut:
                said.append(self._said(signal, MORE_RULES, ALL_MALFORMED))
        for agents, group in self.crawlers:
            if (rule := group.access_rule(path)) is not None and not rule.is_allow:
                said.append(self._said(Signal.TRAINING_CRAWLERS, f"{agents}\n{rule.line}", _NO_TRAINING))
            elif "access" in group.cut:
                said.append(self._said(Signal.TRAINING_CRAWLERS, f"{agents}\n{MORE_RULES}", _MAY_BE_NO_TRAINING))
        return said

    def _said(self, signal: Signal, says: str, uses: Uses = NOTHING) -> Evidence:
        return Evidence(signal, self.where, says, uses, self.read_at)


def read_robots(text: str, body: bytes, url: str, read_at: str) -> RobotsFile:
    """The statements in a robots.txt with this text."""
    reader = _Reader()
    for line in text.splitlines():
        reader.read(line)
    own_name = max((name for name in reader.groups if name in _SHORT_OF_US), key=len, default=_ANY)
    own = reader.groups[own_name]
    own.licences = own.licences or reader.licences
    crawlers: dict[tuple[str, ...], tuple[list[str], Group]] = {}
    for name, spelled in _CRAWLERS.items():
        its_name = name if name in reader.groups else _ANY
        group = reader.groups[its_name]
        if its_name != own_name and group.refuses:
            crawlers.setdefault(group.refuses, ([], group))[0].append(spelled)
    named = (("\n".join(f"User-agent: {name}" for name in names), group) for names, group in crawlers.values())
    return RobotsFile(url, read_at, body, hashlib.sha256(body).hexdigest(), own, tuple(named))


class _Reader:
    """Reads a robots.txt line by line; only the groups of this crawler and of training crawlers are kept."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {_ANY: Group()}
        self.licences: list[str] = []
        """Those outside of the groups."""
        self._current: list[Group] = []
        self._in_rules = False
        self._is_apart = True
        """Whether an empty line followed the last group: it ends nothing for rules, but a licence after it is meant for
        all.
        """

    def read(self, whole_line: str) -> None:
        """Take in one line."""
        line = _LINE.match(whole_line)
        if line is None:
            self._is_apart = self._is_apart or not whole_line.strip()
            return
        name, value = line[1].lower(), line[2].strip()
        if name.startswith("user"):
            self._name(value)
            return
        self._in_rules = True
        if name == "license":
            self._license(value)
        elif value:
            written = whole_line.partition("#")[0].strip()[:MAX_SAYS]
            for group in self._current:
                _add(group, name, value, written)

    def _name(self, value: str) -> None:
        """Begin a group, or name another crawler of it."""
        if self._in_rules:
            self._current, self._in_rules = [], False
        self._is_apart = False
        agent = value.partition("/")[0].strip().lower()
        agent = agent.replace(_ANY, "") or agent[:1]
        if agent in _KNOWN:
            self._current.append(self.groups.setdefault(agent, Group()))

    def _license(self, value: str) -> None:
        for found in [self.licences] if self._is_apart else [group.licences for group in self._current]:
            if len(found) < MAX_LICENCES and 0 < len(value) <= MAX_ADDRESS:
                found.append(value)


def _add(group: Group, name: str, value: str, line: str) -> None:
    """Add a rule to a group, unless it has too many."""
    kind = name if name in _MEANINGS else "access"
    rules = group.rules[kind]
    if len(rules) >= MAX_RULES:
        group.cut.add(kind)
        return
    if name in _MEANINGS:
        path = _PATH.match(value)
        says = value[path.end() :] if path else value
        rules.append((PathPattern.of(path[1] if path else ""), Rule(line, uses=_MEANINGS[name](says))))
    else:
        rules.append((PathPattern.of(value), Rule(line, name == "allow")))
