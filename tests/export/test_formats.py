"""What is packed is unpacked by others."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from export_place import Place

from crawler import doors
from crawler.export.formats import compressed, format_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PARTS = [b"bees" * 1_000, b"", bytes(range(256)) * 300]


def test_parts_come_back() -> None:
    rows = [(".gz", gzip.decompress), (".zst", zstd.decompress), ("", bytes), (".xz", bytes)]
    for apart in [False, True]:
        for ending, unpack in rows:
            assert unpack(b"".join(compressed(PARTS, ending, apart))) == b"".join(PARTS)


def test_parts_that_are_packed_apart_are_unpacked_apart() -> None:
    data = b"".join(compressed(PARTS, ".gz", apart=True))
    assert data.count(gzip.compress(b"")[:3]) >= len(PARTS)
    assert (
        b"".join(compressed(PARTS[:1], ".gz", apart=True))
        == data[: len(b"".join(compressed(PARTS[:1], ".gz", apart=True)))]
    )


def test_gzip_itself_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"".join(compressed(PARTS, ".gz")))
    assert subprocess.run(["gzip", "-t", str(path)], check=False).returncode == 0


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_nothing_is_packed_as_nothing(ending: str) -> None:
    assert b"".join(compressed([], ending)) == b""


def test_a_format_of_another_package(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_format.py").write_text(
        "from crawler.export.formats import Format\n"
        "TABS = Format('their_format:write', is_text=True)\n"
        "def write(pages, fields):\n"
        "    return ('\\t'.join(str(page.values[name]) for name in fields).encode() + b'\\n' for page in pages)\n"
    )
    distribution = tmp_path / "theirs-1.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (distribution / "entry_points.txt").write_text("[winnow.exports]\ntsv = their_format:TABS\n")
    monkeypatch.syspath_prepend(tmp_path)
    doors._entry_points.cache_clear()
    place.fill(2)
    try:
        assert format_of("pages.TSV.gz") == "tsv"
        assert place.export("--format", "tsv", "--fields", "depth,title").out == "0\tPage 0\n1\tPage 1\n"
        assert place.export("-o", "a.tsv", "--where", "depth > 0", "--fields", "depth").status == 0
        assert (place.folder / "a.tsv").read_text() == "1\n"
        assert (place.folder / "a.removed.jsonl").exists()
    finally:
        doors._entry_points.cache_clear()
        sys.modules.pop("their_format", None)
