"""`--preset`: records with the fields of other pipelines, which can read them without conversion.

- `datatrove`: the documents of huggingface/datatrove, which its readers load without an adapter.
- `chinesewebtext`: ChineseWebText (Chen et al. 2023, arXiv:2311.01149). `score` is from its own model,
  and null here.
- `mnbvc`: MNBVC's format for general texts, as of December 2024. A page is a file, and each line of its text that is
  not blank is a paragraph. `simhash` is computed as in MNBVC's conversion program: each of its 64 bits is set if it is
  set in the last 8 bytes of the MD5 of more than half of the distinct paragraphs.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import md5
from typing import Any

from crawler.errors import WrongUseError
from crawler.reports.stored_pages import StoredPage
from crawler.urls.parsing import host_of

LEAST_DISTINCT = 0.5
"""The share of distinct paragraphs below which MNBVC marks a file as one to be inspected."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Preset:
    """The records of a pipeline."""

    needs: tuple[str, ...]
    """The columns of pages that the records are made of."""
    fields: Mapping[str, tuple[Any, str]]
    """The Arrow type of each field, and its meaning. A type is a name, a dict with the types of a structure, or a list
    of one type.
    """
    record: Callable[[int, Mapping[str, Any]], Record]
    """Returns the record of a page, from its key and its values."""

    @property
    def types(self) -> dict[str, Any]:
        """The types of the fields."""
        return {name: type for name, (type, _) in self.fields.items()}

    def records(self, pages: Iterable[StoredPage]) -> Iterator[StoredPage]:
        """The pages, with the fields of their records added to their values."""
        for page in pages:
            yield replace(page, values={**page.values, **self.record(page.key, page.values)})


METADATA = ("url", "title", "author", "published", "language", "page_type", "relevance")
"""The columns of pages that are copied into the metadata of datatrove."""


def _datatrove(key: int, values: Mapping[str, Any]) -> Record:
    metadata = {name: values[name] for name in METADATA} | {"date": values["fetched_at"]} | _rights(values)
    unsigned_key = key % 2**64
    return {"text": values["text"], "id": f"{unsigned_key:016x}", "metadata": metadata}


def _rights(values: Mapping[str, Any]) -> Record:
    rights = values["rights"] or {}
    return {name: rights.get(name) for name in ("licence", "uses")}


def _chinesewebtext(_: int, values: Mapping[str, Any]) -> Record:
    url = values["url"]
    return {"title": values["title"], "score": None, "text": values["text"], "url": url, "source_domain": host_of(url)}


def _mnbvc(_: int, values: Mapping[str, Any]) -> Record:
    text = values["text"]
    paragraphs: list[Record] = []
    digests: dict[str, bytes] = {}  # the last 8 bytes of the MD5 of each distinct paragraph, by the MD5
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if content:
            digest = md5(content.encode("utf-8", "replace"), usedforsecurity=False)
            md5_text = digest.hexdigest()
            position = {"行号": number, "是否重复": md5_text in digests, "是否跨文件重复": False}
            paragraphs.append(position | {"md5": md5_text, "内容": content, "扩展字段": ""})
            digests[md5_text] = digest.digest()[-8:]
    more = {name: values[name] for name in ("title", "author", "language")} | _rights(values)
    return {
        "文件名": values["url"],
        "是否待查文件": len(digests) < LEAST_DISTINCT * len(paragraphs),
        "是否重复文件": False,
        "文件大小": len(text.encode("utf-8", "replace")),
        "simhash": simhash(digests.values()),
        "最长段落长度": max((len(paragraph["内容"]) for paragraph in paragraphs), default=0),
        "段落数": len(paragraphs),
        "去重段落数": len(digests),
        "低质量段落数": 0,
        "段落": paragraphs,
        "扩展字段": json.dumps(more, ensure_ascii=False),
        "时间": (values["published"] or values["fetched_at"])[:10].replace("-", ""),
    }


def simhash(digests: Iterable[bytes]) -> int:
    """A number of 64 bits, each of which is set if more than half of these 8-byte digests have it set.

    >>> simhash([bytes([0] * 7 + [last]) for last in (0b001, 0b011, 0b111, 0b111)]), simhash([])
    (3, 0)
    """
    import numpy as np

    bits = np.unpackbits(np.frombuffer(b"".join(digests), np.uint8)).reshape(-1, 64)
    return int.from_bytes(np.packbits(2 * bits.sum(axis=0) > len(bits)).tobytes(), "big")


USES = dict.fromkeys(("search", "ai-input", "ai-train"), "string")
PARAGRAPH = {
    "行号": "int64",
    "是否重复": "bool",
    "是否跨文件重复": "bool",
    "md5": "string",
    "内容": "string",
    "扩展字段": "string",
}
"""The types of a paragraph's fields: the number of its line, whether the page had it before, whether another page has
it, its MD5, its text, and further fields.
"""
PRESETS = {
    "datatrove": Preset(
        ("text", "fetched_at", "rights", *METADATA),
        {
            "text": ("string", "The main text."),
            "id": ("string", "The page's key in the database, 16 hexadecimal digits."),
            "metadata": (
                dict.fromkeys(METADATA, "string")
                | {"relevance": "float64", "date": "string", "licence": "string", "uses": USES},
                "The metadata of the page: `date` is when it was fetched, `uses` the permission stated for each use.",
            ),
        },
        _datatrove,
    ),
    "chinesewebtext": Preset(
        ("url", "title", "text"),
        {
            "title": ("string", "The headline."),
            "score": ("float64", "Null: ChineseWebText's own model gives this number."),
            "text": ("string", "The main text."),
            "url": ("string", "The page's address, after redirects."),
            "source_domain": ("string", "The host of the address."),
        },
        _chinesewebtext,
    ),
    "mnbvc": Preset(
        ("url", "text", "title", "author", "language", "rights", "published", "fetched_at"),
        {
            "文件名": ("string", "The page's address, after redirects."),
            "是否待查文件": ("bool", "Whether fewer than half of the paragraphs are distinct."),
            "是否重复文件": ("bool", "False."),
            "文件大小": ("int64", "Bytes of the text in UTF-8."),
            "simhash": ("uint64", "A number of 64 bits that similar texts share in most bits."),
            "最长段落长度": ("int64", "Characters of the longest paragraph."),
            "段落数": ("int64", "Paragraphs."),
            "去重段落数": ("int64", "Distinct paragraphs."),
            "低质量段落数": ("int64", "0."),
            "段落": ([PARAGRAPH], "The paragraphs: number of the line, whether it was there before, MD5 and text."),
            "扩展字段": ("string", "Title, author, language, licence and uses of the page as JSON."),
            "时间": ("string", "The day of publication, or else of the fetch, as yyyymmdd."),
        },
        _mnbvc,
    ),
}


def preset_of(text: str) -> str:
    """Check the name of a preset; raises a WrongUseError if it does not exist."""
    if text not in PRESETS:
        raise WrongUseError("there is no {value}; there are {names}", value=repr(text[:100]), names=[*PRESETS])
    return text
