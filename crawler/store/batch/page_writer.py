"""Saves pages: texts, earlier texts, histories, and which pages are near-duplicates of others.

A near-duplicate is found by the bands of its signature, or by its fingerprint if its text is too short for a signature.
Only pages that are not copies are entered under their bands, at most `MOST_OF_A_BAND` under each, so that the cost of a
page does not depend on the site. Two pages that two workers store at the same moment are not compared.

Of two near-duplicates of a site the original is the page whose own text it is, as far as the pages say so, or else the
first. If the original comes later, the page that was an original becomes its copy; copies of that page still name it.
Of two pages of different sites the first is the original: what a page says about itself takes no text from another
site.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update

from crawler.items import TYPES
from crawler.metadata.text_owner import TextOwner, owner_rank
from crawler.recrawl.page_history import PageChange, PageHistory, RoundContext, history_after
from crawler.recrawl.revisit_interval import Bounds
from crawler.store.crawl_tables import address
from crawler.store.database import column_value, dialect_insert, in_chunks, storable
from crawler.store.page_changes import save_changes
from crawler.store.page_tables import near_duplicate_band, page, page_version
from crawler.urls.address import address_of

if TYPE_CHECKING:
    from crawler.frontier.page_result import Completion
    from crawler.store.batch.addresses import AddressKeys

MOST_LIKE = 40
"""The most pages that one page is compared with; those that share the most bands come first."""

DELETE_BANDS = delete(near_duplicate_band).where(
    near_duplicate_band.c.crawl_id == bindparam("crawl"),
    near_duplicate_band.c.band == bindparam("of"),
    near_duplicate_band.c.key == bindparam("page"),
)


@dataclass(frozen=True, slots=True)
class TextSignature:
    """What pages are compared by."""

    key: int
    url: str
    signature: bytes | None
    fingerprint: str | None
    text_owner: int = TextOwner.UNKNOWN

    @property
    def rank(self) -> int:
        """The lowest of a site's near-duplicates is the original."""
        return owner_rank(self.text_owner, self.url)

    def precedes(self, later: TextSignature) -> bool:
        """Whether this page is the original of a near-duplicate that comes later."""
        return self.rank <= later.rank or address_of(self.url).site != address_of(later.url).site

    @property
    def bands(self) -> list[int]:
        """The bands under which it is looked up."""
        if self.signature is not None:
            from crawler.recrawl.near_duplicates import bands  # imports numpy, which is delayed until the first page

            return bands(self.signature)
        return [int.from_bytes(bytes.fromhex(self.fingerprint), "big", signed=True)] if self.fingerprint else []

    def similarity(self, other: TextSignature) -> float:
        """The similarity of two texts, from 0 to 1; 0 below `NEAR`."""
        from crawler.recrawl.near_duplicates import NEAR, similarity

        if self.signature is None or other.signature is None:
            return float(self.fingerprint is not None and self.fingerprint == other.fingerprint)
        found = similarity(self.signature, other.signature)
        return found if found >= NEAR else 0.0


def originals(connection: Connection, crawl_id: int, pages: Sequence[TextSignature]) -> dict[int, str]:
    """The addresses of the originals of near-duplicates, by the near-duplicates' keys; the other pages are entered.

    The keys are those of pages, and of earlier pages that were originals until now.
    """
    from crawler.recrawl.near_duplicates import MOST_OF_A_BAND

    bands = {one.key: one.bands for one in pages}
    entered = _entered(connection, crawl_id, {band for of_page in bands.values() for band in of_page})
    likely = {one.key: _likely(one.key, bands[one.key], entered) for one in pages}
    known = _signatures(connection, {key for keys in likely.values() for key in keys})
    copies: dict[int, str] = {}
    displaced: list[TextSignature] = []
    new: list[dict[str, int]] = []
    for one in pages:
        known.pop(one.key, None)  # a page is not a copy of its own earlier text
    for one in pages:
        original = _original(one, [known[key] for key in _likely(one.key, bands[one.key], entered) if key in known])
        if original is not None and original.precedes(one):
            copies[one.key] = original.url
            continue
        if original is not None:
            displaced.append(original)
            copies |= {key: one.url for key, url in copies.items() if url == original.url} | {original.key: one.url}
            for band in original.bands:
                entered[band] = [key for key in entered[band] if key != original.key]
        known[one.key] = one
        for band in bands[one.key]:
            if len(entered[band]) < MOST_OF_A_BAND:
                entered[band].append(one.key)
                new.append({"crawl_id": crawl_id, "band": band, "key": one.key})
    delete_bands(connection, crawl_id, displaced)
    new = [row for row in new if row["key"] not in copies]
    if new:
        enter = dialect_insert(connection.engine)(near_duplicate_band).on_conflict_do_nothing()
        connection.execute(enter, sorted(new, key=lambda row: (row["band"], row["key"])))
    return copies


