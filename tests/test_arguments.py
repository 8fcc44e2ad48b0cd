import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from crawler.arguments import ARGUMENTS, Arguments, parse
from crawler.errors import ArgumentError
from crawler.extraction import EXTRACTORS
from crawler.rights.purpose import Purpose
from crawler.rights.statement import Use
from crawler.topic.stop_rule import StopWhen
from crawler.topic.topic import Topic

A, B = "http://a.example/", "https://b.example/x,y,z"


def wrong(given: Mapping[str, object]) -> str:
    with pytest.raises(ArgumentError) as said:
        parse(given)
    return str(said.value)


def test_every_field_has_a_reader() -> None:
    assert set(ARGUMENTS) == {field.name for field in dataclasses.fields(Arguments)} - {"demo"}


def test_what_is_not_given_is_the_default() -> None:
    assert parse({"seeds": A}) == Arguments((A,))
    assert parse({"seeds": A} | dict.fromkeys(ARGUMENTS.keys() - {"seeds"}, "  ")) == Arguments((A,))


def test_the_job_that_scrapyd_names_is_no_argument() -> None:
    assert parse({"seeds": A, "_job": "6487ec79947edab326d6db28a2d86511e8247444"}) == parse({"seeds": A})


def test_a_script_gives_lists_numbers_and_none() -> None:
    rows = [
        ("seeds", [A, B], f"{A},{B}"),
        ("seeds", (f" {A}",), A),
        ("seeds", ["demo"], "demo"),
        ("deny", [r"/a\?b", r"[,]{2}"], r"/a\?b [,]{2}"),
        ("allow", [], ""),
        ("allow", None, ""),
        ("lang", ("en", "zh"), "zh,en"),
        ("max_pages", 5, "5"),
    ]
    for name, value, same_as in rows:
        assert parse({"seeds": A, name: value}) == parse({"seeds": A, name: same_as})


def test_a_string_of_a_list_is_one_value() -> None:
    assert parse({"seeds": ["http://a.example/x,http://y"]}).seeds == ("http://a.example/x,http://y",)
    assert [pattern.pattern for pattern in parse({"seeds": A, "allow": ["a b,c"]}).allow] == ["a b,c"]


def test_a_wrong_list_is_refused_in_one_sentence() -> None:
    rows = [
        ({"seeds": []}, "^no seeds"),
        ({"seeds": [A, "demo"]}, "^seed 'demo' cannot be combined"),
        ({"seeds": [A, 5]}, "^seed '5' is not an address"),
        ({"seeds": A, "deny": ["a", "("]}, r"^deny='a \(' is not a regular expression"),
        ({"seeds": A, "lang": ["en", "xx"]}, "^lang='xx' is not known"),
        ({"seeds": A, "topic": ["honey"], "name": ["x"]}, r"^name=\"\['x'\]\" cannot be a file name"),
    ]
    for given, said in rows:
        assert re.search(said, wrong(given))


def test_the_demo_has_no_seeds_yet() -> None:
    assert parse({"seeds": " demo "}) == Arguments((), demo=True)


def test_seeds() -> None:
    rows = [
        (A, [A]),
        (f"  {A}\n", [A]),
        (f"{A},{B}", [A, B]),
        (f"{A}, {B}", [A, B]),
        (f"{A} ,{B}", [A, B]),
        (f"{A} {B}", [A, B]),
        (f"{B},{A}", [B, A]),
        (f"{A}\n{B}\r\n", [A, B]),
        (f"{A},{A},{A}#top", [A]),
        ("HTTP://A.Example", [A]),
        ("http://a.example:80,https://b.example:443", [A, "https://b.example/"]),
        ("http://a.example/?q=1,2,http://b.example/", ["http://a.example/?q=1,2", "http://b.example/"]),
        ("http://localhost:8000/,http://[::1]:8000/", ["http://localhost:8000/", "http://[::1]:8000/"]),
        ("http://bücher.example/", ["http://xn--bcher-kva.example/"]),
        (",".join(f"http://a.example/{n}" for n in range(1000)), [f"http://a.example/{n}" for n in range(1000)]),
        ("http://a.example/" + "x" * 5000, ["http://a.example/" + "x" * 5000]),
    ]
    for value, seeds in rows:
        assert parse({"seeds": value}).seeds == tuple(seeds)


