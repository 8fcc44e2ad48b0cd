"""The dashboard's own words in the visitor's language: English as it stands in the templates, Chinese by tables."""

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from crawler.translation.message import Message, largest_unit

SPANS = {"days": "{n} days", "h": "{n} h", "min": "{n} min", "s": "{n} s"}
TABLES = ("chinese", "chinese_api", "chinese_outcomes")


class Words(NamedTuple):
    """What each English sentence is in a language."""

    table: Mapping[str, str]

    def said(self, english: str | Message, **values: object) -> str:
        """A sentence with its values filled in, or a message; in English where there is no other."""
        if isinstance(english, Message):
            return self.message(english)
        sentence = self.table.get(english, english)
        return sentence.format(**values) if values else sentence

    def message(self, message: Message) -> str:
        """A message in this language; a value that is a message is translated, too."""
        values = {
            name: self.message(value) if isinstance(value, Message) else value for name, value in message.values.items()
        }
        return self.said(message.sentence, **values)

    def many(self, count: float, one: str, many: str, **values: object) -> str:
        """A sentence for one, or one for `{n}` of them."""
        return self.said(one if count == 1 else many, n=f"{count:,}", **values)

    def span(self, seconds: float | None) -> str:
        """A span of time in the largest unit that it is two of; a short one with its decimals.

        >>> [Words({}).span(seconds) for seconds in (None, -1, 0.0123, 2.5, 119.9, 7_200, 172_800, float("nan"))]
        ['–', '0 s', '13 ms', '2.5 s', '119 s', '2 h', '2 days', '0 s']
        """
        if seconds is None:
            return "–"
        if 0 < seconds < 0.1:
            return self.said("{n} ms", n=math.ceil(1_000 * seconds))
        if 0 < seconds < 10:
            return self.said("{n} s", n=f"{seconds:.1f}")
        count, unit = largest_unit(seconds)
        return self.said(SPANS[unit], n=f"{count:,}")


@cache
def words_of(language: str) -> Words:
    """The words of a language."""
    names = TABLES if language == "zh" else ()
    return Words({english: said for name in names for english, said in _table(name).items()})


def _table(name: str) -> dict[str, str]:
    return dict(json.loads((files(__package__) / f"{name}.json").read_text("utf-8")))
