"""The index of docs/how-to/search-index.md equals a site that changes and fails at times, whose crawls are killed."""

from collections.abc import Iterator

import pytest
from changing_site import MISSES_UNTIL_GONE, ChangingSite
from how_to_files import how_to_program
from index_rounds import FollowingIndex, IndexRound
from sites import serving

COUNT = 40
ROUNDS = 3
SHARE = 0.125

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowingIndex]:
    site = ChangingSite(COUNT)
    program = how_to_program("search-index.md", "search_index.py")
    with serving(site):
        yield FollowingIndex(program, site, tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def rounds(index: FollowingIndex) -> list[IndexRound]:
    """The first round, rounds in which the site changes, and those after which the site and the index are equal."""
    first = index.follow_round([COUNT // 3])
    later = []
    for number in range(ROUNDS):
        index.site.change(SHARE)
        later.append(index.follow_round([COUNT // 4 * (number + 1)]))
    index.site.recover()
    return [first, *later, *(index.follow_round() for _ in range(MISSES_UNTIL_GONE))]


def test_the_index_has_what_the_site_answered_after_each_round(rounds: list[IndexRound]) -> None:
    for number, one in enumerate(rounds):
        assert one.indexed_texts == one.expected_texts, number
    assert len({len(one.indexed_texts) for one in rounds}) > 2


def test_in_the_end_it_has_the_live_pages(rounds: list[IndexRound], index: FollowingIndex) -> None:
    assert rounds[-1].indexed_texts == index.site.live_texts()


def test_unchanged_pages_are_not_written(rounds: list[IndexRound]) -> None:
    for number, one in enumerate(rounds):
        assert one.written_paths == one.changed_paths, number


def test_an_old_index_and_a_new_one_catch_up(rounds: list[IndexRound], index: FollowingIndex) -> None:
    last = rounds[-1]
    for file in [b"", *(one.file for one in rounds)]:
        index.path.write_bytes(file)
        with index.open() as old:
            index.update(old)
            assert index.texts(old) == last.indexed_texts


def test_any_old_offset_leads_to_the_same_index(rounds: list[IndexRound], index: FollowingIndex) -> None:
    offsets = ["0"]
    for one in rounds:
        index.path.write_bytes(one.file)
        with index.open() as old:
            offsets += [offset for (offset,) in old.execute("SELECT last_offset FROM reader")]
    with index.open() as newest:
        for offset in offsets:
            newest.execute("UPDATE reader SET last_offset = ?", [offset])
            newest.commit()
            index.update(newest)
            assert index.texts(newest) == rounds[-1].indexed_texts
            assert newest.execute("SELECT last_offset FROM reader").fetchall() == [(offsets[-1],)]


def test_an_offset_of_another_database_rebuilds(rounds: list[IndexRound], index: FollowingIndex) -> None:
    index.path.write_bytes(rounds[-1].file)
    with index.open() as newest:
        newest.execute("UPDATE reader SET last_offset = '1-00000000'")
        newest.execute("INSERT INTO page (page_id, url, title, text) VALUES ('0', 'old', '', '')")
        newest.commit()
        assert index.update(newest) >= len(rounds[-1].indexed_texts)
        assert index.texts(newest) == rounds[-1].indexed_texts
