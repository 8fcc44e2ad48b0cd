"""The commands of the documentation work: the `sh` blocks of each page run in order, in an empty folder.

A `text` block right below one shows what it prints.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import fork_server
import postgres
import pytest
from fork_server import ROOT
from page_steps import run
from sample_output import lines_not_printed, samples

from crawler import demo

PAGES = [
    *sorted(ROOT.glob("README*.md")),
    *sorted((ROOT / "docs" / "tutorial").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "zh" / "tutorial").glob("*.md")),
]
BLOCK = re.compile(r"^( *)```sh\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SITE = "https://example.org/"
DATABASE = "postgresql+psycopg://winnow:secret@db.example.org/winnow"
AT_ONCE = 2  # pages; one after the other they take twice as long

Results = Mapping[Path, "Future[subprocess.CompletedProcess[str]]"]


def commands(text: str) -> str:
    """The commands of a page; what stands in `console` blocks is not run.

    >>> commands("Type\\n\\n```sh\\nls\\n```\\n1. And\\n\\n   ```sh\\n   pwd\\n   ```\\n```console\\n$ rm\\n```\\n")
    'ls\\npwd\\n'
    """
    return "".join(dedent(block) for _, block in BLOCK.findall(text))


def language(page: Path) -> str:
    """The command by which Winnow speaks the language of a page."""
    return "export LC_ALL=zh_CN.UTF-8\n" if "zh" in page.parts else ""


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """What becomes of the pages that are to be tested."""
    tests = [item for item in request.session.items if item.name.startswith("test_commands_of_a_page[")]
    pages = [item.callspec.params["page"] for item in tests if isinstance(item, pytest.Function)]
    scripts = {page: language(page) + commands(page.read_text(encoding="utf-8")) for page in pages}
    # Its usual port is taken, so that each crawl of the demo site has one of its own to go on at.
    with demo.serving(), demo.serving(0) as site:
        addresses = {SITE: site}
        if any(DATABASE in script for script in scripts.values()) and postgres.missing() is None:
            addresses[DATABASE] = request.getfixturevalue("postgres_server").database()
        # Most of a command's time is its imports; the README's commands are the console script itself.
        programs = fork_server.program(tmp_path_factory.mktemp("programs")).parent
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            yield {
                page: pool.submit(
                    run,
                    script,
                    tmp_path_factory.mktemp(page.stem),
                    addresses,
                    programs=None if page.parent == ROOT else programs,
                )
                for page, script in scripts.items()
            }
        finally:
            pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.parent == ROOT else pytest.mark.long) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_of_a_page(page: Path, results: Results, request: pytest.FixtureRequest) -> None:
    if DATABASE in page.read_text(encoding="utf-8"):
        request.getfixturevalue("postgres_server")  # which skips, or fails, where there is none
    ended = results[page].result()
    assert ended.returncode == 0, ended.stdout
    shown = "".join(samples(page.read_text(encoding="utf-8")))
    assert lines_not_printed(shown, ended.stdout) == [], ended.stdout


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("true\n", 0),
        ("false\ntrue\n", 1),
        ("scrapy crawl topic -a seeds=nothing-there\ntrue\n", 2),
        (f"test {SITE} = http://127.0.0.1/\n", 0),
        ("test -z $(ls)\n", 0),
    ],
)
def test_a_page_ends_at_the_first_command_that_fails(script: str, status: int, tmp_path: Path) -> None:
    assert run(script, tmp_path, {SITE: "http://127.0.0.1/"}).returncode == status


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run("sleep 600 & sleep 600\n", tmp_path, {}, seconds=0.5)


def test_what_is_not_run_says_so() -> None:
    """Commands that no test runs have prompts, and no block is without a language."""
    for page in PAGES:
        fences = re.findall(r"^ *```(\S*)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        assert [language for language, _ in fences if not language] == []
        for language, text in fences:
            if language == "console":
                first = [line.strip() for line in dedent(text).splitlines() if not line.startswith(" ")]
                assert all(line.startswith("$ ") for line in first[:1]), text
