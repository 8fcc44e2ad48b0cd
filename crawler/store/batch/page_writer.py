"""Saves pages: texts, earlier texts, histories, and which pages are near-duplicates of others.

A page is stored if it is new or changed. A page that was stored before, and now is unchanged or missing, is only
visited: its history is saved, and its rights if they changed.

The texts of pages are compared by signatures in bands (near_duplicate_bands.py): of near-duplicates one is the
original, and the others are its copies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, select, update

from crawler.frontier.page_result import Completion
from crawler.items import TYPES
from crawler.metadata.text_owner import TextOwner
from crawler.recrawl.page_history import PageChange, PageHistory, RoundContext, history_after
from crawler.recrawl.revisit_interval import Bounds
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.near_duplicate_bands import ComparedPage
from crawler.store.batch.page_versions import save_versions
from crawler.store.crawl_tables import address
from crawler.store.database import column_value, in_chunks, replacing_insert, storable
from crawler.store.page_changes import save_changes
from crawler.store.page_tables import page

PAGE_COLUMNS = frozenset(page.c.keys()) - {"id"}
RECORD_COLUMNS = frozenset(("text_fingerprint", "link_score", "raw_digest", "title"))
"""Fields of a page's history that are also fields of its record, from which they are written."""
HISTORY_COLUMNS = tuple(name for name in PageHistory.__dataclass_fields__ if name not in RECORD_COLUMNS)
VISIT_COLUMNS = tuple(name for name in HISTORY_COLUMNS if name not in ("first_seen", "changed_at"))
"""The columns that are written when a visit stores nothing. Such a visit changes neither `first_seen` nor `changed_at`;
if they were written all the same, SQLite would update their index at each visit.
"""
UPDATE_HISTORY = (
    update(page)
    .where(page.c.key == bindparam("page_key"))
    .values({name: bindparam(f"to_{name}") for name in VISIT_COLUMNS})
)
UPDATE_COPY = update(page).where(page.c.key == bindparam("page_key")).values(duplicate_of=bindparam("to_original"))
UPDATE_RIGHTS = update(page).where(page.c.key == bindparam("page_key")).values(rights=bindparam("to_rights"))


class PageWriter:
    """Saves the pages of one worker."""

    def __init__(self, crawl_id: int, keys: AddressKeys) -> None:
        self.crawl_id = crawl_id
        self.keys = keys
        self.bounds = Bounds()
        self.versions = 0
        """How many earlier texts of a page are kept."""

    def save(
        self,
        connection: Connection,
        ended: Iterable[Completion],
        context: RoundContext,
        new_link_counts: Mapping[int, int],
    ) -> dict[int, str]:
        """Save the results of pages; returns the addresses of the originals of near-duplicates, by the id of the lease.

        `new_link_counts` is the number of new links of each page that was stored before, by the id of the lease.
        """
        # The results of all pages, and the histories of the pages that are or were stored, by key.
        completions = {
            self.keys(completion.lease.candidate.url, completion.lease.candidate.kind): completion
            for completion in ended
            if completion.lease.is_page
        }
        histories = {
            key: history_after(completion.visit(new_link_counts.get(completion.lease.id, 0)), context)
            for key, completion in completions.items()
            if _is_of_page(completion)
        }
        stored = [key for key in sorted(histories) if completions[key].result.record is not None]
        save_versions(connection, [key for key in stored if _has_changed(completions[key])], self.versions)

        # Compare the texts with earlier ones, and save the pages. An original may have changed since its copy was
        # found, so unchanged copies are compared, too.
        unchanged_copies = [key for key in histories if _is_unchanged_copy(completions[key])]
        compared_keys = {*stored, *unchanged_copies}
        compared = {key: completion for key, completion in completions.items() if key in compared_keys}
        originals = self._enter_pages(connection, compared)
        rows = [self._row(completions[key], histories[key], key, originals.get(key)) for key in stored]
        if rows:
            connection.execute(replacing_insert(connection.dialect.name, page, tuple(rows[0])), rows)
        # `originals` may also have pages that were not compared: earlier originals that are copies from now on.
        originals_of_earlier = {key: url for key, url in originals.items() if key not in compared}
        save_copies(connection, originals_of_earlier)

        # Save the histories and rights of the other pages that were visited.
        visited = [key for key in sorted(histories) if key not in stored]
        for key in unchanged_copies:
            histories[key] = replace(histories[key], duplicate_of=originals.get(key))
        if visited:
            connection.execute(UPDATE_HISTORY, [_history_row(key, histories[key]) for key in visited])
        rights_of_visited = {key: completions[key].result.rights for key in visited}
        with_new_rights = save_rights(
            connection, {key: rights for key, rights in rights_of_visited.items() if rights is not None}
        )

        # Give the pages that changed new offsets, for readers of changes.
        changed = {*stored, *with_new_rights}
        save_changes(
            connection,
            [key for key in histories if key in changed or _is_gone_or_back(completions[key], histories[key])],
        )
        return {completions[key].lease.id: originals[key] for key in compared_keys if key in originals}

    def _enter_pages(self, connection: Connection, compared: Mapping[int, Completion]) -> dict[int, str]:
        """Compare pages with earlier ones, and enter the originals among them (near_duplicate_bands.py).

        Returns the address of the original of each copy, by the key of the copy. A copy is one of these pages, or an
        earlier page that was an original until now.
        """
        from crawler.store.batch.near_duplicate_bands import (  # import numpy, delayed until the first page
            delete_bands,
            enter_pages,
        )

        delete_bands(connection, self.crawl_id, _earlier_texts(compared))
        return enter_pages(
            connection, self.crawl_id, [_compared_page(key, completion) for key, completion in compared.items()]
        )

    def _row(self, completion: Completion, page_history: PageHistory, key: int, copy_of: str | None) -> dict[str, Any]:
        """The row of a page that is stored; `copy_of` is the address of its original, if it is a copy."""
        record = {name: value for name, value in (completion.result.record or {}).items() if name in PAGE_COLUMNS}
        history = {name: getattr(page_history, name) for name in HISTORY_COLUMNS} | {"duplicate_of": copy_of}
        row = {name: column_value(value) for name, value in {**record, **history}.items()}
        row["certainty"] = completion.result.check.certainty if completion.result.check is not None else None
        row["text_owner"] = int(_text_owner(completion))
        return row | {"key": key, "crawl_id": self.crawl_id, "site_id": completion.lease.site_id}


