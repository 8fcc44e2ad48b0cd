"""The page of the documentation that says what is read."""

import re
from pathlib import Path

from crawler.rights.purpose import PURPOSES
from crawler.rights.statement import MAX_EVIDENCE, MAX_SAYS, Signal, State, Use
from crawler.rights.training_crawlers import AS_OF, TRAINING_CRAWLERS

TEXT = (Path(__file__).parents[2] / "docs" / "explanation" / "rights.md").read_text(encoding="utf-8")


def test_the_dated_list_is_the_one_that_is_used() -> None:
    assert f"As of {AS_OF}," in TEXT
    listed = TEXT.partition("### Training crawlers")[2].partition("## ")[0]
    assert dict(re.findall(r"^\| `(.+?)` \| (.+?) \|$", listed, re.MULTILINE)) == TRAINING_CRAWLERS


def test_it_names_everything_that_an_item_may_say() -> None:
    for word in (*Signal, *State, *Use, *PURPOSES):
        assert f"`{word}`" in TEXT or f"purpose={word}`" in TEXT
    assert f"at most {MAX_EVIDENCE} of {MAX_SAYS} characters each" in TEXT
