import pytest

from crawler.contrib.lab.evaluation.structure_scores import parts, scores

WHOLE = """# Bees

They *dance* with $x^2$ and `$5`, see [there](http://a.example/).

$$y = 1$$

```py
a = 1
```

| a | b |
| --- | --- |
| 1 | 2 |
"""


def test_parts() -> None:
    found = parts(WHOLE)
    assert found.text == "Bees They dance with and $5, see there."
    assert (found.code, found.formulas.split("\n")) == ("a = 1", ["y=1", "x^2"])
    assert found.tables == ((("a", "b"), ("1", "2")),)


def test_a_text_is_like_itself() -> None:
    assert scores(WHOLE, WHOLE) == {"text": 1.0, "code": 1.0, "formulas": 1.0, "tables": 1.0}


def test_what_is_in_neither_or_in_one() -> None:
    assert scores("Bees.", "Bees.") == {"text": 1.0, "code": None, "formulas": None, "tables": None}
    assert scores("```\na\n```", "| a | b |\n| --- | --- |\n| 1 | 2 |")["code"] == 0.0


def test_tables() -> None:
    rows_ = [
        (["| a | b |", "| 1 | 2 |"], 1.0),
        (["| a | b |", "| 1 | 3 |"], 1 - 1 / 7),  # one of seven nodes differs: a table, two rows, four cells
        (["| a | b |"], 1 - 3 / 7),
        (["| a |", "| 1 |"], 1 - 2 / 7),
    ]
    for rows, score in rows_:
        rule = "|" + " --- |" * (rows[0].count("|") - 1)
        assert scores("\n".join([rows[0], rule, *rows[1:]]), WHOLE)["tables"] == pytest.approx(score)


def test_two_tables() -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert parts(f"{table}\n\n{table}").tables == ((("a", "b"), ("1", "2")),) * 2
    assert scores(table, f"{table}\n\n{table}")["tables"] == 0.5
