"""`--dedupe`: which copies an export leaves out, in one crawl and in several, and what it says of them."""

from pathlib import Path

import duckdb
import pytest
from copied_pages import LONG, NEARLY, fill, kept, removed
from export_place import Place, lines
from sqlalchemy import update

from crawler.contrib.corpus import paragraphs
from crawler.store import page_tables

PAGES = [LONG, NEARLY, LONG.upper(), "Short.", "short", "", "", LONG.replace("word", "thing")]
BOX = "Subscribe to our newsletter, it is free and comes each week."


def test_copies_are_left_out(either: Place) -> None:
    fill(either, PAGES)
    for kind, expected in (("exact", "013567"), ("near", "03567"), ("exact,near", "03567")):
        assert kept(either, "--dedupe", kind) == [f"bees{n}" for n in expected]


def test_copies_are_listed_with_what_is_kept(either: Place) -> None:
    fill(either, PAGES)
    said = either.export("-o", "kept.jsonl", "--dedupe", "near")
    listed = removed(either)
    assert 0.9 < listed[0].pop("value") < 1
    bees = "http://bees.example/"
    assert listed == [
        {"url": f"{bees}1", "rule": "dedupe: near", "limit": 0.8, "copy_of": f"{bees}0"},
        {"url": f"{bees}2", "rule": "dedupe: exact", "value": 1.0, "limit": 1.0, "copy_of": f"{bees}0"},
        {"url": f"{bees}4", "rule": "dedupe: exact", "value": 1.0, "limit": 1.0, "copy_of": f"{bees}3"},
    ]
    assert "5 of 8 pages " in said.err
    assert " 3 pages removed, by: dedupe: exact (2), dedupe: near (1)." in said.err.replace("export:", "")


def test_which_copy_is_kept(place: Place) -> None:
    """The crawls are stored in another order than their pages were seen in."""
    fill(place, [f"{NEARLY} Longest."], "new", first_seen="2026-11-22T00:00:00+00:00")
    fill(place, [NEARLY], "mid", "mid.example.org", first_seen="2026-11-21T00:00:00+00:00")
    fill(place, [LONG], "old", first_seen="2026-11-20T23:00:00+00:00")
    old, new, mid = "http://old.example/0", "http://new.example/0", "http://mid.example.org/0"
    for words, expected in (
        ([], old),
        (["--prefer", "oldest"], old),
        (["--prefer", "best"], new),
        (["--prefer", "mid.example.org"], mid),
        (["--prefer", "example.org"], mid),
        (["--prefer", "example.com"], old),
    ):
        shown = expected.removeprefix("http://").replace(".example/", "")
        assert kept(place, "--dedupe", "near", "--name", "new,mid,old", *words) == [shown]
        assert [row["copy_of"] for row in removed(place)] == [expected, expected]


@pytest.mark.parametrize("kind", ["near", "exact"])
def test_the_page_whose_text_it_is_is_kept(place: Place, kind: str) -> None:
    """A list with the whole text was seen before, and has more text."""
    text = NEARLY if kind == "near" else LONG
    fill(place, [text], "list", "list.example.org", first_seen="2026-11-20T00:00:00+00:00", text_owner=2)
    fill(place, [LONG], "post", "post.example.org", first_seen="2026-11-22T00:00:00+00:00", text_owner=0)
    for words, expected in (
        ([], "post.example.org/0"),
        (["--prefer", "best"], "post.example.org/0"),
        (["--prefer", "list.example.org"], "list.example.org/0"),
    ):
        assert kept(place, "--dedupe", kind, "--name", "list,post", *words) == [expected]


def test_an_address_with_parameters_is_no_original(place: Place) -> None:
    fill(place, [LONG], "bees", url="http://www.example.org/0?share=mail")
    fill(place, [LONG], "hive", "hive.example.org", first_seen="2026-11-29T00:00:00+00:00")
    assert kept(place, "--dedupe", "near", "--name", "bees,hive") == ["hive.example.org/0"]


@pytest.mark.parametrize("kind", ["near", "exact"])
def test_another_site_takes_no_text_from_the_page_that_was_first(place: Place, kind: str) -> None:
    """As in a crawl, what a page says about itself counts on its own site."""
    fill(place, [LONG], "first", first_seen="2026-11-20T00:00:00+00:00", text_owner=2)
    fill(place, [LONG], "later", first_seen="2026-11-22T00:00:00+00:00", text_owner=0)
    assert kept(place, "--dedupe", kind, "--name", "first,later") == ["first0"]