def save_copies(connection: Connection, originals: Mapping[int, str | None]) -> None:
    """Save the addresses of the originals of pages, given by the keys of the pages; None if a page is not a copy."""
    if originals:
        connection.execute(UPDATE_COPY, [{"page_key": key, "to_original": originals[key]} for key in sorted(originals)])


def save_rights(connection: Connection, rights: Mapping[int, Mapping[str, Any]]) -> set[int]:
    """Save the rights of pages, given by key, where they changed; returns the keys of these pages."""
    changed = []
    for part in in_chunks(sorted(rights)):
        rows = connection.execute(select(page.c.key, page.c.rights).where(page.c.key.in_(part)).order_by(page.c.key))
        for row in rows:
            if not row.rights or _meaning_of(json.loads(row.rights)) != _meaning_of(rights[row.key]):
                changed.append(row.key)
    if changed:
        connection.execute(
            UPDATE_RIGHTS, [{"page_key": key, "to_rights": column_value(rights[key])} for key in changed]
        )
    return set(changed)


def _meaning_of(rights: Mapping[str, Any]) -> tuple[Any, ...]:
    """What rights say, without where and when the evidence was read."""
    return (
        rights["licence"],
        rights["uses"],
        [(statement["signal"], statement["says"]) for statement in rights["evidence"]],
    )


def new_link_counts(connection: Connection, keys: AddressKeys, ended: Iterable[Completion]) -> dict[int, int]:
    """How many links of each page lead to unknown addresses, by the id of the lease."""
    keys_of_links = {
        completion.lease.id: {keys(link.url, link.kind) for link in completion.result.links if link.sight is None}
        for completion in ended
    }
    stored_keys = known_keys(connection, {key for link_keys in keys_of_links.values() for key in link_keys})
    return {lease_id: len(link_keys - stored_keys) for lease_id, link_keys in keys_of_links.items()}


def known_keys(connection: Connection, keys: Iterable[int]) -> set[int]:
    """The keys that belong to known addresses."""
    stored_keys: set[int] = set()
    for part in in_chunks(sorted(keys)):
        stored_keys.update(connection.execute(select(address.c.key).where(address.c.key.in_(part))).scalars())
    return stored_keys


def field_values(row: RowMapping | Mapping[str, Any], names: Iterable[str] = TYPES) -> dict[str, Any]:
    """The fields of a page's record, read from the columns of a row."""
    is_json = {name for name in names if TYPES.get(name) in (list, dict) and row[name] is not None}
    return {name: json.loads(row[name]) if name in is_json else row[name] for name in names}


def _is_of_page(completion: Completion) -> bool:
    """Whether a page is stored now, or was stored before."""
    return completion.lease.history is not None or completion.result.record is not None


def _has_changed(completion: Completion) -> bool:
    """Whether the text of a page has changed."""
    return completion.result.check is not None and completion.result.check.change is PageChange.CHANGED


def _is_gone_or_back(completion: Completion, now: PageHistory) -> bool:
    """Whether a page is gone or has noindex now and was not so before, or is back."""
    before = completion.lease.history
    return before is not None and (before.gone_at is None, before.noindex) != (now.gone_at is None, now.noindex)


def _is_unchanged_copy(completion: Completion) -> bool:
    """Whether a page is unchanged and was a near-duplicate of another page."""
    history = completion.lease.history
    return (
        completion.result.record is None
        and completion.brought_page
        and history is not None
        and bool(history.duplicate_of)
    )


def _earlier_texts(completions: Mapping[int, Completion]) -> list[ComparedPage]:
    """The pages that were stored before, with the values by which they were compared then."""
    from crawler.store.batch.near_duplicate_bands import compared_page

    histories = {
        key: completion.lease.history for key, completion in completions.items() if completion.lease.history is not None
    }
    return [
        compared_page(key, completions[key].lease.candidate.url, history.signature, history.text_fingerprint)
        for key, history in histories.items()
    ]


def _compared_page(key: int, completion: Completion) -> ComparedPage:
    """A page with the values by which it is compared: from its new text, or from its history if it is unchanged."""
    from crawler.store.batch.near_duplicate_bands import compared_page

    owner = _text_owner(completion)
    history = completion.lease.history
    if completion.result.record is None and history is not None:
        url = storable(completion.lease.candidate.url)
        return compared_page(key, url, history.signature, history.text_fingerprint, owner)
    record = completion.result.record or {}
    check = completion.result.check
    signature = check.signature if check is not None else None
    return compared_page(key, storable(record["url"]), signature, record.get("text_fingerprint"), owner)


def _text_owner(completion: Completion) -> int:
    """Whose text the page is (metadata/text_owner.py)."""
    check = completion.result.check
    if check is not None:
        return check.text_owner
    return TextOwner.UNKNOWN


def _history_row(key: int, page_history: PageHistory) -> dict[str, Any]:
    """The parameters of UPDATE_HISTORY."""
    history = {f"to_{name}": column_value(getattr(page_history, name)) for name in VISIT_COLUMNS}
    return history | {"page_key": key}
