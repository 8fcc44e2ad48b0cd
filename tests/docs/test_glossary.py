"""The glossary's words are in use, in English and Chinese, and the words that it rejects are not."""

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from fork_server import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
CODE = re.compile(r"^\s*```.*?^\s*```|`[^`\n]*`|(?<=\])\([^)]*\)", re.MULTILINE | re.DOTALL)


def rows() -> list[list[str]]:
    """English, Chinese, the meaning and the rejected words of each term."""
    lines = re.findall(r"^\| (.*) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines[1:]]


@pytest.fixture(scope="module")
def sentences() -> tuple[dict[str, str], str]:
    """What users read in English by its source, without code, and all that they read in Chinese."""
    with (ROOT / "crawler/locale/zh/LC_MESSAGES/winnow.po").open("rb") as file:
        catalogue = read_po(file)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    pages.remove(GLOSSARY)
    chinese = {page for page in pages if "zh" in page.relative_to(ROOT).as_posix()}
    generated = set((ROOT / "docs" / "reference").glob("*.md"))
    english = {page.name: CODE.sub("", read(page)) for page in set(pages) - chinese - generated}
    messages = [message for message in catalogue if message.id]
    english["messages"] = "\n".join(str(message.id) for message in messages)
    return english, "\n".join([*(read(page) for page in chinese), *(str(message.string) for message in messages)])


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def has(text: str, word: str) -> bool:
    """Whether a text has a word, in the singular or in a plural with -s or -es; capitals are for titles of works."""
    return re.search(rf"(?<![\w./:,-]){re.escape(word)}(e?s)?(?![\w:/=[-]|\.\w)", text) is not None


def test_the_terms_are_in_use_and_in_order(sentences: tuple[dict[str, str], str]) -> None:
    english, chinese = sentences
    everything = "\n".join(english.values())
    terms = rows()
    assert len(terms) >= 20
    assert [term[0] for term in terms] == sorted(term[0] for term in terms)
    assert [term[0] for term in terms if not has(everything, term[0])] == []
    assert [term[1] for term in terms if term[1] not in chinese] == []


def test_rejected_words_are_not_used(sentences: tuple[dict[str, str], str]) -> None:
    english, _ = sentences
    rejected = [word for row in rows() for word in row[3].split(", ") if word]
    assert len(rejected) >= 10
    used = [(word, name) for word in rejected for name, text in english.items() if has(text, word)]
    assert used == []
