"""What the settings say of the extractors."""

import pickle
from contextlib import nullcontext
from dataclasses import fields
from functools import partial
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as our_settings
from crawler.arguments import ArgumentError
from crawler.extraction import EXTRACTORS
from crawler.extraction.auto import FAVOURS, auto
from crawler.extraction.framework import DEFAULT, Limits, framework
from crawler.methods import check_number, extractor
from crawler.page import Page

PAGE = Page.from_html("<table width=400><tr><td><p>Wide enough, or is it not?</table>")


def ours(**changed: Any) -> Settings:
    settings = Settings()
    settings.setmodule(our_settings)
    settings.update(changed)
    return settings


@pytest.mark.parametrize("name", EXTRACTORS)
def test_without_settings_a_method_is_as_it_comes(name: str) -> None:
    found = extractor(name, ours())
    assert found(PAGE) == EXTRACTORS[name](PAGE)


@pytest.mark.parametrize("favour", FAVOURS)
def test_auto_is_told_what_to_favour(favour: str) -> None:
    found = pickle.loads(pickle.dumps(extractor("auto", ours(), favour)))
    assert found(PAGE).text == auto(PAGE, favour).text
    assert (found is auto) == (favour == "balance")


@pytest.mark.parametrize("name", [name for name in EXTRACTORS if name != "auto"])
def test_no_other_method_favours_anything(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"^favour 'recall' is for the method auto alone.*; the method is {name}$"):
        extractor(name, ours(), "recall")


def test_every_limit_is_a_setting_with_the_same_default() -> None:
    for field in fields(Limits):
        assert getattr(our_settings, f"FRAMEWORK_{field.name.upper()}") == getattr(DEFAULT, field.name)


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", 401), ("height", 77), ("width_percent", 12), ("height_percent", 13), ("aspect", 2.5), ("tie", 0.7)],
)
def test_each_setting_is_its_limit(name: str, value: float) -> None:
    found = extractor("framework", ours(**{f"FRAMEWORK_{name.upper()}": str(value)}))
    assert isinstance(found, partial)
    assert found.keywords["limits"] == Limits(**{name: value})


def test_a_limit_changes_what_is_kept() -> None:
    assert extractor("framework", ours())(PAGE).text == "Wide enough, or is it not?"
    assert extractor("framework", ours(FRAMEWORK_WIDTH=401))(PAGE).text != "Wide enough, or is it not?"


def test_a_method_goes_to_another_process() -> None:
    found = pickle.loads(pickle.dumps(extractor("framework", ours(FRAMEWORK_TIE="0.5"))))
    assert (found.func, found.keywords["limits"]) == (framework, Limits(tie=0.5))


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("SITE_PAGE_LIMIT", "0", False),
        ("SITE_PAGE_LIMIT", "1", True),
        ("SITE_PAGE_LIMIT", "100000000", True),
        ("SITE_PAGE_LIMIT", "100000001", False),
        ("FOCUS_WINDOW", "0", False),
        ("FOCUS_WINDOW", "1", True),
        ("IMAGE_NOISE_MIN_PAGES", "0", True),
        ("IMAGE_NOISE_MIN_PAGES", "99999999999999999999", False),
        ("IMAGE_NOISE_MIN_PAGES", "9" * 5000, False),
        ("IMAGE_MAX_BYTES", "1000000000000", True),
        ("IMAGE_MAX_BYTES", "1000000000001", False),
        ("DOWNLOAD_MAXSIZE", "1000000000000", True),
    ],
)
def test_whole_numbers_have_a_least_and_a_greatest(name: str, value: str, right: bool) -> None:
    with nullcontext() if right else pytest.raises(ArgumentError, match="allowed is a whole number from"):
        check_number(name, value, 10)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("FOCUS_EXPLORATION", "0", True),
        ("FOCUS_EXPLORATION", "1.0", True),
        ("FOCUS_EXPLORATION", "1.1", False),
        ("FOCUS_EXPLORATION", "-0.1", False),
        ("FOCUS_SITE_SHARE", "0.01", True),
        ("FOCUS_SITE_SHARE", "half", False),
    ],
)
def test_shares_are_from_0_to_1(name: str, value: str, right: bool) -> None:
    with nullcontext() if right else pytest.raises(ArgumentError, match=r"allowed is a number from 0 to 1$"):
        check_number(name, value, 0.5)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("WIDTH", "0", True),
        ("WIDTH", "-3", False),
        ("WIDTH", "abc", False),
        ("DIVS", "maybe", False),
        ("TIE", "1.0", True),
        ("TIE", "1.1", False),
        ("TIE", "nan", False),
    ],
)
def test_a_wrong_limit_is_said(name: str, value: str, right: bool) -> None:
    settings = ours(**{f"FRAMEWORK_{name}": value})
    if right:
        extractor("framework", settings)
    else:
        with pytest.raises(ArgumentError, match=rf"^setting FRAMEWORK_{name}='{value}' is wrong; allowed is "):
            extractor("framework", settings)
