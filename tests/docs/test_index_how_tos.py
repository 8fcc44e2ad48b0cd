"""The how-tos on indexes: their commands as they stand there, and what they show of them."""

import re
from pathlib import Path
from textwrap import dedent

import fork_server
import pytest
from fork_server import ROOT
from missing import need
from test_commands import run
from test_data_set_tutorial import END, shows, steps

PACKAGES = {
    "search-index": [],
    "vector-store": ["qdrant_client", "langchain_core", "llama_index"],
}
"""What the programs of each page import."""
INDENTED = re.compile(r"^( +)```(sh|text)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def with_blocks_at_margin(text: str) -> str:
    """The text of a page whose blocks in lists stand at the margin.

    >>> with_blocks_at_margin("1. a\\n   ```sh\\n   ls\\n   ```\\n")
    '1. a\\n```sh\\nls\\n```\\n'
    """
    return INDENTED.sub(lambda block: f"```{block[2]}\n{dedent(block[3])}```", text)


@pytest.mark.long
@pytest.mark.parametrize("name", PACKAGES)
def test_a_page_shows_what_its_commands_do(name: str, tmp_path: Path) -> None:
    need(*PACKAGES[name])
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    expected = steps(with_blocks_at_margin(page))
    programs = tmp_path / "programs"
    programs.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    fork_server.program(programs)
    script = "set +x\n" + "".join(f"{command}\necho '{END}'\n" for command, _ in expected)
    ended = run(script, folder, {}, programs=programs)
    assert ended.returncode == 0, ended.stdout
    outputs = ended.stdout.split(f"{END}\n")[:-1]
    assert len(outputs) == len(expected)
    for (command, shown), output in zip(expected, outputs, strict=True):
        assert shows(shown, output), f"{command}{output}"
    assert sum(shown != "" for _, shown in expected) >= 4
