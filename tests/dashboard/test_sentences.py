"""Every sentence of the dashboard is there in Chinese, and no other."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard_client import API

from crawler import dashboard
from crawler.dashboard.translation import words_of
from crawler.extraction.auto.explanation import BlockReason
from crawler.noise.reasons import NoiseReason
from crawler.store import read_only
from crawler.translation.message import Message
from crawler.translation.reasons import ReasonCode

FOLDER = Path(dashboard.__file__).parent
TEXT = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
SAID = re.compile(r"(?<![\w.])_\(\s*" + TEXT)
MANY = re.compile(r"\bmany\(\s*(?:[^\"',()]|\([^()]*\))+,\s*" + TEXT + r"\s*,\s*" + TEXT)
FOR_PROGRAMS = {"metrics.py"}
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
        or (isinstance(node, ast.keyword) and node.arg in ("summary", "description"))  # said to programs
        or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger."))
        for one in ast.walk(node)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in silent else None
        if isinstance(text, str) and re.fullmatch(r"[A-Z][^<>]* [^<>]*[.!?]", text) and "= ?" not in text:
            yield text
    yield from in_template(path.read_text("utf-8"))


MODULES = [*(path for path in sorted(FOLDER.rglob("*.py")) if path.name not in FOR_PROGRAMS), Path(read_only.__file__)]
FOUND = {
    **{path.name: set(in_template(path.read_text("utf-8"))) for path in sorted(FOLDER.glob("templates/*.html"))},
    **{f"{path.parent.name}/{path.name}": set(in_module(path)) for path in MODULES},
}
CHINESE = {
    english: chinese
    for path in FOLDER.glob("chinese*.json")
    for english, chinese in json.loads(path.read_text("utf-8")).items()
}

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
    written = {one for path in FOLDER.parent.rglob("*.py") for one in texts_of(path)}
    # The name of an argument is left out below its field, and names of days and months stand in one text.
    written |= {one.partition("=")[2] for one in written if "={" in one} | {
        word for one in written for word in one.split()
    }
    unknown = [one for one in CHINESE if one not in written and one not in templates]
    assert unknown == []


@pytest.mark.parametrize("code", [*NoiseReason, *BlockReason])
def test_why_models_say_so_is_said_in_chinese(code: ReasonCode) -> None:
    assert CJK.search(CHINESE[code.sentence])


@pytest.mark.parametrize("path", API)
def test_what_programs_may_ask_for_is_described_in_chinese(path: str) -> None:
    said = {API[path].about, *(one.about for one in API[path].parameters)}
    assert sorted(said - CHINESE.keys()) == []


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
        return sorted(re.findall(r"\{[^}]*\}", text))

    assert [english for english, chinese in CHINESE.items() if names(english) != names(chinese)] == []
    assert [english for english, chinese in CHINESE.items() if not chinese.strip()] == []


def test_there_is_something_to_say() -> None:
    assert {"Schedule", "There is no such page.", "No crawl was ever run here.", "{n} pages"} <= set().union(
        *FOUND.values()
    )
