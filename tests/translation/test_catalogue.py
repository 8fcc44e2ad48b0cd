"""Every sentence of code and templates is in every catalogue, and no other; the language is the reader's."""

import ast
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.pofile import read_po
from fork_server import ROOT

from crawler.translation.message import (
    LOCALE,
    Message,
    accepted_language,
    catalogue_of,
    languages,
    localized,
    plural,
    span,
    user_catalogue,
)

CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/winnow.po"))
TRANSLATED = [path.parts[-3] for path in CATALOGUES]


def entries(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, abort_invalid=True)


def texts(entry: Entry) -> tuple[str, ...]:
    return entry.id if isinstance(entry.id, tuple) else (entry.id,)


def translations(entry: Entry) -> tuple[str, ...]:
    return entry.string if isinstance(entry.string, tuple) else (entry.string,)


def places(text: str) -> list[str]:
    return sorted({f"{name}:{how}" for _, name, how, _ in string.Formatter().parse(text) if name is not None})


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """What Babel finds in code and templates."""
    path = tmp_path_factory.mktemp("extracted") / "winnow.pot"
    pybabel = [sys.executable, "-m", "babel.messages.frontend", "-q"]
    subprocess.run([*pybabel, "extract", "-F", "pyproject.toml", "-o", path, "."], cwd=ROOT, check=True)
    return entries(path)


@pytest.mark.parametrize("path", CATALOGUES, ids=TRANSLATED)
def test_every_sentence_has_an_entry_and_no_other(path: Path, extracted: Catalog) -> None:
    known = entries(path)
    assert sorted({str(one.id) for one in known} ^ {str(one.id) for one in extracted}) == []
    assert list(known.obsolete) == []


def test_the_extraction_finds_all_kinds_of_sentences(extracted: Catalog) -> None:
    found = {text for one in extracted for text in texts(one)}
    assert {
        "Schedule",
        "{n} pages",
        "it is in <{element}>",
        "robots.txt cannot be read: {why}",
        "What a cron line says",
        "Wednesday",
        "{value} is wrong; allowed are numbers from 0 to 1",
    } <= found


@pytest.mark.parametrize("path", CATALOGUES, ids=TRANSLATED)
def test_every_entry_is_translated_with_its_values(path: Path) -> None:
    found = [one for one in entries(path) if one.id]
    assert [one.id for one in found if one.fuzzy or not all(text.strip() for text in translations(one))] == []
    expected = {one.id: places(texts(one)[-1]) for one in found}
    assert [one.id for one in found for text in translations(one) if places(text) != expected[one.id]] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=TRANSLATED)
def test_what_is_read_is_what_translators_wrote(path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        compiled = GNUTranslations(file)
    for one in entries(path):
        if isinstance(one.id, tuple):
            assert (compiled.ngettext(*one.id, 1), compiled.ngettext(*one.id, 2)) == (one.string[0], one.string[-1])
        elif one.id:
            assert compiled.gettext(one.id) == one.string


def test_every_catalogue_has_a_language() -> None:
    assert set(languages()) == {"en", *TRANSLATED}
    assert "zh" in languages()


def test_the_language_of_a_browser() -> None:
    rows = [
        ("", "en"),
        ("zh", "zh"),
        ("ZH-cn", "zh"),
        ("zh-TW,zh;q=0.9", "zh"),
        ("en-US,en;q=0.9,zh;q=0.8", "en"),
        ("de, zh;q=0.5", "zh"),
        ("en;q=0.2, zh;q=0.7", "zh"),
        ("zh;q=0", "en"),
        ("zh;q=much", "en"),
        ("../../zh, \0", "en"),
        ("*", "en"),
    ]
    for header, language in rows:
        assert accepted_language(header) == language


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LANGUAGE": "zh:en"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en_US:zh"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "de"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_SG@pinyin"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "zh", "LC_ALL": "C"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh"}, "en"),
        ({"LANG": "", "LANGUAGE": "zh"}, "zh"),
    ],
)
def test_the_language_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], language: str
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert user_catalogue().language == language
    assert localized(Message("paused")) == ("已暂停" if language == "zh" else "paused")


def test_messages_in_both_languages() -> None:
    rows = [
        (
            Message("{name} is wrong; allowed is {allowed}", {"name": "q", "allowed": Message("a whole number")}),
            "q is wrong; allowed is a whole number",
            "q 无效；应为 整数",
        ),
        (
            Message("{name} is wrong; allowed is {allowed}", {"name": "{x}", "allowed": ["a", Message("yes")]}),
            "{x} is wrong; allowed is a, yes",
            "{x} 无效；应为 a、是",
        ),
        (plural("{n} page", "{n} pages", 1), "1 page", "1 个页面"),
        (plural("{n} page", "{n} pages", 3_000), "3,000 pages", "3,000 个页面"),
        (span(7_200), "2 h", "2 小时"),
        (Message("What nobody has translated: {n}", {"n": 1}), *2 * ("What nobody has translated: 1",)),
        (Message(""), "", ""),
    ]
    for message, english, chinese in rows:
        assert str(message) == english
        assert catalogue_of("zh").gettext(message) == chinese


def test_chinese_is_chinese() -> None:
    path = LOCALE / "zh" / "LC_MESSAGES" / "winnow.po"
    cjk = re.compile("[\u4e00-\u9fff]")
    same = [text for one in entries(path) if one.id for text in translations(one) if not cjk.search(text)]
    words = [text for text in same if re.search("[A-Za-z]{3}", re.sub(r"{[^}]*}|topic=", "", text))]
    assert words == ["Markdown", "Webhook"]


def raised(tree: ast.AST) -> Iterator[tuple[int, ast.expr]]:
    """The first sentence of each error that is a message, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            place = {"RefusedError": 1}.get(node.exc.func.id, 0)
            if node.exc.func.id in MESSAGE_ERRORS and len(node.exc.args) > place:
                yield node.lineno, node.exc.args[place]


MESSAGE_ERRORS = (
    "MessageError ArgumentError BusyError CronError JobError OutputError UnopenedOutputError RecordError RefusedError "
    "StateError TopicError WrongUseError"
).split()
FILES = [path for path in sorted((ROOT / "crawler").rglob("*.py")) if "Error" in path.read_text("utf-8")]


def test_errors_are_sentences_that_can_be_translated() -> None:
    """A sentence that is put together with its values is in no catalogue."""
    for path in FILES:
        found = raised(ast.parse(path.read_text("utf-8")))
        assert [line for line, sentence in found if isinstance(sentence, ast.JoinedStr | ast.BinOp)] == []
