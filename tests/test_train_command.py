"""`scrapy train`: what it says, what it writes, and how it ends."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from scrapy.cmdline import execute

from crawler.extraction.template_svm import load

pytest.importorskip("sklearn")

MENU = "".join(f"<li><a href=/{n}>A section of the paper</a>" for n in range(9))
ROWS = [
    {
        "id": number,
        "url": f"http://{number}.example/",
        "html": f"<div>{MENU}</div><div>{'The bees dance in the dark of the hive. ' * (3 + number)}</div>",
        "gold": "The bees dance in the dark of the hive. " * 2,
    }
    for number in range(12)
]


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    status: object
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `scrapy train` in a folder of its own, in this process: a new one takes seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")

    def go(*line: str) -> Ended:
        with pytest.raises(SystemExit) as caught:
            execute(["scrapy", "train", *line])
        return Ended(caught.value.code, *capsys.readouterr())

    return go


def write(path: Path, rows: list[object]) -> None:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    with (lzma.open if path.suffix == ".xz" else open)(path, "wt") as file:
        file.write(text)


def test_it_trains(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROWS[:6])
    write(tmp_path / "b.jsonl.xz", ROWS[6:])
    ended = run("template-svm", "a.jsonl", "b.jsonl.xz", "--folds", "4", "-o", "new/w.npz")
    assert (ended.status, ended.err) == (0, "")
    first, second, third = ended.out.splitlines()
    assert first == "24 blocks of 12 hosts, 12 of main text; 12 drawn of each kind."
    assert second.endswith("precision 1.000, recall 1.000, F1 1.000 of the drawn blocks, by 4 folds of whole hosts.")
    svm = load(tmp_path / "new" / "w.npz")
    assert third.startswith(f"{len(svm.vectors)} support vectors in new/w.npz (")


@pytest.mark.parametrize("url", ["", None, "a page"])
def test_a_page_without_an_address_is_a_site_by_itself(run: Run, tmp_path: Path, url: str | None) -> None:
    write(tmp_path / "a.jsonl", [row | {"url": url} for row in ROWS])
    assert "of 12 hosts" in run("template-svm", "a.jsonl").out


def test_weights_go_to_the_folder_for_output(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROWS)
    assert run("template-svm", "a.jsonl").status == 0
    assert load(tmp_path / "output" / "template_svm.npz").vectors.shape[1] == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ((), "what is to be trained is not said; there is auto, template-svm"),
        (("slope",), "'slope' cannot be trained; there is auto, template-svm"),
        (("template-svm",), "no pages with gold text; give files of JSON lines with url, html and gold"),
        (("template-svm", "none.jsonl"), "there is no file 'none.jsonl'"),
        (("template-svm", "a.jsonl", "--folds", "1"), "--folds 1 is wrong; allowed are whole numbers from 2 to 100"),
        (("template-svm", "a.jsonl", "--folds", "x"), "--folds x is wrong; allowed are whole numbers from 2 to 100"),
        (
            ("template-svm", "a.jsonl", "--seed", "-1"),
            "--seed -1 is wrong; allowed are whole numbers from 0 to 4294967295",
        ),
        (
            ("template-svm", "a.jsonl", "--fast"),
            "there is no option '--fast'; scrapy train --help lists them",
        ),
    ],
)
def test_wrong_use(run: Run, tmp_path: Path, line: tuple[str, ...], said: str) -> None:
    write(tmp_path / "a.jsonl", ROWS)
    ended = run(*line)
    assert (ended.status, ended.out, ended.err) == (2, "", f"scrapy train: {said}\n")
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("a.jsonl", [*ROWS[:3], {"html": ""}], "line 4 of a.jsonl has no html and gold"),
        ("a.jsonl", [*ROWS[:3], ["html", "gold"]], "line 4 of a.jsonl has no html and gold"),
        ("a.jsonl", ROWS[:9], "10 folds want as many hosts with main text and noise; there are 9"),
        ("a.jsonl", [], "10 folds want as many hosts with main text and noise; there are 0"),
    ],
)
def test_gold_that_teaches_nothing(run: Run, tmp_path: Path, name: str, rows: list[object], said: str) -> None:
    write(tmp_path / name, rows)
    ended = run("template-svm", name, "-o", "w.npz")
    assert (ended.status, ended.out, ended.err) == (1, "", f"scrapy train: {said}\n")
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.jsonl", b'{"html": ', "line 1 of a.jsonl is no JSON: "),
        ("a.jsonl", b"\xff", "a.jsonl cannot be read: "),
        ("a.jsonl.xz", b"no xz", "a.jsonl.xz cannot be read: "),
        ("a.jsonl.xz", lzma.compress(b"{}" * 1_000)[:-20], "a.jsonl.xz cannot be read: "),
    ],
)
def test_gold_that_cannot_be_read(run: Run, tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    ended = run("template-svm", name)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"scrapy train: {said}")
    assert ended.err.count("\n") == 1


def test_weights_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROWS)
    ended = run("template-svm", "a.jsonl", "-o", "a.jsonl/w.npz")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("scrapy train: a.jsonl cannot be read or written: ")
