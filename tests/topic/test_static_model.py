"""Folders of static models, written here byte by byte as the format has them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler.errors import ModelFileError
from crawler.topic.focus import TopicFocus
from crawler.topic.static_model import read_model
from crawler.topic.topic import Topic
from crawler.topic.word_vectors import similar_words

UNIGRAM = {
    "<unk>": [0, 0],
    "▁bee": [1, 0.1],
    "s": [1, 0],
    "▁cars": [0, 1],
    "蜜蜂": [1, 0.2],
    "汽车": [0.1, 1],
    "on": [1, 0],
}
WORDPIECE = {"[UNK]": [0, 0], "bee": [1, 0.1], "##s": [1, 0], "cars": [0, 1], "蜜蜂": [1, 0.2], "汽车": [0.1, 1]}
NUMBERS = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}


def safetensors(**tensors: tuple[str, np.ndarray[Any, Any]]) -> bytes:
    """The bytes of tensors, each with its type."""
    header: dict[str, Any] = {"__metadata__": {"format": "np"}}
    numbers = b""
    for name, (kind, values) in tensors.items():
        end = len(numbers) + values.nbytes
        header[name] = {"dtype": kind, "shape": values.shape, "data_offsets": [len(numbers), end]}
        numbers += values.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def write_model(folder: Path, tokens: dict[str, list[float]], kind: str = "F32", *, is_list: bool = False) -> Path:
    vectors = np.array(list(tokens.values()), np.float32)
    if kind == "BF16":
        table = (vectors.view(np.uint32) >> 16).astype("<u2")
    elif kind == "I8":
        table = (vectors * 100).astype("i1")
    else:
        table = vectors.astype(NUMBERS[kind])
    (folder / "model.safetensors").write_bytes(safetensors(embeddings=(kind, table)))
    vocabulary: Any = [[token, -1.5] for token in tokens] if is_list else {token: at for at, token in enumerate(tokens)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}), "utf-8")
    return folder


@pytest.mark.parametrize("kind", ["F32", "F16", "F64", "BF16", "I8"])
def test_numbers_of_all_types(tmp_path: Path, kind: str) -> None:
    model = read_model(write_model(tmp_path, WORDPIECE, kind))
    vector = model.vector("蜜蜂")
    assert vector is not None
    assert vector / vector[0] == pytest.approx([1, 0.2], abs=0.01)


@pytest.mark.parametrize(("tokens", "is_list"), [(UNIGRAM, True), (UNIGRAM, False), (WORDPIECE, False)])
def test_words_and_their_parts(tmp_path: Path, tokens: dict[str, list[float]], is_list: bool) -> None:
    model = read_model(write_model(tmp_path, tokens, is_list=is_list))
    assert {"bee", "cars", "蜜蜂", "汽车"} <= {word for word, _ in model.words()}
    assert not {"s", "on", "##s", "▁bee"} & {word for word, _ in model.words()}
    assert [model.vector(word) is None for word in ("bees", "bee", "x", "")] == [False, False, True, True]
    assert model.vector("bees") == pytest.approx([1, 0.05])


@pytest.mark.parametrize("ending", ["", "model.safetensors"])
def test_a_topic_finds_words_of_the_other_language(tmp_path: Path, ending: str) -> None:
    similar = similar_words(write_model(tmp_path, UNIGRAM, is_list=True) / ending, ("bees", "cars"))
    assert [word for word, _ in similar["bees"]] == ["bee", "蜜蜂"]
    assert [word for word, _ in similar["cars"]] == ["汽车"]
    focus = TopicFocus(Topic.of("bees"), similar=similar)
    assert focus.relevance("", "蜜蜂在花丛中采蜜。") > 0.5 > focus.relevance("", "汽车在公路上行驶。")


def test_tokens_that_share_a_vector(tmp_path: Path) -> None:
    write_model(tmp_path, WORDPIECE)
    table, rows = np.array([[1, 0], [0, 1]], "<f4"), np.array([0, 0, 0, 1, 0, 1], "<i8")
    tensors = safetensors(embeddings=("F32", table), mapping=("I64", rows))
    (tmp_path / "model.safetensors").write_bytes(tensors)
    assert similar_words(tmp_path, ("cars",))["cars"] == [("汽车", 1.0)]


TABLE = np.ones((2, 2), "<f4")


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        (b"", '{"model": {"vocab": {"a": 0}}}'),
        (b"\xff" * 8, '{"model": {"vocab": {"a": 0}}}'),
        (b"\x02" + bytes(7) + b"{}", '{"model": {"vocab": {"a": 0}}}'),
        (b"\x01" + bytes(7) + b"{", '{"model": {"vocab": {"a": 0}}}'),
        (safetensors(embeddings=("U8", TABLE)), '{"model": {"vocab": {"a": 0}}}'),
        (safetensors(embeddings=("F32", TABLE))[:-9], '{"model": {"vocab": {"a": 0}}}'),
        (safetensors(embeddings=("F32", TABLE[0])), '{"model": {"vocab": {"a": 0}}}'),
        (safetensors(embeddings=("F32", TABLE)), "{}"),
        (safetensors(embeddings=("F32", TABLE)), '{"model": {"vocab": 5}}'),
        (safetensors(embeddings=("F32", TABLE)), "[" * 100_000),
    ],
)
def test_what_is_no_model(tmp_path: Path, model: bytes, tokens: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(model)
    (tmp_path / "tokenizer.json").write_text(tokens, "utf-8")
    with pytest.raises(ModelFileError, match="has no static model"):
        similar_words(tmp_path, ("bees",))


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"has no model\.safetensors$"):
        similar_words(tmp_path, ("bees",))
