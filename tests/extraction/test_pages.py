"""The pages of tests/pages, by every method: what it finds is in expected.METHOD.txt, or in expected.txt."""

from pathlib import Path

import pytest

from crawler.extraction import EXTRACTORS
from crawler.page import Page

CASES = sorted((Path(__file__).parent.parent / "pages").iterdir())


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
@pytest.mark.parametrize("method", EXTRACTORS)
def test_page(method: str, folder: Path) -> None:
    own = folder / f"expected.{method}.txt"
    expected = (own if own.exists() else folder / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    assert EXTRACTORS[method](Page("http://example.com/a", (folder / "input.html").read_bytes())).text == expected


@pytest.mark.parametrize("path", [path for folder in CASES for path in folder.iterdir()], ids=lambda path: path.name)
def test_no_file_is_left_over(path: Path) -> None:
    """An expectation says more than the common one, for a method that there is."""
    names = {f"expected.{method}.txt" for method in EXTRACTORS}
    assert path.name in names | {"input.html", "expected.txt"}
    assert path.name not in names or path.read_bytes() != path.with_name("expected.txt").read_bytes()
