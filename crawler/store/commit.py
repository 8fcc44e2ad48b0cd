"""The ledger: one worker's books in the database, a transaction for each batch of what happened.

What a page caused is committed with the page's own completion: its text, its new links, its line of JSON. So a crash at
any point loses no address and repeats no item. The line is written, and on disk, before the commit that counts it; what
a crash left behind that count is cut off at the next start.

Workers wait for each other's rows in one order, so that no two wait for each other: first for the crawl's (who claims
where `max_pages` is set, who has nothing to do and may end the crawl, who buries a worker), then for workers, for
pages, templates and addresses by their keys, for sites by their numbers, and for hosts by theirs. Who prices addresses
or claims them takes hosts that nobody is at, and waits for none, nor does who tells how soon hosts answer. Samples come
last; only those of the worker's own seat are touched. Two may still meet where redirects lead, or where one
tells of a host for the second time: then the database breaks one off, and that one is tried again.

Recovery: what a batch brought that was committed although the connection was lost before the database said so.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, select

from crawler.frontier.messages import AddressKeys, Batch, BatchReply, Completion, Lease, PageResult, Template
from crawler.outcomes import Code, Outcome
from crawler.recrawl.page_history import RoundContext
from crawler.store.addresses import Addresses, dialect_insert
from crawler.store.claims import Claimant, candidate_of, claim, expire_worker, histories_of, host_rests, return_leases
from crawler.store.completion import add_links, complete_leases, follow_redirect, save_image_results
from crawler.store.database import (
    LAST_RETRY_SECONDS,
    STATEMENT_SECONDS,
    break_connection,
    database_time,
    error_message,
    with_retries,
)
from crawler.store.hosts import PriorityUpdates, update_hosts
from crawler.store.images import EvidenceReader, ImageReleases, save_evidence
from crawler.store.locks import lock_crawl, lock_sites
from crawler.store.output_files import JsonLines
from crawler.store.pages import PageWriter, new_links
from crawler.store.remaining import is_full, no_longer_waiting, remaining_work, totals
from crawler.store.responses import save_responses
from crawler.store.rounds import Round, requeue_listed, round_of
from crawler.store.samples import SampleWriter
from crawler.store.schema import IS_HELD, address, host, worker
from crawler.store.shared_learning import SharedTopicModel, new_shared_examples, new_templates, save_shared_examples
from crawler.store.shared_learning import save_templates as keep_templates
from crawler.store.workers import (
    UncertainCommitError,
    count_worker,
    file_offsets,
    files_of,
    save_file_offsets,
    silent_workers,
    write_heartbeat,
)


class BatchCommitter:
    """The books of one worker, for one thread at a time; its methods wait while the database is away."""

    def __init__(
        self, engine: Engine, claimant: Claimant, keys: AddressKeys, pages: JsonLines, images: JsonLines
    ) -> None:
        self.engine = engine
        self.claimant = claimant
        self.keys = keys
        self.pages, self.images = pages, images
        self.retry_seconds = 120.0
        """Seconds until a database that is away is given up."""
        self.trouble = ""
        """What is waited for, if the database cannot be written to."""
        self.stopping = False
        self._connection: Any = None
        """The driver's own, that was used last."""
        self._number = 0
        self._held: dict[int, Lease] = {}
        self.addresses = Addresses(claimant.crawl_id, dialect_insert(engine))
        self._shared_examples: set[int] = set()
        self.reads_templates = False
        """Whether this worker wants to know what the pages of its hosts have in common."""
        self._copies: dict[int, str] = {}
        """Of the pages that are being kept, those that are near copies of others, by lease."""
        self._last_template = 0
        self.enough_pages = 0
        """Pages of a site that tell enough of its pictures."""
        self.releases = ImageReleases(claimant.crawl_id, claimant.pictures)
        self._evidence = EvidenceReader()
        self.priority_updates = PriorityUpdates(keys)
        self.shared_model = SharedTopicModel(claimant.crawl_id)
        self.kept = PageWriter(claimant.crawl_id, keys)
        self.round = Round(1, 1)
        self.samples = SampleWriter(claimant.crawl_id)
        self.number = 1
        """That of the worker's seat."""

    def commit(self, batch: Batch) -> BatchReply:
        """Commit what happened, and take what comes next."""
        self._number += 1
        try:
            answer: BatchReply = self.in_transaction(lambda connection: self._write(connection, batch))
        except UncertainCommitError as doubt:
            if doubt.lost:
                self._held.clear()
                self.priority_updates.forget()
                return BatchReply(lost=True)
            answer = self.in_transaction(lambda connection: self._recovered(connection, batch))
        for one in [*(ended.lease for ended in batch.ended), *batch.returned, *(move.lease for move in batch.moves)]:
            self._held.pop(one.id, None)
        self.priority_updates.committed()
        self.shared_model.committed()
        self._held.update((one.id, one) for one in [*answer.leases, *filter(None, answer.moved.values())])
        answer.forgotten = self._evidence.committed({one.shown_on for one in answer.leases if one.shown_on is not None})
        return answer

    def leave(self) -> None:
        """Give back what is held, and be a worker no more."""
        self.in_transaction(self._leave)

    def _leave(self, connection: Connection) -> None:
        lock_crawl(connection, self.claimant.crawl_id)
        expire_worker(connection, self.claimant.worker_id, crash=0)

    def renew(self, worker_id: int) -> None:
        """Go on as another worker."""
        self.claimant = self.claimant._replace(worker_id=worker_id)
        self._number = 0
        self._held.clear()

    def expire_silent_workers(self) -> int:
        """Let return what workers held that gave no sign of life for a lease; how many workers they were."""
        return int(self.in_transaction(self._expire_silent_workers))

    def _expire_silent_workers(self, connection: Connection) -> int:
        lock_crawl(connection, self.claimant.crawl_id)
        # By the beat of this worker, which has just been: after an outage every other may look dead for a moment.
        now = connection.execute(select(worker.c.heartbeat).where(worker.c.id == self.claimant.worker_id)).scalar()
        dead = silent_workers(connection, self.claimant.crawl_id, now or 0.0)
        for number in dead:
            expire_worker(connection, number)
        return len(dead)

    def in_transaction(self, work: Callable[[Connection], Any]) -> Any:
        """What the work brings, in one transaction, tried again while the database is locked, full or away."""
        committed, last_template = (self.pages.mark, self.images.mark), self._last_template
        shared_examples = frozenset(self._shared_examples)

        def transact() -> Any:
            with self.engine.begin() as connection:
                self._connection = connection.connection.driver_connection
                result = work(connection)
            self.trouble = ""
            return result

        def undo(error: Exception) -> str:
            # What the transaction entered and read is to be entered and read again.
            (self.pages.mark, self.images.mark), self._shared_examples = committed, set(shared_examples)
            self._last_template = last_template
            self.addresses.forget()
            self.releases.sites.clear()
            if isinstance(error, OSError):
                self.trouble = error_message(error)
                with suppress(OSError):
                    self.pages.cut()
                    self.images.cut()
            else:  # it may have been committed all the same: what was written stays until that is known
                self.trouble = f"the database cannot be written to: {error_message(error)}"
            return self.trouble

        return with_retries(transact, undo, lambda: self._retry_seconds_now)

    @property
    def _retry_seconds_now(self) -> float:
        return min(self.retry_seconds, LAST_RETRY_SECONDS) if self.stopping else self.retry_seconds

    @property
    def timeout_seconds(self) -> float:
        """Seconds in which the database has answered, or never will."""
        return self._retry_seconds_now if self.stopping else self._retry_seconds_now + STATEMENT_SECONDS

    def break_connection(self) -> None:
        """Break off the connection to a server that does not answer, from another thread: a statement fails then."""
        break_connection(self._connection)

    def _write(self, connection: Connection, batch: Batch) -> BatchReply:
        crawl_id, answer = self.claimant.crawl_id, BatchReply()
        if batch.idle or (batch.demand is not None and self.claimant.max_pages is not None):
            lock_crawl(connection, crawl_id)
        now = write_heartbeat(connection, self.claimant.worker_id, self._number)
        self._look_up_round(connection)
        self._copies = self._keep_pages(connection, batch, now)
        save_responses(connection, crawl_id, self.keys, batch.ended)
        keep_templates(connection, crawl_id, [label for one in batch.ended for label in one.result.templates])
        added = add_links(connection, self.addresses, self.keys, batch.ended, self.releases.sites)
        added += requeue_listed(connection, self.keys, batch.ended, self.round, now)
        lock_sites(connection, self.addresses, batch)
        self.addresses.raise_hosts(connection)
        spared = complete_leases(connection, batch.ended)
        added += len(spared)
        ended = [one for one in batch.ended if one.lease.id not in spared]
        save_shared_examples(connection, crawl_id, ended)
        save_evidence(connection, crawl_id, batch.pictures)
        save_image_results(connection, self.keys, crawl_id, ended)
        added += self.releases.release(connection, batch, self.enough_pages)
        # Before the claim, which must not take more than the crawl may have.
        stored = sum(1 for one in batch.ended if one.is_page)
        count_worker(connection, self.claimant.worker_id, pages=stored)
        added += return_leases(connection, self.claimant, batch.returned)
        for move in batch.moves:
            answer.moved[move.lease.id], more = follow_redirect(
                connection, self.claimant, self.addresses, self.keys, move
            )
            added += more
        self.addresses.raise_hosts(connection)
        update_hosts(connection, self.claimant, self.addresses, batch, now)
        if batch.learned is not None:
            self.shared_model.keep(connection, self.claimant.worker_id, batch.learned, now)
        self.priority_updates.write(connection, batch.priorities)
        if batch.demand is not None:
            answer.leases, answer.more, answer.refused, answer.rests = claim(
                connection, self.claimant, batch.demand, now
            )
            added -= len(answer.leases) + answer.refused.total()
        count_worker(connection, self.claimant.worker_id, waiting=added)
        self._survey(connection, batch, answer)
        self.samples.keep(connection, self.number, batch.samples, now, answer.waiting)
        self._write_files(connection, batch)
        return answer

    def _recovered(self, connection: Connection, batch: Batch) -> BatchReply:
        """The answer to a batch that was committed although the connection was lost before it said so."""
        self._look_up_round(connection)
        answer = recovered_reply(connection, self.claimant, self.keys, batch, self._held)
        self.pages.mark, self.images.mark = file_offsets(connection, *self._my_files())
        self._survey(connection, batch, answer)
        return answer

    def _my_files(self) -> tuple[ColumnElement[bool], ...]:
        return files_of(self.claimant.crawl_id, self.claimant.worker_id)

    def _look_up_round(self, connection: Connection) -> None:
        """Know which round it is: another worker may have begun one."""
        self.round = round_of(connection, self.claimant.crawl_id)
        self.claimant = self.claimant._replace(known_since=self.round.first if self.round.comes_again else None)

    def _keep_pages(self, connection: Connection, batch: Batch, now: float) -> dict[int, str]:
        """Keep the results of pages, also of those that lead elsewhere now; for copies their originals, by lease."""
        again = [one for one in batch.ended if one.lease.known is not None]
        links = new_links(connection, self.keys, again) if again else {}
        context = RoundContext(self.round.number, now, self.kept.bounds)
        moved = [
            Completion(move.lease, PageResult(Outcome(Code.REDIRECTED)))
            for move in batch.moves
            if move.lease.known is not None
        ]
        return self.kept.keep(connection, [*moved, *batch.ended], context, links)

    def _write_files(self, connection: Connection, batch: Batch) -> None:
        stored = [one for one in batch.ended if one.is_item]
        pages = [{**(one.result.record or {}), "duplicate_of": self._copies.get(one.lease.id)} for one in stored]
        images = [one.result.record for one in batch.ended if one.result.record is not None and not one.lease.counts]
        if pages or images:
            self.pages.mark, self.images.mark = self.pages.append(pages), self.images.append(images)
            save_file_offsets(connection, self.pages.mark, self.images.mark, *self._my_files())

    def _survey(self, connection: Connection, batch: Batch, answer: BatchReply) -> None:
        """What all workers together have done and learned, and whether it is all."""
        answer.waiting, answer.pages, answer.workers = totals(connection, self.claimant.crawl_id)
        self.releases.full = is_full(self.claimant, answer.pages)
        shared_examples = new_shared_examples(connection, self.claimant.crawl_id, self._shared_examples)
        self._shared_examples.update(shared_examples)
        answer.shared_examples = list(shared_examples.values())
        answer.shared_models = self.shared_model.read(connection, self.claimant.worker_id)
        if batch.asked_after:
            answer.done = no_longer_waiting(connection, self.claimant.worker_id, self.keys, batch.asked_after)
        shown_on = {one.shown_on for one in answer.leases if one.shown_on is not None}
        answer.evidence = self._evidence.read(connection, shown_on)
        if self.reads_templates:
            answer.templates = self._read_templates(connection, batch, answer)
        if batch.idle and not answer.leases:
            left = remaining_work(connection, self.claimant, answer.pages)
            answer.held, answer.over = left.held, left.over
            count_worker(connection, self.claimant.worker_id, waiting=left.released)
            answer.waiting += left.released

    def _read_templates(self, connection: Connection, batch: Batch, answer: BatchReply) -> list[Template]:
        at_hand = set(batch.demand.at_hand) if batch.demand is not None else set()
        come = {one.host_id for one in [*answer.leases, *filter(None, answer.moved.values())]} - at_hand
        found, last = new_templates(connection, self.claimant.crawl_id, come, at_hand, self._last_template)
        if at_hand:  # else others may have stored some of these hosts that are still to be read
            self._last_template = last
        return found


