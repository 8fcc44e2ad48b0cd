"""Runs the commands of a page of the documentation in an empty folder, step by step."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import fork_server
from fork_server import environment
from sample_output import VARIABLE

LOCALES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^( +)```(sh|text)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
END = "end of step"
SECONDS = 300.0  # that a page may take on a machine with much else to do


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """Commands of a page that were run."""

    command: str
    shown: str
    """The output that the page shows."""
    printed: str


def with_blocks_at_margin(text: str) -> str:
    """The text of a page whose blocks in lists stand at the margin.

    >>> with_blocks_at_margin("1. a\\n   ```sh\\n   ls\\n   ```\\n")
    '1. a\\n```sh\\nls\\n```\\n'
    """
    return INDENTED.sub(lambda block: f"```{block[2]}\n{dedent(block[3])}```", text)


def steps(text: str) -> list[tuple[str, str]]:
    """The commands of a page, each with the output that the page shows, which may be empty.

    >>> steps("```sh\\nls\\n```\\n```sh\\npwd\\n```\\n```text\\n/\\n```\\n")
    [('ls\\n', ''), ('pwd\\n', '/\\n')]
    """
    found: list[tuple[str, str]] = []
    for language, block in BLOCK.findall(text):
        found.append((block, "")) if language == "sh" else found.append((found.pop()[0], block))
    return found


def shows(expected: str, printed: str) -> bool:
    """Whether an output has these lines; `...` stands for any lines, and times and sizes may be others.

    >>> shows("a 1.2 s\\n...\\nc\\n", "x\\na 3.4 s\\nb\\nb\\nc\\n")
    True
    >>> shows("a\\nc\\n", "a\\nb\\nc\\n"), shows("a\\n", "ab\\n"), shows("2 of 3\\n", "2 of 4\\n")
    (False, False, False)
    """
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(VARIABLE.sub("#", line)) + r"\n"
        for line in expected.splitlines()
    ]
    return re.search("^" + "".join(lines), VARIABLE.sub("#", printed), re.MULTILINE) is not None


def steps_run(page: str, folder: Path, locale: str = LOCALES["en"]) -> list[RunStep]:
    """Run the commands of a page; fails if one of them does."""
    expected = steps(with_blocks_at_margin(page))
    programs = folder / "programs"
    programs.mkdir()
    fork_server.program(programs)
    work_folder = folder / "work"
    work_folder.mkdir()
    script = f"set +x\nexport LC_ALL={locale}\n"
    script += "".join(f"{command}\necho '{END}'\n" for command, _ in expected)
    ended = run(script, work_folder, {}, programs=programs)
    assert ended.returncode == 0, ended.stdout
    outputs = ended.stdout.split(f"{END}\n")[:-1]
    return [
        RunStep(command=command, shown=shown, printed=printed)
        for (command, shown), printed in zip(expected, outputs, strict=True)
    ]


def run(
    script: str, folder: Path, addresses: Mapping[str, str], seconds: float = SECONDS, programs: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """The commands, run until one fails, with other addresses and programs; what they start ends with them."""
    for address, other in addresses.items():
        script = script.replace(address, other)
    path = os.pathsep.join(
        [*([str(programs)] if programs else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    variables = environment() | {"SCRAPY_SETTINGS_MODULE": "loopback_settings", "LC_ALL": "C.UTF-8", "PATH": path}
    line = ["bash", "-e", "-x", "-c", script]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(  # type: ignore[call-overload]
        line, cwd=folder, env=variables, encoding="utf-8", start_new_session=True, **pipes
    ) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(line, process.returncode, out)
