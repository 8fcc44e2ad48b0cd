"""Conditions on pages: what they mean, what is refused and why."""

from typing import Any

import pytest

from crawler.command_line.terminal import WrongUseError
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


def test_what_is_refused_in_one_sentence() -> None:
    rows = [
        ("", "the condition '' is not complete"),
        ("depth ==", "the condition 'depth ==' is not complete"),
        ("depth == 2 and", "is not complete"),
        ("(depth == 2", "is not complete"),
        ("depth", "is not complete"),
        ("depth 2", "the condition cannot be read at '2'; it is such as quality.words > 100"),
        ("depth == 2)", "cannot be read at ')'"),
        ("depth == 2 depth == 3", "cannot be read at 'depth == 3'"),
        ("and depth == 2", "cannot be read at 'and depth == 2'"),
        ("2 == depth", "cannot be read at '2 == depth'"),
        ("depth == relevance", "cannot be read at 'relevance'"),
        ("depth == 1e999", "cannot be read at '1e999'"),
        ("depth == 0x10", "cannot be read at '0x10'"),
        ("depth === 2", "cannot be read at '= 2'"),
        ("depth <> 2", "cannot be read at '> 2'"),
        ("title == 'a\0b'", "cannot be read at \"'a\\x00b'\""),
        ("title == 'open", 'cannot be read at "\'open"'),
        (f"title == '{INJECTED}", "cannot be read at"),
        ("title == 'a' ; DROP TABLE page", "cannot be read at ';"),
        ("__import__('os').system('true') == 0", "there is no field '__import__'"),
        ("depth.__class__ == 2", "cannot be read at" if False else "the field depth has no parts"),
        ("dpeth == 2", "there is no field 'dpeth'; the nearest is depth"),
        ("signature == null", "there is no field 'signature'"),  # a column, but no field
        ("title > 3", "title is to be compared with a text in quotation marks"),
        ("depth == 'a'", "depth is to be compared with a number"),
        ("quality.certainty == 'a'", "quality.certainty is to be compared with a number"),
        ("depth == true", "depth is to be compared with a number"),
        ("depth < null", "depth can only be compared with null, true and false by == and !="),
        ("images == 'a'", "images has no single value; only null can be compared with it"),
        ("quality > 3", "quality has no single value"),
        ("(" * (MOST_LEVELS + 1) + "depth == 2" + ")" * (MOST_LEVELS + 1), f"may have {MOST_LEVELS} levels"),
        ("not " * (MOST_LEVELS + 1) + "depth == 2", f"may have {MOST_LEVELS} levels"),
        ("(" * 4_000 + "depth", f"may have {MOST_LEVELS} levels"),
        (" " * (MOST_CHARACTERS + 1), "may have 10,000 characters at most"),
    ]
    for text, why in rows:
        with pytest.raises(WrongUseError) as refused:
            condition_of(text)
        assert why in str(refused.value)
        assert "\n" not in str(refused.value)


def test_levels_and_length_up_to_the_limits() -> None:
    deep = MOST_LEVELS - 1
    assert condition_of("(" * deep + "depth == 2" + ")" * deep).holds(PAGE)
    wide = " or ".join(["depth == 1"] * 700)
    assert not condition_of(wide + " " * (MOST_CHARACTERS - len(wide))).holds(PAGE)


def test_the_parts_that_must_all_hold_have_their_sources() -> None:
    condition = condition_of("depth > 1 and (relevance > 0.1 and not (title == 'a' or title == 'b'))")
    assert [part.source for part in conjuncts(condition)] == [
        *("depth > 1", "relevance > 0.1", "not (title == 'a' or title == 'b')")
    ]
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
