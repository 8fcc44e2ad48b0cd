"""What is missing skips its tests with the reason; where all must be there, it fails them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fork_server import ROOT

PROGRAM = """
import sys, missing, pytest
missing.PACKAGES = {"no_such_package"}
sys.exit(pytest.main(["--doctest-modules", "-p", "no:cacheprovider"], plugins=[missing]))
"""
FILES = {
    "test_import.py": "import no_such_package",
    "test_need.py": "from missing import need\nneed('no_such_package')",
    "test_skip.py": "from missing import skip\ndef test_skip(): skip('no server')\ndef test_all(): skip(None)",
    "test_mistake.py": "import no_such_module",
}


@pytest.mark.parametrize(
    ("require_all", "mistaken", "summary"),
    [
        ("", False, "1 passed, 5 skipped"),
        ("", True, "4 skipped, 2 errors"),
        ("1", False, "4 errors"),
    ],
)
def test_what_is_missing_is_skipped_unless_all_is_required(
    require_all: str, mistaken: bool, summary: str, tmp_path: Path
) -> None:
    for name, text in FILES.items():
        if mistaken or name != "test_mistake.py":
            (tmp_path / name).write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "support"), "WINNOW_REQUIRE_ALL": require_all}
    line = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert f" {summary} in " in ended.stdout, ended.stdout
    assert "no_such_package is not installed" in ended.stdout
