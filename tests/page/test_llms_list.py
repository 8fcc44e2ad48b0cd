"""The links of an llms.txt are those of its list items."""

from crawler.page.llms_list import is_llms_list, listed_pages
from crawler.page.sitemaps import listing

LIST = b"""\
# Bees

> All about bees, for models that answer questions. See [the home page](https://bees.example/).

## Manual

- [The dance](https://bees.example/dance.md): how bees tell the way
* [Wax](wax.html.md)
- [Queens](/queens_(old).md "Old")
- No link

## Optional

- [Honey](https://bees.example/honey.md)
"""


def test_a_list_is_told_by_its_name_and_its_title() -> None:
    rows = [
        ("https://bees.example/llms.txt", LIST, True),
        ("https://bees.example/docs/LLMS.txt?v=1", LIST, True),
        ("https://bees.example/llms.txt", b"\xef\xbb\xbf\n# Bees", True),
        ("https://bees.example/llms.txt", b"<html># Bees", False),
        ("https://bees.example/llms-full.txt", LIST, False),
        ("https://bees.example/bees.txt", LIST, False),
    ]
    for url, body, is_list in rows:
        assert is_llms_list(body, url) == is_list
        assert (listing(body, url, 10_000) is not None) == is_list


def test_its_pages_are_those_of_its_items() -> None:
    found = listing(LIST, "https://bees.example/llms.txt", 10_000)
    assert found is not None
    assert found.titles == {
        "https://bees.example/dance.md": "The dance",
        "https://bees.example/wax.html.md": "Wax",
        "https://bees.example/queens_(old).md": "Queens",
        "https://bees.example/honey.md": "Honey",
    }
    assert (tuple(found.titles), found.sitemaps, found.is_cut, found.is_feed) == (found.pages, (), False, False)


def test_a_long_list_costs_no_more_than_its_length() -> None:
    assert len(list(listed_pages("- [a](b" * 100_000))) == 0
