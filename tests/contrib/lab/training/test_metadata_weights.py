"""The weights of author and date: what they learn, and what is written."""

import json
import re
from pathlib import Path

import pytest

from crawler.contrib.lab.training.examples import GoldError
from crawler.contrib.lab.training.metadata_weights import FieldExample, fit, write_metadata_weights
from crawler.metadata.choice import new_candidates

TEXT = (
    "<p>Bees dance in the dark of the hive to tell the others the way to the flowers, and the longer the better.</p>"
    * 4
)


def example(gold: str, **signs: str) -> FieldExample:
    found = new_candidates({})
    for value, sign in signs.items():
        found.add(value, sign)
    return FieldExample("a.example", found, gold)


def test_weights_tell_signs_of_the_right_from_others() -> None:
    right = [example("a", a="good", b="bad") for _ in range(10)]
    empty = [example("", b="bad") for _ in range(10)]
    weights = fit([*right, *empty])
    assert weights["good"] > weights["empty"] > weights["bad"]


def page(number: int) -> dict[str, object]:
    """A page whose author is in its by-line; the name in its footer is another's."""
    name = f"Ann Lee{'abcdefghij'[number]}"
    html = f"<title>Bees</title><h1>Bees</h1><p class=byline>By {name}</p>{TEXT}<footer><p>Author: Bo Ray</p></footer>"
    return {"url": f"http://site{number}.example/", "html": html, "author": name}


def test_training(tmp_path: Path) -> None:
    path, output = tmp_path / "gold.jsonl", tmp_path / "weights.json"
    path.write_text("".join(json.dumps(page(number)) + "\n" for number in range(10)), encoding="utf-8")
    said: list[str] = []
    made = write_metadata_weights([path], output, 0, said.append)
    assert set(made) == set(json.loads(output.read_text(encoding="utf-8"))) == {"author"}
    assert (made["author"].pages, made["author"].held_out.present, made["author"].held_out.right) == (10, 10, 10)
    assert len(said) == 2
    assert "gold.jsonl" in said[0]
    assert re.search("author .* 10 pages", said[1])


def test_a_broken_line_and_no_field(tmp_path: Path) -> None:
    path, output = tmp_path / "gold.jsonl", tmp_path / "weights.json"
    for text, message in (("{}\n", "line 1 of"), ('{"html": "<p>a"}\n', "no line has a text as author or published")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(GoldError, match=message):
            write_metadata_weights([path], output, 0, lambda _: None)
    assert not output.exists()
