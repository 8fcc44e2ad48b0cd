"""`winnow mcp` without its extra, and with wrong options."""

import subprocess
import sys
from pathlib import Path

import fork_server
import pytest
from fork_server import environment
from missing import need

WITHOUT_EXTRA = """
import sys
sys.modules["mcp"] = None
sys.argv = ["winnow", "mcp"]
from crawler.api.console import main
main()
"""


def test_without_its_extra_the_command_names_it(tmp_path: Path) -> None:
    line = [sys.executable, "-c", WITHOUT_EXTRA]
    ended = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert "winnow-crawler[mcp]" in ended.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-pages", "-1"], "--max-pages"),
        (["--max-pages", "100001"], "100,000"),
        (["-s", "IGNORED_PARAMETERS=("], "IGNORED_PARAMETERS"),
        (["-s", "STATE_URL=nowhere"], "STATE_URL"),
    ],
)
def test_wrong_use_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    need("mcp")
    ended = fork_server.run(["scrapy", "mcp", *options], tmp_path, environment(), timeout=60)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert words in ended.stderr
    assert list(tmp_path.iterdir()) == []
