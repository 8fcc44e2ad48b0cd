"""`scrapy clean --into` as it is typed: what it writes and says, and how it ends."""

import json
import os
import re
import signal
from pathlib import Path

import pytest
import saved_pages
import whole_archives
from command_line import run_command
from filelock import FileLock
from scrapy.cmdline import execute
from scrapy.settings import Settings

from crawler.contrib.bulk.resume_manifest import MANIFEST, write_manifest
from crawler.processes.function_pool import DIED

FAST = ("--method", "leaf-tags")
only_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


def test_each_file_becomes_what_it_becomes_alone(tmp_path: Path) -> None:
    names = whole_archives.archive(tmp_path, 40, 60, 50)
    bad = "\x1b[2J\n.jsonl"
    (tmp_path / bad).write_bytes(b"{\n" * 12 + saved_pages.line(1))
    image = saved_pages.warc(1, saved_pages.answer(b"GIF89a", content_type="image/gif"))
    (tmp_path / "image.warc").write_bytes(image + saved_pages.warc(2))
    names += [bad, "image.warc"]
    status, said = whole_archives.clean(tmp_path, "--into", "deep/out", "--jobs", "2", *FAST, *names, "missing.warc")
    assert (status, "\x1b" in said) == (1, False)
    size = r"\d+(?:\.\d)? \w+"
    total = rf"5 files \({size}, 152 pages\) cleaned in \d+\.\d s by 2 workers: \d+\.\d pages and {size} of files"
    assert re.search(rf"^{total} a second, {size} of pages to {size} of text\.$", said, re.MULTILINE), said
    for line in (
        f"{tmp_path}/\\x1b[2J\n.jsonl: line 10: not JSON",
        "\\x1b[2J\n.jsonl: 2 more records broken",
        f"'{tmp_path / 'missing.warc'}' cannot be read (No such file or directory)",
        "Left out: not HTML: image/gif (1).",
        "Broken: 12 records, the first 10 of a file named above.",
        "Failed: 1 file, each named above.",
    ):
        assert re.search(rf"^{re.escape(line)}", said, re.MULTILINE), line
    assert "line 11" not in said
    found = whole_archives.lines(tmp_path / "deep" / "out")
    assert sorted(found) == sorted(f"{name}.jsonl" for name in names)
    whole_archives.clean(tmp_path, *names, "-o", "together", "--jobs", "1", *FAST)
    assert (tmp_path / "together").read_bytes() == b"".join(found[f"{name}.jsonl"] for name in names)


