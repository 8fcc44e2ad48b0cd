"""Deletes the rows of erased pages and hosts, in the transaction of the caller.

The targets of an erasure are addresses of pages and names of hosts. Rows are found in two steps: a condition in SQL
(`may_be_in`) selects the rows that may name a target, and `target_of` or `covers` then compares their addresses.

What is left of a page is a digest of its address, and the address's key: a hash by which the crawl recognizes the
address and does not request it again. What is left of a host is a digest of its name. Other pages keep their texts, but
the fields of their rows that have the address of an erased page are cleared.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, insert, or_, select, update

from crawler.contrib.index.erasure_targets import ErasureTargets
from crawler.frontier.page_result import AddressKind, LessonKind
from crawler.noise.image_evidence import Sighting
from crawler.outcomes import Code
from crawler.page.text import page_terms, terms
from crawler.spiders.topic_tracker import EXAMPLE_LENGTH
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.hosts import UPDATE_BEST, count_sites
from crawler.store.crawl_tables import IS_DONE, AddressState, address, address_pattern, crawl, edit, host, job, site
from crawler.store.database import dialect_insert, in_chunks
from crawler.store.page_changes import DELETE_CHANGES, save_changes
from crawler.store.page_tables import (
    erasure,
    evidence,
    focus,
    label,
    near_duplicate_band,
    page,
    page_change,
    page_version,
    robots_file,
    shared_example,
    stored_response,
    template,
    verdict,
)
from crawler.topic.page_translations import address_key
from crawler.urls.page_id import page_id

KINDS = (AddressKind.LINK, AddressKind.IMAGE, AddressKind.EXAMPLE)
"""An address has a different key for each of these kinds."""
ROWS_AT_ONCE = 1_000


@dataclass
class ErasedRows:
    """What was deleted from the database, and what still names the targets."""

    counts: Counter[str] = field(default_factory=Counter)
    """Deleted rows by kind."""
    stored_targets: set[str] = field(default_factory=set)
    """The targets that had stored rows."""
    image_files: set[str] = field(default_factory=set)
    """The files of images whose verdicts were deleted, as paths in the folder of images."""
    redirected_to: list[str] = field(default_factory=list)
    """The addresses of stored pages to which an erased address was redirected."""
    jobs: list[str] = field(default_factory=list)
    """The scheduled jobs whose arguments name a target."""
    other_crawls: list[str] = field(default_factory=list)
    """The names of other crawls that have the same page or host."""


def erase_rows(connection: Connection, crawl_id: int, name: str, targets: ErasureTargets) -> ErasedRows:
    """Delete the rows of erased pages and hosts, and bar their addresses from the crawl."""
    return RowEraser(connection, crawl_id, name, targets).erase()


class RowEraser:
    """Deletes the rows of one crawl."""

    def __init__(self, connection: Connection, crawl_id: int, name: str, targets: ErasureTargets) -> None:
        self.connection = connection
        self.crawl_id = crawl_id
        self.crawl_name = name
        self.targets = targets
        self.keys = AddressKeys(crawl_id, targets.canonical)
        self.result = ErasedRows()

    def erase(self) -> ErasedRows:
        """Delete the rows, and return what was deleted."""
        pages, mentions = self._find_pages()
        self._clear_mentions(mentions)
        self._record_erasure(pages)
        site_ids = {row.site_id for row in pages if row.site_id is not None}
        site_ids |= self._erase_verdicts()

        # The next three steps read the rows of the pages, so the pages are deleted after them.
        self._erase_addresses()
        self._erase_examples(pages)
        self._erase_focus(pages)
        self._delete_pages(pages)

        # The evidence about a site's images is a sum over its pages. The share of one page is unknown, so the whole sum
        # is deleted.
        site_ids |= self._erase_hosts()
        self._delete(evidence, evidence.c.site_id, site_ids)

        self._erase_robots_files()
        self._erase_labels()
        self._erase_edits()
        self._erase_seeds()
        self._note_jobs()
        self._note_other_crawls()
        return self.result

    def _rows(self, *columns: Any, where: ColumnElement[bool]) -> Iterable[Row[Any]]:
        """Rows, read in parts so that the rows of a large crawl need not fit into memory."""
        options = {"yield_per": ROWS_AT_ONCE}
        return self.connection.execute(select(*columns).where(where), execution_options=options)

    def _delete(self, table: Table, column: ColumnElement[Any], values: Collection[Any], kind: str = "") -> None:
        """Delete the rows of the crawl with these values in a column, and count them under a kind if one is given."""
        for part in in_chunks(sorted(values)):
            statement = delete(table).where(table.c.crawl_id == self.crawl_id, column.in_(part))
            deleted = self.connection.execute(statement).rowcount
            if kind:
                self.result.counts[kind] += deleted

    def _find_pages(self) -> tuple[list[Row[Any]], dict[int, dict[str, Any]]]:
        """The rows of the pages to erase; and, by the row id of each other page that mentions a target, the new values
        of the fields that mention it.
        """
        naming_columns = page.c.url, page.c.requested_url, page.c.parent, page.c.duplicate_of
        columns = page.c.id, page.c.key, page.c.site_id, page.c.depth, page.c.checks, *naming_columns
        may_name_target = self.targets.may_be_in(*naming_columns)
        pages = []
        mentions = {}
        for row in self._rows(*columns, where=(page.c.crawl_id == self.crawl_id) & may_name_target):
            target = self.targets.target_of(row.url)
            if target is not None:
                self.result.stored_targets.add(target)
                pages.append(row)
                continue
            values = cleared_names(row._asdict(), self.targets)
            if values:
                mentions[row.id] = values
            if "requested_url" in values:  # an erased address was redirected to this page
                self.result.redirected_to.append(row.url)
        return pages, mentions

    def _clear_mentions(self, mentions: Mapping[int, Mapping[str, Any]]) -> None:
        """Save the new values of pages that mention a target, as `_find_pages` returns them."""
        for row_id, values in mentions.items():
            self.connection.execute(update(page).where(page.c.id == row_id).values(**values))
        self.result.counts["mentions"] += len(mentions)

    def _record_erasure(self, pages: Iterable[Row[Any]]) -> None:
        """Save the digests of erased pages and hosts, and add each page to the changes that indexes read."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        stored = {row.key: row.url for row in pages}
        erased = {self.keys(url): url for url in self.targets.pages} | stored

        # Leave out the pages that an earlier erasure has recorded.
        of_crawl = erasure.c.crawl_id == self.crawl_id
        for part in in_chunks(sorted(erased)):
            erased_before = select(erasure.c.key).where(of_crawl, erasure.c.key.in_(part))
            for key in self.connection.execute(erased_before).scalars().all():
                del erased[key]

        rows = [{"digest": page_id(url), "key": key} for key, url in erased.items()]
        rows += [{"digest": page_id(name), "key": None} for name in sorted(self.targets.hosts)]
        if rows:
            new = dialect_insert(self.connection.engine)(erasure).on_conflict_do_nothing()
            self.connection.execute(new, [{"crawl_id": self.crawl_id, "erased_at": now, **row} for row in rows])

        save_changes(self.connection, stored.keys())
        # A page that is no longer in the database may still be in the index of a reader.
        for part in in_chunks(sorted(erased.keys() - stored.keys())):
            self.connection.execute(DELETE_CHANGES, {"keys": part})
            self.connection.execute(insert(page_change), [{"crawl_id": self.crawl_id, "key": key} for key in part])

    def _erase_verdicts(self) -> set[int]:
        """Delete the verdicts on images of erased pages and on erased images.

        Returns the ids of the sites whose pages show these images.
        """
        naming_columns = verdict.c.url, verdict.c.page, verdict.c.target
        columns = (
            verdict.c.id,
            verdict.c.key,
            verdict.c.site_id,
            verdict.c.kind,
            verdict.c.file,
            verdict.c.sight,
            *naming_columns,
        )
        may_name_target = self.targets.may_be_in(*naming_columns)

        # Which verdicts to delete, and which name a target as the page that the image links to.
        deleted = []
        mentions = {}
        for row in self._rows(*columns, where=(verdict.c.crawl_id == self.crawl_id) & may_name_target):
            target = self.targets.target_of(row.url) or self.targets.target_of(row.page)
            if target is not None:
                self.result.stored_targets.add(target)
                deleted.append(row)
            elif self.targets.covers(row.target):
                mentions[row.id] = {"target": "", "sight": without_target(row.sight)}

        self._delete(verdict, verdict.c.id, [row.id for row in deleted], "images")
        images = {row.key for row in deleted if row.kind == AddressKind.IMAGE}
        self._delete_addresses(images, address.c.key)  # if another page shows them, they are requested again
        for row_id, values in mentions.items():
            self.connection.execute(update(verdict).where(verdict.c.id == row_id).values(**values))
        self.result.image_files.update(row.file for row in deleted if row.file)
        return {row.site_id for row in deleted}

    def _erase_addresses(self) -> None:
        """Delete erased addresses, clear the fields of other rows that name one, and bar erased addresses from being
        added again.
        """
        hosts_of_crawl = select(host.c.id).where(host.c.crawl_id == self.crawl_id)
        naming_columns = address.c.url, address.c.requested, address.c.sight
        may_name_target = self.targets.may_be_in(*naming_columns)

        # Which rows to delete, and which fields of other rows to clear.
        erased_ids = []
        mentions: dict[int, dict[str, Any]] = {}
        where = address.c.host_id.in_(hosts_of_crawl) & may_name_target
        for row in self._rows(address.c.id, *naming_columns, where=where):
            target = self.targets.target_of(row.url)
            if target is not None:
                self.result.stored_targets.add(target)
                erased_ids.append(row.id)
                continue
            values: dict[str, Any] = {}
            if self.targets.covers(row.requested):
                values["requested"] = None
            if row.sight and self.targets.covers(Sighting.of(row.sight).target):
                values["sight"] = without_target(row.sight)
            if values:
                mentions[row.id] = values

        for row_id, values in mentions.items():
            self.connection.execute(update(address).where(address.c.id == row_id).values(**values))
        self._uncount_pages(erased_ids)
        self._erase_links_of(erased_ids)
        self._delete_addresses(erased_ids, address.c.id, "addresses")

        # Bar the addresses.
        barred = {self.keys(url, kind) for url in self.targets.pages for kind in KINDS}
        rows = [barred_address(key, self.crawl_id) for key in sorted(barred)]
        if rows:
            new = dialect_insert(self.connection.engine)(address).on_conflict_do_nothing(index_elements=["key"])
            self.connection.execute(new, rows)

    def _uncount_pages(self, erased_ids: Collection[int]) -> None:
        """Subtract the erased pages of this round from the page counts of the crawl and its sites, which limits use."""
        this_round = select(crawl.c.round).where(crawl.c.id == self.crawl_id).scalar_subquery()
        source = address.join(host, host.c.id == address.c.host_id).join(page, page.c.key == address.c.key)
        is_counted = IS_DONE, address.c.outcome.is_(None), page.c.last_round == this_round
        for part in in_chunks(sorted(erased_ids)):
            site_of_each_page = select(host.c.site_id).select_from(source).where(address.c.id.in_(part), *is_counted)
            pages_by_site = Counter(self.connection.execute(site_of_each_page).scalars())
            count_sites(self.connection, pages_by_site, pages=-1)
            pages_left = crawl.c.pages - pages_by_site.total()
            self.connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(pages=pages_left))

    def _erase_links_of(self, parents: Collection[int]) -> None:
        """Clear the words of the links on erased pages, and delete the images that only these pages have shown so far.

        `parents` are the ids of the erased pages' rows in the table `address`.
        """
        # `sight` is the record of an image on its page (`Sighting`).
        is_image = or_(address.c.kind == AddressKind.IMAGE, address.c.sight.is_not(None))
        for part in in_chunks(sorted(parents)):
            image_ids = select(address.c.id).where(address.c.parent.in_(part), is_image)
            images = self.connection.execute(image_ids).scalars().all()
            self._delete_addresses(images, address.c.id)
            links = update(address).where(address.c.parent.in_(part))
            self.connection.execute(links.values(parent=None, labels=""))

    def _delete_addresses(self, values: Collection[int], column: ColumnElement[Any], kind: str = "") -> None:
        """Delete addresses by their ids or keys, and count them under a kind if one is given. Update the crawl's number
        of queued addresses, and the best priority in the queue of each host.
        """
        for part in in_chunks(sorted(values)):
            rows = self.connection.execute(select(address.c.host_id, address.c.state).where(column.in_(part))).all()
            self.connection.execute(delete(address).where(column.in_(part)))
            waiting = crawl.c.waiting - sum(row.state == AddressState.WAITING for row in rows)
            self.connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(waiting=waiting))
            self.connection.execute(UPDATE_BEST, {"ids": sorted({row.host_id for row in rows})})
            if kind:
                self.result.counts[kind] += len(rows)

    def _delete_pages(self, pages: Collection[Row[Any]]) -> None:
        """Delete pages with their versions, responses and near-duplicate bands."""
        keys = [row.key for row in pages]
        self._delete(near_duplicate_band, near_duplicate_band.c.key, keys)
        self._delete(page_version, page_version.c.key, keys, "versions")
        self._delete(stored_response, stored_response.c.key, keys, "responses")
        self._delete(page, page.c.key, keys, "pages")

    def _erase_examples(self, pages: Collection[Row[Any]]) -> None:
        """Delete the shared examples that workers learned from erased pages."""
        of_crawl = shared_example.c.crawl_id == self.crawl_id

        # The first line of an example is its address, except in examples of seeds.
        has_address = of_crawl & (shared_example.c.kind != LessonKind.SEED)
        deleted = []
        for row in self._rows(shared_example.c.id, shared_example.c.text, where=has_address):
            first_line = row.text.partition("\n")[0]
            if self.targets.covers(first_line):
                deleted.append(row.id)
        self._delete(shared_example, shared_example.c.id, deleted)

        # An example of a seed is found by its text. If the page's text has changed since, it is not found, and the
        # examples of all seeds are deleted.
        is_seed = of_crawl & (shared_example.c.kind == LessonKind.SEED)
        seeds = [row for row in pages if row.depth == 0]
        for row in seeds:
            text = self.connection.execute(select(page.c.text).where(page.c.key == row.key)).scalar_one()
            has_text = is_seed & (shared_example.c.text == text[:EXAMPLE_LENGTH])
            if not self.connection.execute(delete(shared_example).where(has_text)).rowcount:
                self.connection.execute(delete(shared_example).where(is_seed))

    def _erase_focus(self, pages: Iterable[Row[Any]]) -> None:
        """Remove erased pages, names of erased hosts, and words that only erased pages had from the topic models.

        Each worker has a topic model, written by crawler/topic/shared_model.py. It counts the words of a page once for
        each visit. So a word is removed if its count is at most the number of visits to erased pages that have it.
        """
        urls = self.targets.pages.union(*({row.url, row.requested_url} for row in pages))
        hashes = {address_key(url).page for url in urls}
        visits_by_word = Counter[str]()
        for row in pages:
            visits = row.checks + 1  # `checks` does not count the first visit
            visits_by_word.update(dict.fromkeys(self._words_of(row.key), visits))
        columns = focus.c.number, focus.c.summary, focus.c.learned
        for model in self.connection.execute(select(*columns).where(focus.c.crawl_id == self.crawl_id)).all():
            of_worker = focus.c.crawl_id == self.crawl_id, focus.c.number == model.number
            try:
                learned = json.loads(model.learned)
                words = {word for word, visits in visits_by_word.items() if learned["words"].get(word, 0) <= visits}
                words |= self.targets.hosts
                learned = without_pages(learned, hashes, words)
                summary = without_words(json.loads(model.summary), words)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError):  # workers cannot read it either
                self.connection.execute(delete(focus).where(*of_worker))
                continue
            self.connection.execute(update(focus).where(*of_worker).values(learned=learned, summary=summary))

    def _words_of(self, key: int) -> set[str]:
        """The words of a page and of its earlier versions, as topic models count them."""
        queries = [select(table.c.title, table.c.text).where(table.c.key == key) for table in (page, page_version)]
        rows = [row for query in queries for row in self.connection.execute(query)]
        return {word for row in rows for word in (*terms(row.title), *page_terms(row.text))}

    def _erase_hosts(self) -> set[int]:
        """Delete erased hosts with their templates, and sites without other hosts; returns the sites of the hosts."""
        of_crawl = host.c.crawl_id == self.crawl_id, host.c.name.in_(sorted(self.targets.hosts))
        rows = self.connection.execute(select(host.c.id, host.c.site_id).where(*of_crawl)).all()
        site_ids = {row.site_id for row in rows}
        self._delete(host, host.c.id, [row.id for row in rows], "hosts")
        self._delete(template, template.c.host, self.targets.hosts)
        remaining = select(host.c.site_id).where(host.c.site_id.in_(sorted(site_ids)))
        empty_site_ids = site_ids - set(self.connection.execute(remaining).scalars())
        self._delete(site, site.c.id, empty_site_ids)
        self._delete(address_pattern, address_pattern.c.site_id, empty_site_ids)
        return site_ids

    def _erase_robots_files(self) -> None:
        """Delete the robots.txt files that were first read at an erased address. If the rights of a remaining page cite
        a file, clear only its address.
        """
        of_crawl = robots_file.c.crawl_id == self.crawl_id
        where = of_crawl & self.targets.may_be_in(robots_file.c.first_url)
        for row in self.connection.execute(select(robots_file.c.digest, robots_file.c.first_url).where(where)).all():
            if not self.targets.covers(row.first_url):
                continue
            cites_file = page.c.crawl_id == self.crawl_id, page.c.rights.contains(row.digest, autoescape=True)
            of_file = and_(of_crawl, robots_file.c.digest == row.digest)
            if self.connection.execute(select(page.c.id).where(*cites_file).limit(1)).first() is not None:
                self.connection.execute(update(robots_file).where(of_file).values(first_url=""))
            else:
                self.connection.execute(delete(robots_file).where(of_file))

    def _erase_labels(self) -> None:
        """Delete the labels of erased pages and images."""
        naming_columns = label.c.url, label.c.page
        where = (label.c.crawl == self.crawl_name) & self.targets.may_be_in(*naming_columns)
        rows = self._rows(label.c.id, *naming_columns, where=where)
        erased = [row.id for row in rows if self.targets.covers(row.url) or self.targets.covers(row.page)]
        for part in in_chunks(erased):
            self.result.counts["labels"] += self.connection.execute(delete(label).where(label.c.id.in_(part))).rowcount

    def _erase_edits(self) -> None:
        """Replace erased addresses by their digests in the list of changes that people made in the dashboard."""
        rows = self.connection.execute(
            select(edit.c.id, edit.c.subject).where(self.targets.may_be_in(edit.c.subject))
        ).all()
        for row in rows:
            if self.targets.covers(row.subject):
                subject = page_id(row.subject)
                self.connection.execute(update(edit).where(edit.c.id == row.id).values(subject=subject))

    def _erase_seeds(self) -> None:
        """Remove erased addresses from the seeds of the crawl."""
        of_crawl = crawl.c.id == self.crawl_id
        seeds = json.loads(self.connection.execute(select(crawl.c.seeds).where(of_crawl)).scalar_one())
        kept = [seed for seed in seeds if not self.targets.covers(seed)]
        if kept != seeds:
            self.connection.execute(update(crawl).where(of_crawl).values(seeds=json.dumps(kept)))

    def _note_jobs(self) -> None:
        """Note the scheduled jobs that name a target; they are not changed."""
        of_crawl = job.c.crawl == self.crawl_name
        for row in self.connection.execute(select(job.c.name, job.c.arguments).where(of_crawl)):
            if any(target in row.arguments for target in self.targets.all):
                self.result.jobs.append(row.name)

    def _note_other_crawls(self) -> None:
        """Note the other crawls that have an erased page or host."""
        others = select(crawl.c.id, crawl.c.name).where(crawl.c.id != self.crawl_id).order_by(crawl.c.id)
        for row in self.connection.execute(others).all():
            keys = AddressKeys(row.id, self.targets.canonical)
            of_page = page.c.key.in_([keys(url) for url in sorted(self.targets.pages)])
            of_host = host.c.crawl_id == row.id, host.c.name.in_(sorted(self.targets.hosts))
            queries = select(page.c.id).where(of_page).limit(1), select(host.c.id).where(*of_host).limit(1)
            if any(self.connection.execute(query).first() is not None for query in queries):
                self.result.other_crawls.append(row.name)


