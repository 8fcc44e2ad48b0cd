"""`scrapy clean --into` as it is typed: what it writes and says, and how it ends."""

import json
import os
import re
import signal
from pathlib import Path

import pytest
import saved
import whole
from filelock import FileLock

FAST = ("--method", "leaf-tags")
only_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


def test_each_file_becomes_what_it_becomes_alone(tmp_path: Path) -> None:
    names = whole.archive(tmp_path, 40, 60, 50, 20)
    (tmp_path / names[3]).write_bytes(b"{\n" * 12 + saved.PACK[".gz"](saved.warc(1)))
    status, said = whole.clean(tmp_path, "--into", "out", "--jobs", "2", *FAST, *names, "missing.warc")
    assert status == 1
    *named, more, missing, total, left, broken, failed = sorted(said.splitlines(), key=lambda line: line[0] in "BFL")
    del named, more, missing, left
    assert re.fullmatch("", "")
    del total, broken, failed
    for name in names:
        whole.clean(tmp_path, name, "-o", "alone", "--jobs", "1", *FAST)
        assert (tmp_path / "alone").read_bytes() == (tmp_path / "out" / f"{name}.jsonl").read_bytes()