def _entered(connection: Connection, crawl_id: int, bands: Iterable[int]) -> defaultdict[int, list[int]]:
    """The keys of the pages that are entered under bands."""
    entered: defaultdict[int, list[int]] = defaultdict(list)
    for part in in_chunks(sorted(bands)):
        rows = select(near_duplicate_band.c.band, near_duplicate_band.c.key).where(
            near_duplicate_band.c.crawl_id == crawl_id, near_duplicate_band.c.band.in_(part)
        )
        for band, key in connection.execute(rows):
            entered[band].append(key)
    return entered


def delete_bands(connection: Connection, crawl_id: int, pages: Iterable[TextSignature]) -> None:
    """Delete pages from the bands of their earlier signatures."""
    rows = [{"crawl": crawl_id, "of": band, "page": one.key} for one in pages for band in one.bands]
    if rows:
        connection.execute(DELETE_BANDS, sorted(rows, key=lambda row: (row["of"], row["page"])))


def _likely(key: int, bands: Iterable[int], entered: defaultdict[int, list[int]]) -> list[int]:
    """The pages that share bands with one: most bands first; of equal ones, the first entered."""
    shared = Counter(other for band in bands for other in entered.get(band, ()) if other != key)
    return [other for other, _ in shared.most_common(MOST_LIKE)]


def _signatures(connection: Connection, keys: Iterable[int]) -> dict[int, TextSignature]:
    columns = page.c.key, page.c.url, page.c.signature, page.c.text_fingerprint, page.c.text_owner
    there = page.c.gone_at.is_(None)  # a page that is gone is not an original, as its address no longer has the text
    rows = (connection.execute(select(*columns).where(page.c.key.in_(part), there)) for part in in_chunks(sorted(keys)))
    return {row.key: TextSignature(*row) for found in rows for row in found}


def _original(one: TextSignature, others: Iterable[TextSignature]) -> TextSignature | None:
    """The most similar page, if it is similar enough."""
    best = max(((one.similarity(other), other) for other in others), key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] else None


PAGE_COLUMNS = frozenset(page.c.keys()) - {"id"}
OF_RECORD = frozenset(("text_fingerprint", "link_score", "raw_digest", "title"))
HISTORY = tuple(name for name in PageHistory.__dataclass_fields__ if name not in OF_RECORD)
UPDATE_HISTORY = (
    update(page).where(page.c.key == bindparam("its")).values({name: bindparam(f"to_{name}") for name in HISTORY})
)
UPDATE_COPY = update(page).where(page.c.key == bindparam("its")).values(duplicate_of=bindparam("to_original"))
UPDATE_RIGHTS = update(page).where(page.c.key == bindparam("its")).values(rights=bindparam("to_rights"))
VERSION_COLUMNS = ("key", "crawl_id", "fetched_at", "title", "text", "text_fingerprint")


class PageWriter:
    """Saves the pages of one worker."""

    def __init__(self, crawl_id: int, keys: AddressKeys) -> None:
        self.crawl_id, self.keys = crawl_id, keys
        self.bounds = Bounds()
        self.versions = 0
        """How many earlier texts of a page are kept."""

    def save(
        self, connection: Connection, ended: Iterable[Completion], context: RoundContext, links: Mapping[int, int]
    ) -> dict[int, str]:
        """Save the results of pages; returns the addresses of the originals of near-duplicates, by lease."""
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
        save_copies(connection, {key: url for key, url in copies.items() if key not in likely})
        likely_now = {key: replace(known[key], duplicate_of=copies.get(key)) for key in likely}
        looked_at = [_history_row(key, likely_now.get(key, known[key])) for key in sorted(known) if key not in stored]
        if looked_at:
            connection.execute(UPDATE_HISTORY, looked_at)
        visited = {key: mine[key].result.rights for key in sorted(known) if key not in stored}
        others = save_rights(connection, {key: rights for key, rights in visited.items() if rights is not None})
        changed = {*stored, *others}
        save_changes(connection, [key for key in known if key in changed or _is_other(mine[key], known[key])])
        return {mine[key].lease.id: copies[key] for key in likely if key in copies}

    def _copies(self, connection: Connection, stored: Mapping[int, Completion]) -> dict[int, str]:
        """The originals' addresses of near-duplicates by key, among them earlier pages that were originals."""
        before = [(key, one.lease.known) for key, one in stored.items() if one.lease.known is not None]
        old = [TextSignature(key, "", known.signature, known.text_fingerprint) for key, known in before]
        delete_bands(connection, self.crawl_id, old)
        return originals(connection, self.crawl_id, [_signature_of(key, one) for key, one in stored.items()])

    def _row(self, ended: Completion, known: PageHistory, key: int, copy_of: str | None) -> dict[str, Any]:
        record = {name: value for name, value in (ended.result.record or {}).items() if name in PAGE_COLUMNS}
        history = {name: getattr(known, name) for name in HISTORY} | {"duplicate_of": copy_of}
        row = {name: column_value(value) for name, value in {**record, **history}.items()}
        row["certainty"] = ended.result.check.certainty if ended.result.check is not None else None
        row["text_owner"] = int(_text_owner(ended))
        return row | {"key": key, "crawl_id": self.crawl_id, "site_id": ended.lease.site_id}


