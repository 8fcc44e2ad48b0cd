"""Every sentence of the dashboard is there in Chinese, and no other."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler import dashboard
from crawler.dashboard.api import API
from crawler.dashboard.words import words_of
from crawler.extensions.watch import GIVEN_UP
from crawler.failures import NOT_PUBLIC, WORDS
from crawler.state import glance
from crawler.state.claims import BUDGET_SPENT
from crawler.state.entries import OFF_TOPIC
from crawler.wording import Message, reason_words

FOLDER = Path(dashboard.__file__).parent
TEXT = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
SAID = re.compile(r"(?<![\w.])_\(\s*" + TEXT)
MANY = re.compile(r"\bmany\(\s*(?:[^\"',()]|\([^()]*\))+,\s*" + TEXT + r"\s*,\s*" + TEXT)
FOR_PROGRAMS = {"metrics.py", "openapi.py"}
"""Modules whose sentences are not for people's eyes."""


def in_template(text: str) -> Iterator[str]:
    for found in [*SAID.findall(text), *(one for pair in MANY.findall(text) for one in pair)]:
        yield ast.literal_eval(found)


def in_module(path: Path) -> Iterator[str]:
    """What is a sentence by its looks, docstrings left out: it may be shown."""
    tree = ast.parse(path.read_text("utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    silent |= {
        id(one)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "API")  # said to programs
        or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger."))
        for one in ast.walk(node)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in silent else None
        if isinstance(text, str) and re.fullmatch(r"[A-Z][^<>]* [^<>]*[.!?]", text):
            yield text
    yield from in_template(path.read_text("utf-8"))


MODULES = [*(path for path in sorted(FOLDER.rglob("*.py")) if path.name not in FOR_PROGRAMS), Path(glance.__file__)]
FOUND = {
    **{path.name: set(in_template(path.read_text("utf-8"))) for path in sorted(FOLDER.glob("templates/*.html"))},
    **{f"{path.parent.name}/{path.name}": set(in_module(path)) for path in MODULES},
}
CHINESE = {
    english: chinese
    for path in FOLDER.glob("chinese*.json")
    for english, chinese in json.loads(path.read_text("utf-8")).items()
}

REASONS = json.loads((FOLDER / "chinese_reasons.json").read_text("utf-8"))
"""What other parts of the crawler say."""
CJK = re.compile("[\u4e00-\u9fff]")


@pytest.mark.parametrize("where", [name for name, sentences in FOUND.items() if sentences])
def test_every_sentence_is_in_chinese(where: str) -> None:
    assert sorted(FOUND[where] - CHINESE.keys()) == []


def texts_of(path: Path) -> Iterator[str]:
    """All texts of a module."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    yield from (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_no_other_is() -> None:
    templates = "".join(path.read_text("utf-8") for path in FOLDER.glob("templates/*.html")).replace("\\'", "'")
    # What methods and models say stands beside them; the judge of pictures puts its reasons together from parts.
    written = {one for path in FOLDER.parent.rglob("*.py") for one in texts_of(path)}
    # The name of an argument is left out below its field, and names of days and months stand in one text.
    written |= {one.partition("=")[2] for one in written if "={" in one} | {
        word for one in written for word in one.split()
    }
    parts = (
        "it stands in <",
        "{a} of {b} pages",
        "its ",
        "it is {a}",
        "it is likely",
        "the elements",
        "no other of {a}",
    )
    unknown = [one for one in CHINESE if one not in written and one not in templates and not one.startswith(parts)]
    assert [one for one in unknown if one not in REASONS] == []


def as_written(node: ast.JoinedStr) -> str:
    """A text with values in it, as the tables have it but for the names of the values."""
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]


def test_what_is_put_together_elsewhere_is_put_together_so() -> None:
    paths = [*FOLDER.parent.rglob("*.py")]
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    texts = [as_written(node) for node in nodes if isinstance(node, ast.JoinedStr)]
    texts += [text for path in paths for text in texts_of(path)]
    made = {*texts, *(reason_words(text) for text in texts), *(text.rpartition("failed/")[2] for text in texts)}
    made |= {reason_words(text.removeprefix("skipped/")) for text in texts}
    unknown = [one for one in REASONS if not any(text.endswith(re.sub(r"\{\w+\}", "{}", one)) for text in made)]
    assert unknown == []


@pytest.mark.parametrize("path", API)
def test_what_programs_may_ask_for_is_described_in_chinese(path: str) -> None:
    said = {API[path].about, *(one.about for one in API[path].parameters)}
    assert sorted(said - CHINESE.keys()) == []


@pytest.mark.parametrize("english", [*WORDS.values(), OFF_TOPIC, BUDGET_SPENT, GIVEN_UP, NOT_PUBLIC])
def test_why_addresses_failed_is_said_in_chinese(english: str) -> None:
    assert CJK.search(words_of("zh").said(reason_words(english)))


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("robots.txt cannot be read: no answer in time", "无法读取 robots.txt：响应超时"),
        ("not HTML: image/png", "不是 HTML：image/png"),
        ("not HTML: no type given", "不是 HTML：未给出类型"),
        ("404 Not Found", "404 Not Found"),
        ("not HTML: " + "x" * 1_000, "not HTML: " + "x" * 1_000),
        ("{n} pages{", "{n} pages{"),
    ],
)
def test_what_was_put_together_before(english: str, chinese: str) -> None:
    assert words_of("zh").said(english) == chinese
    assert words_of("en").said(english) == english


def test_messages_in_both_languages() -> None:
    allowed = Message("{name} is wrong; allowed is {allowed}", {"name": "q", "allowed": Message("a whole number")})
    under_way = Message("run {n} of the job {name} is under way; end it first", {"n": 3, "name": "'{x}'"})
    assert [words_of("zh").message(one) for one in (allowed, under_way)] == [
        "q 无效；应为 整数",
        "任务 '{x}' 的第 3 次运行正在进行；请先结束它",
    ]
    assert words_of("en").said(under_way) == "run 3 of the job '{x}' is under way; end it first"


def test_spans_in_chinese() -> None:
    said = words_of("zh").span
    assert [said(one) for one in (0.01, 5, 600, 86_400, 864_000)] == [
        "10 毫秒",
        "5.0 秒",
        "10 分钟",
        "24 小时",
        "10 天",
    ]


def test_what_is_filled_in_is_the_same_in_both() -> None:
    def names(text: str) -> list[str]:
        return sorted(re.findall(r"\{(\w*)\}", text))

    assert [english for english, chinese in CHINESE.items() if names(english) != names(chinese)] == []
    assert [english for english, chinese in CHINESE.items() if not chinese.strip()] == []


def test_there_is_something_to_say() -> None:
    assert {"Schedule", "There is no such page.", "No crawl was ever run here.", "{n} pages"} <= set().union(
        *FOUND.values()
    )
