"""`scrapy noise train` as it is typed."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import image_site
import pytest
from command_line import run_command
from missing import need
from scrapy.settings import Settings

from crawler.checked_settings import judge_of
from crawler.contrib.lab.training import image_weights
from crawler.contrib.lab.training.image_weights import KNOWN
from crawler.extraction.auto import model
from crawler.noise.learned_model import load

need("lightgbm")

SITES = 8
PAGES = ("--pages", "pages.jsonl", "--jobs", "1")


def lines(set_: str, sites: range) -> tuple[bytes, bytes]:
    """The garden's pages and labels, as if each site had a garden of two pages."""
    pages, labels = [], []
    for site in sites:
        for row in map(image_site.row, range(2)):
            row["url"] = row["url"].replace("example.org", f"garden{site}.org")
            pages.append(row | {"id": f"{site}-{row['id']}"})
        for one in map(json.loads, image_site.labels(set_).splitlines()):
            if one["page"] in ("page-0", "page-1"):
                labels.append(one | {"page": f"{site}-{one['page']}"})
    return image_site.lines(*pages), image_site.lines(*labels)


@pytest.fixture
def train(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command in a folder with labels and pages: exit status, what it wrote, what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WINNOW_DATA", raising=False)
    monkeypatch.setattr(image_weights, "TREES", 20)
    mine, other = lines("garden", range(SITES)), lines("daniel", range(SITES - 1, SITES + 2))
    Path("pages.jsonl").write_bytes(mine[0] + other[0])
    Path("labels.jsonl").write_bytes(mine[1])
    Path("validation.jsonl").write_bytes(other[1])

    def give(*words: str) -> tuple[int, str, str]:
        return run_command(capsys, "noise", "train", *words)

    return give


def test_it_trains(train: Any) -> None:
    status, out, said = train("labels.jsonl", *PAGES, "--validate", "validation.jsonl")
    assert status == 0
    steps = [re.findall(r"\d+", line) for line in said.splitlines()]
    parts = [[f"{part}", "5"] for part in range(1, 6)]
    assert steps == [["48", "48", "8"], *parts, [], ["18", "18", "3"], ["6"]]  # 6 links of sites that are trained on
    rows = {line.split("  ")[0]: line.split() for line in out.split("\n\n")[0].splitlines()}
    assert list(rows) == ["all", "held-out sites", "validation"]
    assert rows["held-out sites"][2:4] == ["48", "32"]
    assert rows["validation"][1:3] == ["12", "8"]
    model = load(Path("output/images.npz"))
    assert re.search(rf"\b48 of 48 links\b.* {model.limit:.4f}\.$", out.splitlines()[-2])
    size = Path("output/images.npz").stat().st_size
    assert out.splitlines()[-1].startswith(f"{size:,} bytes ")
    card = Path("output/images.md").read_text()
    for line in ("| garden | 48 | 32 | 0 | 8 |", "| daniel | 12 | 8 | 0 | 2 |", "## Parameters", "| seed | 0 |"):
        assert line in card.splitlines()
    assert sorted(path.name for path in Path("output").iterdir()) == ["images.md", "images.npz"]


def test_the_same_seed_writes_the_same_bytes(train: Any) -> None:
    for name, seed in (("a", "3"), ("b", "3")):
        assert train("labels.jsonl", *PAGES, "--seed", seed, "-o", f"{name}/w.npz")[0] == 0
    for name in ("w.npz", "w.md"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes()


def test_sets_that_the_extractor_knows_are_told_apart(train: Any) -> None:
    known = Path("validation.jsonl").read_text().replace('"daniel"', '"fundus"')
    Path("both.jsonl").write_text(known + Path("validation.jsonl").read_text().replace("-page-0", "-page-9"))
    status, out, _ = train("labels.jsonl", *PAGES, "--validate", "both.jsonl")
    assert status == 0
    rows = out.split("\n\n")[0].splitlines()
    assert rows[-1].startswith("validation, ")
    assert "fundus" in KNOWN


def test_the_sets_that_the_extractor_knows() -> None:
    card = Path(model.__file__).with_name("CARD.md")
    rows = card.read_text().partition("## Trained on")[2].partition("\n\n##")[0].splitlines()
    assert {row.split()[1] for row in rows if row.startswith("| ")} - {"set"} == KNOWN


def test_pages_of_sets_are_found_by_their_names(train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import lzma

    Path("data/extraction").mkdir(parents=True)
    Path("data/extraction/garden.jsonl.xz").write_bytes(lzma.compress(Path("pages.jsonl").read_bytes()))
    monkeypatch.setenv("WINNOW_DATA", "data")
    assert train("labels.jsonl", "--jobs", "1", "-o", "w.npz")[0] == 0
    status, _, said = train("labels.jsonl", "--validate", "validation.jsonl")
    assert status == 2
    assert re.fullmatch(r"noise train: .*'data/extraction/daniel\.jsonl\.xz'.*--pages.*\n", said)


def test_bad_lines_are_named_and_skipped(train: Any) -> None:
    with Path("labels.jsonl").open("ab") as labels:
        labels.write(b"{\n")
    status, _, said = train("labels.jsonl", *PAGES)
    assert status == 0
    assert "labels.jsonl: line 49: " in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "neither LABELS.jsonl nor --labels state is given"),
        (("labels.jsonl", "more"), "unrecognized arguments: more; usage: winnow noise train"),
        (("gone.jsonl", *PAGES), "'gone.jsonl' cannot be read (No such file or directory)"),
        (("labels.jsonl",), "no --pages FILE is given, and WINNOW_DATA names no folder"),
        (("labels.jsonl", "--pages", "gone"), "'gone' cannot be read (No such file or directory)"),
        (("labels.jsonl", *PAGES, "--validate", "gone"), "'gone' cannot be read (No such file or directory)"),
        (("pages.jsonl", *PAGES), "'pages.jsonl' contains no label"),
        (
            ("labels.jsonl", *PAGES, "--seed", "-1"),
            "argument --seed: '-1' is wrong; allowed are whole numbers from 0 to 2,147,483,647",
        ),
        (("labels.jsonl", *PAGES, "--seed", "2147483648"), "argument --seed: '2147483648' is wrong"),
        (("labels.jsonl", *PAGES, "-o", "labels.jsonl"), "'labels.jsonl' is an input and cannot be the output"),
        (("labels.jsonl", *PAGES, "-o", "."), "'.' is a folder"),
        (
            ("labels.jsonl", *PAGES, "-o", "card.md"),
            "-o 'card.md' is the name of the card that is written beside the weights",
        ),
        (("labels.jsonl", *PAGES, "--jobs", "0"), "argument --jobs: '0' is wrong"),
        (("labels.jsonl", *PAGES, "--trees", "9"), "unrecognized arguments: --trees"),
    ],
)
def test_wrong_use(words: tuple[str, ...], message: str, train: Any) -> None:
    before = sorted(Path().rglob("*"))
    status, out, said = train(*words)
    assert (status, out) == (2, "")
    assert message in said.splitlines()[-1]
    assert said.splitlines()[-1].startswith("noise train: ")
    assert sorted(Path().rglob("*")) == before


