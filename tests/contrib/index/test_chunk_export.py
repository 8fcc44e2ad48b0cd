"""`scrapy export --format chunks`, and the chunks of a cleaned page."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from export_place import Place, lines
from sites import OPEN, Answer, Crawl, Site, crawl, page, serving
from sqlalchemy.engine import make_url

from crawler import clean
from crawler.contrib.index.chunk_size import ChunkSizeError
from crawler.contrib.index.page_id import page_id

FIELDS = ["id", "page_id", "url", "headings", "text", "language", "tokens", "place"]
MARKDOWN = "# Bees\n\nThey hum.\n\n## Dance\n\n" + " ".join(f"Number {n} dances in the dark." for n in range(100))
MANUAL = """<html><title>Bees</title><body><nav><a href=/>Home</a></nav><main><h1 id=bees>Bees</h1>
<p>Bees dance in the dark of the hive, and others follow them to the flowers.</p>
<section id=honey><h2>Honey</h2><p>Honey is made of nectar, which bees carry home and dry with their wings.</p>
<pre>honey(nectar)</pre></section><h2>Wax</h2><p>Wax is made by young bees, who build the combs of it in the dark.</p>
</main></body></html>"""


def exported(place: Place, *words: str) -> list[dict[str, Any]]:
    said = place.export("--format", "chunks", *words)
    assert said.status == 0, said.err
    return lines(said.out.encode())


def test_a_line_for_each_chunk(place: Place) -> None:
    place.fill(2, markdown=MARKDOWN, title="Bees")
    rows = exported(place)
    assert [*rows[0]] == FIELDS
    assert {row["url"] for row in rows} == {"http://bees.example/0", "http://bees.example/1"}
    assert {row["page_id"] for row in rows} == {page_id("http://bees.example/0"), page_id("http://bees.example/1")}
    assert [row["headings"] for row in rows[:2]] == [["Bees"], ["Bees", "Dance"]]
    assert (rows[0]["text"], rows[0]["language"], max(row["tokens"] for row in rows) <= 400) == (
        "They hum.",
        "en",
        True,
    )
    small = exported(place, "--tokens", "40")
    assert max(row["tokens"] for row in small) <= 40
    assert len(small) > 2 * len(rows)


def test_files_and_what_is_said_of_them(place: Place) -> None:
    place.fill(2, markdown=MARKDOWN, title="Bees")
    rows = exported(place)
    for name, unpack in {"a.jsonl": bytes, "a.jsonl.gz": gzip.decompress, "a.chunks": bytes}.items():
        format = () if name == "a.chunks" else ("--format", "chunks")
        said = place.export(*format, "-o", name)
        assert said.status == 0
        assert lines(unpack((place.folder / name).read_bytes())) == rows
        assert f"{len(rows)} chunks" in said.err
        assert "no text" not in said.err
        assert "2 pages have no stored response" in said.err


def test_bare_and_empty_pages_are_counted(place: Place) -> None:
    place.fill(2, name="bare", text="Bees\n- dance * \n# 1", title="Bees")
    place.fill(3, name="none", text="", title="Bees")
    said = place.export("--format", "chunks", "--name", "bare,none")
    assert [row["text"] for row in lines(said.out.encode())] == ["- dance \\*\n\n\\# 1"] * 2
    assert "2 pages have no stored Markdown" in said.err
    assert "3 pages have no text" in said.err


def test_masks_and_conditions_go_with_chunks(place: Place) -> None:
    place.fill(2, markdown="# Bees\n\nWrite to ann@example.org.", title="Bees")
    rows = exported(place, "--mask", "email", "--where", "depth > 0")
    assert [row["text"] for row in rows] == ["Write to [EMAIL]."]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--format", "chunks", "--tokens", "19"], "20"),
        (["--format", "chunks", "--tokens", "8001"], "8,000"),
        (["--format", "jsonl", "--tokens", "40"], "--tokens"),
        (["--labels", "--tokens", "40"], "--tokens"),
        (["--format", "chunks", "--fields", "url"], "--fields"),
        (["--format", "chunks", "--changes-after", "0"], "--changes-after"),
        (["--format", "chunks", "--preset", "mnbvc"], "--preset"),
        (["--format", "chunks", "--into", "folder"], "--into"),
        (["--format", "chunks", "--spreadsheet"], "--spreadsheet"),
    ],
)
def test_wrong_use(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of two manuals, whose responses are kept."""
    routes = {"/": page("Bees dance.", links={"/a": "Bees", "/b": "Bees too"})}
    more = {name: Answer(MANUAL.replace("Wax is", f"In {name} wax is").encode()) for name in ("/a", "/b")}
    with serving(Site(routes | more)) as site:
        given = {"seeds": site.url, "topic": "bees", "name": "bees", "markdown": "yes", "images": "no"}
        ended = crawl(tmp_path_factory.mktemp("crawled"), given, OPEN)
    assert ended.status == 0
    return ended


def test_stored_pages_have_the_chunks_of_cleaned_ones(
    crawled: Crawl, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawled.folder)
    place.url = make_url("sqlite:///output/crawl.db")
    rows = [row for row in exported(place) if "/a" in row["url"]]
    assert "no stored response" not in place.export("--format", "chunks").err
    base = rows[0]["url"].partition("#")[0]
    assert [row["url"] for row in rows] == [f"{base}#bees", f"{base}#honey", f"{base}#bees"]
    html = MANUAL.replace("Wax is", "In /a wax is")
    assert [chunk.record() for chunk in clean(html, base).chunks()] == rows


def test_a_cleaned_page() -> None:
    document = clean(MANUAL, "https://example.org/")
    chunks = document.chunks(tokens=20, count=len)
    assert {chunk.headings for chunk in chunks} == {("Bees",), ("Bees", "Honey"), ("Bees", "Wax")}
    assert max(map(len, (chunk.text for chunk in chunks))) <= 20
    assert "honey(nectar)" in [chunk.text for chunk in document.chunks()][1]
    assert clean("").chunks() == []
    with pytest.raises(ChunkSizeError):
        document.chunks(tokens=3)


def test_the_output_is_json_lines_to_others(place: Place, tmp_path: Path) -> None:
    place.fill(1, markdown="a\u2028b\x85c\n\n`\u2029`", title="\u2028")
    assert place.export("--format", "chunks", "-o", "a.jsonl").status == 0
    data = (place.folder / "a.jsonl").read_bytes()
    assert [json.loads(line)["text"] for line in data.decode().splitlines()] == ["a\u2028b\x85c\n\n`\u2029`"]