def recovered_reply(
    connection: Connection, claimant: Claimant, keys: AddressKeys, batch: Batch, held: Collection[int]
) -> BatchReply:
    """What is lent and moved by a batch that was committed; these leases were held before it."""
    answer = BatchReply()
    ended = {one.lease.id for one in batch.ended} | {one.id for one in batch.returned}
    answer.moved = dict.fromkeys(move.lease.id for move in batch.moves)
    moved: dict[int, int] = {}
    for move in batch.moves:
        moved.setdefault(keys(move.to.url, move.to.kind), move.lease.id)
    mine = address.c.worker == claimant.worker_id, IS_HELD
    found = select(address, host.c.site_id, host.c.next_at).join(host, host.c.id == address.c.host_id).where(*mine)
    rows = [row for row in connection.execute(found).all() if row.id not in held or row.id in ended]
    known = histories_of(connection, claimant, rows)
    for row in rows:
        lease = _held_lease(connection, row)._replace(known=known.get(row.key))
        if row.key in moved:
            answer.moved[moved[row.key]] = lease
        else:
            answer.leases.append(lease)
    answer.rests = host_rests(claimant, {row.host_id: row.next_at for row in rows}, database_time(connection))
    return answer


def _held_lease(connection: Connection, row: Row[Any]) -> Lease:
    parent = select(address.c.url).where(address.c.id == row.parent)
    found = connection.execute(parent).scalar() if row.parent else None
    return Lease(row.id, candidate_of(row, found), row.host_id, row.site_id, shown_on=row.shown_on)
