"""`scrapy train`: what it says, what it writes, and how it ends."""

import gzip
import json
import lzma
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from gold_pages import row, rows
from missing import need
from scrapy.cmdline import execute

from crawler.contrib.lab.evaluation.gold import read_set
from crawler.contrib.lab.training.examples import parts_of
from crawler.extraction.auto.model import load as load_auto
from crawler.extraction.methods.template_svm import load
from crawler.urls.address import address_of

need("sklearn", "lightgbm")

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


WEAK = {"url": "http://weak.example/", "html": row(13)["html"], "with": ["On day 1300"], "without": ["Section 1"]}

SITE_NAMES = [*(f"site{at}.com" for at in range(6)), "weak.example", "more.jsonl.gz-1", "more.jsonl.gz-2"]
TOO_FEW = "too few sites have gold text: outside each of 5 parts there must be main text and noise"


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
    with {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)(path, "wt") as file:
        file.write(text)


def test_it_trains(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROWS[:6])
    write(tmp_path / "b.jsonl.xz", ROWS[6:])
    ended = run("template-svm", "a.jsonl", "b.jsonl.xz", "-o", "new/w.npz")
    assert (ended.status, ended.err) == (0, "")
    first, second, third = ended.out.splitlines()
    assert re.findall(r"\d+", first) == ["24", "12", "12", "12"]  # blocks, hosts, of main text, drawn of each kind
    assert re.findall(r" ([\d.]+)[ ,]", second)[-4:] == ["1.000", "1.000", "1.000", "10"]
    svm = load(tmp_path / "new" / "w.npz")
    assert re.match(rf"{len(svm.vectors)} .* new/w\.npz \(", third)


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
        ((), "the following arguments are required: method, GOLD.jsonl"),
        (("slope",), "argument method: invalid choice: 'slope' (choose from 'auto', 'template-svm', 'metadata')"),
        (("template-svm",), "the following arguments are required: GOLD.jsonl"),
        (("template-svm", "none.jsonl"), "'none.jsonl' cannot be read (No such file or directory)"),
        (("auto",), "the following arguments are required: GOLD.jsonl"),
        (("auto", "none.jsonl"), "'none.jsonl' cannot be read (No such file or directory)"),
        (("auto", "a.jsonl", "--validate", "none.jsonl"), "'none.jsonl' cannot be read (No such file or directory)"),
        (
            ("auto", "a.jsonl", "--validate", "a.jsonl"),
            "two files are named 'a'; names must be unique",
        ),
        (("auto", "a.jsonl", "./a.jsonl"), "two files are named 'a'; names must be unique"),
        (
            ("auto", "a.jsonl", "--seed", "one"),
            "argument --seed: 'one' is wrong; allowed are whole numbers from 0 to 4,294,967,295",
        ),
        (("auto", "a.jsonl", "-o", "a.jsonl"), "'a.jsonl' is an input and cannot be the output"),
        (("auto", "a.jsonl", "-o", "."), "'.' is a folder"),
        (("template-svm", "a.jsonl", "--validate", "a.jsonl"), "--validate is for auto only"),
        (
            ("template-svm", "a.jsonl", "--seed", "-1"),
            "argument --seed: '-1' is wrong; allowed are whole numbers from 0 to 4,294,967,295",
        ),
        (
            ("template-svm", "a.jsonl", "--fast"),
            "'--fast' is not recognized; see winnow train --help",
        ),
    ],
)
def test_wrong_use(run: Run, tmp_path: Path, line: tuple[str, ...], said: str) -> None:
    write(tmp_path / "a.jsonl", ROWS)
    ended = run(*line)
    assert (ended.status, ended.out, ended.err) == (2, "", f"train: {said}\n")
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("a.jsonl", [*ROWS[:3], WEAK], "line 4 of a.jsonl: no html and gold"),
        ("a.jsonl", [*ROWS[:3], {"html": ""}], "line 4 of a.jsonl: no html and gold"),
        ("a.jsonl", [*ROWS[:3], ["html", "gold"]], "line 4 of a.jsonl: no object"),
        ("a.jsonl", ROWS[:9], "10 folds need at least as many hosts with main text and noise; there are 9"),
        ("a.jsonl", [], "10 folds need at least as many hosts with main text and noise; there are 0"),
    ],
)
def test_gold_that_teaches_nothing(run: Run, tmp_path: Path, name: str, rows: list[object], said: str) -> None:
    write(tmp_path / name, rows)
    ended = run("template-svm", name, "-o", "w.npz")
    assert (ended.status, ended.out, ended.err) == (1, "", f"train: {said}\n")
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.jsonl", b'{"html": ', "line 1 of a.jsonl: no JSON"),
        ("a.jsonl", b"\xff", "line 1 of a.jsonl: no JSON"),
        ("a.jsonl.xz", b"no xz", "line 1 of a.jsonl.xz: the file cannot be read from here on ("),
        (
            "a.jsonl.xz",
            lzma.compress(b"{}" * 1_000)[:-20],
            "line 1 of a.jsonl.xz: the file cannot be read from here on (",
        ),
    ],
)
def test_gold_that_cannot_be_read(run: Run, tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    ended = run("template-svm", name)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"train: {said}")
    assert ended.err.count("\n") == 1


def test_weights_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROWS)
    ended = run("template-svm", "a.jsonl", "-o", "a.jsonl/w.npz")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("train: a.jsonl ")


