"""`scrapy evaluate` says what methods are worth, names what is absent or broken, and fails where figures fell."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import run_command
from missing import need

from crawler.contrib.lab.evaluation.method_process import METHODS
from crawler.contrib.lab.evaluation.peers import PEERS, Peer
from crawler.extraction import EXTRACTORS

need("scipy")

METHOD = next(iter(EXTRACTORS))
ROWS = [
    {"id": f"page-{n}", "url": f"http://h{n}.example/", "lang": "en", "html": f"<p>It is {n}.</p>", "gold": "It is 1."}
    for n in range(4)
]


@dataclass
class Said:
    """What the command said, and its exit status."""

    status: int | None
    out: str
    err: str


Evaluate = Callable[..., Said]


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """The command, given in a folder in which gold.jsonl is."""
    monkeypatch.chdir(tmp_path)
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def give(*words: str) -> Said:
        return Said(*run_command(capsys, "evaluate", *words))

    return give


def test_a_table_for_each_set(evaluate: Evaluate) -> None:
    Path("other.jsonl").write_text(Path("gold.jsonl").read_text())
    said = evaluate("gold.jsonl", "other.jsonl", "--methods", METHOD, "--by", "lang")
    assert said.status == 0
    titles = [line for line in said.out.splitlines() if line.endswith("pages")]
    assert titles == ["gold: 4 pages", "gold lang=en: 4 pages", "other: 4 pages", "other lang=en: 4 pages"]
    head, row = (line.split() for line in said.out.splitlines()[2:4])
    assert head[:2] == ["method", "F1"]
    assert row[:2] == [METHOD, ".250"]  # one of four pages has its three words, which are one run
    assert f"gold: {METHOD} 4 of 4 pages" in said.err


@pytest.mark.long
def test_all_methods_by_default_and_all_peers_by_name(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(PEERS):
        monkeypatch.setitem(PEERS, name, Peer("nobody-here", "nobody_here", lambda peer, page: ""))
    said = evaluate("gold.jsonl", "--against", "all", "-o", "report.html", "--save", "run.json")
    assert said.status == 0
    rows = [line.split()[0] for line in said.out.splitlines()[3:]]
    assert rows == [*METHODS, *PEERS]
    assert said.out.count("absent: not installed") == len(PEERS)
    assert Path("report.html").read_text("utf-8").count("absent: not installed") == len(PEERS)
    saved = json.loads(Path("run.json").read_text("utf-8"))["sets"]["gold"]["methods"]
    assert list(saved) == rows
    assert saved["trafilatura"] == {"absent": "not installed"}


def test_a_peer_that_is_there_is_judged_like_a_method(
    evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "html_text.py").write_text("def extract_text(html): return 'It is 1.'")
    monkeypatch.syspath_prepend(tmp_path)
    said = evaluate("gold.jsonl", "--methods", METHOD, "--against", "html-text", "-o", "report.html", "--jobs", "2")
    assert said.status == 0
    assert said.out.splitlines()[-1].split()[:2] == ["html-text", "1.000"]
    report = Path("report.html").read_text("utf-8")
    assert "1 comparison" in report
    assert "page-0" in report


def test_failures_are_counted_and_named(evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "html_text.py").write_text("def extract_text(html): return '<b>' if '1' in html else 1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    said = evaluate("gold.jsonl", "--methods", METHOD, "--against", "html-text", "-o", "report.html")
    assert (said.status, said.out.split()[-1]) == (0, "3")
    report = Path("report.html").read_text("utf-8")
    assert "<li>html-text: ZeroDivisionError: division by zero (3 pages)</li>" in report
    assert "failed: ZeroDivisionError" in report


def test_a_fall_is_printed_and_fails(evaluate: Evaluate) -> None:
    assert evaluate("gold.jsonl", "--methods", METHOD, "--save", "run.json").status == 0
    same = evaluate("gold.jsonl", "--methods", METHOD, "--baseline", "run.json")
    assert same.status == 0
    assert re.match(r"1 pair .*, 0 falls .* 0\.005\.", same.out.splitlines()[-1])
    saved = json.loads(Path("run.json").read_text("utf-8"))
    saved["sets"]["gold"]["methods"][METHOD]["f1"] += 0.1
    Path("run.json").write_text(json.dumps(saved))
    fell = evaluate("gold.jsonl", "--methods", METHOD, "--baseline", "run.json")
    assert fell.status == 1
    assert re.search(rf"gold, {METHOD}: .* 0\.3500 .* 0\.2500", fell.out)
    Path("gold.jsonl").write_text(json.dumps(ROWS[1]))
    other = evaluate("gold.jsonl", "--methods", METHOD, "--baseline", "run.json")
    assert other.status == 1  # nothing was compared, so nothing is held
    assert f"gold, {METHOD}: " in other.err


def test_broken_lines_are_named_and_the_status_says_so(evaluate: Evaluate) -> None:
    with Path("gold.jsonl").open("a") as file:
        file.write("{\n\n[\x1b[2J]\n")
    said = evaluate("gold.jsonl", "--methods", METHOD, "-o", "report.html")
    assert said.status == 1
    assert re.findall(r"^evaluate: gold\.jsonl:(\d)", said.err, re.MULTILINE) == ["5", "7"]
    assert "2 faults " in said.err
    assert "gold: 4 pages" in said.out
    assert "gold.jsonl:7: no JSON" in Path("report.html").read_text("utf-8")


def test_a_file_without_pages(evaluate: Evaluate) -> None:
    Path("empty.jsonl").touch()
    said = evaluate("empty.jsonl", "-o", "report.html")
    assert (said.status, said.out) == (1, "")
    assert "empty.jsonl: " in said.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "the following arguments are required: GOLD.jsonl"),
        ("none.jsonl", "'none.jsonl' cannot be read (No such file or directory)"),
        (".", "'.' cannot be read (Is a directory)"),
        (
            "gold.jsonl ./gold.jsonl",
            "two files would have the name 'gold' in the tables; rename one of them",
        ),
        ("gold.jsonl --wrong", "'--wrong' is not recognized; see winnow evaluate --help"),
        ("gold.jsonl --methods no", f"argument --methods: there is no 'no'; there are {', '.join(EXTRACTORS)}"),
        ("gold.jsonl --methods trafilatura", "argument --methods: there is no 'trafilatura'; there are"),
        ("gold.jsonl --methods ,", f"argument --methods: there is no ''; there are {', '.join(EXTRACTORS)}"),
        ("gold.jsonl --against no", f"argument --against: there is no 'no'; there are {', '.join(PEERS)}"),
        ("gold.jsonl --by host", "argument --by: invalid choice: 'host'"),
        ("gold.jsonl --jobs 0", "argument --jobs: '0' is wrong; allowed are whole numbers from 1 to 64"),
        ("gold.jsonl --jobs 65", "argument --jobs: '65' is wrong"),
        ("gold.jsonl --jobs ²", "argument --jobs: '²' is wrong"),
        ("gold.jsonl -o none/r.html", "'none/r.html' cannot be written"),
        ("gold.jsonl --save .", "'.' cannot be written"),
        ("gold.jsonl --save gold.jsonl", "'gold.jsonl' is an input and cannot be the output"),
        ("gold.jsonl --save ./gold.jsonl", "'./gold.jsonl' is an input and cannot be the output"),
        ("gold.jsonl --save a -o a", "-o and --save name the same file"),
        ("gold.jsonl --baseline none.json", "--baseline: 'none.json' cannot be read (No such file or directory)"),
        ("gold.jsonl --baseline gold.jsonl", "--baseline: 'gold.jsonl' was not written by --save"),
    ],
)
def test_wrong_use_ends_with_one_line(evaluate: Evaluate, words: str, why: str) -> None:
    said = evaluate(*words.split())
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"evaluate: {why}")
    assert said.err.count("\n") == 1


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}


@pytest.mark.long
def test_without_scipy_one_line_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['scipy'] = None; from scrapy.cmdline import execute; execute()"
    line = [sys.executable, "-c", code, "evaluate", "gold.jsonl"]
    said = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False)
    assert said.returncode == 2
    assert re.fullmatch(r"evaluate: scipy .*'\.\[lab\]'\n", said.stderr)


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_it_can_be_broken_off(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "html_text.py").write_text("import time\nopen('here', 'w')\ndef extract_text(html): time.sleep(60)")
    line = [sys.executable, "-m", "scrapy", "evaluate", "gold.jsonl", "--against", "html-text", "--save", "run.json"]
    given = environment()
    given["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{given['PYTHONPATH']}"
    with subprocess.Popen(
        [*line, "--jobs", jobs], stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=given, start_new_session=True
    ) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "here").exists() and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err.splitlines()[-1].startswith("evaluate: ")
    assert not (tmp_path / "run.json").exists()