def test_without_lightgbm(train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.setattr("crawler.contrib.lab.training.train_image_model.find_spec", lambda name: None)
    status, out, said = train("labels.jsonl", *PAGES)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"noise train: lightgbm .*'\.\[lab\]'\n", said)


def test_too_few_sites(train: Any) -> None:
    Path("labels.jsonl").write_bytes(lines("garden", range(4))[1])
    status, out, said = train("labels.jsonl", *PAGES)
    assert (status, out) == (1, "")
    assert said.splitlines()[-1].endswith(" 4 sites")
    assert not Path("output/images.npz").exists()


def test_earlier_weights_stay_when_it_is_broken_off(train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("w.npz").write_bytes(b"before")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("crawler.contrib.lab.training.image_weights.image_card", stop)
    assert train("labels.jsonl", *PAGES, "-o", "w.npz")[0] == 130
    assert Path("w.npz").read_bytes() == b"before"
    assert not list(Path().glob(".train-*"))


def test_what_was_trained_is_what_judges(train: Any) -> None:
    assert train("labels.jsonl", *PAGES)[0] == 0
    given = {"IMAGE_NOISE_WEIGHTS": "output/images.npz"}
    ours = Settings()
    ours.setmodule("crawler.settings", priority="project")
    usual = judge_of(ours)
    ours.update(given)
    judge = judge_of(ours)
    assert usual.learned is None
    assert judge.learned is not None
    assert judge.learned.limit == load(Path("output/images.npz")).limit
