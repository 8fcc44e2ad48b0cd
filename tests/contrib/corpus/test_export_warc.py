"""WARC, read by warcio, which checks every digest, and by the crawler's own reader."""

import io
from hashlib import sha256
from typing import Any

import pytest
from export_pages import odd, stored
from warcio.archiveiterator import ArchiveIterator

from crawler.contrib.corpus.warc import warc
from crawler.export.formats import compressed
from crawler.frontier.page_result import StoredResponse, raw_digest
from crawler.rights.robots_file import MAX_SIZE

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


def test_headers_fit_the_body_and_stay_in_their_lines() -> None:
    rows = [
        (("Content-Length", "99"), ("X-Crawler-Content-Length", "99")),
        (("Transfer-Encoding", "chunked"), ("X-Crawler-Transfer-Encoding", "chunked")),
        (("Content-Encoding", "odd"), ("Content-Encoding", "odd")),
        (("X", "a\r\nWARC/1.1\r\n\r\nb"), ("X", "a WARC/1.1 b")),
        (("X\r\n: Y", "\x00"), ("X----Y", "")),
    ]
    for given, expected in rows:
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


def test_the_request_stands_beside_the_response() -> None:
    sent = (("User-Agent", "Winnow"), ("X\r\n", "a\r\nb"))
    response = StoredResponse("HTTP/1.1 200 OK", (HTML,), BODY, "GET /1?蜂 HTTP/1.1", sent)
    page = stored(1, response, url="http://me:secret@a.example:81/1")
    _, (_, answer, _), (kind, request, body), _ = records(b"".join(warc([page])))
    assert (kind, body) == ("request", b"")
    assert request.http_headers.statusline == "/1?? HTTP/1.1"
    assert request.http_headers.protocol == "GET"
    assert request.http_headers.headers == [("Host", "a.example:81"), ("User-Agent", "Winnow"), ("X--", "a b")]
    heads = request.rec_headers, answer.rec_headers
    assert heads[0].get_header("WARC-Concurrent-To") == heads[1].get_header("WARC-Record-ID")
    for name in ("WARC-Target-URI", "WARC-Date"):
        assert heads[0].get_header(name) == heads[1].get_header(name)
    assert heads[1].get_header("WARC-Payload-Digest") == raw_digest(BODY)


@pytest.mark.parametrize(
    ("status", "profile", "digest"),
    [(304, "server-not-modified", None), (200, "identical-payload-digest", raw_digest(BODY))],
)
def test_a_page_that_was_the_same_again_is_a_revisit(status: int, profile: str, digest: str | None) -> None:
    again = {"revisited_at": "2026-12-01T00:00:00+00:00", "revisit_status": status}
    page = stored(1, StoredResponse("HTTP/1.1 200 OK", (HTML,), BODY), **again)
    found = records(b"".join(warc([page, stored(2, **again)])))
    assert [kind for kind, _, _ in found] == ["warcinfo", "response", "conversion", "revisit", "conversion"]
    response, revisit = found[1][1].rec_headers, found[3][1].rec_headers
    assert revisit.get_header("WARC-Profile") == f"http://netpreserve.org/warc/1.1/revisit/{profile}"
    assert revisit.get_header("WARC-Refers-To") == response.get_header("WARC-Record-ID")
    assert revisit.get_header("WARC-Refers-To-Date") == response.get_header("WARC-Date")
    assert revisit.get_header("WARC-Date") == "2026-12-01T00:00:00Z"
    assert revisit.get_header("WARC-Payload-Digest") == digest


def with_robots(number: int, body: bytes, read_at: str = "2026-11-22T12:00:00+00:00", host: str = "a.example") -> Any:
    where = f"http://{host}/robots.txt#sha256={sha256(body).hexdigest()}"
    evidence = {"signal": "robots_txt", "where": where, "says": "", "read_at": read_at}
    rights = {"licence": None, "uses": {}, "evidence": [evidence | {"signal": "noai"}, evidence]}
    return stored(number, rights=rights)


def test_each_version_of_a_robots_txt_comes_once() -> None:
    old, new, gone = b"User-agent: *\nDisallow: /a", b"#" * MAX_SIZE, b"no longer stored"
    bodies = {sha256(body).hexdigest(): body for body in (old, new)}
    later = "2026-12-01T00:00:00+00:00"
    pages = [with_robots(1, old), with_robots(2, old, later), with_robots(3, new, later), with_robots(4, gone)]
    pages += [with_robots(5, old, host="b.example"), stored(6)]
    found = records(b"".join(warc(pages, robots=bodies.get)))
    files = [(record.rec_headers, body) for kind, record, body in found if kind == "resource"]
    assert [body for _, body in files] == [old, new, old]
    told = [[head.get_header(f"WARC-{name}") for name in ("Target-URI", "Date", "Truncated")] for head, _ in files]
    assert told == [
        ["http://a.example/robots.txt", "2026-11-22T12:00:00Z", None],
        ["http://a.example/robots.txt", "2026-12-01T00:00:00Z", "length"],
        ["http://b.example/robots.txt", "2026-11-22T12:00:00Z", None],
    ]
    assert [kind for kind, _, _ in found[:3]] == ["warcinfo", "resource", "conversion"]
    assert len({record.rec_headers.get_header("WARC-Record-ID") for _, record, _ in found}) == len(found)
    assert files[0][0].get_header("WARC-Payload-Digest") == f"sha256:{sha256(old).hexdigest()}"
