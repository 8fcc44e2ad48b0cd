"""What a script reads of a crawl that is running: its items, and its closing lines."""

import logging
from collections import deque
from io import BytesIO
from pathlib import Path

import pytest

from crawler.api.crawl_run import read_log, whole_lines


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "bees.jsonl"
    assert list(whole_lines(path, 0)) == []
    path.write_bytes(b'{"n": 1}\n{"n": ')
    assert list(whole_lines(path, 0)) == [b'{"n": 1}\n']
    path.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    assert list(whole_lines(path, 9)) == [b'{"n": 2}\n']


def test_the_closing_lines_are_those_after_the_last_record(caplog: pytest.LogCaptureFixture) -> None:
    log = b"ERROR bees.hive: It fell\nTraceback:\n  a line\nINFO bees.hive: Closed\n2 pages crawled.\n2 items.\n"
    closing = deque[str]()
    with caplog.at_level(logging.INFO):
        read_log(BytesIO(log), closing)
    assert list(closing) == ["2 pages crawled.", "2 items."]
    levels = [logging.ERROR] * 3 + [logging.INFO] * 3
    assert [record.levelno for record in caplog.records] == levels
