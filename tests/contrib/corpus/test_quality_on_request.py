"""The numbers of texts: crawls store them on request, and exports compute what is not stored."""

import json
from pathlib import Path
from typing import Any

import pytest
from export_place import Place, lines
from pyarrow import parquet
from sites import OPEN, Crawl, Site, crawl, page, serving
from sqlalchemy.engine import make_url

from crawler.contrib.corpus import quality
from crawler.contrib.corpus.quality import NAMES, complete_quality, measured
from crawler.metadata.text_quality import OF_EXTRACTION

DANCE = (
    "Bees dance in the dark of the hive, and the others follow the dancer with their antennae.",
    "The angle of her run to the vertical is the angle between the sun and the flowers that she has found.",
    "How long she waggles says how far they are, and the scent on her body tells which kind to look for.",
    "A forager who has learned this leaves for a meadow where she has never been, and most of them arrive there.",
)
HONEY = ("蜜蜂在花丛中飞舞，采集花蜜。", "蜂蜜是蜜蜂采集花蜜酿成的食物，" * 9 + "味道很甜。")
ROUTES = {
    "/": page(*DANCE, links={"/honey": "honey of bees 蜜蜂", "/list": "list of bees"}),
    "/honey": page(*HONEY),
    "/list": page("<ul><li>Bees - one<li>Bees - two<li>Bees - three...</ul>" * 20, *DANCE),
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl with `quality=yes` and one without, of the same site."""
    folder = tmp_path_factory.mktemp("both")
    with serving(Site(ROUTES)) as site:
        for name, wish in (("full", "yes"), ("plain", "no")):
            arguments = {"seeds": site.url, "topic": "bees 蜜蜂", "name": name, "quality": wish, "images": "no"}
            ended = crawl(folder, arguments, OPEN)
            assert ended.status == 0, ended.err
    return ended


@pytest.fixture
def place(both: Crawl, place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The command in the folder of these crawls."""
    monkeypatch.chdir(both.folder)
    place.url = make_url("sqlite:///output/crawl.db")
    return place


def by_address(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["url"]: row["quality"] for row in rows}


def test_a_crawl_stores_what_is_asked_for(both: Crawl) -> None:
    full, plain = by_address(both.items("full")), by_address(both.items("plain"))
    assert len(full) == 3
    assert {tuple(numbers) for numbers in full.values()} == {NAMES}
    assert {tuple(numbers) for numbers in plain.values()} == {OF_EXTRACTION}


def test_a_file_has_the_same_numbers_whatever_the_crawl_stored(place: Place, tmp_path: Path) -> None:
    tables = {}
    for name in ("full", "plain"):
        assert place.export("--name", name, "-o", f"{tmp_path}/{name}.parquet").status == 0
        tables[name] = by_address(parquet.read_table(tmp_path / f"{name}.parquet").to_pylist())
    assert tables["plain"] == tables["full"]
    assert all(numbers["words"] > 9 for numbers in tables["full"].values())


@pytest.mark.parametrize(
    "words",
    [
        ["--fields", "url,quality"],
        ["--fields", "url,quality", "--changes-after", "0"],
        ["--fields", "url,quality", "--where", "quality.words > 60 and relevance >= 0"],
        ["--fields", "url,quality", "--keep", "gopher"],
        ["--fields", "url,quality", "--dedupe", "near,paragraphs"],
        ["--fields", "url,quality", "--mask", "email"],
        ["--where", "quality.bullet_line_frac < 0.5"],
    ],
)
def test_exports_that_need_the_numbers_have_them(place: Place, words: list[str]) -> None:
    said = {name: place.export("--name", name, *words) for name in ("full", "plain")}
    assert said["full"].status == said["plain"].status == 0
    full, plain = (by_address(lines(said[name].out.encode())) for name in ("full", "plain"))
    assert plain == full
    assert full
    assert all(numbers.keys() >= {*NAMES} for numbers in full.values())


def test_data_sets_have_the_numbers(place: Place, tmp_path: Path) -> None:
    for name in ("full", "plain"):
        assert place.export("--name", name, "--into", f"{tmp_path}/{name}").status == 0
    full, plain = (
        by_address(parquet.read_table(tmp_path / name / "part-00000.parquet").to_pylist()) for name in ("full", "plain")
    )
    assert plain == full


@pytest.mark.parametrize("words", [[], ["--where", "quality.kept_frac > 0"], ["--changes-after", "0"]])
def test_other_exports_have_what_is_stored(place: Place, words: list[str]) -> None:
    rows = lines(place.export("--name", "plain", *words).out.encode())
    assert {tuple(numbers) for numbers in by_address(rows).values()} == {OF_EXTRACTION}


def test_the_same_pages_are_removed(place: Place, tmp_path: Path) -> None:
    removed = {}
    for name in ("full", "plain"):
        words = ["--keep", "gopher,c4", "--where", "quality.han_frac < 0.1", "-o", f"{tmp_path}/{name}.jsonl"]
        assert place.export("--name", name, *words).status == 0
        removed[name] = sorted(lines((tmp_path / f"{name}.removed.jsonl").read_bytes()), key=str)
    assert removed["plain"] == removed["full"]
    assert removed["full"]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--where", "depth == 0 and quality.words > 0"], 1),
        (["--where", "quality.words > 0 and depth == 0"], 1),
        (["--where", "depth > 5", "--keep", "gopher"], 0),
        (["--where", "depth == 0", "--fields", "quality"], 1),
        (["--fields", "url,text"], 0),
        (["--where", "quality.certainty > 2 or quality.kept_frac > 2"], 0),
        (["--preset", "datatrove"], 0),
    ],
)
def test_numbers_are_computed_for_the_pages_that_need_them(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], count: int
) -> None:
    texts = []

    def counted(text: str, language: str | None) -> dict[str, float | None]:
        texts.append(text)
        return measured(text, language)

    monkeypatch.setattr(quality, "measured", counted)
    said = place.export("--name", "plain", *words, "-o", f"{tmp_path}/a.jsonl")
    assert said.status == 0, said.err
    assert len(texts) == count


STORED = {"certainty": 0.9, "kept_frac": 0.5}


def test_which_numbers_are_computed() -> None:
    rows = [
        (None, None),
        (STORED, STORED | measured(DANCE[0], "en")),
        ({"kept_frac": 0.5}, {"kept_frac": 0.5} | measured(DANCE[0], "en")),
        (STORED | {"words": 3}, STORED | {"words": 3}),
    ]
    for stored, expected in rows:
        values = {"url": "http://a.example/", "text": DANCE[0], "language": "en", "quality": stored}
        before = json.dumps(values)
        assert complete_quality(values) == values | {"quality": expected}
        assert json.dumps(values) == before
