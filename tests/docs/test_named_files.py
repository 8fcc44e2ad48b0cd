"""The files and folders that the documentation names are there."""

import re
from pathlib import Path

import pytest
from fork_server import ROOT

PAGES = (ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "explanation").glob("*.md")))
NAMED = re.compile(r"`((?:[a-z_0-9]+/)*(?:[a-z_0-9]+\.(?:py|npz|html)|[a-z_0-9]+/))`")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_name_is_that_of_a_file_or_folder(page: Path) -> None:
    names = NAMED.findall(page.read_text(encoding="utf-8"))
    assert [name for name in names if not any((folder / name).exists() for folder in (ROOT, ROOT / "crawler"))] == []
