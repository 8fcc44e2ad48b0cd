"""`scrapy clean` as it is typed: what it writes and says, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from saved_pages import PACK, answer, html, line, text, tianwang, url, warc
from scrapy.cmdline import execute
from scrapy.settings import Settings
from sites import environment

from crawler.extraction import extract
from crawler.extraction.auto import FAVOURS
from crawler.outcomes import CUTS
from crawler.page.html_tree import MAX_BLOCKS, Cut
from crawler.processes.function_pool import DIED

COMMAND = [sys.executable, "-m", "scrapy", "clean"]


@dataclass
class Said:
    """What the command said, and its exit status."""

    status: int
    out: str
    err: str

    def pages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Place:
    """A folder with files, and the command given there, in this process."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capture = folder, capture

    def write(self, name: str, *parts: bytes) -> str:
        (self.folder / name).write_bytes(b"".join(parts))
        return name

    def clean(self, *words: str) -> Said:
        settings = Settings()
        settings.setmodule("crawler.settings", priority="project")
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", "clean", *words], settings)
        out, err = self.capture.readouterr()
        return Said(ended.value.code, out, err)

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.freeze", lambda: None)  # the tests' own memory is not for ever
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    # The tests' log is not Scrapy's.
    monkeypatch.setattr("crawler.contrib.bulk.clean_files.configure_logging", lambda *_: None)
    return Place(tmp_path, capsys)


def test_several_inputs_of_all_kinds_in_their_order(place: Place) -> None:
    (place.folder / "pages").mkdir()
    names = [
        place.write("a.warc.gz", PACK[".gz"](warc(0)), PACK[".gz"](warc(1))),
        place.write("c.jsonl.xz", PACK[".xz"](line(2) + line(3))),
        place.write("b", tianwang(4), tianwang(5, packed=True)),
        place.write("z.htm.zst", PACK[".zst"](html(6).encode())),
        "pages",
    ]
    place.write("pages/b.html", html(8).encode("gbk"))
    place.write("pages/a.html", html(7).encode())
    said = place.clean(*names, "-o", "out.jsonl", "--jobs", "1")
    assert (said.status, said.out) == (0, "")
    pages = place.lines("out.jsonl")
    assert [page["text"] for page in pages] == [text(n) for n in range(9)]
    assert [page["id"] for page in pages[:7]] == ["<urn:uuid:0>", "<urn:uuid:1>", 2, 3, None, None, "z.htm.zst"]
    assert [page["url"] for page in pages] == [*map(url, range(6)), "", "", ""]
    assert [list(page) for page in pages] == [["id", "url", "text", "title", "method"]] * 9
    assert {page["method"] for page in pages} == {"auto"}
    assert place.clean(*reversed(names), "-o", "out.jsonl").status == 0
    assert [page["text"] for page in place.lines("out.jsonl")][-2:] == [text(0), text(1)]


def test_without_an_output_the_lines_go_to_standard_output(place: Place) -> None:
    said = place.clean(place.write("a.jsonl", line(1)), "--method", "leaf-tags")
    assert said.status == 0
    (page,) = said.pages()
    assert (page["text"], page["method"]) == (text(1), "leaf-tags")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], None),
        (["--markdown=no"], None),
        (["--markdown"], "# Bees\n\nBees *dance.* They tell the way."),
        (["--markdown=yes"], "# Bees\n\nBees *dance.* They tell the way."),
        (["--markdown=links"], "# Bees\n\nBees *dance.* They tell [the way](http://e.com/way)."),
    ],
)
def test_markdown(place: Place, words: list[str], expected: str | None) -> None:
    page = "<h1>Bees</h1><p>Bees <i>dance.</i> They tell <a href=/way>the way</a>."
    record = json.dumps({"html": page, "url": "http://e.com/a"}).encode()
    (cleaned,) = place.clean(place.write("a.jsonl", record), *words).pages()
    assert list(cleaned) == ["id", "url", "text", "title", "method", *["markdown"] * (expected is not None)]
    assert cleaned.get("markdown") == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["--with", "author"], {"author": "Ann Lee"}),
        (
            ["--with", "language, published,author,published", "--markdown"],
            {
                "language": "en",
                "published": "2012-05-04",
                "author": "Ann Lee",
                "markdown": "Bees dance in the dark of the hive, and others follow them.",
            },
        ),
        (["--method", "leaf-tags", "--with=page_type,comments"], {"page_type": "", "comments": ""}),
    ],
)
def test_more_fields(place: Place, words: list[str], expected: dict[str, str]) -> None:
    page = (
        "<meta name=author content='Ann Lee'><meta property=article:author content='Ann Lee'>"
        "<meta property=article:published_time content=2012-05-04>"
        "<p>Bees dance in the dark of the hive, and others follow them."
    )
    (cleaned,) = place.clean(place.write("a.jsonl", line(1, html=page)), *words).pages()
    assert list(cleaned.items())[5:] == list(expected.items())


