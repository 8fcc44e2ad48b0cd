"""The files and folders that the documentation names are there."""

import re

from fork_server import ROOT

PAGES = (ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "explanation").glob("*.md")))
NAMED = re.compile(r"`((?:[a-z_0-9]+/)*(?:[a-z_0-9]+\.(?:py|npz|html)|[a-z_0-9]+/))`")


def test_every_name_is_that_of_a_file_or_folder() -> None:
    for page in PAGES:
        names = NAMED.findall(page.read_text(encoding="utf-8"))
        assert [
            name for name in names if not any((folder / name).exists() for folder in (ROOT, ROOT / "crawler"))
        ] == []
