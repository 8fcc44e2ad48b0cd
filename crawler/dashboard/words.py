"""The dashboard's own words in the visitor's language: English as it stands in the templates, Chinese by a table."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Words(NamedTuple):
    """What each English sentence is in a language."""

    table: Mapping[str, str]

    def said(self, english: str, **values: object) -> str:
        """A sentence with its values filled in; in English where there is no other."""
        sentence = self.table.get(english, english)
        return sentence.format(**values) if values else sentence

    def many(self, count: float, one: str, many: str, **values: object) -> str:
        """A sentence for one, or one for `{n}` of them."""
        return self.said(one if count == 1 else many, n=f"{count:,}", **values)


@cache
def words_of(language: str) -> Words:
    """The words of a language."""
    if language != "zh":
        return Words({})
    tables = [file for file in files(__package__).iterdir() if file.name.startswith("chinese")]
    return Words({name: said for file in tables for name, said in json.loads(file.read_text("utf-8")).items()})
