"""The progress of a crawl. Its lines and its bar on a terminal are read in tests/crawl/test_ending.py."""

import subprocess
import sys


def test_without_a_terminal_the_bar_is_not_imported() -> None:
    line = "import crawler.extensions.progress, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True).stdout.split()
    assert "crawler.build_crawl" in modules
    assert not {"rich.console", "rich.progress"}.intersection(modules)
