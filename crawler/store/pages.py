"""Near duplicates: of which earlier page of its crawl a page is a copy, more or less.

Pages are looked up by the bands of their signatures, those of texts too short for one by their fingerprint. Only pages
that are no copies are entered, and no more of them under one band than `MOST_OF_A_BAND`, so that a page costs the same
whatever a site sends: a million equal pages are one entry. Two pages that two workers store at one moment do not see
each other.

Pages kept: the text of those that are new or changed, what they said before, and what is known of all others.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update

from crawler.frontier.messages import AddressKeys, Completion
from crawler.metadata.page_record import TYPES
from crawler.recrawl.page_history import PageChange, PageHistory, RoundContext, history_after
from crawler.recrawl.revisit_interval import Bounds
from crawler.store.addresses import dialect_insert, in_chunks
from crawler.store.output_files import storable
from crawler.store.schema import address, near_duplicate_band, page, page_version

MOST_OF_A_BAND = 20
MOST_LIKE = 40
"""Pages that are compared with one, those first that share the most bands with it."""

DELETE_BANDS = delete(near_duplicate_band).where(
    near_duplicate_band.c.crawl_id == bindparam("crawl"),
    near_duplicate_band.c.band == bindparam("of"),
    near_duplicate_band.c.key == bindparam("page"),
)


class TextSignature(NamedTuple):
    """What a page is told by."""

    key: int
    url: str
    signature: bytes | None
    fingerprint: str | None

    @property
    def bands(self) -> list[int]:
        """What it is looked up by."""
        if self.signature is not None:
            from crawler.recrawl.near_duplicates import bands  # imports numpy, which waits for the first page

            return bands(self.signature)
        return [int.from_bytes(bytes.fromhex(self.fingerprint), "big", signed=True)] if self.fingerprint else []

    def likeness(self, other: "TextSignature") -> float:
        """How much of two pages is the same; 0 where it is too little to speak of."""
        from crawler.recrawl.near_duplicates import NEAR, similarity

        if self.signature is None or other.signature is None:
            return float(self.fingerprint is not None and self.fingerprint == other.fingerprint)
        found = similarity(self.signature, other.signature)
        return found if found >= NEAR else 0.0


def originals(connection: Connection, crawl_id: int, pages: Sequence[TextSignature]) -> dict[int, str]:
    """The addresses of the pages that some pages are copies of, by the keys of these; the others are entered."""
    bands = {one.key: one.bands for one in pages}
    entered: defaultdict[int, list[int]] = defaultdict(list)
    for part in in_chunks(sorted({band for found in bands.values() for band in found})):
        rows = select(near_duplicate_band.c.band, near_duplicate_band.c.key).where(
            near_duplicate_band.c.crawl_id == crawl_id, near_duplicate_band.c.band.in_(part)
        )
        for band, key in connection.execute(rows):
            entered[band].append(key)
    likely = {one.key: _likely(one.key, bands[one.key], entered) for one in pages}
    known = _signatures(connection, {key for keys in likely.values() for key in keys})
    copies: dict[int, str] = {}
    new: list[dict[str, int]] = []
    for one in pages:
        known.pop(one.key, None)  # it is no copy of what it was
    for one in pages:
        original = _original(one, [known[key] for key in _likely(one.key, bands[one.key], entered) if key in known])
        if original is not None:
            copies[one.key] = original.url
            continue
        known[one.key] = one
        for band in bands[one.key]:
            if len(entered[band]) < MOST_OF_A_BAND:
                entered[band].append(one.key)
                new.append({"crawl_id": crawl_id, "band": band, "key": one.key})
    if new:
        enter = dialect_insert(connection.engine)(near_duplicate_band).on_conflict_do_nothing()
        connection.execute(enter, sorted(new, key=lambda row: (row["band"], row["key"])))
    return copies


def delete_bands(connection: Connection, crawl_id: int, pages: Iterable[TextSignature]) -> None:
    """Look some pages up no more by what they were told by."""
    rows = [{"crawl": crawl_id, "of": band, "page": one.key} for one in pages for band in one.bands]
    if rows:
        connection.execute(DELETE_BANDS, sorted(rows, key=lambda row: (row["of"], row["page"])))


def _likely(key: int, bands: Iterable[int], entered: defaultdict[int, list[int]]) -> list[int]:
    """The pages that share bands with one, the most first, and of equals those entered first."""
    shared = Counter(other for band in bands for other in entered.get(band, ()) if other != key)
    return [other for other, _ in shared.most_common(MOST_LIKE)]


def _signatures(connection: Connection, keys: Iterable[int]) -> dict[int, TextSignature]:
    columns = page.c.key, page.c.url, page.c.signature, page.c.text_fingerprint
    there = page.c.gone_at.is_(None)  # what is gone is no longer where the text is to be had
    rows = (connection.execute(select(*columns).where(page.c.key.in_(part), there)) for part in in_chunks(sorted(keys)))
    return {row.key: TextSignature(*row) for found in rows for row in found}


def _original(one: TextSignature, others: Iterable[TextSignature]) -> TextSignature | None:
    """The page that one is most like, if it is a copy."""
    best = max(((one.likeness(other), other) for other in others), key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] else None


PAGE_COLUMNS = frozenset(page.c.keys()) - {"id"}
OF_RECORD = frozenset(("text_fingerprint", "link_score"))
HISTORY = tuple(name for name in PageHistory.__dataclass_fields__ if name not in OF_RECORD)
UPDATE_HISTORY = (
    update(page).where(page.c.key == bindparam("its")).values({name: bindparam(f"to_{name}") for name in HISTORY})
)
VERSION_COLUMNS = ("key", "crawl_id", "fetched_at", "title", "text", "text_fingerprint")


class PageWriter:
    """The pages of a crawl, to be kept by one worker."""

    def __init__(self, crawl_id: int, keys: AddressKeys) -> None:
        self.crawl_id, self.keys = crawl_id, keys
        self.bounds = Bounds()
        self.versions = 0
        """How many texts are kept of what a page said before."""

    def keep(
        self, connection: Connection, ended: Iterable[Completion], context: RoundContext, links: Mapping[int, int]
    ) -> dict[int, str]:
        """Keep the results of pages; of those that are copies, the addresses of the originals, by lease."""
        mine = {self.keys(one.lease.candidate.url, one.lease.candidate.kind): one for one in ended if one.lease.counts}
        known = {
            key: history_after(one.visit(links.get(one.lease.id, 0)), context)
            for key, one in mine.items()
            if _is_of_page(one)
        }
        stored = [key for key in sorted(known) if mine[key].result.record is not None]
        save_versions(connection, [key for key in stored if _is_changed(mine[key])], self.versions)
        likely = [key for key in known if key in stored or _is_still_a_copy(mine[key])]
        copies = self._copies(connection, {key: mine[key] for key in mine if key in likely})
        rows = [self._row(mine[key], known[key], key, copies.get(key)) for key in stored]
        if rows:
            kept = dialect_insert(connection.engine)(page)
            renewed = {name: kept.excluded[name] for name in rows[0] if name != "key"}
            connection.execute(kept.on_conflict_do_update(index_elements=["key"], set_=renewed), rows)
        likely_now = {key: replace(known[key], duplicate_of=copies.get(key)) for key in likely}
        looked_at = [_history_row(key, likely_now.get(key, known[key])) for key in sorted(known) if key not in stored]
        if looked_at:
            connection.execute(UPDATE_HISTORY, looked_at)
        return {mine[key].lease.id: url for key, url in copies.items()}

    def _copies(self, connection: Connection, stored: Mapping[int, Completion]) -> dict[int, str]:
        """Of the pages stored, and of those that were copies, those that are copies, with the originals' addresses."""
        before = [(key, one.lease.known) for key, one in stored.items() if one.lease.known is not None]
        old = [TextSignature(key, "", known.signature, known.text_fingerprint) for key, known in before]
        delete_bands(connection, self.crawl_id, old)
        return originals(connection, self.crawl_id, [_signature_of(key, one) for key, one in stored.items()])

    def _row(self, ended: Completion, known: PageHistory, key: int, copy_of: str | None) -> dict[str, Any]:
        record = {name: value for name, value in (ended.result.record or {}).items() if name in PAGE_COLUMNS}
        history = {name: getattr(known, name) for name in HISTORY} | {"duplicate_of": copy_of}
        row = {name: column_value(value) for name, value in {**record, **history}.items()}
        row["certainty"] = ended.result.check.certainty if ended.result.check is not None else None
        return row | {"key": key, "crawl_id": self.crawl_id, "site_id": ended.lease.site_id}


