"""Conditions on pages: what they mean, what is refused and why."""

import re
from typing import Any

import pytest

from crawler.errors import WrongUseError
from crawler.reports.condition import MOST_CHARACTERS, MOST_LEVELS, comparisons, condition_of, conjuncts
from crawler.reports.condition_sql import sql_of

PAGE: dict[str, Any] = {
    "title": 'It\'s a "bee"',
    "language": "en",
    "author": "",
    "published": None,
    "depth": 2,
    "relevance": 0.5,
    "quality": {"certainty": None, "kept_frac": 0.5},
    "own_fields": {"price": 3, "uses": {"ai-train": "disallowed", "search": "allowed"}, "is_new": True},
    "images": [],
}


def test_what_a_condition_means() -> None:
    rows = [
        ("depth == 2", True),
        ("depth = 2", True),
        ("depth == 2.0", True),
        ("depth != 2", False),
        ("depth < 2", False),
        ("depth <= 2", True),
        ("depth > 2", False),
        ("depth >= 2", True),
        ("relevance>.4 and relevance<1e0", True),
        ("relevance > -1", True),
        ("language == 'en'", True),
        ('language == "en"', True),
        ("title == 'It''s a \"bee\"'", True),
        ('title == "It\'s a ""bee"""', True),
        ("title > 'Is'", True),
        ("title < 'It'", False),
        ("published == null", True),
        ("published != null", False),
        ("published != 'a'", True),
        ("published > 'a'", False),
        ("not published > 'a'", True),
        ("published <= 'a'", False),
        ("quality.kept_frac > 0.4 and quality.kept_frac < 0.6", True),
        ("quality.certainty < 1", False),
        ("quality.certainty == null", True),
        ("quality.kept_frac == null", False),
        ("own_fields.uses.ai-train != 'disallowed'", False),
        ("own_fields.uses.search != 'disallowed'", True),
        ("own_fields.uses.ai-input != 'disallowed'", True),
        ("own_fields.price.deeper == null", True),
        ("own_fields.price == '3'", False),
        ("own_fields.price > 'a'", False),
        ("own_fields.is_new == true", True),
        ("own_fields.is_new == 1", False),
        ("own_fields.is_new > 0", False),
        ("own_fields != null", True),
        ("depth == 1 or depth == 2 and language == 'zh'", False),
        ("(depth == 1 or depth == 2) and language == 'en'", True),
        ("depth == 2 or depth == 1 and language == 'zh'", True),
        ("not depth == 1 and not (language == 'zh')", True),
        ("not not depth == 2", True),
        ("NOT depth == 1 AND depth == 2 OR author == NULL", True),
        ("  depth\n==\t2  ", True),
    ]
    for text, holds in rows:
        assert condition_of(text).holds(PAGE) is holds


INJECTED = "'; DROP TABLE page; --"


def test_what_is_refused_names_the_place() -> None:
    rows = [
        ("", "''"),
        ("depth ==", "'depth =='"),
        ("depth == 2 and", "'depth == 2 and'"),
        ("(depth == 2", "'(depth == 2'"),
        ("depth", "'depth'"),
        ("depth 2", "at '2'"),
        ("depth == 2)", "at ')'"),
        ("depth == 2 depth == 3", "at 'depth == 3'"),
        ("and depth == 2", "at 'and depth == 2'"),
        ("2 == depth", "at '2 == depth'"),
        ("depth == relevance", "at 'relevance'"),
        ("depth == 1e999", "at '1e999'"),
        ("depth == 0x10", "at '0x10'"),
        ("depth === 2", "at '= 2'"),
        ("depth <> 2", "at '> 2'"),
        ("title == 'a\0b'", "at \"'a\\x00b'\""),
        ("title == 'open", 'at "\'open"'),
        (f"title == '{INJECTED}", "DROP"),
        ("title == 'a' ; DROP TABLE page", "at ';"),
        ("__import__('os').system('true') == 0", "field '__import__'"),
        ("depth.__class__ == 2", "field depth "),
        ("dpeth == 2", "'dpeth'; the nearest is depth"),
        ("signature == null", "field 'signature'"),  # a column, but no field
        ("title > 3", "title "),
        ("depth == 'a'", "depth .* number"),
        ("quality.certainty == 'a'", "quality.certainty .* number"),
        ("depth == true", "depth .* number"),
        ("depth < null", "depth .* == and !="),
        ("images == 'a'", "images .* null"),
        ("quality > 3", "quality .* null"),
        ("(" * MOST_LEVELS + "depth == 2" + ")" * MOST_LEVELS, f" {MOST_LEVELS} "),
        ("not " * MOST_LEVELS + "depth == 2", f" {MOST_LEVELS} "),
        ("(" * 4_000 + "depth", f" {MOST_LEVELS} "),
        (" " * (MOST_CHARACTERS + 1), f" {MOST_CHARACTERS:,} "),
    ]
    for text, named in rows:
        with pytest.raises(WrongUseError) as refused:
            condition_of(text)
        pattern = re.escape(named).replace(r"\.\*", ".*")
        assert re.search(pattern, str(refused.value)), text
        assert "\n" not in str(refused.value)


def test_levels_and_length_up_to_the_limits() -> None:
    deep = MOST_LEVELS - 1
    assert condition_of("(" * deep + "depth == 2" + ")" * deep).holds(PAGE)
    assert condition_of("not " * deep + "depth == 2").holds(PAGE) is (deep % 2 == 0)
    wide = " or ".join(["depth == 1"] * 700)
    assert not condition_of(wide + " " * (MOST_CHARACTERS - len(wide))).holds(PAGE)


def test_the_parts_that_must_all_hold_have_their_sources() -> None:
    condition = condition_of("depth > 1 and (relevance > 0.1 and not (title == 'a' or title == 'b'))")
    either_title = "not (title == 'a' or title == 'b')"
    assert [part.source for part in conjuncts(condition)] == ["depth > 1", "relevance > 0.1", either_title]
    assert [one.path for one in comparisons(condition)] == [("depth",), ("relevance",), ("title",), ("title",)]


def test_what_the_database_decides() -> None:
    rows = [
        ("depth > 1", True),
        ("not depth > 1 and title != 'a'", True),
        ("quality == null", True),
        ("quality.certainty > 1", False),
        ("depth > 1 or quality.certainty > 1", False),
        ("not own_fields.a == 1", False),
    ]
    for text, is_sql in rows:
        assert (sql_of(condition_of(text), "sqlite") is not None) is is_sql


def test_values_are_parameters_of_the_statement() -> None:
    sql = sql_of(condition_of(f"title == '{INJECTED.replace(chr(39), chr(39) * 2)}'"), "sqlite")
    assert sql is not None
    assert "DROP" not in str(sql)
    assert [*sql.compile().params.values()] == [INJECTED]
