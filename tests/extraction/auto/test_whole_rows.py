import pytest

from crawler.extraction.auto import whole_rows
from crawler.page.page import Page

TABLE = "<table><tr><th>Size</th><td>L</td></tr><tr><td>Made of</td><td>wool</td></tr></table>"


@pytest.mark.parametrize(
    ("html", "chosen", "expected"),
    [
        (TABLE, [1], [0, 1]),
        (TABLE, [2], [2, 3]),
        (TABLE, [], []),
        (TABLE, [0, 3], [0, 1, 2, 3]),
        ("<dl><dt>Size</dt><dd>L</dd><dt>Colour</dt><dd>red</dd></dl>", [3], [2, 3]),
        ("<dl><dt>Size</dt><dd>L</dd></dl>", [0], [0, 1]),
        ("<table><tr><td>a</td><td>b</td><td>c</td></tr></table>", [1], [1]),
        ("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>", [0], [0]),
        (f"<table><tr><td>a</td><td>{'x' * 81}</td></tr></table>", [0], [0]),
        (f"<table><tr><td>a</td><td>{'x' * 80}</td></tr></table>", [0], [0, 1]),
        ("<p>a</p><p>b</p>", [0], [0]),
        ("<table><tr><td>a<p>b</p></td><td>c</td></tr></table>", [2], [2]),
    ],
)
def test_rows_are_whole(html: str, chosen: list[int], expected: list[int]) -> None:
    assert whole_rows(Page.from_html(html), chosen) == expected
