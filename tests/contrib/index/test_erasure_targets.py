"""Which addresses and hosts are to be erased."""

import pytest
from sqlalchemy import column, true

from crawler.contrib.index.erasure_targets import MOST_HOSTS, erasure_targets
from crawler.errors import WrongUseError
from crawler.urls.canonical import Canonical

CANONICAL = Canonical(["utm_.*"])


def test_spellings_of_an_address_and_of_a_host_are_one() -> None:
    targets = erasure_targets(["HTTP://Example.org:80/a?b&utm_source=x#top", "Blog.example.org", "[::1]:80"], CANONICAL)
    assert (sorted(targets.pages), sorted(targets.hosts)) == (
        ["http://example.org/a?b"],
        ["[::1]:80", "blog.example.org"],
    )
    covered = {
        "http://example.org/a?utm_medium=y&b": "http://example.org/a?b",
        "https://blog.example.org/": "blog.example.org",
        "http://example.org/a": None,
        "https://example.org/a?b": None,
        "http://example.org/a?b=c": None,
        "http://www.blog.example.org/": None,
        "http://blog.example.org:8000/": None,
        "blog.example.org": None,
        "": None,
    }
    assert {url: targets.target_of(url) for url in covered} == covered
    assert targets.target_of(None) is targets.target_of(7) is None


def test_everything_else_is_an_error() -> None:
    for text in ("", "example.org/page", "ftp://example.org/", "http://", "mailto:ann@example.org", "ann@example.org"):
        with pytest.raises(WrongUseError):
            erasure_targets([text], CANONICAL)


def test_a_condition_names_few_hosts() -> None:
    for count, is_true in ((MOST_HOSTS, False), (MOST_HOSTS + 1, True)):
        targets = erasure_targets([f"host{number}.example" for number in range(count)], CANONICAL)
        assert (targets.may_be_in(column("url")) is true()) is is_true