@pytest.mark.long
def test_it_trains_auto(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.lab.training.auto_model.EPOCHS", 1)
    apart = [name for name, part in parts_of(SITE_NAMES, 5, 0).items() if part == 0]
    held = [one for one in rows(24) if address_of(one["url"]).site in apart]
    assert held  # or nothing is seen here of what is kept apart
    # Snippets of such a site are neither learned from nor judged.
    write(tmp_path / "made.jsonl.xz", [*rows(24), WEAK | {"url": held[0]["url"]}])
    write(tmp_path / "more.jsonl.gz", [row(30) | {"url": None}, row(31) | {"page_type": None, "url": ""}])
    write(tmp_path / "weak.jsonl", [WEAK, WEAK | {"html": ""}])
    # The third page is of a site that is trained on.
    new = [row(at) | {"url": f"http://{name}.example/"} for at, name in enumerate("ab")]
    write(tmp_path / "apart.jsonl", [*new, row(0)])
    line = ("auto", "made.jsonl.xz", "more.jsonl.gz", "weak.jsonl", "--validate", "apart.jsonl")
    ended = run(*line, "-o", "new/w.npz")
    assert ended.status == 0
    pages = {words[0]: words[1] for words in map(str.split, ended.out.splitlines()) if words}
    assert {"made": str(len(held)), "article": "2", "listing": "2", "apart": "2"}.items() <= pages.items()
    assert "weak" not in pages
    weights, card = (tmp_path / "new" / name for name in ("w.npz", "CARD.md"))
    size = weights.stat().st_size
    assert ended.out.splitlines()[-1].startswith(f"{size:,} bytes ")
    assert sorted((tmp_path / "new").iterdir()) == [card, weights]
    told = [line.removeprefix("train: ") for line in ended.err.splitlines()]
    read = [
        "apart: 3 pages of 3 sites",
        "made: 25 pages of 6 sites",
        "more: 2 pages of 2 sites",
        "weak: 2 pages of 1 site",
    ]
    assert told[:4] == read
    others = [name for name in apart if not name.startswith("site")]
    assert told[4] == f"training without 2 sites: {28 - len(held) - 1 - len(others)} pages"
    steps = [line.partition(":")[0] for line in told if line.startswith(("epoch", "training on"))]
    assert steps == ["epoch 1", "epoch 1", "training on everything", "epoch 1", "epoch 1"]  # two networks each time
    assert any(line.endswith(": 28 pages") for line in told)
    assert load_auto(weights).networks[0].means.size > 100
    check_card(card.read_text(encoding="utf-8"), tmp_path, size)
    again = run(*line, "-o", "again/other.npz")
    assert again.status == 0
    assert (tmp_path / "again" / "other.npz").read_bytes() == weights.read_bytes()
    assert (tmp_path / "again" / "CARD.md").read_bytes() == card.read_bytes()
    third = run(*line[:-2], "-o", "again/third.npz", "--seed", "1")
    assert (tmp_path / "again" / "third.npz").read_bytes() != weights.read_bytes()
    assert "validation" not in third.out


def check_card(text: str, folder: Path, size: int) -> None:
    """The card says what the weights were made of."""
    apart = read_set(folder / "apart.jsonl")
    assert "| made | 25 | 6 | gold text | " in text
    assert "| weak | 2 | 1 | snippets | " in text
    assert f"| apart | 3 | 2 | {apart.fingerprint} |" in text  # two judged
    assert f": {size:,} bytes." in text
    assert "28 pages of 9 sites;" in text
    assert "| epochs | 1 |" in text
    weak = text.partition("## Weak at")[2].partition("##")[0]
    assert sum(line.startswith("- ") for line in weak.splitlines()) == 3


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (rows(1), TOO_FEW),
        (
            [one | {"url": "http://a.example/"} for one in rows(9)],
            TOO_FEW,
        ),
        (
            [WEAK] * 9,
            TOO_FEW,
        ),
        ([*rows(3), {"html": "", "with": []}], "line 4 of a.jsonl: no html and gold, nor html, with and without"),
        (
            [WEAK | {"with": ["a", 1]}],
            "line 1 of a.jsonl: no html and gold, nor html, with and without",
        ),
        ([WEAK | {"gold": None}], "line 1 of a.jsonl: no html and gold, nor html, with and without"),
        ([], TOO_FEW),
    ],
)
def test_gold_that_teaches_auto_nothing(run: Run, tmp_path: Path, found: list[object], said: str) -> None:
    write(tmp_path / "a.jsonl", found)
    ended = run("auto", "a.jsonl", "-o", "new/w.npz")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == f"train: {said}"
    assert not list(tmp_path.glob("new/*"))


def test_snippets_are_nothing_to_validate_by(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", rows(12))
    write(tmp_path / "b.jsonl", [WEAK])
    ended = run("auto", "a.jsonl", "--validate", "b.jsonl")
    assert ended.status == 1
    assert re.fullmatch(r"train: line 1 of b\.jsonl: .*\n", ended.err)


@pytest.mark.parametrize(
    ("method", "missing", "named"),
    [
        ("auto", ("lightgbm",), "lightgbm"),
        ("auto", ("sklearn", "lightgbm"), "scikit-learn, lightgbm"),
        ("template-svm", ("sklearn",), "scikit-learn"),
    ],
)
def test_what_is_not_installed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, missing: tuple[str, ...], named: str
) -> None:
    write(tmp_path / "a.jsonl", ROWS)
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)  # as Python has it where a module must not be imported
    ended = run(method, "a.jsonl")
    assert (ended.status, ended.out) == (2, "")
    assert re.fullmatch(rf"train: {named} .*'\.\[lab\]'\n", ended.err)


def test_auto_weights_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", rows(12))
    ended = run("auto", "a.jsonl", "-o", "a.jsonl/w.npz")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("train: a.jsonl ")