def test_of_equally_long_texts_the_more_relevant_one_is_best(place: Place) -> None:
    fill(place, ["Bees.", "BEES.", "bees!"])
    place.change(update(page_tables.page).where(page_tables.page.c.depth == 1).values(relevance=0.5))
    assert kept(place, "--dedupe", "exact", "--prefer", "best") == ["bees1"]


def test_several_crawls_without_dedupe(either: Place) -> None:
    for name in ("bees", "wasps", "ants"):
        fill(either, [LONG], name)
    said = either.export("--name", "wasps,bees", "-o", "kept.jsonl")
    assert "2 of 2 pages " in said.err
    assert "bees, wasps" in said.err
    assert kept(either, "--name", "wasps,bees") == ["bees0", "wasps0"]
    assert kept(either, "--name", "wasps,bees", "--dedupe", "exact") == ["bees0"]


def test_what_a_filter_removes_is_no_original(place: Place) -> None:
    fill(place, [LONG, LONG, LONG])
    assert kept(place, "--dedupe", "exact", "--where", "depth > 0") == ["bees1"]
    assert [one["rule"] for one in removed(place)] == ["depth > 0", "dedupe: exact"]


@pytest.fixture
def two_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A paragraph is repeated if two pages have it."""
    monkeypatch.setattr(paragraphs, "FEWEST_PAGES", 2)


@pytest.mark.parametrize(("pages", "is_repeated"), [(paragraphs.FEWEST_PAGES, True), (4, False)])
def test_how_many_pages_have_a_repeated_paragraph(place: Place, pages: int, is_repeated: bool) -> None:
    """A page that has it twice counts once, and other sites do not count."""
    fill(place, [f"{n}\n{BOX}\n{BOX}" for n in range(pages)])
    fill(place, [BOX], "wasps")
    kept(place, "--name", "bees,wasps", "--dedupe", "paragraphs")
    assert [one["url"] for one in removed(place)] == [
        f"http://bees.example/{n}" for n in range(1, pages) if is_repeated
    ]


def test_repeated_paragraphs_stay_on_the_first_page(either: Place, two_pages: None) -> None:
    short = "Read more about bees and their hives"
    fill(either, [f"One.\n{BOX}\n{short}", f"Two.\n\n{BOX.upper()}\n\n{short}", BOX, f"{short}\nFour."])
    fill(either, [f"Five.\n{BOX}"], "wasps")
    said = either.export("-o", "kept.jsonl", "--name", "bees,wasps", "--dedupe", "paragraphs", "--fields", "text")
    texts = [one["text"] for one in lines((either.folder / "kept.jsonl").read_bytes())]
    assert texts == [f"One.\n{BOX}\n{short}", f"Two.\n\n{short}", f"{short}\nFour.", f"Five.\n{BOX}"]
    assert removed(either) == [
        {"url": "http://bees.example/1", "rule": "dedupe: paragraphs", "value": [BOX.upper()], "limit": None},
        {"url": "http://bees.example/2", "rule": "dedupe: paragraphs alone", "value": [BOX], "limit": None},
    ]
    assert "dedupe: paragraphs alone (1)." in said.err


@pytest.mark.parametrize(
    ("line", "is_removed"),
    [
        ("b" * paragraphs.SHORTEST, True),
        ("b" * (paragraphs.SHORTEST - 1), False),
        ("蜂" * 14, True),
        ("蜂" * 13, False),
        ("-" * 80, False),
    ],
)
def test_which_lines_are_paragraphs(place: Place, line: str, is_removed: bool, two_pages: None) -> None:
    fill(place, [f"{line}\nOne.", f"{line}\nTwo."])
    assert kept(place, "--dedupe", "paragraphs") == ["bees0", "bees1"]
    assert len(removed(place)) == is_removed


def test_a_page_may_repeat_itself(place: Place, two_pages: None) -> None:
    fill(place, [f"{BOX}\n{BOX}", "Two."])
    assert kept(place, "--dedupe", "paragraphs") == ["bees0", "bees1"]
    assert removed(place) == []


def test_hosts_of_a_site_are_one_site(place: Place, two_pages: None) -> None:
    fill(place, [f"One.\n{BOX}"], "bees", "www.example.org")
    fill(place, [f"Two.\n{BOX}"], "wasps", "news.example.org")
    assert kept(place, "--name", "bees,wasps", "--dedupe", "paragraphs") == ["www.example.org/0", "news.example.org/0"]
    assert [one["url"] for one in removed(place)] == ["http://news.example.org/0"]


def test_paragraphs_go_from_markdown_too(place: Place, two_pages: None) -> None:
    marked = BOX.replace("newsletter", "[newsletter](http://bees.example/join)")
    fill(place, [f"One.\n{BOX}", f"Two.\n{BOX}"], markdown=f"Text.\n\n**{marked}**\n")
    assert kept(place, "--dedupe", "paragraphs") == ["bees0", "bees1"]
    rows = lines((place.folder / "kept.jsonl").read_bytes())
    assert [BOX[-30:] in one["markdown"] for one in rows] == [True, False]
    assert rows[1]["markdown"] == "Text."
    assert len(removed(place)[0]["value"]) == 1


def test_copies_go_before_paragraphs(either: Place, two_pages: None) -> None:
    fill(either, [f"{LONG}\n{BOX}", f"{NEARLY}\n{BOX}", f"Three.\n{BOX}"])
    assert kept(either, "--dedupe", "paragraphs,near") == ["bees0", "bees2"]
    assert [one["rule"] for one in removed(either)] == ["dedupe: near", "dedupe: paragraphs"]
    assert kept(either, "--dedupe", "paragraphs,near", "--where", "depth > 0") == ["bees1", "bees2"]
    assert [one["rule"] for one in removed(either)] == ["depth > 0", "dedupe: paragraphs"]


@pytest.mark.parametrize("output", ["a.parquet", "a.csv", "pages/", "a.warc"])
def test_every_format(place: Place, output: str) -> None:
    fill(place, [LONG, LONG])
    said = place.export("-o", output, "--dedupe", "exact")
    assert "1 of 2 pages" in said.err
    if output == "a.parquet":
        query = "SELECT count(*) FROM read_parquet(?)"
        assert duckdb.execute(query, [str(place.folder / output)]).fetchone() == (1,)


@pytest.mark.parametrize("kinds", ["exact", "near", "paragraphs", "near,paragraphs"])
def test_an_empty_export(place: Place, kinds: str) -> None:
    fill(place, [LONG])
    assert kept(place, "--dedupe", kinds, "--where", "depth > 5") == []


def test_standard_output(place: Place) -> None:
    fill(place, [LONG, LONG])
    said = place.export("--dedupe", "near")
    assert len(lines(said.out.encode())) == 1
    assert "dedupe: exact (1)." in said.err
    assert place.names() == []


def test_a_full_disk_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(paragraphs, "TemporaryFile", full)
    fill(place, [LONG])
    said = place.export("--dedupe", "paragraphs", "-o", "a.jsonl")
    assert said.status == 1
    assert "[Errno 28]" in said.err
    assert place.names() == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--dedupe", "fuzzy"], "argument --dedupe: there is no 'fuzzy'; there are exact, near, paragraphs"),
        (["--prefer", "best"], "--prefer works only with --dedupe exact or near"),
        (["--prefer", "best", "--dedupe", "paragraphs"], "--prefer works only with --dedupe exact or near"),
        (["--prefer", "zh", "--dedupe", "near"], "argument --prefer: 'zh' is wrong; allowed are oldest, best, and"),
        (["--dedupe", "near", "--labels"], "--dedupe does not go with --labels"),
        (["--dedupe", "near", "--changes-after", "0"], "--dedupe does not go with --changes-after"),
        (["--dedupe", "paragraphs", "-o", "a.warc"], "--dedupe paragraphs cannot be combined with warc"),
        (["--name", "bees,wasps"], "there is no crawl 'wasps'; there are bees"),
        (["--name", "bees,wasps", "--changes-after", "0"], "--changes-after takes one crawl"),
        (["--name", "bees,wasps", "--labels"], "--labels takes one crawl"),
    ],
)
def test_wrong_use_writes_nothing(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)


def test_temporary_files_lie_beside_the_output(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    file = paragraphs.TemporaryFile
    monkeypatch.setattr(paragraphs, "TemporaryFile", lambda dir: folders.append(dir) or file(dir=dir))
    fill(place, [LONG])
    (place.folder / "mine").mkdir()
    assert place.export("--dedupe", "paragraphs", "-o", "mine/a.jsonl").status == 0
    assert set(folders) == {place.folder / "mine"}
