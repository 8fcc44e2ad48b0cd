"""Labels of images are read line by line; what is none is named."""

import gzip
import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from saved_pages import PACK

from crawler.contrib.lab.evaluation.gold import KINDS, GoldPage, ImageLabel, PendingLabels, read_labels, read_set

ROW = {"id": "a", "url": "http://example.com/x", "lang": "en", "html": "<p>Bees", "gold": "Bees", "set": "s"}
PAGE = GoldPage("a", "http://example.com/x", "en", "", "<p>Bees", "Bees")
LINE = json.dumps(ROW).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "pack"), [("s.jsonl", bytes), ("s.jsonl.gz", gzip.compress), ("s.jsonl.xz", lzma.compress)]
)
def test_files(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(pack(LINE + b"\n" + LINE))
    found = read_set(path)
    assert (found.name, found.pages, found.faults) == ("s", (PAGE, PAGE), ())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{", "no JSON"),
        (b"\xff\xfe{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[1]", "no object"),
        (b'{"html": "x"}', "gold must be there and be text"),
        (b'{"html": null, "gold": 3}', "html and gold must be there and be text"),
    ],
)
def test_broken_lines_are_named_and_left_out(tmp_path: Path, line: bytes, fault: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINE + line + b"\n" + LINE)
    found = read_set(path)
    assert found.pages == (PAGE, PAGE)
    assert found.faults == (f"{path}:2: {fault}",)


def test_a_file_that_breaks_off_keeps_what_was_before(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    rows = b"".join(json.dumps(ROW | {"gold": str(number) * 50}).encode() + b"\n" for number in range(2_000))
    path.write_bytes(gzip.compress(rows)[:-500])
    found = read_set(path)
    assert 0 < len(found.pages) < 2_000
    assert found.faults[0].startswith(f"{path}:{len(found.pages) + 1}: ")


def test_a_file_without_pages_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n")
    found = read_set(path)
    assert (found.pages, len(found.faults)) == ((), 1)
    assert found.faults[0].startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("row", "page"),
    [
        ({"html": "", "gold": ""}, GoldPage("1", "", "", "", "", "")),
        (
            {"id": 7, "url": None, "lang": 3, "page_type": "forum", "html": "", "gold": ""},
            GoldPage("7", "", "", "forum", "", ""),
        ),
    ],
)
def test_what_is_not_needed_may_be_missing(tmp_path: Path, row: dict[str, object], page: GoldPage) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(row))
    assert read_set(path).pages == (page,)


def test_host() -> None:
    rows = [("http://News.example.com:80/x", "news.example.com"), ("", ""), ("http://[x", ""), ("x", "")]
    for url, host in rows:
        assert replace(PAGE, url=url).host == host


@pytest.mark.parametrize("field", ["id", "html", "gold"])
def test_fingerprint_tells_other_pages(tmp_path: Path, field: str) -> None:
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for path, row in zip(paths, (ROW, ROW | {"set": "t"}, ROW | {field: "\ud800"}), strict=True):
        path.write_text(json.dumps(row))
    first, same, other = (read_set(path).fingerprint for path in paths)
    assert first == same != other


LABEL_ROW = {"set": "a", "page": "1", "img": "http://a.example/a.png", "label": "noise", "kind": "icon"}
LABEL = ImageLabel("a", "1", "http://a.example/a.png", True, "icon")


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_labels(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels.jsonl{packing}"
    rows = [LABEL_ROW, LABEL_ROW | {"img": "HTTP://A.example/b.png#top", "label": "content", "kind": "text"}]
    path.write_bytes(PACK[packing]("\n\n".join(map(json.dumps, rows)).encode()))
    second = ImageLabel("a", "1", "http://a.example/b.png", False, "text")
    assert read_labels(path) == ([LABEL, second], [])


def test_the_first_of_an_image_counts(tmp_path: Path) -> None:
    path = write(
        tmp_path / "labels",
        LABEL_ROW,
        LABEL_ROW | {"kind": "advert"},
        LABEL_ROW | {"page": "2"},
        LABEL_ROW | {"set": "b"},
    )
    assert read_labels(path)[0] == [LABEL, replace(LABEL, page="2"), replace(LABEL, set="b")]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{", "no JSON"),
        ('"no JSON"', "no object"),
        ({"set": "a", "label": "noise", "kind": "icon"}, "page and img must be there and be text"),
        (LABEL_ROW | {"page": 1}, "page must be there and be text"),
        (LABEL_ROW | {"kind": "text"}, "a label 'noise' of the kind 'text' is not known"),
        (LABEL_ROW | {"label": "junk"}, "a label 'junk' of the kind 'icon' is not known"),
        (LABEL_ROW | {"kind": "junk"}, "a label 'noise' of the kind 'junk' is not known"),
    ],
)
def test_what_is_no_label_is_named(row: Any, why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "labels", LABEL_ROW, "", row, LABEL_ROW | {"page": "2"})
    assert read_labels(path) == ([LABEL, replace(LABEL, page="2")], [f"{path}: line 3: {why}"])


@pytest.mark.parametrize(("more", "unsure"), [({}, False), ({"unsure": True}, True), ({"unsure": "yes"}, False)])
def test_whether_the_reader_was_sure(more: dict[str, Any], unsure: bool, tmp_path: Path) -> None:
    (found,) = read_labels(write(tmp_path / "labels", LABEL_ROW | more))[0]
    assert found == replace(LABEL, unsure=unsure)


FOLDER = Path(__file__).parents[3] / "noise" / "labels"


def test_the_labels_of_this_repository() -> None:
    training, validation = (read_labels(FOLDER / f"{name}.jsonl") for name in ("training", "validation"))
    assert (len(training[0]), training[1]) == (2_585, [])
    assert (len(validation[0]), validation[1]) == (583, [])
    assert {(label.set, label.page) for label in training[0]}.isdisjoint(
        (label.set, label.page) for label in validation[0]
    )


def test_labels_wait_for_their_page() -> None:
    of_a, of_b, elsewhere = LABEL, replace(LABEL, set="b"), replace(LABEL, set="c", img="http://a.example/c.png")
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
    path.write_bytes(PACK[".gz"](json.dumps(LABEL_ROW).encode() + b"\n")[:-4])
    found, faults = read_labels(path)
    assert found == [LABEL]
    assert "line 2: " in faults[0]


def test_every_kind_is_read(tmp_path: Path) -> None:
    rows = [LABEL_ROW | {"label": label, "kind": kind, "img": kind} for kind, label in KINDS.items()]
    found, _ = read_labels(write(tmp_path / "labels", *rows))
    assert [(one.kind, one.is_noise) for one in found] == [(kind, label == "noise") for kind, label in KINDS.items()]
