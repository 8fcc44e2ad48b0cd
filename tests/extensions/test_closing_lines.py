"""Scrapy's reasons to end are said in words, in the language of the terminal."""

import inspect
import re

from scrapy.extensions import closespider, memusage

from crawler.extensions.closing_lines import REASONS
from crawler.translation.message import catalogue_of


def test_every_reason_of_scrapy_has_words() -> None:
    named = set(re.findall(r'"(closespider_[a-z_]+|memusage_exceeded)"', inspect.getsource(closespider)))
    named |= set(re.findall(r'"(memusage_exceeded)"', inspect.getsource(memusage)))
    assert named <= REASONS.keys()
    assert "closespider_timeout" in named


def test_they_are_words_in_both_languages() -> None:
    for sentence in REASONS.values():
        assert re.search(r"[a-z]+ ", sentence)
        assert re.search("[\u4e00-\u9fff]", catalogue_of("zh").gettext(sentence))
