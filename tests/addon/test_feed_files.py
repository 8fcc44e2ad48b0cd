"""Where the last whole line of a feed ends."""

from pathlib import Path

from crawler.addon.feed_files import BLOCK_BYTES, end_of_lines


def test_the_end_of_the_last_whole_line(tmp_path: Path) -> None:
    rows = [
        (b"", 0),
        (b"torn", 0),
        (b"one\n", 4),
        (b"one\ntwo\n", 8),
        (b"one\ntwo\ntorn", 8),
        (b"one\n" + b"x" * 2 * BLOCK_BYTES, 4),
        (b"x" * BLOCK_BYTES + b"\n", BLOCK_BYTES + 1),
    ]
    path = tmp_path / "items.jsonl"
    for content, end in rows:
        path.write_bytes(content)
        assert end_of_lines(path) == end
