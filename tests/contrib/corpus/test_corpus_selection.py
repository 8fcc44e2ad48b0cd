"""`--keep`, `--mask` and conditions on numbers of texts: which pages stay, and what is said of the others."""

import duckdb
import pytest
from export_place import PAGES, Place, lines
from sqlalchemy import create_engine, select, update

from crawler.contrib.corpus.corpus_selection import CorpusSelection
from crawler.errors import WrongUseError
from crawler.reports.condition import condition_of
from crawler.store import page_tables


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("quality.word > 2", "there is no field 'quality.word'; the nearest is quality.words"),
        ("quality.words.a > 2", "there is no field 'quality.words.a'; the nearest is quality.words"),
        ("quality.words == 'a'", "quality.words is to be compared with a number"),
    ],
)
def test_conditions_on_numbers_that_are_refused(text: str, why: str) -> None:
    with pytest.raises(WrongUseError) as refused:
        condition_of(text)
    assert why in str(refused.value)


def test_numbers_of_texts_are_computed_if_they_are_compared() -> None:
    rows = [
        (["quality.words > 2"], (), True),
        (["depth > 2", "not (depth == 1 or quality.han_frac < 0.5)"], (), True),
        (["quality.certainty > 0.8 and quality.kept_frac > 0.1"], (), False),
        (["quality == null", "own_fields.words > 3"], (), False),
        ([], ("c4",), True),
        ([], (), False),
    ]
    for conditions, sets, expected in rows:
        selection = CorpusSelection.of(map(condition_of, conditions), sets=sets)
        assert selection.compares_text_numbers is expected


def test_conditions_on_numbers_choose_pages(filled: Place) -> None:
    for condition, expected in (
        ("quality.words >= 50", "03"),
        ("quality.words > 49 and relevance > 0.5", "03"),
        ("quality.words < 50 or depth == 2", "12"),
    ):
        said = filled.export("--where", condition)
        assert said.status == 0, said.err
        assert "".join(str(page["depth"]) for page in lines(said.out.encode())) == expected


def test_the_pages_that_are_removed_are_listed(filled: Place) -> None:
    where = ["--where", "relevance > 0.2 and quality.words != 49", "--where", "en", "--where", "zh"]
    said = filled.export(*where, "--keep", "gopher", "-o", "kept.jsonl")
    assert said.status == 0
    removed = lines((filled.folder / "kept.removed.jsonl").read_bytes())
    assert removed == [
        {"url": "http://bees.example/2", "rule": "relevance > 0.2", "value": 0.1, "limit": 0.2},
        {"url": "http://bees.example/0", "rule": "gopher: mean_word_length >= 3", "value": None, "limit": 3},
        {"url": "http://bees.example/1", "rule": "quality.words != 49", "value": 49, "limit": 49},
        {"url": "http://bees.example/3", "rule": "gopher: alpha_word_frac >= 0.8", "value": None, "limit": 0.8},
        {"url": "http://bees.example/4", "rule": "gopher: words >= 50", "value": None, "limit": 50},
    ]
    assert "relevance > 0.2 (1), " in said.err
    assert "kept.removed.jsonl" in said.err
    assert (filled.folder / "kept.jsonl").read_bytes() == b""


def test_numbers_in_parquet(filled: Place) -> None:
    assert filled.export("-o", "a.parquet").status == 0
    query = "SELECT depth, quality.mean_word_length FROM read_parquet(?) WHERE quality.words > 49 ORDER BY depth"
    assert duckdb.execute(query, [str(filled.folder / "a.parquet")]).fetchall() == [(0, None), (3, 20.0)]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--keep", "gophr"], "argument --keep: there is no 'gophr'; there are gopher, fineweb, c4"),
        (["--mask", "name"], "argument --mask: there is no 'name'; there are email, ip, id, card, phone"),
        (["--mask", "ip", "-o", "a.warc"], "--mask cannot be combined with warc"),
        (["--mask", "ip", "--labels"], "--mask does not go with --labels"),
        (["--keep", "c4", "--labels"], "--keep does not go with --labels"),
        (["--keep", "c4", "--changes-after", "0"], "--keep does not go with --changes-after"),
    ],
)
def test_wrong_use_writes_nothing(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)


CONTACT = "Write to a@b.example or 13800138000."


def test_personal_data_is_masked_in_the_export_alone(filled: Place) -> None:
    table = page_tables.page
    values = {"text": CONTACT, "title": CONTACT, "markdown": CONTACT, "comments": CONTACT, "author": CONTACT}
    filled.change(update(table).where(table.c.depth == 0).values(**values))
    for words, first in ([], 0), (["--changes-after", "0"], None):
        said = filled.export("--mask", "email,phone", "--fields", "text,title,markdown,comments,author,quality", *words)
        assert said.status == 0
        if first is None:
            continue
        row = lines(said.out.encode())[first]
        told = "Write to [EMAIL] or [PHONE]."
        assert [row[name] for name in values] == [told, told, told, told, CONTACT]
        assert row["quality"] == {"words": 50, "kept_frac": 0.5, "masked_email": 3, "masked_phone": 3}
        assert "Masked: email (3), phone (3)." in said.err
    assert CONTACT in filled.export().out


def test_counts_of_what_is_masked_in_parquet(filled: Place) -> None:
    assert filled.export("--mask", "ip", "-o", "a.parquet").status == 0
    query = "SELECT count(quality.masked_ip), count(quality.words) FROM read_parquet(?)"
    assert duckdb.execute(query, [str(filled.folder / "a.parquet")]).fetchone() == (5, 3)


def test_the_database_keeps_everything(filled: Place) -> None:
    assert filled.export("--keep", "gopher,fineweb,c4", "-o", "kept.jsonl").status == 0
    engine = create_engine(filled.url)
    with engine.connect() as connection:
        assert len(connection.execute(select(page_tables.page.c.id)).all()) == len(PAGES)
    engine.dispose()
