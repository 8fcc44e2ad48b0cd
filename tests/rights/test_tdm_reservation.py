"""The TDM Reservation Protocol: its file, its headers and its meta elements."""

import json
from typing import Any

from crawler.rights.statement import Rights, Use
from crawler.rights.tdm_reservation import read_file, reservations

POLICY = "https://provider.com/policies/policy.json"
THREE_GROUPS = [
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": POLICY},
    {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
]
RESERVED, FREE = {"tdm-reservation": "1"}, {"tdm-reservation": "0"}
URL = "http://a.example/.well-known/tdmrep.json"


def in_file(rules: Any, path: str) -> Rights:
    body = rules if isinstance(rules, bytes) else json.dumps(rules).encode()
    return Rights(None, tuple(read_file(body, URL, "then").evidence(f"http://a.example{path}")))


def test_files() -> None:
    rows = [
        # The examples of the report.
        ([{"location": "/", "tdm-reservation": 1}], "/any", "disallowed"),
        (THREE_GROUPS, "/directory-a/file.pdf", "disallowed"),
        (THREE_GROUPS, "/directory-b/html/page.html", "disallowed"),
        (THREE_GROUPS, "/directory-b/images/a.jpg", "allowed"),
        (THREE_GROUPS, "/directory-b/images/a.png", "unknown"),
        (THREE_GROUPS, "/directory-c/", "unknown"),
        # The first that matches counts, even if a later one is longer.
        ([{"location": "/", "tdm-reservation": 0}, {"location": "/a", "tdm-reservation": 1}], "/a", "allowed"),
        ([{"location": "/a$", "tdm-reservation": 1}], "/ab", "unknown"),
        ([{"location": "/a", "tdm-reservation": "1"}], "/a", "disallowed"),
        ([{"location": "/", "tdm-reservation": 2}], "/", "malformed"),
        ([{"location": "/", "tdm-reservation": True}], "/", "malformed"),
        ([{"location": "/"}], "/", "malformed"),
        ([{"tdm-reservation": 1}, 5, None, {"location": 5}], "/", "unknown"),
        ({"location": "/", "tdm-reservation": 1}, "/", "malformed"),
        (b"<html>", "/", "malformed"),
        (b"", "/", "malformed"),
        (b"[" * 100_000, "/", "malformed"),
        (b"\xef\xbb\xbf[]", "/", "unknown"),
    ]
    for rules, path, state in rows:
        rights = in_file(rules, path)
        assert [rights.state(use).value for use in (Use.AI_TRAIN, Use.AI_INPUT, Use.SEARCH)] == [
            state,
            state,
            "unknown",
        ]


def test_a_rule_is_told_as_it_is_written() -> None:
    (row,) = in_file(THREE_GROUPS, "/directory-b/html/1").field("now")["evidence"]
    assert json.loads(row["says"]) == THREE_GROUPS[1]
    assert (row["where"], row["read_at"]) == (URL, "then")


def test_which_statement_counts() -> None:
    rows = [
        (None, RESERVED, {}, "disallowed"),
        (None, {}, RESERVED, "disallowed"),
        (None, {}, {}, "unknown"),
        (None, {"tdm-reservation": "yes"}, {}, "malformed"),
        # The header replaces the file, and the meta element both.
        (1, FREE, {}, "allowed"),
        (0, RESERVED, {}, "disallowed"),
        (1, RESERVED, FREE, "allowed"),
        (0, FREE, RESERVED, "disallowed"),
        # An error replaces nothing.
        (1, {"tdm-reservation": "2"}, {}, "disallowed"),
        (0, {"tdm-reservation": "2"}, {}, "malformed"),
        (1, {"tdm-reservation": "2"}, FREE, "allowed"),
    ]
    for file, headers, metas, state in rows:
        rules = [{"location": "/", "tdm-reservation": file}] if file is not None else []
        found = reservations(headers, metas, in_file(rules, "/").evidence)
        assert Rights(None, tuple(found)).state(Use.AI_TRAIN).value == state
        assert len(found) == (file is not None) + bool(headers) + bool(metas)


def test_the_policy_is_told() -> None:
    (one,) = reservations(RESERVED | {"tdm-policy": POLICY}, {})
    assert (one.where, one.says) == ("header tdm-reservation", f"tdm-reservation: 1\ntdm-policy: {POLICY}")
