from math import inf
from pathlib import Path

import pytest

from crawler.processes import machine

MEMORY = "MemTotal:       2000000 kB\nMemFree:          500000 kB\nMemAvailable:    1500000 kB\n"


@pytest.mark.parametrize(
    ("memory", "limit", "expected"),
    [
        (MEMORY, None, 1_536_000_000.0),
        (MEMORY, "max\n", 1_536_000_000.0),
        (MEMORY, "600000000\n", 500_000_000.0),
        (MEMORY, "9000000000\n", 1_536_000_000.0),
        ("MemTotal: 2000000 kB\n", None, inf),
        (None, "600000000\n", 500_000_000.0),
        (None, None, inf),
    ],
)
def test_available_memory(
    memory: str | None, limit: str | None, expected: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MEMORY_OF_THE_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "MEMORY_OF_THE_CONTAINER", tmp_path)
    if memory is not None:
        (tmp_path / "meminfo").write_text(memory)
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
        (tmp_path / "memory.current").write_text("100000000\n")
    assert machine.available_memory_bytes() == expected