def save_copies(connection: Connection, copies: Mapping[int, str | None]) -> None:
    """Save of which pages others are near-duplicates, by their keys."""
    if copies:
        connection.execute(UPDATE_COPY, [{"its": key, "to_original": copies[key]} for key in sorted(copies)])


def save_rights(connection: Connection, rights: Mapping[int, Mapping[str, Any]]) -> set[int]:
    """Save the rights of pages that are not stored again, by key; returns those of which something else is said."""
    others = []
    for part in in_chunks(sorted(rights)):
        rows = connection.execute(select(page.c.key, page.c.rights).where(page.c.key.in_(part)).order_by(page.c.key))
        others += [row.key for row in rows if not row.rights or _said(json.loads(row.rights)) != _said(rights[row.key])]
    if others:
        connection.execute(UPDATE_RIGHTS, [{"its": key, "to_rights": column_value(rights[key])} for key in others])
    return set(others)


def _said(rights: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the evidence says, wherever and whenever it was read."""
    return rights["licence"], rights["uses"], [(one["signal"], one["says"]) for one in rights["evidence"]]


def save_versions(connection: Connection, keys: Sequence[int], most: int) -> None:
    """Save the texts of pages that are about to change, and delete all but the newest versions of each."""
    if not most:
        return
    for part in in_chunks(keys):
        earlier = select(*(page.c[name] for name in VERSION_COLUMNS)).where(page.c.key.in_(part)).order_by(page.c.key)
        connection.execute(insert(page_version).from_select(VERSION_COLUMNS, earlier))
    newest = page_version.alias("newest")
    kept = select(newest.c.id).where(newest.c.key == bindparam("its")).order_by(newest.c.id.desc()).limit(most)
    too_old = delete(page_version).where(page_version.c.key == bindparam("its"), page_version.c.id.not_in(kept))
    if keys:
        connection.execute(too_old, [{"its": key} for key in keys])


def new_links(connection: Connection, keys: AddressKeys, ended: Iterable[Completion]) -> dict[int, int]:
    """How many links of pages lead to unknown addresses, by lease."""
    led = {
        one.lease.id: {keys(link.url, link.kind) for link in one.result.links if link.sight is None} for one in ended
    }
    known: set[int] = set()
    for part in in_chunks(sorted({key for found in led.values() for key in found})):
        known.update(connection.execute(select(address.c.key).where(address.c.key.in_(part))).scalars())
    return {lease_id: len(found - known) for lease_id, found in led.items()}


def field_values(row: RowMapping | Mapping[str, Any], names: Iterable[str] = TYPES) -> dict[str, Any]:
    """The fields of a page's record, read from the columns of a row."""
    is_json = {name for name in names if TYPES.get(name) in (list, dict) and row[name] is not None}
    return {name: json.loads(row[name]) if name in is_json else row[name] for name in names}


def _is_of_page(ended: Completion) -> bool:
    return ended.lease.known is not None or ended.result.record is not None


def _is_changed(ended: Completion) -> bool:
    return ended.result.check is not None and ended.result.check.found is PageChange.CHANGED


def _is_other(ended: Completion, now: PageHistory) -> bool:
    """Whether a page is gone or has noindex now and was not so before, or is back."""
    before = ended.lease.known
    return before is not None and (before.gone_at is None, before.noindex) != (now.gone_at is None, now.noindex)


def _is_still_a_copy(ended: Completion) -> bool:
    """Whether an unchanged page is still a near-duplicate of a page that may have changed."""
    known = ended.lease.known
    return ended.result.record is None and ended.is_page and known is not None and bool(known.duplicate_of)


def _signature_of(key: int, ended: Completion) -> TextSignature:
    owner = _text_owner(ended)
    if ended.result.record is None and (known := ended.lease.known) is not None:
        return TextSignature(key, storable(ended.lease.candidate.url), known.signature, known.text_fingerprint, owner)
    record, check = ended.result.record or {}, ended.result.check
    signature = check.signature if check is not None else None
    return TextSignature(key, storable(record["url"]), signature, record.get("text_fingerprint"), owner)


def _text_owner(ended: Completion) -> int:
    check = ended.result.check
    return check.text_owner if check is not None else TextOwner.UNKNOWN


def _history_row(key: int, known: PageHistory) -> dict[str, Any]:
    history = {f"to_{name}": column_value(getattr(known, name)) for name in HISTORY}
    return history | {"its": key}
