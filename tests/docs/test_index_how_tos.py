"""The how-tos on indexes: their commands as they stand there, and what they show of them."""

from pathlib import Path

import pytest
from fork_server import ROOT
from missing import need
from page_steps import shows, steps_run

PACKAGES = {
    "search-index": [],
    "vector-store": ["qdrant_client", "langchain_core", "llama_index"],
}
"""What the programs of each page import."""


@pytest.mark.long
@pytest.mark.parametrize("name", PACKAGES)
def test_a_page_shows_what_its_commands_do(name: str, tmp_path: Path) -> None:
    need(*PACKAGES[name])
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    run_steps = steps_run(page, tmp_path)
    for step in run_steps:
        assert shows(step.shown, step.printed), f"{step.command}{step.printed}"
    assert sum(step.shown != "" for step in run_steps) >= 4
