from collections import Counter
from math import log

import pytest

from crawler.noise.li2006 import entropy

# Table 1 of Li 2006: the file names of seven image links on two pages.
TABLE = {
    "A1": "1_1-1-21-180_20031016141652",
    "B1": "zhenwen080703",
    "C1": "zhenwen080705",
    "A2": "1_1-1-21-166_20031016155843",
    "A3": "1_1-1-23-166_20031016155844",
    "B2": "zhenwen080703",
    "C2": "zhenwen080705",
}


def test_the_table_of_the_paper() -> None:
    rows = [("A1", 0.0), ("A2", 0.0), ("A3", 0.0), ("B1", 0.3562), ("B2", 0.3562), ("C1", 0.3562), ("C2", 0.3562)]
    for link, expected in rows:
        found = entropy([TABLE[link]], Counter(TABLE.values()), {}, len(TABLE))
        assert found is not None
        assert round(found, 4) == expected


def test_formula_4_as_it_is_printed() -> None:
    for frequencies in [[1], [1, 1], [2, 1], [5, 1, 1], [1] * 9, [3, 3, 3, 3], [7, 1, 2, 2, 9, 1]]:
        for others in [1, 20]:
            links = len(frequencies) + others
            total = sum(frequencies)
            printed = -sum(f / total * log(f / total, links) for f in frequencies)
            spread = sum(f * log(f) for f in frequencies)
            assert entropy(["w"], {"w": total}, {"w": spread}, links) == pytest.approx(printed, abs=1e-12)


def test_a_word_in_every_link_has_1() -> None:
    assert entropy(["w"], {"w": 40}, {}, 40) == 1.0


def test_formula_5() -> None:
    rows = [
        (["all", "once"], 8, 0.5),  # formula 5: the mean
        (["all", "all", "once"], 8, 0.5),  # of different words
        (["all"], 8, 1.0),
        (["once"], 8, 0.0),
        (["unknown"], 8, 0.0),
        (["all"], 2, 3.0),
        (["all"], 1, None),
        (["all"], 0, None),
        ([], 8, None),
    ]
    for words, links, expected in rows:
        found = entropy(words, {"all": 8, "once": 1}, {}, links)
        assert found is expected if expected is None else found == pytest.approx(expected)
