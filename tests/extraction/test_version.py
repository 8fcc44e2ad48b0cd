"""The number of the extraction is raised when what it makes of pages changes."""

from hashlib import blake2b
from pathlib import Path

from crawler.extraction import EXTRACTION_VERSION, EXTRACTORS, version
from crawler.page.page import Page
from crawler.page.text import fingerprint

CASES = sorted((Path(__file__).parent.parent / "pages").glob("*/input.html"))
MADE = {
    1: "57a2b07fccdeb390",
    2: "4627a59a7713833f",
    3: "8843f7bfff54d26a",
    4: "c1c7cb1b51a76b8d",
    5: "a1ef1da6c742236b",
    6: "08688d7e1290dfbd",
}
"""What each version makes of the test pages, as a hash."""


def test_a_new_version_says_so() -> None:
    hashed = blake2b(digest_size=8)
    for path in CASES:
        for method, extract in EXTRACTORS.items():
            text = extract(Page("http://example.com/a", path.read_bytes())).text
            hashed.update(f"{path.parent.name} {method} {fingerprint(text)}\n".encode())
    assert hashed.hexdigest() == MADE[EXTRACTION_VERSION], (
        "pages have other texts now: raise EXTRACTION_VERSION in crawler/extraction, and enter the new hash here"
    )


def test_versions_count_up() -> None:
    assert list(MADE) == list(range(1, EXTRACTION_VERSION + 1))
    assert len(set(MADE.values())) == len(MADE)


def test_each_method_has_one_of_its_own() -> None:
    for method in EXTRACTORS:
        assert version(method) == f"{EXTRACTION_VERSION}:{method}"
        assert version(method, "recall") == f"{EXTRACTION_VERSION}:{method}/recall"
