"""Saves the responses of pages, and robots.txt files, as they came over the network, compressed by zstd.

The responses of a crawl may take `limit` bytes. The database adds up their sizes: a worker asks for the sum when it
starts, and whenever it has stored a twentieth of the limit since then. So each worker may exceed the limit by a
twentieth, and until the next sum, the old response of a changed page counts as well as the new one.

For each batch, `Responses.compress` is called before the transaction, `pack` and `save` within it, and `committed`
after it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Connection, RowMapping, delete, func, select

from crawler.errors import TooLargeError
from crawler.frontier.page_result import Completion, StoredResponse
from crawler.store.batch.addresses import AddressKeys
from crawler.store.database import dialect_insert, in_chunks, replacing_insert, storable
from crawler.store.page_tables import robots_file, stored_response

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

COMPRESSION_LEVEL = 1  # 0.4 ms for a page of 240 KB; level 3 takes 0.6 ms and saves 7 % of the space
RECOUNTS = 20  # a worker counts the stored bytes again after each twentieth of the limit
MOST_BYTES = 1024**3  # the most bytes of a decompressed body


def record_id(kind: str, *identity: object) -> str:
    """The WARC-Record-ID of a record, the same whenever it is written; `identity` are values that no other record has.

    >>> record_id("response", 1, "2026-11-22T12:30:00+00:00")
    '<urn:uuid:...>'
    """
    name = " ".join(map(str, ("winnow", kind, *identity)))
    return f"<{uuid5(NAMESPACE_URL, name).urn}>"


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """The completions of a batch, and the rows of the responses that are stored with it."""

    ended: list[Completion]
    """The completions; if a response is stored, the record of its page has the id of its WARC record."""
    rows: dict[int, dict[str, Any]]
    """The rows, by the key of the page."""
    left_out: list[int]
    """The keys of pages whose responses are not stored because of the limit."""


class Responses:
    """Saves the responses of the pages that one worker stores."""

    def __init__(self, crawl_id: int, keys: AddressKeys) -> None:
        self.crawl_id = crawl_id
        self.keys = keys
        self.limit = sys.maxsize
        """How many bytes the responses of the crawl may take."""
        self._counted_bytes: int | None = None
        """How many bytes they took when they were last counted; None if they must be counted."""
        self._bytes_since_count = 0
        """The bytes that this worker has stored since, including responses that replaced earlier ones."""
        self._bytes_of_batch = 0
        """The bytes that the uncommitted transaction stores."""
        self._compressor = zstd.ZstdCompressor(COMPRESSION_LEVEL)  # a new one for each page takes twice as long
        self._bodies: dict[int, bytes] = {}
        """Compressed bodies of the batch, by the id of the lease."""
        self._is_full = False
        """Whether the limit left no room for the last response."""

    def compress(self, ended: Iterable[Completion]) -> None:
        """Compress the responses of a batch. This comes before its transaction, for which other workers wait."""
        self._bodies.clear()
        for completion in ended:
            if completion.result.record is not None and completion.result.response is not None and not self._is_full:
                self._bodies[completion.lease.id] = self._compressed(completion.result.response)

    def _compressed(self, response: StoredResponse) -> bytes:
        return self._compressor.compress(response.body, zstd.ZstdCompressor.FLUSH_FRAME)

    def pack(self, connection: Connection, ended: Sequence[Completion]) -> PackedBatch:
        """The responses of a batch that are to be stored: those for which the limit has room."""
        packed = PackedBatch([], {}, [])
        self._bytes_of_batch = 0
        for completion in ended:
            record = completion.result.record
            response = completion.result.response
            if record is None or response is None:
                packed.ended.append(completion)
                continue

            key = self.keys(completion.lease.candidate.url, completion.lease.candidate.kind)
            self._is_full = not self._has_room(connection)
            if self._is_full:
                packed.left_out.append(key)
                packed.ended.append(completion)
                continue

            row = _response_row(response, str(record["fetched_at"])) | {"key": key, "crawl_id": self.crawl_id}
            # `compress` leaves out responses while the limit is reached; there may be room again by now.
            row["body"] = self._bodies.get(completion.lease.id) or self._compressed(response)
            self._bytes_of_batch += len(row["body"])
            packed.rows[key] = row
            record_with_id = {**record, "warc_record_id": record_id("response", key, record["fetched_at"])}
            packed.ended.append(replace(completion, result=replace(completion.result, record=record_with_id)))
        return packed

    def save(self, connection: Connection, packed: PackedBatch) -> None:
        """Save the responses, replacing earlier ones."""
        # The earlier responses of pages that are left out are outdated: they are deleted to make room.
        for part in in_chunks(sorted(packed.left_out)):
            if connection.execute(delete(stored_response).where(stored_response.c.key.in_(part))).rowcount:
                self._counted_bytes = None
        if not packed.rows:
            return
        rows = [packed.rows[key] for key in sorted(packed.rows)]
        connection.execute(replacing_insert(connection.dialect.name, stored_response, tuple(rows[0])), rows)

    def committed(self) -> None:
        """Remember how much the last transaction stored."""
        self._bytes_since_count += self._bytes_of_batch
        self._bytes_of_batch = 0

    def _has_room(self, connection: Connection) -> bool:
        """Whether another response may be stored; counts the stored bytes if this is due."""
        if self._counted_bytes is None or self._bytes_since_count > self.limit // RECOUNTS:
            stored_bytes = select(func.coalesce(func.sum(func.length(stored_response.c.body)), 0))
            of_crawl = stored_response.c.crawl_id == self.crawl_id
            self._counted_bytes = int(connection.execute(stored_bytes.where(of_crawl)).scalar_one())
            self._bytes_since_count = 0
        return self._counted_bytes + self._bytes_since_count + self._bytes_of_batch < self.limit


def _response_row(response: StoredResponse, fetched_at: str) -> dict[str, Any]:
    """The columns of a response, without its body."""
    return {
        "fetched_at": fetched_at,
        "status_line": storable(response.status_line),
        "headers": storable(json.dumps(response.headers, ensure_ascii=False)),
        "request_line": storable(response.request_line),
        "request_headers": storable(json.dumps(response.request_headers, ensure_ascii=False)),
    }


def response_of(row: RowMapping | Mapping[str, Any], most: int = MOST_BYTES) -> StoredResponse:
    """The response in a row; raises a TooLargeError if its body has more than `most` bytes."""
    return StoredResponse(
        status_line=row["status_line"],
        headers=_headers(row["headers"]),
        body=unpacked(row["body"], most),
        request_line=row.get("request_line") or "",
        request_headers=_headers(row.get("request_headers") or "[]"),
    )


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    """The names and values of headers that are stored as JSON."""
    return tuple((name, value) for name, value in json.loads(text))


def unpacked(body: bytes, most: int = MOST_BYTES) -> bytes:
    """The decompressed bytes of a stored body; raises a TooLargeError if there are more than `most`."""
    unpacker = zstd.ZstdDecompressor()
    data = unpacker.decompress(body, most)
    if not unpacker.eof:
        raise TooLargeError("a stored response is too large")
    return data


class RobotsFiles:
    """The robots.txt files that one worker has saved."""

    def __init__(self, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self._saved: set[str] = set()
        """The digests of the files that this worker has saved."""
        self._new: set[str] = set()
        """The digests of the files that the uncommitted transaction saves."""

    def save(self, connection: Connection, ended: Iterable[Completion]) -> None:
        """Save the files that allowed the requests for pages, if this worker has not saved them yet."""
        files = {
            completion.result.robots.digest: completion.result.robots
            for completion in ended
            if completion.result.robots is not None
        }
        self._new = files.keys() - self._saved
        rows = [
            {
                "crawl_id": self.crawl_id,
                "digest": digest,
                "first_url": storable(files[digest].url),
                "read_at": files[digest].read_at,
                "body": zstd.compress(files[digest].body, COMPRESSION_LEVEL),
            }
            for digest in sorted(self._new)
        ]
        if rows:
            connection.execute(dialect_insert(connection.engine)(robots_file).on_conflict_do_nothing(), rows)

    def committed(self) -> None:
        """Remember what the last transaction saved."""
        self._saved |= self._new
