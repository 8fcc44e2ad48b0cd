"""`scrapy export` with numbers of texts, and in formats of the corpus."""

import sys
from pathlib import Path

import duckdb
import fork_server
import pytest
from export_place import Place, lines
from fork_server import environment
from pyarrow import parquet
from sites import Crawl
from warcio.archiveiterator import ArchiveIterator

from crawler.contrib.corpus.quality import complete_quality
from crawler.items import TIMES


def test_numbers_of_texts_decide_what_is_kept(finished: Place, crawled: Crawl, tmp_path: Path) -> None:
    items = {one["url"]: complete_quality(one)["quality"] for one in crawled.items("bees")}
    said = finished.export("--keep", "c4", "--where", "quality.han_frac < 0.1", "-o", f"{tmp_path}/a.jsonl")
    assert said.status == 0
    assert lines((tmp_path / "a.jsonl").read_bytes()) == []
    removed = {one.pop("url"): one for one in lines((tmp_path / "a.removed.jsonl").read_bytes())}
    han = next(url for url, numbers in items.items() if numbers["han_frac"] >= 0.1)
    assert removed.pop(han) == {"rule": "quality.han_frac < 0.1", "value": items[han]["han_frac"], "limit": 0.1}
    assert {one["limit"] for one in removed.values()} == {5}
    assert len(removed) == 3


def test_other_readers_read_the_same(finished: Place, crawled: Crawl, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    assert finished.export("-o", str(path)).status == 0
    items = {one["url"]: one for one in crawled.items("bees")}
    table = parquet.read_table(path).to_pylist()
    rows = {row["url"]: row | {name: row[name].isoformat() for name in TIMES} for row in table}
    full = {url: complete_quality(item) for url, item in items.items()}
    assert rows == full
    texts = dict(duckdb.execute("SELECT url, text FROM read_parquet(?)", [str(path)]).fetchall())
    assert texts == {url: item["text"] for url, item in items.items()}


def test_an_archive_holds_what_came_and_what_was_made_of_it(finished: Place, crawled: Crawl, tmp_path: Path) -> None:
    assert finished.export("-o", f"{tmp_path}/a.warc.gz").status == 0
    with (tmp_path / "a.warc.gz").open("rb") as file:
        records = [(one, one.content_stream().read()) for one in ArchiveIterator(file, check_digests="raise")]
    texts = {one.rec_headers["WARC-Target-URI"]: data.decode() for one, data in records if one.rec_type == "conversion"}
    assert texts == {one["url"]: one["text"] for one in crawled.items("bees")}
    answers = {
        one.rec_headers["WARC-Target-URI"][-2:]: (one, data) for one, data in records if one.rec_type == "response"
    }
    record, body = answers["/1"]
    assert body.startswith(b"<!DOCTYPE html>")
    assert record.http_headers.get_header("ETag") == '"a"'
    assert record.http_headers.get_header("Content-Encoding") is None
    assert record.http_headers.get_header("Content-Length") == str(len(body))
    assert int(record.http_headers.get_header("X-Crawler-Content-Length")) != len(body)
    cleaned = fork_server.run(["scrapy", "clean", f"{tmp_path}/a.warc.gz", "--jobs", "1"], tmp_path, environment(), 60)
    assert {one["url"]: one["text"] for one in lines(cleaned.stdout.encode())} == texts


def test_what_is_not_stored_is_said(place: Place) -> None:
    place.fill(2)
    assert "KEEP_RESPONSES" in place.export("-o", "a.warc").err


def test_without_pyarrow_it_is_said_what_to_install(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.fill(1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = place.export("-o", "a.parquet")
    missing = "the module pyarrow is missing: pip install 'winnow-crawler[corpus]'"
    assert (said.status, said.err) == (2, f"export: {missing}\n")
    assert place.names() == []


def test_rights_can_be_asked_for_in_parquet(finished: Place, tmp_path: Path) -> None:
    assert finished.export("-o", f"{tmp_path}/a.parquet").status == 0
    asked = "SELECT count(*), count(rights.uses.\"ai-train\") FROM read_parquet(?) WHERE rights.uses.search = 'unknown'"
    assert duckdb.execute(asked, [str(tmp_path / "a.parquet")]).fetchall() == [(4, 4)]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--format", "parquet"], "parquet cannot be written to standard output; use -o"),
        (["-o", "a.parquet.gz"], "parquet cannot be compressed with .gz, .zst"),
        (["-o", "a.warc", "--fields", "url"], "--fields does not go with warc"),
    ],
)
def test_wrong_use_writes_nothing(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)