def test_a_wrong_seed() -> None:
    rows = [
        ("ftp://a.example/", "'ftp://a.example/'"),
        (f"{A},javascript:alert(1)", "'javascript:alert(1)'"),
        (f"{A} b.example", "'b.example'"),
        ("http:///path", "'http:///path'"),
        ("http:a.example", "'http:a.example'"),
        ("https://", "'https://'"),
        ("http://user:secret@a.example/", "'http://user:secret@a.example/'"),
        ("http://a.example:port/", "'http://a.example:port/'"),
        ("http://[::1/", "'http://[::1/'"),
        ("localhost:8000", "'localhost:8000'"),
        ("mailto:x@" + "y" * 200, "…'"),
    ]
    for value, shown in rows:
        message = wrong({"seeds": value})
        assert shown in message
        assert {"http://", "https://"} <= set(message.split())
        assert len(message) < 250


@pytest.mark.parametrize("given", [{}, {"seeds": ""}, {"seeds": " \n"}])
def test_no_seeds(given: dict[str, str]) -> None:
    assert "-a seeds=URL" in wrong(given)


@pytest.mark.parametrize(
    "content",
    [
        f"{A}\n{B}\n".encode(),
        f"\ufeff{A}\n{B}".encode(),
        f"# seeds\r\n\r\n  {A}  \r\n\t# more\r\n{B}\r\n{A}\r\n".encode(),
        f"\n\n{A}\r{B}\n\n\n".encode(),
    ],
    ids=["plain", "mark", "comments", "line ends"],
)
def test_a_file_of_seeds(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "my seeds.txt"
    file.write_bytes(content)
    assert parse({"seeds": str(file)}).seeds == (A, B)


def test_a_file_with_a_colon_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seeds:1.txt").write_text(A)
    assert parse({"seeds": "seeds:1.txt"}).seeds == (A,)


def test_seeds_from_a_pipe() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"):
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(f"{A}\n{B}\n".encode())
        assert parse({"seeds": f"/dev/fd/{reading}"}).seeds == (A, B)


def test_a_device_that_never_ends() -> None:
    assert re.search("'/dev/zero'.* 100 MB", wrong({"seeds": "/dev/zero"}))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "(No such file or directory)"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "(not UTF-8 text)"),
        (b"", "no address"),
        (b"# only\n\n", "no address"),
        (b"http://a.example/\nb.example\n", "'b.example'"),
        (b"http://a.example/ http://b.example:x/", "'http://a.example/ http://b.example:x/'"),
        (b"\0" * 100, "\\x00"),
    ],
    ids=["missing", "binary", "empty", "comments", "wrong line", "two in a line", "nuls"],
)
def test_a_wrong_file(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "seeds.txt"
    if content is not None:
        file.write_bytes(content)
    assert said in wrong({"seeds": str(file)})


def test_a_path_that_is_no_file() -> None:
    rows = [
        (".", "Is a directory"),
        ("no/such\nfile", "No such file"),
        ("x" * 5000, "File name too long"),
        ("a\0b", "not UTF-8"),
    ]
    for value, why in rows:
        message = wrong({"seeds": value})
        assert re.search(rf"\({why}.*\)", message)
        assert "\n" not in message


def test_right_values() -> None:
    rows = [
        ("topic", " honey 蜂蜜 ", Topic((("honey", 1.0), ("蜂蜜", 1.0)), "honey 蜂蜜")),
        ("topic", "bees.toml.", Topic.of("bees.toml.")),
        ("scope", "host", "host"),
        ("scope", "site", "site"),
        ("scope", "any", "any"),
        ("max_pages", "1", 1),
        ("max_pages", "999999999", 999999999),
        ("max_depth", "0", 0),
        ("max_depth", "007", 7),
        ("min_relevance", "0", 0.0),
        ("min_relevance", ".25", 0.25),
        ("min_relevance", "1.0", 1.0),
        ("min_chance", "0", 0.0),
        ("min_chance", ".05", 0.05),
        ("stop_when", "harvest<0.05", StopWhen(0.05)),
        ("stop_when", " harvest < 0.5 ", StopWhen(0.5)),
        ("lang", "en", frozenset(["en"])),
        ("lang", "zh-CN, EN jp", frozenset(["zh", "en", "ja"])),
        ("name", "topic", "topic"),
        ("name", "茶.2012-a_b", "茶.2012-a_b"),
        ("name", "a" * 200, "a" * 200),
        ("name", "console", "console"),
        ("name", "images", "images"),
        ("name", "bees.previously", "bees.previously"),
        ("name", "bees.images-a", "bees.images-a"),
        ("name", "bees.previous.a", "bees.previous.a"),
        ("images", "yes", True),
        ("images", "no", False),
        ("documents", "yes", True),
        ("documents", "no", False),
        ("quality", "yes", True),
        ("quality", "no", False),
        ("listings", "yes", True),
        ("listings", "no", False),
        ("markdown", "yes", "yes"),
        ("markdown", "no", "no"),
        ("markdown", "links", "links"),
        ("favour", "recall", "recall"),
        ("refresh", "all", "all"),
        ("refresh", "due", "due"),
        ("fresh", "yes", True),
        ("fresh", "no", False),
        ("retopic", "no", False),
        ("purpose", "label", Purpose()),
        ("purpose", " , ", Purpose()),
        ("purpose", "ai-train", Purpose(frozenset((Use.AI_TRAIN,)), keeps_disallowed=False)),
        ("purpose", "search, ai-input", Purpose(frozenset((Use.AI_INPUT, Use.SEARCH)), keeps_disallowed=False)),
        ("purpose", "label ai-train", Purpose(frozenset((Use.AI_TRAIN,)))),
        ("purpose", ["ai-train"], Purpose(frozenset((Use.AI_TRAIN,)), keeps_disallowed=False)),
    ]
    for name, value, read in rows:
        assert getattr(parse({"seeds": A, name: value}), name) == read


@pytest.mark.parametrize("value", ["!", "。、", "-"])
def test_a_topic_without_a_word(value: str) -> None:
    assert wrong({"seeds": A, "topic": value}).startswith(f"topic={value!r} ")


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("name", "is_topic"),
    [
        ("bees.txt", False),
        ("bees.tml", False),
        ("BEES.MD", False),
        ("bees", True),
        ("Node.js", True),
        ("a b.txt", True),
    ],
)
def test_the_name_of_a_file_of_another_kind_is_no_topic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_topic: bool, is_there: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"seeds": "http://example.org/", "topic": name}
    if is_there:
        (tmp_path / name).write_text("words = ['bee']")
    if is_topic:
        assert parse(given).topic == Topic.of(name)
        return
    assert re.match(rf"topic={name!r} .*FILE\.toml", wrong(given))


