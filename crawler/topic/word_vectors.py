"""Finds words of similar meaning, by word vectors that the user has in a file.

T. Mikolov, K. Chen, G. Corrado, J. Dean, "Efficient Estimation of Word Representations in Vector Space", 2013. Each
line of word2vec's text format has a word and the numbers of its vector; a line with a single number, such as the usual
first line, is ignored. The file may be compressed with gzip. Words are similar if the cosine of their vectors is high.
If the vectors of several languages are in one space, translations are similar, too; the files of these languages must
be joined into one. Instead of a file, the folder of a static model may be given, see crawler/topic/static_model.py.

The file is read twice, line by line, so that memory does not grow with it: once for the vectors of the topic's words,
and once for the words near to them.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from heapq import nlargest
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from crawler.errors import ModelFileError
from crawler.page.simplified import simplified
from crawler.topic.static_model import MODEL, TOKENIZER, read_model
from crawler.topic.topic import SimilarWords

MOST_SIMILAR = 10
"""How many similar words a word of the topic has at most."""
LEAST_COSINE = 0.5
"""The least cosine of the vectors of similar words."""
LINES_AT_ONCE = 1_000
"""How many vectors are compared at once."""
GZIP = b"\x1f\x8b"
"""The first bytes of a compressed file (https://www.rfc-editor.org/rfc/rfc1952#page-6)."""


@lru_cache(maxsize=1)
def similar_words(path: Path, words: tuple[str, ...]) -> SimilarWords:
    """For each of these words the similar words in a file of vectors, cached for the last file and words; raises a
    ModelFileError if the file cannot be read.
    """
    # The vectors of the topic's words. `_vectors` and `_parts` give words in folded spelling.
    word_of_spelling = {_folded(word): word for word in words}
    vector_of_word = {word_of_spelling[name]: vector for name, vector in _vectors(path, frozenset(word_of_spelling))}
    if not vector_of_word:
        return {}
    topic_words = list(vector_of_word)
    topic_vectors = np.stack(list(vector_of_word.values()))

    # The words near to them. Several words of the file may have one folded spelling: the nearest counts.
    cosines_of_words: dict[str, dict[str, float]] = {word: {} for word in topic_words}
    for names, vectors in _parts(path):
        cosines = vectors @ topic_vectors.T
        for row, column in np.argwhere(cosines >= LEAST_COSINE).tolist():
            near = cosines_of_words[topic_words[column]]
            name = names[row]
            if name not in word_of_spelling:
                near[name] = max(near.get(name, 0.0), float(cosines[row, column]))
    return {word: _nearest(near) for word, near in cosines_of_words.items()}


def _nearest(cosines: Mapping[str, float]) -> list[tuple[str, float]]:
    """The words with the highest cosines, the nearest first."""
    # Rounding errors may raise a cosine above 1.
    near = ((word, round(min(cosine, 1.0), 4)) for word, cosine in cosines.items())
    return nlargest(MOST_SIMILAR, near, lambda pair: pair[1])


def _vectors(path: Path, words: frozenset[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The vectors of these words, of length 1."""
    for names, vectors in _parts(path, words):
        yield from zip(names, vectors, strict=True)


def _parts(path: Path, only: frozenset[str] | None = None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    """Folded words and their vectors, of length 1, part by part: all words, or those in `only`."""
    if path.is_dir() or path.name == MODEL:
        return _parts_of_model(path if path.is_dir() else path.parent, only)
    return _parts_of_file(path, only)


def _parts_of_model(folder: Path, only: frozenset[str] | None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    try:
        model = read_model(folder)
        if only is not None:
            words_and_vectors = ((word, model.vector(word)) for word in sorted(only))
            vectors = {word: vector for word, vector in words_and_vectors if vector is not None}
            if vectors:
                yield list(vectors), _of_length_1(np.stack(list(vectors.values())))
            return
        words = model.words()
        while part := list(islice(words, LINES_AT_ONCE)):
            yield [_folded(word) for word, _ in part], _of_length_1(model.vectors(row for _, row in part))
    except FileNotFoundError as error:
        raise ModelFileError(f"{str(folder)!r} has no {Path(error.filename).name}") from None
    except OSError as error:
        raise ModelFileError(f"{str(folder)!r} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError):
        raise ModelFileError(f"{str(folder)!r} has no static model in {MODEL} and {TOKENIZER}") from None


def _of_length_1(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    # The least length avoids a division by 0.
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)[:, None], np.float32)


def _parts_of_file(path: Path, only: frozenset[str] | None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    try:
        with _text(path) as file:
            entries = _entries(file)
            first_entry = next(entries)
            _, first_numbers = first_entry
            size = len(np.array(first_numbers, np.float32))  # raises a ValueError if they are not numbers
            all_entries = chain([first_entry], entries)
            needed_entries = ((word, numbers) for word, numbers in all_entries if only is None or word in only)
            while part := list(islice(needed_entries, LINES_AT_ONCE)):
                if any(len(numbers) != size for _, numbers in part):
                    raise ModelFileError(f"{str(path)!r} has vectors of several lengths")
                vectors = np.array([numbers for _, numbers in part], np.float32)
                yield [word for word, _ in part], _of_length_1(vectors)
    except ModelFileError:  # also a ValueError, so the next clause would catch it
        raise
    except (ValueError, StopIteration, EOFError, zlib.error, gzip.BadGzipFile):  # StopIteration: there is no entry
        raise ModelFileError(f"{str(path)!r} is not in the text format of word2vec") from None
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read ({error.strerror})") from None


def _text(path: Path) -> TextIO:
    """The open file, decompressed if necessary. Some published files contain words that are not UTF-8."""
    with path.open("rb") as file:
        is_compressed = file.read(len(GZIP)) == GZIP
    if is_compressed:
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return path.open(encoding="utf-8", errors="replace")


def _entries(file: TextIO) -> Iterator[tuple[str, list[str]]]:
    """The folded words of the lines with vectors, each with its numbers."""
    for line in file:
        word, *numbers = line.rstrip().split(" ")
        if len(numbers) > 1:
            yield _folded(word), numbers


def _folded(word: str) -> str:
    return simplified(word.casefold())
