"""WARC, read by warcio, which checks every digest, and by the crawler's own reader."""

import io
from typing import Any

import pytest
from export_pages import odd, stored
from warcio.archiveiterator import ArchiveIterator

from crawler.export.formats import compressed
from crawler.export.warc import warc
from crawler.frontier.page_result import StoredResponse

BODY = b"<p>Bees</p>\r\n\r\nWARC/1.1\r\n"
HTML = ("Content-Type", "text/html; charset=utf-8")


def records(data: bytes) -> list[tuple[str, Any, bytes]]:
    """Kind, record and content of each, as warcio has them; a digest that is wrong is an error."""
    found = ArchiveIterator(io.BytesIO(data), check_digests="raise")
    return [(record.rec_type, record, record.content_stream().read()) for record in found]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_the_text_refers_to_the_response_it_was_made_of(ending: str) -> None:
    page = stored(1, StoredResponse("HTTP/1.1 200 OK", (HTML, ("Content-Length", str(len(BODY)))), BODY))
    data = b"".join(compressed(warc([page, stored(2)]), ending, apart=True))
    (_, info, said), (_, response, body), (_, text, words), (_, other, _) = records(data)
    assert [one.rec_type for one in (info, response, text, other)] == ["warcinfo", "response", *["conversion"] * 2]
    assert b"software: Winnow/" in said
    assert (body, words) == (BODY, b"Bees 1.")
    assert response.http_headers.get_statuscode() == "200"
    assert response.http_headers.headers == [HTML, ("Content-Length", str(len(BODY)))]
    assert text.rec_headers.get_header("WARC-Refers-To") == response.rec_headers.get_header("WARC-Record-ID")
    assert other.rec_headers.get_header("WARC-Refers-To") is None
    for one in (response, text):
        assert one.rec_headers.get_header("WARC-Target-URI") == "http://a.example/1"
        assert one.rec_headers.get_header("WARC-Date") == "2026-11-22T12:30:00Z"
    assert text.rec_headers.get_header("Content-Type") == "text/plain; charset=utf-8"


def test_each_record_can_be_unpacked_by_itself() -> None:
    data = b"".join(compressed(warc([stored(1), stored(2)]), ".gz", apart=True))
    parts = ArchiveIterator(io.BytesIO(data))
    offsets = [(parts.get_record_offset(), record.rec_type)[0] for record in parts]
    (kind, record, text) = records(data[offsets[2] :])[0]
    assert (kind, text) == ("conversion", b"Bees 2.")
    assert record.rec_headers.get_header("WARC-Target-URI") == "http://a.example/2"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("Content-Length", "99"), ("X-Crawler-Content-Length", "99")),
        (("Transfer-Encoding", "chunked"), ("X-Crawler-Transfer-Encoding", "chunked")),
        (("Content-Encoding", "odd"), ("Content-Encoding", "odd")),
        (("X", "a\r\nWARC/1.1\r\n\r\nb"), ("X", "a WARC/1.1 b")),
        (("X\r\n: Y", "\x00"), ("X----Y", "")),
    ],
)
def test_headers_fit_the_body_and_stay_in_their_lines(given: tuple[str, str], expected: tuple[str, str]) -> None:
    page = stored(1, StoredResponse("HTTP/1.1 200 OK\r\nA: b", (given, HTML), BODY))
    _, (_, response, body), _ = records(b"".join(warc([page])))
    assert body == BODY
    assert response.http_headers.statusline == "200 OK A: b"
    found = [(name, value.strip()) for name, value in response.http_headers.headers]
    assert found == [expected, HTML, ("Content-Length", str(len(BODY)))]


def test_an_address_stays_in_its_line() -> None:
    page = stored(1, url="http://a.example/b c\r\nWARC-Type: response\r\n蜂?x=%20&y#z")
    _, (_, record, _) = records(b"".join(warc([page])))
    expected = "http://a.example/b%20c%0D%0AWARC-Type:%20response%0D%0A%E8%9C%82?x=%20&y#z"
    assert record.rec_headers.get_header("WARC-Target-URI") == expected
    assert record.rec_type == "conversion"


def test_the_same_pages_have_the_same_records() -> None:
    page = stored(1, StoredResponse("HTTP/1.1 200 OK", (HTML,), BODY))
    (_, *one), (_, *other) = list(warc([page])), list(warc([page]))
    assert one == other
    assert len({*warc([page, stored(2), stored(1, fetched_at="2026-11-23T12:30:00+00:00")])}) == 5


def test_an_odd_text_comes_back_as_it_was() -> None:
    _, (_, _, text) = records(b"".join(warc([odd()])))
    assert text.decode() == odd().values["text"]
