import os
import re
from pathlib import Path

import pytest

from crawler.arguments import parse
from crawler.errors import ArgumentError
from crawler.topic.topic import LARGEST, Topic

SEEDS = "http://a.example/"


def read(path: Path) -> Topic:
    return parse({"seeds": SEEDS, "topic": str(path)}).topic


@pytest.mark.parametrize(
    ("source", "topic"),
    [
        ('words = ["Bee", "honey bee "]', Topic((("bee", 1.0), ("honey bee", 1.0)), "bee honey bee")),
        ('words = {bee = 2, "蜜蜂" = 0.5}', Topic((("bee", 2.0), ("蜜蜂", 0.5)), "bee 蜜蜂")),
        ("[words]\nbee = 1_000_000", Topic((("bee", 1_000_000.0),), "bee")),
        ('\ufeffwords = ["bee"]\r\n', Topic((("bee", 1.0),), "bee")),
        ('examples = ["Bees dance."]', Topic(examples=("Bees dance.",))),
        (
            'examples = ["HTTP://A.example/b#c", "http://a.example/ is a text", "http://a.example/b"]',
            Topic(examples=("http://a.example/ is a text",), example_urls=("http://a.example/b",)),
        ),
        (
            'words = ["bee"]\nagainst = ["https://a.example", "A spelling bee."]',
            Topic((("bee", 1.0),), "bee", (), (), ("A spelling bee.",), ("https://a.example/",)),
        ),
        (
            'words = ["bee"]\n[domains]\nprefer = ["Example.org"]\navoid = ["bücher.example", "10.0.0.1", "localhost"]',
            Topic(
                (("bee", 1.0),),
                "bee",
                prefer=("example.org",),
                avoid=("xn--bcher-kva.example", "10.0.0.1", "localhost"),
            ),
        ),
    ],
)
def test_a_file(tmp_path: Path, source: str, topic: Topic) -> None:
    path = tmp_path / "bees.TOML"
    path.write_bytes(source.encode())
    assert read(path) == topic
    assert topic.given


WRONG = {
    "words = [": "is not TOML",
    "bees and honey": "is not TOML",
    "words = [" * 5_000: "is not TOML",
    f"a = {'9' * 5_000}": "is not TOML",
    'words = ["bee"]\nwords = ["bee"]': "is not TOML",
    "": "no topic",
    "words = []": "no topic",
    'against = ["Cars."]': "no topic",
    'word = ["bee"]': "word .* words, examples, against, domains",
    'words = ["bee"]\n[domain]\n': "domain .* words,",
    'words = ["bee"]\n[domains]\nonly = []': "domains.only .* domains.prefer, domains.avoid",
    'words = "bee"': "words is neither",
    "words = 1": "words is neither",
    "words = [1]": "words is not a list",
    'words = ["bee", ["honey"]]': "words is not a list",
    'words = ["bee", "!"]': "words .*'!'",
    "words = {bee = 0}": "words .*'bee'.* 0 .* 1,000,000",
    "words = {bee = -1.0}": "words .*'bee'",
    "words = {bee = inf}": "words .*'bee'",
    "words = {bee = nan}": "words .*'bee'",
    "words = {bee = true}": "words .*'bee'",
    "words = {bee = 1_000_000.1}": "words .*'bee'",
    "words = {bee = '1'}": "words .*'bee'",
    "examples = 'Bees'": "examples is not a list",
    "examples = ['']": "examples .*''",
    "examples = ['http://a.example:x/']": "examples .*'http://a.example:x/'",
    "examples = ['http://u:p@a.example/']": "examples .*'http://u:p@a.example/'",
    "examples = ['Bees.']\nagainst = ['Bees.']": "against .*'Bees.'.* examples",
    "words = ['bee']\ndomains = ['a.example']": "domains is not .* prefer and avoid",
    "words = ['bee']\n[domains]\navoid = 'a.example'": "domains.avoid is not a list",
    "words = ['bee']\n[domains]\navoid = ['http://a.example/']": "domains.avoid .*'http://a.example/'",
    "words = ['bee']\n[domains]\nprefer = ['']": "domains.prefer .*''",
    "words = ['bee']\n[domains]\nprefer = ['*.example']": r"domains.prefer .*'\*.example'",
    "words = ['bee']\n[domains]\nprefer = ['a..example']": "domains.prefer .*'a..example'",
}


def test_a_wrong_file_is_told_with_its_key_and_value(tmp_path: Path) -> None:
    path = tmp_path / "bees.toml"
    for source, named in WRONG.items():
        path.write_text(source, encoding="utf-8")
        message = wrong(path)
        assert re.search(named, message), source
        assert "bees.toml" in message or str(path)[:60] in message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    rows = [
        (b"\xff\xfew\x00", "UTF-8"),
        ('words = ["蜜蜂"]'.encode("gb18030"), "UTF-8"),
        (b"# " + b"x" * (LARGEST - 1), f" {LARGEST:,} bytes"),
        (b"# " + b"x" * 10_000_000, f" {LARGEST:,} bytes"),
    ]
    path = tmp_path / "bees.toml"
    assert "No such file" in wrong(path)
    for content, named in rows:
        path.write_bytes(content)
        assert named in wrong(path)


def test_the_largest_file(tmp_path: Path) -> None:
    path = tmp_path / "bees.toml"
    source = b'words = ["bee"]\n#'
    path.write_bytes(source + b"x" * (LARGEST - len(source)))
    assert read(path).given


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    assert "is not a file" in wrong(tmp_path / "folder.toml")
    assert "cannot be read (" in wrong(tmp_path / ("x" * 300 + ".toml"))
    assert "cannot be read (" in wrong(tmp_path / "a\0.toml")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.toml")
        assert "is not a file" in wrong(tmp_path / "pipe.toml")


def wrong(path: Path) -> str:
    with pytest.raises(ArgumentError) as said:
        read(path)
    message = str(said.value)
    assert "\n" not in message
    assert len(message) < 400
    assert re.match("topic='", message)
    return message