def test_patterns() -> None:
    rows = [
        ("/news/", ["/news/"]),
        ("/a/,/b/ /c/", ["/a/", "/b/", "/c/"]),
        (r"\d{2,4}/,[,;]x", [r"\d{2,4}/", "[,;]x"]),
        (",,", []),
    ]
    for name in ["allow", "deny"]:
        for value, expected in rows:
            assert [pattern.pattern for pattern in getattr(parse({"seeds": A, name: value}), name)] == expected


ALLOWED = {
    "scope": "allowed are host, site, any",
    "allow": "allowed are regular expressions, separated by commas or spaces",
    "deny": "allowed are regular expressions, separated by commas or spaces",
    "max_pages": "allowed are whole numbers from 1 on",
    "max_depth": "allowed are whole numbers from 0 on",
    "min_relevance": "allowed are numbers from 0 to 1",
    "min_chance": "allowed are numbers from 0 to 1",
    "stop_when": "allowed is harvest<NUMBER, with a number between 0 and 1 such as harvest<0.05",
    "lang": "allowed are codes such as en, zh, de, fr, ja, ru",
    "name": "allowed are letters, digits, '_', '-' and '.', at most 200 bytes",
    "images": "allowed are yes, no",
    "markdown": "allowed are no, yes, links",
    "documents": "allowed are yes, no",
    "quality": "allowed are yes, no",
    "listings": "allowed are yes, no",
    "extractor": f"allowed are {', '.join(EXTRACTORS)}",
    "favour": "allowed are balance, precision, recall",
    "refresh": "allowed are due, all",
    "fresh": "allowed are yes, no",
    "retopic": "allowed are yes, no",
    "purpose": "allowed are label, ai-train, ai-input, search",
    "workers": "allowed are auto and whole numbers from 1 to 64",
    "render": "allowed are auto, never, always",
}
WRONG = {
    "scope": ["web", "Host", "host,site"],
    "allow": ["(", "[a", "*", "a(?P<1>b)", "(?\n)]"],
    "deny": ["(", "x{2}{3}"],
    "max_pages": ["0", "-1", "1.5", "ten", "1e3", "1_000", "１", "+5", "9" * 10],
    "max_depth": ["-1", "deep", "9" * 10],
    "min_relevance": ["1.1", "-0.1", "half", "nan", "50%", "0,5", "1e-3", "."],
    "min_chance": ["1.1", "-0.1", "half"],
    "stop_when": ["harvest", "harvest<0", "harvest<1", "harvest>0.5", "relevance<0.5", "harvest<nan"],
    "lang": ["english", "xx", "en,xx", "中文"],
    "name": ["a/b", "..", "a.", ".a", "-a", "a b", "a\\b", "con", "NUL.txt", "com1", "a" * 201, "蜜" * 67, "a\0"],
    "images": ["maybe", "true", "YES"],
    "markdown": ["maybe", "Links", "yes,links"],
    "documents": ["maybe", "pdf", "YES"],
    "quality": ["maybe", "all", "YES"],
    "listings": ["maybe", "all", "YES"],
    "extractor": ["magic", "Auto", "leaf_tags"],
    "favour": ["Recall", "f1", "precision,recall", "0.5"],
    "fresh": ["maybe", "true", "YES"],
    "retopic": ["maybe", "true", "YES"],
    "refresh": ["yes", "Due", "due,all"],
    "purpose": ["train", "AI-train", "ai-train,all", "ai_train"],
    "workers": ["0", "65", "all", "-1", "2.0"],
    "render": ["yes", "Auto", "no"],
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize(
    ("topic", "is_enough"),
    [
        (None, False),
        ('examples = ["https://a.example/bees"]', False),
        ('examples = ["Bees make honey."]', True),
        ('words = ["bees"]', True),
    ],
)
def test_another_topic_needs_words_or_texts(topic: str | None, is_enough: bool, tmp_path: Path) -> None:
    given = {"seeds": A, "retopic": "yes"}
    if topic is not None:
        (tmp_path / "topic.toml").write_text(topic, "utf-8")
        given["topic"] = str(tmp_path / "topic.toml")
    if is_enough:
        assert parse(given).retopic
    else:
        assert wrong(given).startswith("retopic=yes ")


def test_every_argument_has_wrong_values() -> None:
    assert set(WRONG) == set(ALLOWED) == set(ARGUMENTS) - {"seeds", "topic", "fields"}


def test_a_wrong_value_is_said_with_what_is_allowed() -> None:
    for name, value in CASES:
        message = wrong({"seeds": A, name: value})
        shown = repr(value.split(",")[-1] if name in ("lang", "purpose") else value[:100])[:-1]
        assert message.startswith(f"{name}={shown}")
        assert message.endswith(ALLOWED[name])
        assert message.isprintable()
        assert len(message) < 300


def test_a_name_of_the_files_of_another_crawl() -> None:
    rows = ["bees.previous", "bees.images", "bees.Previous", "bees.IMAGES-12", "bees.previous-2", "a.images.previous"]
    for name in rows:
        assert re.match(rf"name={name!r} .*\.previous or \.images", wrong({"seeds": A, "name": name}))


def test_a_message_is_one_line_whatever_the_value() -> None:
    for name in WRONG:
        message = wrong({"seeds": A, name: "(\n\r\x1b[31m" + "x\n" * 1000})
        assert message.isprintable()
        assert len(message) < 500


@pytest.mark.parametrize("name", ["demo", "", "a\nb"])
def test_an_unknown_argument(name: str) -> None:
    message = wrong({"seeds": A, name: "x"})
    assert repr(name) in message
    assert message.endswith(", ".join(ARGUMENTS))


@pytest.mark.parametrize(("name", "near"), [("seed", "seeds"), ("Seeds", "seeds"), ("maxpages", "max_pages")])
def test_a_mistyped_argument(name: str, near: str) -> None:
    assert re.search(rf"{name!r}.* {near}$", wrong({"seeds": A, name: "x"}))