@pytest.mark.parametrize("favour", FAVOURS)
def test_what_is_favoured_is_told_to_auto(place: Place, favour: str) -> None:
    page = "<p>Bees dance in the dark of the hive, and others follow them.</p>" + "<p>Home</p><p>Not so long.</p>" * 3
    (cleaned,) = place.clean(place.write("a.jsonl", line(1, html=page)), "--favour", favour).pages()
    assert cleaned["text"] == extract(page, url(1), favour=favour).text


def test_a_field_that_a_page_does_not_tell_is_null(place: Place) -> None:
    (cleaned,) = place.clean(place.write("a.jsonl", line(1, html="<p>1.")), "--with", "published,author").pages()
    assert list(cleaned.values())[5:] == [None, ""]


def test_the_closing_lines(place: Place) -> None:
    image = warc(1, answer(b"GIF89a", content_type="image/gif"))
    place.write("a.warc", warc(0), image, warc(2, kind="request"), image, warc(3, length=7), warc(4))
    said = place.clean("a.warc", "-o", "out.jsonl", "--jobs", "1")
    first, *rest = said.err.splitlines()
    offset = len(warc(0) + image + warc(2, kind="request") + image)
    assert first.startswith(f"a.warc: byte {offset:,}: ")
    size = sum(len(html(n).encode()) for n in (0, 4))
    after = sum(len(text(n).encode()) for n in (0, 4))
    pages, left_out, broken, output = rest
    assert re.fullmatch(rf"2 pages .* \d+\.\d s \(\d+\.\d .*\), {size} bytes .* {after} bytes .*", pages)
    assert re.search(r"image/gif \(2\), .*request \(1\)", left_out)
    assert re.search(r"\b1 record\b", broken)
    assert re.fullmatch(r"2 lines .*out\.jsonl\.", output)
    assert said.status == 1


@pytest.mark.long
def test_pages_that_are_not_read_to_their_end_are_said(place: Place) -> None:
    large = line(1, html="<p>Bees dance.</p>" + "<p>x" * 50_000)
    deep = line(2, html="<p>Bees dance.</p>" + "<div>" * 3_000)
    long = line(4, html="<p>x" * (MAX_BLOCKS + 1))
    said = place.clean(place.write("a.jsonl", large, deep, line(3), large, long), "-o", "out.jsonl")
    assert said.status == 0
    cut = {Cut.TAGS: 2, Cut.BLOCKS: 1, Cut.DEPTH: 1}
    line_of = ", ".join(f"rest of a page {CUTS[where]} ({count})" for where, count in cut.items())
    assert f"Cut: {line_of}." in said.err.splitlines()
    assert [page["text"].splitlines()[0] for page in place.lines("out.jsonl")[:2]] == ["Bees dance."] * 2


