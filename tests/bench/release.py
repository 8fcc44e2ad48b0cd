"""Whether a release installs and works: its two files, in fresh environments of each supported Python.

`python tests/bench/release.py FOLDER [--pythons PYTHON ...] [--tests PATH ...]` builds wheel and sdist into FOLDER.
Each Python, by default python3.11 to python3.14 of the PATH, then makes two environments: with the sdist, and with the
wheel and its extra `dev`. In each, the first crawl of the README runs in an empty folder. With the wheel, the tests
also run, all or the named ones, in the unpacked sdist without the package itself. A warning that the package causes is
a failure.

A Python that is not found is in the table as not tried. The exit status is 1 if anything failed.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = [f"python3.{minor}" for minor in range(11, 15)]
OF_SOURCES = [
    *("tests/test_layers.py", "tests/test_reference.py", "tests/test_wheel.py", "tests/test_without_parts.py"),
    *("tests/command_line/test_programs.py", "tests/docs/test_glossary.py"),
    *("tests/commands/test_command.py", "tests/docs/test_named_files.py", "tests/translation/test_catalogue.py"),
]
"""Tests that read the package's sources in a checkout."""
WARNING = re.compile(r"^.*[/\\]crawler[/\\]\S+:\d+: \w*Warning: .*", re.MULTILINE)


class FailureError(Exception):
    """A step failed; the message is its command and its output."""


def run(line: list[str | Path], folder: Path, **more: str) -> str:
    """The output of a command that imports only what is installed; raises a FailureError if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | more
    environment["PATH"] = os.pathsep.join((str(Path(line[0]).parent), environment["PATH"]))
    ended = subprocess.run(line, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if ended.returncode or (warning := WARNING.search(ended.stderr)):
        reason = warning[0] if not ended.returncode else f"{ended.stdout[-3_000:]}\n{ended.stderr[-3_000:]}"
        raise FailureError(f"{shlex.join(map(str, line))}\n{reason}")
    return ended.stdout


def build(kind: str, folder: Path) -> Path:
    """Build a file of the release from this checkout."""
    run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder], ROOT)
    files = folder.glob({"wheel": "*.whl", "sdist": "*.tar.gz"}[kind])  # with those of earlier releases
    return max(files, key=lambda path: path.stat().st_mtime)


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist; returns the folder with its files."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


def install(python: str, what: list[str], folder: Path) -> Path:
    """Install into a fresh environment; returns the folder of its programs."""
    run([python, "-m", "venv", folder], folder.parent)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    # Most modules of the many packages are never imported; those that are, are compiled then.
    run([programs / "python", "-m", "pip", "install", "--quiet", "--no-compile", *what], folder)
    return programs


def first_crawl(programs: Path, folder: Path) -> str:
    """Do the first crawl of the README in a new folder; returns how many items it wrote."""
    (command,) = re.findall(r"^\$ .* && scrapy (.+)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    folder.mkdir()
    line = [programs / "scrapy", *shlex.split(command)]
    run(line, folder, SCRAPY_SETTINGS_MODULE="crawler.settings", PYTHONWARNINGS="default")
    return f"{len((folder / 'output' / 'topic.jsonl').read_text('utf-8').splitlines())} items"


def test(programs: Path, tree: Path, test_paths: list[str]) -> str:
    """Run these tests of an unpacked sdist; returns the last line of pytest."""
    chosen = [*test_paths, *(f"--ignore={path}" for path in OF_SOURCES)]
    output = run([programs / "python", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *chosen], tree)
    return output.strip().rpartition("\n")[2]


class Result(NamedTuple):
    """A row of the table."""

    python: str
    file: str
    crawl: str = ""
    tests: str = ""
    seconds: str = ""


def results(python: str, wheel: Path, sdist: Path, test_paths: list[str]) -> Iterator[Result]:
    """What each file does with one Python; raises a FailureError."""
    with TemporaryDirectory() as name:
        place = Path(name)
        version = run([python, "-c", "import platform; print(platform.python_version())"], place).strip()
        for kind, what in (("sdist", str(sdist)), ("wheel", f"{wheel}[dev]")):
            begun = time.monotonic()
            programs = install(python, [what], place / kind)
            crawled, tested = first_crawl(programs, place / f"{kind} crawl"), ""
            if kind == "wheel":
                tree = unpack(sdist, place / "tree")
                shutil.rmtree(tree / "crawler")
                tested = test(programs, tree, test_paths)
            yield Result(version, kind, crawled, tested, f"{time.monotonic() - begun:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the built files are written")
    parser.add_argument("--pythons", nargs="+", default=PYTHONS, help="programs, by name or path")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="paths of tests, from the checkout's folder")
    options = parser.parse_args()
    rows, failures = [], []
    folder = options.folder.absolute()
    wheel, sdist = build("wheel", folder), build("sdist", folder)
    for python in options.pythons:
        if (program := shutil.which(python)) is None:
            rows.append(Result(python, "not tried: it was not found"))
            continue
        try:
            rows.extend(results(program, wheel, sdist, options.tests))
        except FailureError as error:
            rows.append(Result(python, "failed"))
            failures.append(str(error))
        print(f"{python} is done", file=sys.stderr)
    print(*failures, sep="\n\n")
    for row in (Result(*Result._fields), *rows):
        print("{:12} {:28} {:10} {:42} {:>8}".format(*row))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
