"""Which settings are right."""

from contextlib import nullcontext
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as our_settings
from crawler.arguments import parse
from crawler.checked_settings import NUMBERS, check_crawl, check_settings, max_depth_of, needs_one_process
from crawler.errors import ArgumentError


def ours(**changed: Any) -> Settings:
    settings = Settings()
    settings.setmodule(our_settings)
    settings.update(changed)
    return settings


def test_every_number_has_a_range_and_lies_in_it() -> None:
    kinds = {name: type(value) for name, value in vars(our_settings).items() if type(value) in (int, float)}
    assert {name: type(least) for name, (least, _) in NUMBERS.items()} == kinds
    check_settings(ours())


def test_a_crawl_needs_no_setting_changed() -> None:
    check_crawl(ours(), parse({"seeds": "demo"}))


@pytest.mark.parametrize(
    ("settings", "workers", "is_right"),
    [({}, "2", True), ({"FEEDS": {"a.csv": {}}}, "2", False), ({"FEEDS": {"a.csv": {}}}, "1", True)],
)
def test_only_a_number_of_workers_is_refused_with_feeds(settings: dict[str, Any], workers: str, is_right: bool) -> None:
    check_crawl(ours(**settings), parse({"seeds": "demo"}))
    check_crawl(ours(**settings), parse({"seeds": "demo", "workers": "auto"}))
    with nullcontext() if is_right else pytest.raises(ArgumentError, match=f"workers={workers} cannot be given"):
        check_crawl(ours(**settings), parse({"seeds": "demo", "workers": workers}))


def test_some_settings_hold_for_one_process_only() -> None:
    rows = [
        ({}, False),
        ({"FEEDS": {"items.csv": {}}}, True),
        ({"CLOSESPIDER_ITEMCOUNT": "5"}, True),
        ({"CLOSESPIDER_PAGECOUNT": 5}, True),
        ({"CLOSESPIDER_TIMEOUT_NO_ITEM": 0.5}, True),
        ({"CLOSESPIDER_TIMEOUT": 5}, False),
        ({"ITEM_PIPELINES": {"project.pipelines.Keep": 5}}, True),
        ({"EXTENSIONS": {"scrapy.extensions.logstats.LogStats": 5}}, False),
        ({"ADDONS": {"crawler.addon.CleanItems": 5}}, False),
    ]
    for settings, needs_one in rows:
        assert needs_one_process(ours(**settings)) == needs_one


@pytest.mark.parametrize(("render", "is_right"), [("auto", True), ("never", True), ("always", False)])
def test_only_always_needs_a_browser(render: str, is_right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.browser.installed.is_usable", lambda: False)
    with nullcontext() if is_right else pytest.raises(ArgumentError, match="render=always needs Playwright"):
        check_crawl(ours(), parse({"seeds": "demo", "render": render}))


def test_each_setting_is_checked() -> None:
    rows = [
        ("SITE_PAGE_LIMIT", "0", False),
        ("SITE_PAGE_LIMIT", "1", True),
        ("SITE_PAGE_LIMIT", "1.0", False),
        ("SITE_PAGE_LIMIT", "100000000", True),
        ("SITE_PAGE_LIMIT", "100000001", False),
        ("IMAGE_NOISE_MIN_PAGES", "0", True),
        ("IMAGE_NOISE_MIN_PAGES", "-3", False),
        ("IMAGE_NOISE_MIN_PAGES", "٣", False),
        ("IMAGE_NOISE_MIN_PAGES", "99999999999999999999", False),
        ("IMAGE_NOISE_MIN_PAGES", "9" * 5000, False),
        ("IMAGE_MAX_BYTES", "0", False),
        ("IMAGE_MAX_BYTES", "1000000000000", True),
        ("IMAGE_MAX_BYTES", "1000000000001", False),
        ("DOWNLOAD_WARNSIZE", "0", True),
        ("FOCUS_EXPLORATION", "0", True),
        ("FOCUS_EXPLORATION", "1.0", True),
        ("FOCUS_EXPLORATION", "1.1", False),
        ("FOCUS_EXPLORATION", "-0.1", False),
        ("FOCUS_EXPLORATION", "half", False),
        ("FOCUS_EXPLORATION", "nan", False),
        ("DOWNLOAD_DELAY", "0", True),
        ("DOWNLOAD_DELAY", "0.25", True),
        ("DOWNLOAD_DELAY", ".5", True),
        ("DOWNLOAD_DELAY", "5.", True),
        ("DOWNLOAD_DELAY", "1e3", True),
        ("DOWNLOAD_DELAY", "1E-05", True),
        ("DOWNLOAD_DELAY", "1e9", True),
        ("DOWNLOAD_DELAY", "1e10", False),
        ("DOWNLOAD_DELAY", ".", False),
        ("DOWNLOAD_DELAY", "e3", False),
        ("DOWNLOAD_DELAY", "inf", False),
        ("ROBOTSTXT_OBEY", "true", True),
        ("ROBOTSTXT_OBEY", "0", True),
        ("ROBOTSTXT_OBEY", "maybe", False),
        ("KEEP_RESPONSES", "0", True),
        ("KEEP_RESPONSES", "True", False),
        ("EXTRACTOR", "slope", True),
        ("EXTRACTOR", "magic", False),
        ("LOG_LEVEL", "loud", False),
        ("RETRY_HTTP_CODES", "500, 502", True),
        ("RETRY_HTTP_CODES", "500,often", False),
    ]
    for name, value, right in rows:
        said = f"^setting {name}='{value[:100]}' is wrong; allowed (is|are) "
        with nullcontext() if right else pytest.raises(ArgumentError, match=said):
            check_settings(ours(**{name: value}))


def test_the_smaller_depth_limit_counts() -> None:
    rows = [("0", "", None), ("2", "", 2), ("0", "0", 0), ("2", "3", 2), ("3", "2", 2), ("2", "0", 0)]
    for limit, argument, depth in rows:
        assert max_depth_of(ours(DEPTH_LIMIT=limit), parse({"seeds": "demo", "max_depth": argument})) == depth


def test_what_the_frontier_does_itself_is_refused() -> None:
    rows = [
        ("DEPTH_LIMIT", "-1", "^setting DEPTH_LIMIT='-1' is wrong; allowed is a whole number from 0 to"),
        ("JOBDIR", "jobs", "^setting JOBDIR is not allowed: the crawl"),
        ("DUPEFILTER_CLASS", "scrapy.dupefilters.BaseDupeFilter", "^setting DUPEFILTER_CLASS is not allowed"),
        (
            "SCHEDULER_PRIORITY_QUEUE",
            "scrapy.pqueues.ScrapyPriorityQueue",
            "^setting SCHEDULER_PRIORITY_QUEUE is not allowed",
        ),
        (
            "TWISTED_REACTOR",
            "twisted.internet.epollreactor.EPollReactor",
            "^setting TWISTED_REACTOR=.*; allowed are tw",
        ),
        ("TWISTED_REACTOR_ENABLED", "False", "^setting TWISTED_REACTOR_ENABLED='False' is wrong; allowed are True"),
    ]
    for name, value, said in rows:
        with pytest.raises(ArgumentError, match=said):
            check_crawl(ours(**{name: value}), parse({"seeds": "demo"}))


def test_another_method_than_auto_favours_nothing() -> None:
    said = "^favour 'recall' is for the method auto alone.*; the method is slope$"
    arguments = parse({"seeds": "demo", "favour": "recall"})
    with pytest.raises(ArgumentError, match=said):
        check_crawl(ours(EXTRACTOR="slope"), arguments)