@pytest.mark.parametrize(("bad", "status"), [(b"", 0), (b"{}\n", 1), (line(5, html=""), 0), (line(5, url=""), 0)])
def test_the_exit_status(place: Place, bad: bytes, status: int) -> None:
    assert place.clean(place.write("a.jsonl", line(1), bad, line(2)), "-o", "out").status == status
    assert [page["id"] for page in place.lines("out")][:: 2 if b"5" in bad else 1] == [1, 2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "the following arguments are required: INPUT",
        ),
        (["missing.jsonl"], "'missing.jsonl' cannot be read (No such file or directory)"),
        (["a.jsonl", "missing"], "'missing' cannot be read (No such file or directory)"),
        (["a.jsonl", "odd.bin"], "'odd.bin' is not an input that can be cleaned; inputs are HTML files (.html, .htm"),
        (["a.jsonl", "a.jsonl"], "'a.jsonl' is given more than once"),
        (["a.jsonl", "--method", "no-such"], "there is no method 'no-such'; there are auto, framework"),
        (["a.jsonl", "--method", ""], "there is no method ''; there are auto"),
        (["a.jsonl", "--favour", "f1"], "argument --favour: invalid choice: 'f1' (choose from "),
        (
            ["a.jsonl", "--favour", "recall", "--method", "slope"],
            "favour 'recall' is for the method auto alone, which has balance, precision, recall; the method is slope",
        ),
        (["a.jsonl", "-s", "EXTRACTOR=slope", "--favour", "precision"], "favour 'precision' is for the method auto"),
        (
            ["a.jsonl", "--with", "author,wit"],
            "argument --with: there is no 'wit'; there are language, comments, author, published",
        ),
        (["a.jsonl", "--with", ""], "argument --with: there is no ''; there are language"),
        (["a.jsonl", "--with", "author,"], "argument --with: there is no ''; there are language"),
        (["a.jsonl", "-s", "EXTRACTOR=no-such"], "there is no method 'no-such'; there are auto"),
        *[
            (
                ["a.jsonl", "--jobs", jobs],
                f"argument --jobs: {jobs!r} is wrong; allowed are whole numbers from 1 to 1,000",
            )
            for jobs in ("0", "-1", "1001", "x", "1.5", "²", "9" * 50)
        ],
        (
            ["a.jsonl", "--bees"],
            "'--bees' is not recognized; see winnow clean --help",
        ),
        (
            ["--markdown", "a.jsonl"],
            "argument --markdown: invalid choice: 'a.jsonl' (choose from ",
        ),
        (["a.jsonl", "--markdown=Links"], "argument --markdown: invalid choice: 'Links'"),
        (["a.jsonl", "-o", "missing/out"], "'missing/out' cannot be written to (No such file or directory)"),
        (["a.jsonl", "-o", "."], "'.' cannot be written to (Is a directory)"),
        (["a.jsonl", "-o", "./a.jsonl"], "'./a.jsonl' is also an input"),
        ([""], "an INPUT has no name"),
        (["a\nb"], "'a\\nb' cannot be read (No such file or directory)"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(place: Place, words: list[str], said: str) -> None:
    place.write("a.jsonl", line(1))
    place.write("odd.bin", b"bees")
    found = place.clean(*words)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(f"clean: {said}")
    assert found.err.count("\n") == 1
    assert sorted(path.name for path in place.folder.iterdir()) == ["a.jsonl", "odd.bin"]


@pytest.mark.parametrize("jobs", ["1", "1000"])
def test_numbers_of_jobs_that_are_right(place: Place, jobs: str) -> None:
    assert place.clean(place.write("a.jsonl", line(1)), "--jobs", jobs).status == 0


def test_what_files_are_called_moves_no_cursor(place: Place) -> None:
    place.write("\x1b[2J.jsonl", b"{}\n")
    said = place.clean("\x1b[2J.jsonl", "-o", "\x1b[2J.out")
    assert "\x1b" not in said.err
    assert "\\x1b[2J.jsonl: line 1" in said.err


def test_input_and_output_may_be_the_same_folder(place: Place) -> None:
    place.write("a.html", html(1).encode())
    for _ in range(2):
        assert place.clean(".", "-o", "out.jsonl").status == 0
    assert [page["id"] for page in place.lines("out.jsonl")] == ["a.html"]


def test_a_page_of_the_input_is_not_written_over(place: Place) -> None:
    (place.folder / "pages").mkdir()
    place.write("pages/a.html", html(1).encode())
    assert place.clean("pages", "-o", "pages/a.html").status == 2
    assert place.clean("pages", "-o", "pages/new.html").status == 0


# From here on, what there is only in a process of its own.


def run(folder: Path, *words: str, **options: Any) -> Said:
    ended = subprocess.run(
        [*COMMAND, *words], cwd=folder, env=environment(), capture_output=True, timeout=60, check=False, **options
    )
    return Said(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "4"])
def test_the_order_is_that_of_the_input(tmp_path: Path, jobs: str) -> None:
    lines = [line(n, html=html(n, "<p>Long. " * (5_000 * (n % 17 == 3)))) for n in range(150)]
    lines[40] = b"{\n"
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    said = run(tmp_path, "a.jsonl", "-o", "out.jsonl", "--jobs", jobs)
    pages = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [page["id"] for page in pages] == [n for n in range(150) if n != 40]
    assert [page["text"].splitlines()[0] for page in pages] == [text(page["id"]) for page in pages]
    assert said.err.startswith("a.jsonl: line 41: not JSON")
    assert said.status == 1


@pytest.mark.long
def test_standard_input_and_a_pipe_with_a_name(tmp_path: Path) -> None:
    said = run(tmp_path, "-", input=PACK[".gz"](line(1) + line(2)))
    assert (said.status, [page["text"] for page in said.pages()]) == (0, [text(1), text(2)])
    assert "standard input: line 1: " in run(tmp_path, "-", input=b"{\n").err
    said = run(tmp_path, "/dev/stdin", input=warc(1) + warc(2))
    assert (said.status, [page["text"] for page in said.pages()]) == (0, [text(1), text(2)])