@pytest.mark.long
def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    names = whole_archives.archive(tmp_path, 3, 3, 3)
    words = ("--into", "out", *FAST, *names)
    assert whole_archives.clean(tmp_path, *words)[0] == 0
    before = whole_archives.lines(tmp_path / "out")
    (tmp_path / "out" / f"{names[1]}.jsonl").unlink()
    (tmp_path / "out" / f"{names[0]}.jsonl").write_bytes(b"mine")
    (tmp_path / names[0]).unlink()
    (tmp_path / "out" / f"{names[0]}.jsonl.{'0' * 16}.part").write_bytes(b"half")
    status, said = whole_archives.clean(tmp_path, *words)
    assert (status, whole_archives.lines(tmp_path / "out")) == (0, before | {f"{names[0]}.jsonl": b"mine"})
    assert re.match(r"1 file .*\n1 file \(", said)
    assert said.endswith("Done earlier: 2 files.\n")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an archive, one into which another run cleans, and one with files of others."""
    monkeypatch.chdir(tmp_path)
    # The tests' log is not Scrapy's.
    monkeypatch.setattr("crawler.contrib.bulk.clean_files.configure_logging", lambda *_: None)
    whole_archives.archive(tmp_path, 1)
    for name in ("busy", "foreign", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "foreign" / "0.jsonl.jsonl").touch()
    write_manifest(tmp_path / "out", {"--method": "slope"}, [])
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "x", "--into", "out"], "-o OUT.jsonl and --into FOLDER exclude each other"),
        (["--engine", "dask"], "--engine goes with --into FOLDER"),
        (["--scheduler", "tcp://a:1"], "--scheduler goes with --into FOLDER"),
        (["--into", "out", "--engine", "ray"], "argument --engine: invalid choice: 'ray'"),
        (["--into", "out", "--scheduler", "tcp://a:1"], "--scheduler ADDRESS goes with --engine dask"),
        *[
            (
                ["--into", "out", "--engine", "dask", "--scheduler", address],
                f"--scheduler {address!r} is wrong; allowed",
            )
            for address in (
                "",
                "none",
                "127.0.0.1:8786",
                "http://a:1",
                "tcp://a",
                "tcp://a:b",
                "inproc://a:1",
                "tcp://a b:1",
            )
        ],
        (
            ["--into", "out", "--engine", "dask", "--scheduler", "tcp://a:1", "--jobs", "2"],
            "--jobs is for local processes; a scheduler has its own workers",
        ),
        (["--into", "0.jsonl"], "'0.jsonl' cannot be written to (File exists)"),
        (["--into", ""], "--into needs the name of a folder"),
        (["--into", "out", "./0.jsonl"], "'0.jsonl' and './0.jsonl' would both become '0.jsonl.jsonl'"),
        (["--into", "out", "-"], "standard input has no name from"),
        (["--into", "out", "."], "'.' is a folder; --into cleans"),
        (["--into", "busy"], "another run is using 'busy'"),
        (["--into", "out", "--favour", "recall"], "'OUT' was made with --favour None, not 'recall': give "),
        (["--into", "out", *FAST], "'OUT' was made with --favour None, not 'balance': give another FOLDER"),
        (["--into", "foreign"], "'FOREIGN' exists and was not made by winnow clean --into"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(
    place: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in place.iterdir())
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    with FileLock(place / "busy" / ".clean.lock"), pytest.raises(SystemExit) as ended:
        execute(["scrapy", "clean", "0.jsonl", *words], settings)
    out = capsys.readouterr().err.replace(str(place / "foreign" / "0.jsonl.jsonl"), "FOREIGN")
    out = out.replace(str(place / "out"), "OUT")
    assert (ended.value.code, out.count("\n")) == (2, 1), out
    assert out.startswith(f"clean: {said}")
    assert sorted(path.name for path in place.iterdir()) == before


def test_a_broken_record_is_named_and_the_status_says_so(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (place / "0.jsonl").open("ab") as archive:
        archive.write(b"{\n")
    status, _, said = run_command(capsys, "clean", "0.jsonl", "--into", "new", "--jobs", "1")
    assert (status, "0.jsonl: line 2: " in said) == (1, True), said
    assert (place / "new" / "0.jsonl.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.long
@only_linux
def test_a_process_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    names = whole_archives.archive(tmp_path, 100, 80, 100)
    run = whole_archives.begin(tmp_path, "--into", "out", "--jobs", "2", *names)
    whole_archives.until(lambda: [*(tmp_path / "out").glob("0.jsonl.jsonl.*.part")])  # the largest, by the first
    os.kill(whole_archives.workers(run.pid)[0], signal.SIGKILL)
    status, said = whole_archives.end(run)
    assert (status, DIED in said) == (0, True), said
    assert [len(data.splitlines()) for _, data in sorted(whole_archives.lines(tmp_path / "out").items())] == [
        100,
        80,
        100,
    ]


@only_linux
def test_a_file_that_kills_twice_is_given_up(tmp_path: Path) -> None:
    names = whole_archives.archive(tmp_path, 400)
    run = whole_archives.begin(tmp_path, "--into", "out", "--jobs", "1", *names)
    for deaths in range(2):
        whole_archives.until(whole_archives.under_way(tmp_path / "out", deaths + 1))
        os.kill(whole_archives.workers(run.pid)[-1], signal.SIGKILL)
    status, said = whole_archives.end(run)
    assert (status, "'0.jsonl': " in said) == (1, True), said
    assert re.match(r"Failed: 1 file\b", said.splitlines()[-1])
    assert whole_archives.lines(tmp_path / "out") == {}


@only_linux
@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGKILL])
def test_a_run_that_is_broken_off_goes_on_and_another_is_refused_before(tmp_path: Path, how: signal.Signals) -> None:
    names = whole_archives.archive(tmp_path, 30, 150, 5)
    words = ("--into", "out", "--jobs", "1", *names)
    run = whole_archives.begin(tmp_path, *words)
    out = tmp_path / "out"
    whole_archives.until(lambda: (out / f"{names[0]}.jsonl").exists() and whole_archives.under_way(out, 1)())
    os.killpg(run.pid, signal.SIGSTOP)  # or it would be done before a second one has begun
    if how == signal.SIGINT:
        status, said = whole_archives.clean(tmp_path, *words)
        assert (status, "'out'" in said) == (2, True)
    os.killpg(run.pid, how)
    os.killpg(run.pid, signal.SIGCONT)
    status, said = whole_archives.end(run)
    assert "Traceback" not in said
    if how == signal.SIGINT:
        assert status == 130
        assert not whole_archives.under_way(out, 1)()
    assert len(whole_archives.lines(out)) < 5
    status, said = whole_archives.clean(tmp_path, *words)
    assert (status, "Done earlier: " in said) == (0, True), said
    assert [len(data.splitlines()) for _, data in sorted(whole_archives.lines(out).items())] == [30, 150, 5]
    assert json.loads((out / MANIFEST).read_bytes())["options"]["--method"] == "auto"
