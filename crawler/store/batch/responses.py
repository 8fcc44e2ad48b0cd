"""Saves what came over the network, compressed by zstd: the responses of pages, and robots.txt files.

The responses of a crawl are kept until they take `limit` bytes, counted by the database: a worker counts them when it
starts, and whenever it has stored a twentieth of the limit since. So several workers may together exceed the limit by a
twentieth each, and what a changed page had before may count twice for a while.
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
RECOUNTED = 20  # times that the responses are counted on the way to the limit
MOST_BYTES = 1024**3  # the most bytes of an unpacked response


def record_id(kind: str, *of: object) -> str:
    """The WARC-Record-ID of a record, the same whenever it is written.

    >>> record_id("response", 1, "2026-11-22T12:30:00+00:00")
    '<urn:uuid:...>'
    """
    return f"<{uuid5(NAMESPACE_URL, ' '.join(map(str, ('winnow', kind, *of)))).urn}>"


@dataclass(frozen=True, slots=True)
class Packed:
    """The completions of a batch, and the rows of the responses that are stored with it."""

    ended: list[Completion]
    """The completions; those that have a row know the ids of their records."""
    rows: dict[int, dict[str, Any]]
    """By the key of the page."""
    left_out: list[int]
    """The keys of pages whose responses are not stored because of the limit."""


class Responses:
    """Saves the responses of the pages that one worker stores."""

    def __init__(self, crawl_id: int, keys: AddressKeys) -> None:
        self.crawl_id = crawl_id
        self.keys = keys
        self.limit = sys.maxsize
        """How many bytes the responses of the crawl may take."""
        self._counted: int | None = None
        """How many they took when they were last counted."""
        self._since = 0
        """What this worker has stored since, and what it has replaced."""
        self._new = 0
        self._compressor = zstd.ZstdCompressor(COMPRESSION_LEVEL)  # a new one for each page takes twice as long
        self._bodies: dict[int, bytes] = {}
        """Compressed bodies of the batch, by lease."""
        self._is_full = False

    def compress(self, ended: Iterable[Completion]) -> None:
        """Compress the responses of a batch before its transaction, as other workers wait for that."""
        self._bodies.clear()
        for completion in ended:
            if completion.result.record is not None and completion.result.response is not None and not self._is_full:
                self._bodies[completion.lease.id] = self._compressed(completion.result.response)

    def _compressed(self, response: StoredResponse) -> bytes:
        return self._compressor.compress(response.body, zstd.ZstdCompressor.FLUSH_FRAME)

    def pack(self, connection: Connection, ended: Sequence[Completion]) -> Packed:
        """The responses that are to be stored."""
        packed = Packed([], {}, [])
        self._new = 0
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
            row["body"] = self._bodies.get(completion.lease.id) or self._compressed(response)
            self._new += len(row["body"])
            packed.rows[key] = row
            named = {**record, "warc_record_id": record_id("response", key, record["fetched_at"])}
            packed.ended.append(replace(completion, result=replace(completion.result, record=named)))
        return packed

    def save(self, connection: Connection, packed: Packed) -> None:
        """Save the responses, replacing earlier ones."""
        for part in in_chunks(sorted(packed.left_out)):  # what is no longer the response of its page takes no room
            if connection.execute(delete(stored_response).where(stored_response.c.key.in_(part))).rowcount:
                self._counted = None
        if not packed.rows:
            return
        rows = [packed.rows[key] for key in sorted(packed.rows)]
        connection.execute(replacing_insert(connection.dialect.name, stored_response, tuple(rows[0])), rows)

    def committed(self) -> None:
        """Remember how much the last transaction stored."""
        self._since += self._new
        self._new = 0

    def _has_room(self, connection: Connection) -> bool:
        """Whether another response may be stored."""
        if self._counted is None or self._since > self.limit // RECOUNTED:
            stored_bytes = select(func.coalesce(func.sum(func.length(stored_response.c.body)), 0))
            of_crawl = stored_response.c.crawl_id == self.crawl_id
            self._counted = int(connection.execute(stored_bytes.where(of_crawl)).scalar_one())
            self._since = 0
        return self._counted + self._since + self._new < self.limit


def _response_row(response: StoredResponse, fetched_at: str) -> dict[str, Any]:
    return {
        "fetched_at": fetched_at,
        "status_line": storable(response.status_line),
        "headers": storable(json.dumps(response.headers, ensure_ascii=False)),
        "request_line": storable(response.request_line),
        "request_headers": storable(json.dumps(response.request_headers, ensure_ascii=False)),
    }


def response_of(row: RowMapping | Mapping[str, Any], most: int = MOST_BYTES) -> StoredResponse:
    """The response in a row; raises a TooLargeError if it is too large."""
    request = row.get("request_line") or "", _headers(row.get("request_headers") or "[]")
    return StoredResponse(row["status_line"], _headers(row["headers"]), unpacked(row["body"], most), *request)


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in json.loads(text))


def unpacked(body: bytes, most: int = MOST_BYTES) -> bytes:
    """The bytes of a stored body; raises a TooLargeError if there are too many."""
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
        self._new: set[str] = set()

    def save(self, connection: Connection, ended: Iterable[Completion]) -> None:
        """Save the files by which pages were requested that this worker has not saved yet."""
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
