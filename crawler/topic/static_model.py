"""The vectors of words in a static model, which model2vec distils from a sentence model, in one or many languages.

The folder of a model has two files. `model.safetensors` has the vectors, one for each token
(https://github.com/huggingface/safetensors#format): the length of a header in 8 bytes, the header in JSON, with the
type, shape and offset of each tensor, and the numbers. `tokenizer.json` has the tokens in their order
(https://huggingface.co/docs/tokenizers/components#models). A token stands at the beginning of a word if it begins with
▁ in a Unigram tokenizer, or in BPE with ▁; in a WordPiece tokenizer, if it does not begin with ##.

A word that is not a token has the mean vector of its parts, each of which is the longest token at its position.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.page.text import is_unspaced

MODEL = "model.safetensors"
TOKENIZER = "tokenizer.json"
LENGTH_BYTES = 8
MOST_HEADER = 1_000_000
"""The most bytes of a header that is read."""
MOST_TOKENIZER = 200_000_000
"""The most bytes of a file of tokens that is read: a million tokens take 50 MB."""
TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "BF16": "<u2"}
"""The types of vectors, each with numpy's type. Numpy has no bfloat16, so its bits are read as integers."""
INTEGERS = {"I64": "<i8", "I32": "<i4"}
"""The types of the tensor `mapping`, which has the row of each token if several tokens share a vector."""
WORD_MARK = "▁"
"""The start of a token at the beginning of a word, in a Unigram tokenizer."""
PART_MARK = "##"
"""The start of a token that is not at the beginning of a word, in a WordPiece tokenizer."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class StaticModel:
    """The tokens of a model and their vectors, which are read from the file when they are needed."""

    rows: Mapping[str, int]
    """The row of each token."""
    table: NDArray[Any]
    """The vectors, one in each row."""
    is_bfloat: bool
    """Whether the numbers in `table` are bfloat16: the upper halves of 32-bit floats, read as integers."""

    def vectors(self, rows: Iterable[int]) -> Vectors:
        """The vectors in these rows."""
        numbers = self.table[list(rows)]
        if self.is_bfloat:
            return (numbers.astype(np.uint32) << 16).view(np.float32)
        return numbers.astype(np.float32)

    def words(self) -> Iterator[tuple[str, int]]:
        """The tokens that are words, each with its row."""
        has_marks = any(token.startswith(WORD_MARK) for token in self.rows)
        for token, row in self.rows.items():
            word = token.removeprefix(WORD_MARK)
            # In scripts without spaces, no mark shows where a word begins.
            begins_word = not has_marks or token.startswith(WORD_MARK) or is_unspaced(token)
            if word and begins_word and not token.startswith(PART_MARK):
                yield word, row

    def vector(self, word: str) -> Vectors | None:
        """The vector of a word; None if no part of it is a token."""
        rows = []
        start = 0
        while start < len(word):
            row, start = self._part(word, start)
            if row is not None:
                rows.append(row)
        if rows:
            return np.asarray(self.vectors(rows).mean(axis=0))
        return None

    def _part(self, word: str, start: int) -> tuple[int | None, int]:
        """The row of the longest token at a position of a word, and the position after it; None and the next position
        if there is none.
        """
        marks = (PART_MARK, "") if start else (WORD_MARK, "")
        for end in range(len(word), start, -1):
            for mark in marks:
                row = self.rows.get(mark + word[start:end])
                if row is not None:
                    return row, end
        return None, start + 1


def read_model(folder: Path) -> StaticModel:
    """The model in a folder; raises an OSError if it cannot be read. Another error, such as a ValueError or a KeyError,
    means that it is not valid.
    """
    tensors, start = _header(folder / MODEL)
    name = "embeddings" if "embeddings" in tensors else next(iter(tensors))  # the name that model2vec gives
    table = _tensor(folder / MODEL, tensors[name], start, TYPES)
    if table.ndim != 2:
        raise ValueError("the vectors are no table")
    tokens = _tokens(folder / TOKENIZER)
    if "mapping" in tensors:
        row_of_token = _tensor(folder / MODEL, tensors["mapping"], start, INTEGERS)
        tokens = {token: int(row_of_token[number]) for token, number in tokens.items() if number < len(row_of_token)}
    rows = {token: row for token, row in tokens.items() if 0 <= row < len(table)}
    return StaticModel(rows, table, tensors[name]["dtype"] == "BF16")


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """The header of a file, which describes each tensor, and the offset of the tensors."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if not 0 < length <= MOST_HEADER:
            raise ValueError("the header is empty or too long")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return header, LENGTH_BYTES + length


def _tensor(path: Path, header: Mapping[str, Any], start: int, types: Mapping[str, str]) -> NDArray[Any]:
    """A tensor in a file, which stays on disk.

    `header` is the tensor's entry in the header, `start` the offset of the first tensor, and `types` has the types that
    the tensor may have.
    """
    if header["dtype"] not in types:
        raise ValueError("the numbers are of another type")
    offset, _ = header["data_offsets"]
    return np.memmap(path, types[header["dtype"]], "r", start + offset, tuple(header["shape"]))


def _tokens(path: Path) -> dict[str, int]:
    """The tokens, each with its number."""
    if path.stat().st_size > MOST_TOKENIZER:
        raise ValueError("there are too many tokens")
    vocabulary = json.loads(path.read_bytes())["model"]["vocab"]
    if isinstance(vocabulary, list):  # of a Unigram tokenizer: each token with its score
        return {token: at for at, (token, _) in enumerate(vocabulary)}
    return {str(token): int(at) for token, at in vocabulary.items()}
