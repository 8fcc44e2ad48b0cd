"""The responses that pages came in, kept when KEEP_RESPONSES asks for it; the last one of each page, and compressed."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping

from crawler.frontier.messages import AddressKeys, Candidate, Completion, StoredResponse
from crawler.store.addresses import dialect_insert
from crawler.store.output_files import storable
from crawler.store.schema import stored_response
from crawler.translation.message import MessageError

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

LEVEL = 3  # of compression: a page of 100 KB takes less than a millisecond
MOST = 1024**3  # bytes of a response, which has far fewer


def save_responses(connection: Connection, crawl_id: int, keys: AddressKeys, ended: Iterable[Completion]) -> None:
    """Keep the responses that stored pages came in; what was kept before of the same pages goes."""
    rows = [
        _row(crawl_id, keys, one.lease.candidate, one.result.response, one.result.record)
        for one in ended
        if one.result.response is not None and one.result.record is not None
    ]
    if not rows:
        return
    new = dialect_insert(connection.engine)(stored_response)
    renewed = {name: new.excluded[name] for name in rows[0] if name != "key"}
    by_key = {row["key"]: row for row in rows}
    connection.execute(
        new.on_conflict_do_update(index_elements=["key"], set_=renewed), [by_key[key] for key in sorted(by_key)]
    )


def _row(
    crawl_id: int, keys: AddressKeys, candidate: Candidate, response: StoredResponse, record: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "key": keys(candidate.url, candidate.kind),
        "crawl_id": crawl_id,
        "fetched_at": record["fetched_at"],
        "status_line": storable(response.status_line),
        "headers": storable(json.dumps(response.headers, ensure_ascii=False)),
        "body": zstd.compress(response.body, LEVEL),
    }


class TooLargeError(MessageError, ValueError):
    """A response that has more bytes than are read."""


def response_of(row: RowMapping | Mapping[str, Any], most: int = MOST) -> StoredResponse:
    """The response in a row; a TooLargeError where it has more bytes than that."""
    unpacker = zstd.ZstdDecompressor()
    body = unpacker.decompress(row["body"], most)
    if not unpacker.eof:
        raise TooLargeError("a response that is kept is too large")
    return StoredResponse(row["status_line"], tuple((name, value) for name, value in json.loads(row["headers"])), body)