def save_versions(connection: Connection, keys: Sequence[int], most: int) -> None:
    """Keep what pages say that are to say something else from now on, and of each no more than so many texts."""
    if not most:
        return
    for part in in_chunks(keys):
        said = select(*(page.c[name] for name in VERSION_COLUMNS)).where(page.c.key.in_(part)).order_by(page.c.key)
        connection.execute(insert(page_version).from_select(VERSION_COLUMNS, said))
    newest = page_version.alias("newest")
    kept = select(newest.c.id).where(newest.c.key == bindparam("its")).order_by(newest.c.id.desc()).limit(most)
    too_old = delete(page_version).where(page_version.c.key == bindparam("its"), page_version.c.id.not_in(kept))
    if keys:
        connection.execute(too_old, [{"its": key} for key in keys])


def page_histories(connection: Connection, keys: Iterable[int], since: int) -> dict[int, PageHistory]:
    """What is known of pages that were there in this round or later, by their keys."""
    columns = [page.c[name] for name in PageHistory.__dataclass_fields__]
    found: dict[int, PageHistory] = {}
    for part in in_chunks(sorted(keys)):
        rows = connection.execute(select(page.c.key, *columns).where(page.c.key.in_(part), page.c.round >= since))
        found |= {key: PageHistory(*values) for key, *values in rows}
    return found


