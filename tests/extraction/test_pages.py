"""The pages of tests/pages, by every method: what it finds is in expected.METHOD.txt, or in expected.txt.

Of a method that is trained anew from time to time only what is sure is there, in sure.METHOD.txt: lines that must be in
its text, after +, and lines that must not, after -.
"""

from pathlib import Path

import pytest

from crawler.extraction import EXTRACTORS
from crawler.page.page import Page

CASES = sorted((Path(__file__).parent.parent / "pages").iterdir())
TRAINED = ["auto"]
each_page = pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)


@each_page
@pytest.mark.parametrize("method", [method for method in EXTRACTORS if method not in TRAINED])
def test_page(method: str, folder: Path) -> None:
    own = folder / f"expected.{method}.txt"
    expected = (own if own.exists() else folder / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    assert EXTRACTORS[method](Page("http://example.com/a", (folder / "input.html").read_bytes())).text == expected


@each_page
@pytest.mark.parametrize("method", TRAINED)
def test_what_is_sure(method: str, folder: Path) -> None:
    lines = EXTRACTORS[method](Page("http://example.com/a", (folder / "input.html").read_bytes())).text.splitlines()
    sure = (folder / f"sure.{method}.txt").read_text(encoding="utf-8").splitlines()
    assert "+ " in {line[:2] for line in sure} <= {"+ ", "- "}
    assert [line for line in sure if (line[2:] in lines) != line.startswith("+")] == []


def test_no_file_is_left_over() -> None:
    """An expectation says more than the common one, for a method that there is."""
    for path in [path for folder in CASES for path in folder.iterdir()]:
        names = {f"expected.{method}.txt" for method in EXTRACTORS if method not in TRAINED}
        assert path.name in names | {"input.html", "expected.txt"} | {f"sure.{method}.txt" for method in TRAINED}
        assert path.name not in names or path.read_bytes() != path.with_name("expected.txt").read_bytes()
