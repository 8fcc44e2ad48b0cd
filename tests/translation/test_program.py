"""Commands in messages, as the program that was called takes them."""

import sys

import pytest

from crawler.translation.program import as_called


@pytest.mark.parametrize(
    ("argv", "sentence", "expected"),
    [
        ("scrapy export", "scrapy clean --into, -a fresh=yes", "scrapy clean --into, -a fresh=yes"),
        ("/bin/winnow crawl", "scrapy noise report has it.", "winnow noise report has it."),
        ("winnow.exe crawl", "-a max_pages=9 or (-a fresh=yes)", "--max-pages 9 or (--fresh yes)"),
        ("winnow crawl", "scrapy crawl topic -a seeds=demo", "winnow crawl demo"),
        ("winnow export", "not made by scrapy clean --into", "not made by winnow clean-files --into"),
        ("winnow schedule add", "another -a name=NAME; scrapy schedule", "another -a name=NAME; winnow schedule"),
    ],
)
def test_commands_are_those_of_the_program(
    argv: str, sentence: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv.split())
    assert as_called(sentence) == expected