def new_links(connection: Connection, keys: AddressKeys, ended: Iterable[Completion]) -> dict[int, int]:
    """How many of the addresses to which pages lead that were there before are not known yet, by lease."""
    led = {
        one.lease.id: {keys(link.url, link.kind) for link in one.result.links if link.sight is None} for one in ended
    }
    known: set[int] = set()
    for part in in_chunks(sorted({key for found in led.values() for key in found})):
        known.update(connection.execute(select(address.c.key).where(address.c.key.in_(part))).scalars())
    return {lease_id: len(found - known) for lease_id, found in led.items()}


def column_value(value: Any) -> Any:
    """A value as a column holds it: lists as JSON, and no character that PostgreSQL refuses."""
    if value is None or isinstance(value, int | float | bytes):
        return value
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def field_values(row: RowMapping | Mapping[str, Any], names: Iterable[str] = TYPES) -> dict[str, Any]:
    """The fields of a page's record as its item has them, from the columns of a row."""
    return {name: json.loads(row[name]) if TYPES.get(name) is list else row[name] for name in names}


def _is_of_page(ended: Completion) -> bool:
    return ended.lease.known is not None or ended.result.record is not None


def _is_changed(ended: Completion) -> bool:
    return ended.result.check is not None and ended.result.check.found is PageChange.CHANGED


def _is_still_a_copy(ended: Completion) -> bool:
    """Whether a page that is as it was is a copy, of one that may not be as it was."""
    known = ended.lease.known
    return ended.result.record is None and ended.is_page and known is not None and bool(known.duplicate_of)


def _signature_of(key: int, ended: Completion) -> TextSignature:
    if ended.result.record is None and (known := ended.lease.known) is not None:
        return TextSignature(key, storable(ended.lease.candidate.url), known.signature, known.text_fingerprint)
    record, check = ended.result.record or {}, ended.result.check
    signature = check.signature if check is not None else None
    return TextSignature(key, storable(record["url"]), signature, record.get("text_fingerprint"))


def _history_row(key: int, known: PageHistory) -> dict[str, Any]:
    history = {f"to_{name}": column_value(getattr(known, name)) for name in HISTORY}
    return history | {"its": key}
