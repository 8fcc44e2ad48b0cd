"""Word vectors of the user: which words are similar, and what they make of pages in another language."""

import gzip
from pathlib import Path
from random import Random

import pytest

from crawler.errors import ModelFileError
from crawler.topic import word_vectors
from crawler.topic.focus import TopicFocus
from crawler.topic.link_table import LinkContext
from crawler.topic.topic import Topic
from crawler.topic.word_vectors import similar_words

VECTORS = """8 3
bees 1 0.1 0
蜜蜂 1 0.2 0
蜂蜜 0.8 0.6 0
honey 0.7 0.7 0
Cars 0 0 1
3 3
養蜂 0.9 0.05 0
汽車 0 0.1 -1
the 0.1 0.1 0.1
"""
CHINESE = "蜜蜂在花叢中採蜜,養蜂人收蜂蜜。"


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS, "utf-8")
    return path


@pytest.fixture(params=[1, 5_000])
def _parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "LINES_AT_ONCE", request.param)
    similar_words.cache_clear()


@pytest.mark.usefixtures("_parts")
def test_words_near_those_of_the_topic(vectors: Path) -> None:
    found = similar_words(vectors, ("bees", "cars", "wasps"))
    assert [word for word, _ in found["bees"]] == ["养蜂", "蜜蜂", "蜂蜜", "honey", "the"]
    assert found["bees"][1] == ("蜜蜂", pytest.approx(0.995, abs=0.001))
    assert [word for word, _ in found["cars"]] == ["the"]
    assert "wasps" not in found


def test_an_english_topic_finds_chinese_pages(vectors: Path) -> None:
    topic = Topic.of("bees")
    plain, made = TopicFocus(topic), TopicFocus(topic, similar=similar_words(vectors, ("bees",)))
    assert plain.relevance("", CHINESE) == 0
    assert made.relevance("", CHINESE) > 0.5 > made.relevance("", "汽車在公路上行駛。")
    assert made.relevance("", "bees") == pytest.approx(plain.relevance("", "bees"), abs=0.02)
    links = [LinkContext(f"http://a.example/{word}", word) for word in ("蜜蜂", "汽車")]
    bees, cars = made.queue_links("http://a.example/", links)
    assert bees > cars


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("bees 1 0\nwax 1 0 0\nhoney 1 0 0\n", "has vectors of several lengths"),
        ("bees 1 x\n", "is not in the text format of word2vec"),
        ("bees 1 0\nwax 1 x\n", "is not in the text format of word2vec"),
        ("", "is not in the text format of word2vec"),
        ("words", "is not in the text format of word2vec"),
        ("2 300\n", "is not in the text format of word2vec"),
        ("A page of words.\n", "is not in the text format of word2vec"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_no_vectors(content: str | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.txt"
    if content is not None:
        path.write_text(content, "utf-8")
    with pytest.raises(ModelFileError) as found:
        similar_words(path, ("bees",))
    assert str(found.value) == f"{str(path)!r} {why}"


@pytest.mark.parametrize(
    "content",
    [
        Random(1).randbytes(100_000),
        b"3 2\nbees \x01\x02\x03 \x04",
        gzip.compress(b"bees 1 0\n")[:-9],
        gzip.compress(b"bees"),
    ],
    ids=["random", "binary", "cut off", "words"],
)
def test_bytes_that_are_no_vectors(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "wrong.bin"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"wrong\.bin"):
        similar_words(path, ("bees",))


def test_a_compressed_file(vectors: Path) -> None:
    compressed = vectors.with_suffix(".vec.gz")
    compressed.write_bytes(gzip.compress(vectors.read_bytes()))
    assert similar_words(compressed, ("bees",)) == similar_words(vectors, ("bees",)) != {}


@pytest.mark.parametrize("content", [b"\x00 1 2\n", b"0 0\nwax 1 2\n", b"\xff\xfe 1 2\n"])
def test_a_file_without_the_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_bytes(content)
    assert similar_words(tmp_path / "odd.txt", ("bees",)) == {}
