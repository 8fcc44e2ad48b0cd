"""The file of weights, written and read."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from crawler.contrib.lab.training.auto_weights import score
from crawler.contrib.lab.training.examples import TrainingPage
from crawler.errors import ModelFileError
from crawler.extraction.auto import auto
from crawler.extraction.auto.model import PAGE_TYPES, WEIGHTS, Model, judge, load, save
from crawler.page.page import Page

PAGE = Page.from_html(
    "<ul><li><a href=/>News</a></ul><h1>Bees</h1><p>Bees dance.<p>Honey is sweet.", "http://a.example/"
)


def test_a_model_comes_back(model: Model, tmp_path: Path) -> None:
    save(model, tmp_path / "w.npz")
    found = load(tmp_path / "w.npz")
    for mine, theirs in zip(model.networks, found.networks, strict=True):
        assert [layer.step for layer in mine.layers] == [layer.step for layer in theirs.layers]
    assert np.allclose(found.vocabulary.words, model.vocabulary.words, rtol=1e-3, atol=1e-6)
    mine, theirs = judge(PAGE, model), judge(PAGE, found)
    assert np.allclose(mine.probabilities, theirs.probabilities, atol=0.02)
    assert mine.page_type == theirs.page_type
    save(found, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "w.npz").read_bytes()


def test_no_time_is_in_the_file(model: Model, tmp_path: Path) -> None:
    save(model, tmp_path / "w.npz")
    with ZipFile(tmp_path / "w.npz") as held:
        assert {one.date_time for one in held.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_another_model_judges_in_place_of_the_shipped_one(model: Model) -> None:
    # All blocks are as likely as each other.
    same = tuple(replace(net, last=replace(net.last, weights=0 * net.last.weights)) for net in model.networks)
    bias = np.full(len(model.page_types.bias), -9.0)
    bias[1] = 9
    other = replace(
        model, networks=same, page_types=replace(model.page_types, weights=0 * model.page_types.weights, bias=bias)
    )
    found = auto(PAGE, model=other)
    assert found.blocks == tuple(PAGE.blocks)
    assert found.page_type == "forum"
    row = TrainingPage("1", PAGE.url, PAGE.html, "Bees dance. Honey is sweet. No more.", (), (), "forum")
    scored = score(row, other)
    assert (scored.page_type, scored.is_type_right) == ("forum", True)
    assert (scored.precision, scored.recall) == (2 / 4, 2 / 4)
    assert scored.word_f1 == pytest.approx(2 * 5 / 14)


def broken(path: Path, model: Model) -> None:
    save(model, path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(99) + data[len(data) // 2 + 99 :])


def cut(path: Path, model: Model) -> None:
    save(model, path)
    path.write_bytes(path.read_bytes()[:-500])


def changed(**arrays: np.ndarray) -> Callable[[Path, Model], None]:
    """Writes the shipped weights with some of them changed."""

    def write(path: Path, _: Model) -> None:
        with np.load(WEIGHTS) as held, path.open("wb") as file:
            np.savez_compressed(file, **{**held, **arrays})

    return write


def header(path: Path, _: Model) -> None:
    with ZipFile(path, "w") as held:
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1 << 50, "
        held.writestr("steps.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)


# A network that is half as wide as the other.
INPUTS = (280, 60, 120, 60, 120, 60, 20)
NARROW = {f"weights1.{at}": np.zeros((wide, 20 if at < 6 else 1)) for at, wide in enumerate(INPUTS)}
NARROW |= {f"bias1.{at}": np.zeros(20 if at < 6 else 1) for at in range(7)}
FILES = {
    "empty": lambda path, _: path.write_bytes(b""),
    "text": lambda path, _: path.write_text("weights"),
    "pickle": lambda path, _: path.write_bytes(pickle.dumps({"steps": [1]})),
    "array": lambda path, _: path.write_bytes(b"") or np.save(path.open("wb"), np.zeros(3)),
    "other arrays": lambda path, _: np.savez(path.open("wb"), own=np.zeros(3)),
    "other steps": lambda path, _: np.savez(path.open("wb"), steps=np.zeros(2)),
    "objects": lambda path, _: np.savez(path.open("wb"), steps=np.array([1, None])),
    "words": lambda path, _: np.savez(path.open("wb"), steps=np.array(["a"])),
    "few words": changed(words=np.zeros(9)),
    "few features": changed(
        means=np.zeros(9), scales=np.zeros(9), **{f"weights{n}.0": np.zeros((9, 40)) for n in (0, 1)}
    ),
    "wide layer": changed(**{"weights0.1": np.zeros((120, 41))}),
    "one bias": changed(**{"bias0.1": np.zeros(1)}),
    "no types": changed(kinds=np.zeros((167, 0))),
    "step back": changed(steps=np.array([[1, 0, -2, 0, 1]] * 2)),
    "other steps of the second": changed(steps=np.array([[1, 0, 2, 0, 1], [2, 0, 2, 0, 1]])),
    "narrow second": changed(**NARROW, kinds=np.zeros((2 * 40 + 2 * 20 + len(PAGE_TYPES), len(PAGE_TYPES)))),
    "no network": changed(steps=np.zeros((0, 5), np.int8)),
    "infinite": changed(scales=np.full(280, np.inf)),
    "too large": changed(more=np.zeros((51 << 20,), np.int8)),
    "header": header,
    "broken": broken,
    "cut": cut,
}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", FILES)
def test_what_is_not_weights_is_refused(name: str, model: Model, tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    FILES[name](path, model)
    with pytest.raises(ModelFileError, match=r"^'.*w\.npz' .* auto$"):
        load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "w.npz")
