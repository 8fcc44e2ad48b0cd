"""Labels of pictures are read line by line; what is none is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from saved import PACK

from crawler.evaluation.gold import KINDS, ImageLabel, PendingLabels, read_labels

ROW = {"set": "a", "page": "1", "img": "http://a.example/a.png", "label": "noise", "kind": "icon"}
LABEL = ImageLabel("a", "1", "http://a.example/a.png", True, "icon")


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_labels(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels.jsonl{packing}"
    rows = [ROW, ROW | {"img": "HTTP://A.example/b.png#top", "label": "content", "kind": "text"}]
    path.write_bytes(PACK[packing]("\n\n".join(map(json.dumps, rows)).encode()))
    second = ImageLabel("a", "1", "http://a.example/b.png", False, "text")
    assert read_labels(path) == ((LABEL, second), ())


def test_the_first_of_a_picture_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "labels", ROW, ROW | {"kind": "advert"}, ROW | {"page": "2"}, ROW | {"set": "b"})
    assert read_labels(path).found == (LABEL, LABEL._replace(page="2"), LABEL._replace(set="b"))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{", "no JSON"),
        ('"no JSON"', "no object"),
        ({"set": "a", "label": "noise", "kind": "icon"}, "page and img must be there and be text"),
        (ROW | {"page": 1}, "page must be there and be text"),
        (ROW | {"kind": "text"}, "a label 'noise' of the kind 'text' is not known"),
        (ROW | {"label": "junk"}, "a label 'junk' of the kind 'icon' is not known"),
        (ROW | {"kind": "junk"}, "a label 'noise' of the kind 'junk' is not known"),
    ],
)
def test_what_is_no_label_is_named(row: Any, why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "labels", ROW, "", row, ROW | {"page": "2"})
    assert read_labels(path) == ((LABEL, LABEL._replace(page="2")), (f"{path}: line 3: {why}",))


@pytest.mark.parametrize(("more", "unsure"), [({}, False), ({"unsure": True}, True), ({"unsure": "yes"}, False)])
def test_whether_the_reader_was_sure(more: dict[str, Any], unsure: bool, tmp_path: Path) -> None:
    (found,) = read_labels(write(tmp_path / "labels", ROW | more)).found
    assert found == LABEL._replace(unsure=unsure)


FOLDER = Path(__file__).parent.parent / "noise" / "labels"


def test_the_labels_of_this_repository() -> None:
    training, validation = (read_labels(FOLDER / f"{name}.jsonl") for name in ("training", "validation"))
    assert (len(training.found), training.faults) == (2_585, ())
    assert (len(validation.found), validation.faults) == (583, ())
    assert {one[:2] for one in training.found}.isdisjoint(one[:2] for one in validation.found)


def test_labels_wait_for_their_page() -> None:
    of_a, of_b, elsewhere = LABEL, LABEL._replace(set="b"), LABEL._replace(set="c", img="http://a.example/c.png")
    waiting = PendingLabels([of_a, of_b, elsewhere], [Path("x/a.jsonl"), Path("x/b.jsonl.gz"), Path("x/pages.jsonl")])
    assert (waiting.pages, waiting.missed) == ({"1"}, 3)
    assert waiting.take("x/a.jsonl", "2", {LABEL.img}) == []
    assert waiting.take("x/a.jsonl", "1", set()) == []
    assert waiting.take("x/a.jsonl", "1", {LABEL.img, elsewhere.img}) == [of_a]
    assert waiting.take("x/a.jsonl", "1", {LABEL.img}) == []
    assert waiting.take("x/pages.jsonl", "1", {LABEL.img, elsewhere.img}) == [elsewhere]
    assert waiting.missed == 1


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "labels.gz"
    path.write_bytes(PACK[".gz"](json.dumps(ROW).encode() + b"\n")[:-4])
    found = read_labels(path)
    assert found.found == (LABEL,)
    assert "line 2: the file cannot be read from here on" in found.faults[0]


def test_every_kind_is_read(tmp_path: Path) -> None:
    rows = [ROW | {"label": label, "kind": kind, "img": kind} for kind, label in KINDS.items()]
    found = read_labels(write(tmp_path / "labels", *rows))
    assert [(one.kind, one.is_noise) for one in found.found] == [
        (kind, label == "noise") for kind, label in KINDS.items()
    ]
