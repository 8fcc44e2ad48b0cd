"""Which requests a table knows, on its own and after another start."""

from pathlib import Path

from crawler.addon.request_table import RequestTable

FIRST, SECOND = b"\x01", b"\x02"


def test_a_request_that_must_not_be_filtered_filters_no_other(tmp_path: Path) -> None:
    table = RequestTable(tmp_path / "queue" / "bees.db")
    table.add(FIRST, is_filtered=False, data=b"1")
    assert not table.has(FIRST)
    table.add(FIRST, is_filtered=True, data=b"1")
    assert table.has(FIRST)
    assert not table.has(SECOND)
    assert not table.has_earlier(FIRST)  # by an earlier process
    table.close()


def test_what_is_committed_and_not_done_waits_for_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "bees.db"
    table = RequestTable(path)
    done = table.add(FIRST, is_filtered=True, data=b"1")
    waiting = table.add(SECOND, is_filtered=True, data=b"2")
    table.commit([done])
    table.add(b"\x03", is_filtered=True, data=b"3")
    table.close()
    again = RequestTable(path)
    assert list(again.waiting()) == [(waiting, b"2")]
    assert [again.has_earlier(fingerprint) for fingerprint in (FIRST, SECOND, b"\x03")] == [True, True, False]
    again.close()