def cleared_names(record: Mapping[str, Any], targets: ErasureTargets) -> dict[str, Any]:
    """The fields of a page's record that have the address of an erased page, each with its new value."""
    values: dict[str, Any] = {}
    if targets.covers(record.get("requested_url")):
        values["requested_url"] = record["url"]
    for name in ("parent", "duplicate_of"):
        if targets.covers(record.get(name)):
            values[name] = None
    return values


def without_target(sight: str) -> str:
    """The record of a sighting (an image as a page shows it), without the address that the image links to."""
    return replace(Sighting.of(sight), target="").record()


def without_pages(learned: dict[str, Any], hashes: set[int], words: set[str]) -> str:
    """A topic model as JSON, without these words, and without the pages whose addresses have these hashes.

    `learned` is the record that `to_line` of crawler/topic/shared_model.py writes. An address in it is a pair of hashes
    (`AddressKey`): of the address, and of the folder that it is in.
    """
    learned["known"] = [
        (word_score, page_words, language, (page_hash, folder_hash))
        for word_score, page_words, language, (page_hash, folder_hash) in learned["known"]
        if page_hash not in hashes
    ]
    learned["translated"] = [
        ((page_hash, folder_hash), language, relevance)
        for (page_hash, folder_hash), language, relevance in learned["translated"]
        if page_hash not in hashes
    ]
    learned["translations"] = [
        pair for pair in learned["translations"] if hashes.isdisjoint(page_hash for page_hash, _ in pair)
    ]
    learned["words"] = {word: count for word, count in learned["words"].items() if word not in words}
    learned["features"] = [(kind, word, *sums) for kind, word, *sums in learned["features"] if word not in words]
    return compact(learned)


def without_words(summary: dict[str, Any], words: set[str]) -> str:
    """The summary of a topic model as JSON, without these words."""
    kept = {}
    for name, value in summary.items():
        if isinstance(value, list):
            value = [(word, *numbers) for word, *numbers in value if word not in words]
        kept[name] = value
    return compact(kept)


def compact(record: dict[str, Any]) -> str:
    """A record as JSON without spaces."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def barred_address(key: int, crawl_id: int) -> dict[str, Any]:
    """The row that bars an address from being added again. Its address is empty. It belongs to no host, so
    `host_id` is the negative id of the crawl.
    """
    return {
        "key": key,
        "host_id": -crawl_id,
        "url": "",
        "kind": AddressKind.LINK,
        "priority": 0,
        "depth": 0,
        "state": AddressState.DONE,
        "outcome": Code.ERASED,
    }
