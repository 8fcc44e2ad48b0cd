"""A data set: a folder with the pages of an export in shards, a manifest and a card.

A shard is closed when it has reached the requested size, so it is larger by at most one row group of Parquet, or one
block of zstd. The folder has a temporary name until the manifest and the card are in it. A killed export therefore
changes nothing under the folder's own name.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import chain, islice
from typing import Any

from crawler.atomic_files import AtomicFolder
from crawler.contrib.corpus.dataset_card import dataset_card
from crawler.contrib.corpus.manifest import Contents, Origin, manifest
from crawler.contrib.corpus.parquet import parquet
from crawler.errors import WrongUseError
from crawler.export.formats import compressed
from crawler.export.jsonl import jsonl
from crawler.reports.stored_pages import StoredPage

MANIFEST = "manifest.json"
CARD = "README.md"
USUAL_SIZE = 100_000_000
"""Bytes of a shard if --shard-size is not given."""
LEAST_SIZE = 1_000_000
"""The fewest bytes that --shard-size can name."""
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?(MB|GB)", re.IGNORECASE)
_UNITS = {"mb": 1_000_000, "gb": 1_000_000_000}


def size_of(text: str) -> int:
    """Parse the size of a shard; raises a WrongUseError.

    >>> size_of("100MB"), size_of("1.5 gb")
    (100000000, 1500000000)
    """
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else int(float(match[1]) * _UNITS[match[2].lower()])
    if size < LEAST_SIZE:
        raise WrongUseError(
            "{value} is wrong; allowed are sizes from 1MB, such as 500MB or 2GB", value=repr(text[:100])
        )
    return size


@dataclass
class Shard:
    """A file of a data set."""

    name: str
    records: int = 0
    bytes: int = 0
    sha256: str = ""


class DataSet(AtomicFolder):
    """A folder with shards, a manifest and a card; `format` is `parquet`, or `jsonl`, which is compressed with zstd."""

    def __init__(self, path: str, format: str, size: int | None = None) -> None:
        super().__init__(path)
        self.format = "jsonl.zst" if format == "jsonl" else format
        self.size = size or USUAL_SIZE
        self.shards: list[Shard] = []
        self.contents = Contents()

    def fill(self, pages: Iterable[StoredPage], fields: Sequence[str], types: Mapping[str, Any] | None = None) -> int:
        """Write pages into shards; returns the number of bytes. `types` are the types of Parquet's columns."""
        pages = iter(pages)
        while first_page := list(islice(pages, 1)):  # a shard is begun only if there is a page for it
            shard = Shard(f"part-{len(self.shards):05}.{self.format}")
            self.shards.append(shard)
            self._write_shard(shard, self._parts(self._until_full(shard, chain(first_page, pages)), fields, types))
        return sum(shard.bytes for shard in self.shards)

    def describe(self, origin: Origin) -> None:
        """Write the manifest and the card."""
        described = manifest(origin, self.contents, self.format, [asdict(shard) for shard in self.shards])
        self.write(MANIFEST, json.dumps(described, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n")
        self.write(CARD, dataset_card(described).encode("utf-8", "replace"))

    def _write_shard(self, shard: Shard, parts: Iterable[bytes]) -> None:
        digest = sha256()
        for part in parts:
            self.append(shard.name, part)
            digest.update(part)
            shard.bytes += len(part)
        shard.sha256 = digest.hexdigest()

    def _parts(
        self, pages: Iterable[StoredPage], fields: Sequence[str], types: Mapping[str, Any] | None
    ) -> Iterator[bytes]:
        if self.format == "parquet":
            # A row group is never larger than a shard, so that small shards have about the requested size.
            return parquet(pages, fields, self.size, types)
        return compressed(jsonl(pages, fields), ".zst")

    def _until_full(self, shard: Shard, pages: Iterable[StoredPage]) -> Iterator[StoredPage]:
        """The pages of a shard, until it has the requested size. `_write_shard` adds to `shard.bytes` meanwhile."""
        for page in pages:
            shard.records += 1
            self.contents.add(page.values)
            yield page
            if shard.bytes >= self.size:
                return
