"""Commands in messages, as the user calls them: `scrapy`, or `winnow`, which has other words for some."""

import re
import sys
from pathlib import Path

ARGUMENT = re.compile(r"(?<!\S)(\(?)-a ([a-z_]+)=")
AS_WINNOW = (
    ("scrapy crawl topic", "winnow crawl"),
    ("-a seeds=", ""),
    ("scrapy clean --into", "winnow clean-files --into"),
    ("scrapy ", "winnow "),
)


def is_winnow() -> bool:
    """Whether the user called `winnow`."""
    return Path(sys.argv[0]).stem == "winnow"


def as_called(sentence: str) -> str:
    """The sentence with the program that the user called, and with arguments as it takes them.

    >>> as_called("scrapy export --name bees -o FILE; -a fresh=yes starts it anew")
    'scrapy export --name bees -o FILE; -a fresh=yes starts it anew'
    """
    if not is_winnow():
        return sentence
    for ours, others in AS_WINNOW:
        sentence = sentence.replace(ours, others)
    if sys.argv[1:2] == ["schedule"]:  # which takes them as Scrapy does
        return sentence
    return ARGUMENT.sub(lambda found: f"{found[1]}--{found[2].replace('_', '-')} ", sentence)
