"""What is packed is unpacked by others."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.export.formats import compressed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PARTS = [b"bees" * 1_000, b"", bytes(range(256)) * 300]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("ending", "unpack"), [(".gz", gzip.decompress), (".zst", zstd.decompress), ("", bytes), (".xz", bytes)]
)
def test_parts_come_back(ending: str, unpack: Callable[[bytes], bytes], apart: bool) -> None:
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
