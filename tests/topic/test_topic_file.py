import os
import re
from pathlib import Path

import pytest

from crawler.arguments import ArgumentError, parse
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
    "words = [": "is not TOML (",
    "bees and honey": "is not TOML (",
    "words = [" * 5_000: "is not TOML (",
    f"a = {'9' * 5_000}": "is not TOML (",
    'words = ["bee"]\nwords = ["bee"]': "is not TOML (",
    "": "names no topic; give words, examples or both",
    "words = []": "names no topic; give words, examples or both",
    'against = ["Cars."]': "names no topic; give words, examples or both",
    'word = ["bee"]': "word is not known; allowed are words, examples, against, domains",
    'words = ["bee"]\n[domain]\n': "domain is not known; allowed are words,",
    'words = ["bee"]\n[domains]\nonly = []': "domains.only is not known; allowed are domains.prefer, domains.avoid",
    'words = "bee"': "words is neither a list nor a table; allowed are",
    "words = 1": "words is neither a list nor a table; allowed are",
    "words = [1]": "words is not a list of texts; allowed are lists such as",
    'words = ["bee", ["honey"]]': "words is not a list of texts;",
    'words = ["bee", "!"]': "words contains '!', which is not a word; allowed are words of letters or digits",
    "words = {bee = 0}": "words has no valid weight for 'bee'; allowed are numbers above 0 up to 1,000,000",
    "words = {bee = -1.0}": "words has no valid weight for 'bee';",
    "words = {bee = inf}": "words has no valid weight for 'bee';",
    "words = {bee = nan}": "words has no valid weight for 'bee';",
    "words = {bee = true}": "words has no valid weight for 'bee';",
    "words = {bee = 1_000_000.1}": "words has no valid weight for 'bee';",
    "words = {bee = '1'}": "words has no valid weight for 'bee';",
    "examples = 'Bees'": "examples is not a list of texts;",
    "examples = ['']": "examples contains '', which has no word; allowed are texts and addresses",
    "examples = ['http://a.example:x/']": "examples contains 'http://a.example:x/', which is not an address; allowed",
    "examples = ['http://u:p@a.example/']": "which is not an address; allowed are http://",
    "examples = ['Bees.']\nagainst = ['Bees.']": "against contains 'Bees.', which is also in examples;",
    "words = ['bee']\ndomains = ['a.example']": "domains is not a table; allowed is [domains] with prefer and avoid",
    "words = ['bee']\n[domains]\navoid = 'a.example'": "domains.avoid is not a list of texts;",
    "words = ['bee']\n[domains]\navoid = ['http://a.example/']": "domains.avoid contains 'http://a.example/';",
    "words = ['bee']\n[domains]\nprefer = ['']": "domains.prefer contains ''; allowed are domains such as example.org",
    "words = ['bee']\n[domains]\nprefer = ['*.example']": "domains.prefer contains '*.example';",
    "words = ['bee']\n[domains]\nprefer = ['a..example']": "domains.prefer contains 'a..example';",
}


@pytest.mark.parametrize(("source", "said"), WRONG.items(), ids=[key[:40] for key in WRONG])
def test_a_wrong_file_is_told_in_one_sentence(tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "bees.toml"
    path.write_text(source, encoding="utf-8")
    message = wrong(path)
    assert said in message
    assert "bees.toml" in message or str(path)[:60] in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file or directory); give a readable TOML file"),
        (b"\xff\xfew\x00", "is not UTF-8 text; give a TOML file in UTF-8"),
        ('words = ["蜜蜂"]'.encode("gb18030"), "is not UTF-8 text; give a TOML file in UTF-8"),
        (b"# " + b"x" * (LARGEST - 1), f"is larger than {LARGEST:,} bytes; give a smaller file"),
        (b"# " + b"x" * 10_000_000, f"is larger than {LARGEST:,} bytes; give a smaller file"),
    ],
    ids=["missing", "utf-16", "gb18030", "a byte too many", "10 MB"],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "bees.toml"
    if content is not None:
        path.write_bytes(content)
    assert said in wrong(path)


def test_the_largest_file(tmp_path: Path) -> None:
    path = tmp_path / "bees.toml"
    source = b'words = ["bee"]\n#'
    path.write_bytes(source + b"x" * (LARGEST - len(source)))
    assert read(path).given


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    assert "is not a file; give a TOML file" in wrong(tmp_path / "folder.toml")
    assert "cannot be read (" in wrong(tmp_path / ("x" * 300 + ".toml"))
    assert "cannot be read (" in wrong(tmp_path / "a\0.toml")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.toml")
        assert "is not a file; give a TOML file" in wrong(tmp_path / "pipe.toml")


def wrong(path: Path) -> str:
    with pytest.raises(ArgumentError) as said:
        read(path)
    message = str(said.value)
    assert "\n" not in message
    assert len(message) < 400
    assert re.match("topic='", message)
    return message