@pytest.mark.long
def test_the_log_says_how_it_goes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(map(line, range(400))))
    said = run(tmp_path, "a.jsonl", "-o", "out", "--jobs", "1", "-s", "LOGSTATS_INTERVAL=0.01")
    assert said.status == 0
    assert re.search(r"INFO: \d+ pages? done, .* 0 broken\n", said.err)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_no_page_writes_to_a_terminal(tmp_path: Path) -> None:
    import pty

    text = "Bees\N{RIGHT-TO-LEFT OVERRIDE} fly \x9b2J and make honey, and more than that they do not."
    (tmp_path / "a.html").write_text(f"<meta charset=utf-8><title>\x9bBees</title><p>{text}</p>", "utf-8")
    ours, theirs = pty.openpty()
    subprocess.run([*COMMAND, "a.html", "--jobs", "1"], cwd=tmp_path, env=environment(), stdout=theirs, check=True)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # the other end is closed
        while data := os.read(ours, 65536):
            seen += data
    os.close(ours)
    assert not re.search("[\x80-\x9f\u202a-\u202e]", seen.decode())
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" in json.loads(seen)["text"]


@pytest.mark.long
def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    import pty

    (tmp_path / "a.jsonl").write_bytes(b"".join(map(line, range(1_000))) + b"{\n")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "a.jsonl", "-o", "out", "--jobs", "1"],
        cwd=tmp_path,
        env=environment() | {"TERM": "xterm"},
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 65536):
            seen += data
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 1
    assert b" done, " in seen
    assert b"a.jsonl: line 1,001: not JSON" in seen
    assert b"1,000 pages cleaned in" in seen


class Fed:
    """The command reading lines from a pipe, as fast as they are written."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*COMMAND, "-", *words],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def feed(self, *numbers: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(map(line, numbers)))
        self.process.stdin.flush()

    def end(self) -> Said:
        out, err = self.process.communicate(timeout=60)
        return Said(self.process.returncode, out.decode(), err.decode())

    def workers(self) -> list[int]:
        """The processes that clean."""
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return sorted(pid for pid in pids if self.is_worker(pid))

    def is_worker(self, pid: int) -> bool:
        try:
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            command = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return False
        return int(parent) == self.process.pid and "function_child" in command


def until(what: Callable[[], Any], seconds: float = 30) -> Any:
    """What it returns, once that is something."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


only_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


@only_linux
def test_a_process_that_dies_is_reported_and_costs_nothing(tmp_path: Path) -> None:
    fed = Fed(tmp_path, "--jobs", "2", "-o", "out")
    fed.feed(*range(200))
    killed = until(fed.workers)[0]
    until(lambda: [*tmp_path.glob("out.*.part")])
    os.kill(killed, signal.SIGKILL)
    fed.feed(*range(200, 600))
    said = fed.end()
    assert f"{DIED}\n" in said.err
    assert said.status == 0
    assert [json.loads(line)["id"] for line in (tmp_path / "out").read_text("utf-8").splitlines()] == [*range(600)]


@only_linux
@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.long), "2"])
def test_ctrl_c_keeps_what_was_cleaned(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "out").write_text("before")
    fed = Fed(tmp_path, "--jobs", jobs, "-o", "out")
    fed.feed(*range(4_000))  # more than what Python 3.14 writes at once
    (part,) = until(lambda: [one for one in tmp_path.glob("out.*.part") if one.stat().st_size])
    os.killpg(fed.process.pid, signal.SIGINT)  # as a terminal does, to all processes
    said = fed.end()
    assert said.status == 130
    assert (tmp_path / "out").read_text() == "before"
    count = len(part.read_text("utf-8").splitlines())
    assert [json.loads(line)["id"] for line in part.read_text("utf-8").splitlines()] == [*range(count)]
    told = re.search(r"^Stopped before the end\. ([\d,]+) pages? cleaned in ", said.err, re.MULTILINE)
    assert told is not None
    assert int(told[1].replace(",", "")) - count in (0, 1)  # one may have been counted and not written yet
    assert said.err.endswith(f" {part}.\n")
    assert "Traceback" not in said.err
    assert fed.workers() == []


@pytest.mark.long
@only_linux
def test_processes_do_not_outlive_the_first(tmp_path: Path) -> None:
    fed = Fed(tmp_path, "--jobs", "2")
    fed.feed(*range(40))
    workers = until(fed.workers)
    time.sleep(1.5)  # they have done it all by then, and wait
    fed.process.kill()
    fed.end()
    until(lambda: not [pid for pid in workers if Path(f"/proc/{pid}").exists()])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(map(line, range(200))))
    said = run(tmp_path, "a.jsonl", "-o", "/dev/full", "--jobs", "1")
    assert said.status == 1
    assert re.search(r"'/dev/full' .*\(No space left on device\)", said.err)
    assert "Traceback" not in said.err


def test_a_reader_that_has_enough(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(map(line, range(3_000))))
    with subprocess.Popen(
        [*COMMAND, "a.jsonl", "--jobs", "1"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
    assert (process.returncode, err) == (0, "")
