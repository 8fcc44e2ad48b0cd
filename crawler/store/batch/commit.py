"""Commits the batches of one worker, each in one transaction.

Everything that a page caused is committed together with the end of its lease: its text, its new links, its line of
JSON. So a crash at any point loses no address and repeats no item. The line is written and synced before the commit
that counts it; lines beyond that count are cut off at the next start.

The order of the statements prevents deadlocks: all workers lock rows in the same order.

1. the crawl, but only under `max_pages`, or by a worker that may end the crawl or expires another one
2. workers
3. pages with their offsets, robots.txt files, templates and addresses, by their keys
4. sites and hosts, by their ids
5. samples and files

New priorities, claims and latencies skip the hosts that others have locked. Two workers may still wait for each other
where a redirect leads to another host, or where batches report several things about hosts, such as rests and crawl
delays: then the database aborts one transaction, which is tried again.

If the connection is lost during a commit, the batch number in the worker's row tells whether it was committed. The
worker then goes on without leases: its addresses are returned, and claimed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Engine, select

from crawler.frontier.batch import Batch, BatchReply
from crawler.frontier.page_result import Completion, PageResult, Template
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.recrawl.page_history import RoundContext
from crawler.store.batch.address_patterns import counts_of_requests, counts_of_sites, release_useful, save_counts
from crawler.store.batch.addresses import Addresses, AddressKeys
from crawler.store.batch.chart_samples import SampleWriter
from crawler.store.batch.claims import Claimant, claim, remaining_pages
from crawler.store.batch.completion import complete_leases, follow_redirect, return_leases
from crawler.store.batch.crawl_end import end_if_done, is_full, no_longer_waiting, totals
from crawler.store.batch.host_tries import renew_tries
from crawler.store.batch.hosts import lock_sites, update_hosts
from crawler.store.batch.images import EvidenceReader, ImageReleases, save_evidence, save_image_results
from crawler.store.batch.page_writer import PageWriter, known_keys, new_link_counts
from crawler.store.batch.priority_updates import PriorityUpdates
from crawler.store.batch.responses import Responses, RobotsFiles
from crawler.store.batch.rounds import Round, requeue_listed, round_of
from crawler.store.batch.shared_learning import (
    SharedTopicModel,
    TopicLabels,
    new_lessons,
    new_templates,
    save_lessons,
    save_templates,
)
from crawler.store.crawl_tables import worker
from crawler.store.database import (
    LAST_RETRY_SECONDS,
    STATEMENT_SECONDS,
    break_connection,
    dialect_insert,
    error_message,
    with_retries,
)
from crawler.store.heartbeats import (
    CrawlLock,
    LostReplyError,
    count_worker,
    expire_worker,
    lock_crawl,
    silent_workers,
    write_heartbeat,
)
from crawler.store.output_files import WorkerFiles
from crawler.urls.address import address_of


class BatchCommitter:
    """Commits the batches of one worker, in one thread at a time; retries while the database is unreachable."""

    def __init__(self, engine: Engine, claimant: Claimant, keys: AddressKeys, files: WorkerFiles) -> None:
        self.engine = engine
        self.claimant = claimant
        self.keys = keys
        self.files = files
        self.number = 1
        """The number of the worker; the worker that replaces it takes over the number."""
        self.retry_seconds = 120.0
        """Seconds after which a worker stops trying to reach the database."""
        self.trouble = ""
        """Why the database cannot be written to at the moment; empty if it can."""
        self.stopping = False
        """Whether the crawl is stopping: then it waits at most LAST_RETRY_SECONDS for an unreachable database."""
        self.reads_templates = False
        """Whether this worker needs the templates of its hosts."""
        self.enough_pages = 0
        """How many pages of a site are needed to judge its images; 0 if images are not judged."""
        self.addresses = Addresses(claimant.crawl_id, dialect_insert(engine))
        self.page_writer = PageWriter(claimant.crawl_id, keys)
        self.releases = ImageReleases(claimant.crawl_id, claimant.images)
        self.priority_updates = PriorityUpdates(keys)
        self.shared_model = SharedTopicModel(claimant.crawl_id)
        self.topic_labels = TopicLabels(claimant.crawl_id)
        self.samples = SampleWriter(claimant.crawl_id)
        self.responses = Responses(claimant.crawl_id, keys)
        self.robots_files = RobotsFiles(claimant.crawl_id)
        self.round = Round(1, 1)
        """The current round; read from the database in each batch."""
        self._evidence = EvidenceReader()
        self._connection: Any = None
        """The driver's connection that was used last."""
        self._batch_number = 0
        """The number of the last batch of this worker."""
        self._read_lesson_ids: set[int] = set()
        """The ids of the shared examples read so far."""
        self._last_template_id = 0
        """The id of the last template read."""

    def commit(self, batch: Batch) -> BatchReply:
        """Commit a batch; returns the reply."""
        self._batch_number += 1
        self.responses.compress(batch.ended)
        try:
            reply: BatchReply = self.in_transaction(lambda connection: self._write(connection, batch))
        except LostReplyError as error:
            if error.is_committed:
                self.priority_updates.committed()
            else:
                self.priority_updates.forget()
            return BatchReply(lost=True, committed=error.is_committed)
        self.priority_updates.committed()
        self.shared_model.committed()
        self.topic_labels.committed()
        self.responses.committed()
        self.robots_files.committed()
        reply.forgotten = self._evidence.committed(
            {lease.shown_on for lease in reply.leases if lease.shown_on is not None}
        )
        return reply

    def leave(self) -> None:
        """Return all leases and delete the worker's row."""
        self.in_transaction(self._leave)

    def _leave(self, connection: Connection) -> None:
        lock_crawl(connection, self.claimant.crawl_id)
        expire_worker(connection, self.claimant.worker_id, crashes=0)

    def renew(self, worker_id: int) -> None:
        """Continue as a new worker, whose row has this id and no batch yet."""
        self.claimant = replace(self.claimant, worker_id=worker_id)
        self._batch_number = 0

    def expire_silent_workers(self) -> int:
        """Expire the workers of the crawl without a recent heartbeat, which returns their leases; returns how many."""
        return int(self.in_transaction(self._expire_silent_workers))

    def _expire_silent_workers(self, connection: Connection) -> int:
        lock_crawl(connection, self.claimant.crawl_id)
        # Not compared with the clock: after an outage of the database, all other workers would look dead for a moment.
        own_heartbeat = select(worker.c.heartbeat).where(worker.c.id == self.claimant.worker_id)
        dead = silent_workers(connection, self.claimant.crawl_id, connection.execute(own_heartbeat).scalar() or 0.0)
        for worker_id in dead:
            expire_worker(connection, worker_id)
        return len(dead)

    def in_transaction(self, work: Callable[[Connection], Any]) -> Any:
        """The result of work in one transaction, retried while the database is locked, full or unreachable."""
        last_template_id = self._last_template_id
        read_lesson_ids = frozenset(self._read_lesson_ids)

        def transact() -> Any:
            with self.engine.begin() as connection:
                self._connection = connection.connection.driver_connection
                result = work(connection)
            self.trouble = ""
            return result

        def undo(error: Exception) -> str:
            # The next attempt reads and writes everything again: forget what only the failed transaction has read.
            self._last_template_id = last_template_id
            self._read_lesson_ids = set(read_lesson_ids)
            self.addresses.forget()
            self.releases.released_sites.clear()
            self.trouble = error_message(error)
            if not isinstance(error, OSError):
                self.trouble = f"the database cannot be written to: {self.trouble}"
            return self.trouble

        return with_retries(transact, undo, lambda: self._retry_seconds_now)

    @property
    def _retry_seconds_now(self) -> float:
        if self.stopping:
            return min(self.retry_seconds, LAST_RETRY_SECONDS)
        return self.retry_seconds

    @property
    def timeout_seconds(self) -> float:
        """Seconds after which a database that has not answered is considered hung."""
        if self.stopping:
            return self._retry_seconds_now
        return self._retry_seconds_now + STATEMENT_SECONDS

    def break_connection(self) -> None:
        """Break the connection to a server that does not answer, from another thread: the statement then fails."""
        break_connection(self._connection)

    def _write(self, connection: Connection, batch: Batch) -> BatchReply:
        """The whole transaction of a batch; its order prevents deadlocks, as explained at the top of this module.

        `added` is how many more addresses are queued because of the batch.
        """
        crawl_id = self.claimant.crawl_id
        worker_id = self.claimant.worker_id
        reply = BatchReply()

        # The crawl and the worker.
        claims_alone = self._lock_crawl(connection, batch)
        now = write_heartbeat(connection, worker_id, self._batch_number)
        self._read_round(connection)

        # Pages with their offsets, robots.txt files, templates, and addresses.
        packed = self.responses.pack(connection, batch.ended)
        batch = replace(batch, ended=packed.ended)
        reply.left_out = Outcomes({Outcome(Code.RESPONSE_LIMIT, str(self.responses.limit)): len(packed.left_out)})
        originals = self._save_pages(connection, batch, now)
        self.responses.save(connection, packed)
        self.robots_files.save(connection, batch.ended)
        save_templates(
            connection, crawl_id, [template for completion in batch.ended for template in completion.result.templates]
        )
        added = self.addresses.add_links(connection, self.keys, batch.ended, self.releases.released_sites)
        reply.left_out += Outcomes({Outcome(Code.ERASED): self.addresses.left_out})
        self.addresses.left_out = 0
        added += requeue_listed(connection, self.keys, batch.ended, self.round, now)

        # Sites and hosts.
        lock_sites(connection, self.addresses, batch)
        self.addresses.raise_hosts(connection)
        requeued = complete_leases(connection, batch.ended)
        added += len(requeued)
        ended = [completion for completion in batch.ended if completion.lease.id not in requeued]

        # Evidence, patterns and verdicts, and the addresses that these release.
        save_lessons(connection, crawl_id, ended)
        save_evidence(connection, crawl_id, batch.evidence)
        added += self._save_patterns(connection, batch, ended, originals)
        save_image_results(connection, self.keys, crawl_id, ended)
        added += self.releases.release(connection, batch, self.enough_pages)

        # Other leases. The pages are counted before the claim, so that it respects `max_pages`.
        count_worker(connection, worker_id, pages=sum(1 for completion in batch.ended if completion.brought_page))
        added += return_leases(connection, worker_id, batch.returned)
        added += self._follow_redirects(connection, batch, reply)
        self.addresses.raise_hosts(connection)
        update_hosts(connection, self.claimant, self.addresses, batch, now)
        if self.claimant.limits_tries:
            renew_tries(connection, batch.ended, self.claimant.on_topic)

        # Priorities and the claim.
        if batch.learned is not None:
            self.shared_model.save(connection, worker_id, batch.learned, now)
        self.priority_updates.write(connection, batch.priorities)
        if batch.demand is not None:
            result = claim(connection, self.claimant, batch.demand, now, claims_alone)
            reply.leases, reply.hosts_with_more, reply.refused, reply.rests = result
            added -= len(reply.leases) + reply.refused.total()
        count_worker(connection, worker_id, waiting=added)

        # The state of the whole crawl, samples and files.
        self._read_shared(connection, batch, reply)
        self.samples.save(connection, self.number, batch.samples, now, reply.waiting - reply.unlikely)
        self._write_lines(connection, batch, originals)
        return reply

    def _lock_crawl(self, connection: Connection, batch: Batch) -> bool:
        """Lock the crawl as far as a batch needs; returns the argument `claims_alone` of `claim`.

        Of idle workers, one at a time may end the crawl. Under `max_pages`, workers claim one after another when few
        pages are left. Without it, claims need no order: each may be treated as if it were alone.
        """
        is_limited = self.claimant.max_pages is not None
        if batch.demand is not None and is_limited and remaining_pages(connection, self.claimant).are_scarce:
            lock_crawl(connection, self.claimant.crawl_id, CrawlLock.ALONE)
            return True
        if batch.idle:
            lock_crawl(connection, self.claimant.crawl_id)
        elif is_limited:
            lock_crawl(connection, self.claimant.crawl_id, CrawlLock.SHARED)
        return not is_limited

    def _read_round(self, connection: Connection) -> None:
        """Read the round of the crawl: another worker may have begun a new one."""
        self.round = round_of(connection, self.claimant.crawl_id)
        self.claimant = replace(self.claimant, first_round=None if self.round.is_first else self.round.first)

    def _save_pages(self, connection: Connection, batch: Batch, now: float) -> dict[int, str]:
        """Save the pages of a batch and those that now redirect; returns the originals of near-duplicates, by lease.

        A page that redirects to a known address is saved only when its lease ends. If it was saved here, and this
        worker was killed before the lease ends, the next worker would save it as missing a second time in one round.
        """
        # The number of new links of each page that was stored before.
        revisits = [completion for completion in batch.ended if completion.lease.history is not None]
        link_counts = new_link_counts(connection, self.keys, revisits) if revisits else {}

        # The pages that now redirect to an unknown address.
        redirects = [redirect for redirect in batch.redirects if redirect.lease.history is not None]
        targets = {self.keys(redirect.to.url, redirect.to.kind) for redirect in redirects}
        known_targets = known_keys(connection, targets)
        redirected = [
            Completion(redirect.lease, PageResult(Outcome(Code.REDIRECTED)))
            for redirect in redirects
            if self.keys(redirect.to.url, redirect.to.kind) not in known_targets
        ]

        context = RoundContext(self.round.number, now, self.page_writer.bounds)
        return self.page_writer.save(connection, [*redirected, *batch.ended], context, link_counts)

    def _follow_redirects(self, connection: Connection, batch: Batch, reply: BatchReply) -> int:
        """Lease the targets of redirects; returns how many more addresses are queued."""
        added = 0
        for redirect in batch.redirects:
            redirected = follow_redirect(connection, self.claimant, self.addresses, self.keys, redirect)
            reply.redirected[redirect.lease.id] = redirected.lease
            added += redirected.added
        return added

    def _save_patterns(
        self, connection: Connection, batch: Batch, ended: Sequence[Completion], originals: Mapping[int, str]
    ) -> int:
        """Save the counts of address patterns; returns how many addresses are queued again."""
        counts = counts_of_requests(ended, originals)
        save_counts(connection, self.claimant.crawl_id, counts)
        hosts = self.addresses.host_ids(
            connection, {address_of(url).host: url for url in batch.links_that_changed_patterns}
        )
        sites_with_new_patterns = {ids.site_id for ids in hosts.values()}
        return release_useful(connection, counts, sites_with_new_patterns)

    def _write_lines(self, connection: Connection, batch: Batch, originals: dict[int, str]) -> None:
        """Write the lines of pages and images to their files, and save the lengths of the files."""
        pages = [
            {**(completion.result.record or {}), "duplicate_of": originals.get(completion.lease.id)}
            for completion in batch.ended
            if completion.brought_item
        ]
        images = [
            completion.result.record
            for completion in batch.ended
            if completion.result.record is not None and not completion.lease.is_page
        ]
        if pages or images:
            self.files.append(connection, pages, images)

    def _read_shared(self, connection: Connection, batch: Batch, reply: BatchReply) -> None:
        """Read into the reply what all workers together have done and learned, and whether any work remains."""
        crawl_id = self.claimant.crawl_id
        worker_id = self.claimant.worker_id

        reply.waiting, reply.unlikely, reply.pages, reply.workers, reply.control = totals(connection, crawl_id)
        self.claimant = self.claimant.with_tries(connection, reply.pages)
        self.releases.is_crawl_full = is_full(self.claimant, reply.pages)

        lessons = new_lessons(connection, crawl_id, self._read_lesson_ids)
        self._read_lesson_ids.update(lessons)
        reply.lessons = list(lessons.values())
        reply.shared_models = self.shared_model.read(connection, worker_id)
        reply.topic_labels = self.topic_labels.read(connection)

        if batch.asked_after:
            reply.no_longer_queued = no_longer_waiting(connection, worker_id, self.keys, batch.asked_after)
        shown_on = {lease.shown_on for lease in reply.leases if lease.shown_on is not None}
        reply.evidence = self._evidence.read(connection, shown_on)
        leases = [*reply.leases, *(completion.lease for completion in batch.ended)]
        reply.patterns = counts_of_sites(connection, {lease.site_id for lease in leases if lease.is_page})
        if self.reads_templates:
            reply.templates = self._read_templates(connection, batch, reply)

        if batch.idle and not reply.leases:
            remaining = end_if_done(connection, self.claimant, reply.pages)
            reply.held_by_others = remaining.held
            reply.over = remaining.over
            count_worker(connection, worker_id, waiting=remaining.released)
            reply.waiting += remaining.released

    def _read_templates(self, connection: Connection, batch: Batch, reply: BatchReply) -> list[Template]:
        """All templates of the new hosts of a reply, and the new templates of the hosts in memory."""
        in_memory: set[int] = set()
        if batch.demand is not None:
            in_memory.update(batch.demand.hosts_in_memory)
        leases_on_targets = [lease for lease in reply.redirected.values() if lease is not None]
        new = {lease.host_id for lease in [*reply.leases, *leases_on_targets]} - in_memory
        templates, last = new_templates(connection, self.claimant.crawl_id, new, in_memory, self._last_template_id)
        if in_memory:  # without a demand, new templates of the hosts in memory are still to be read
            self._last_template_id = last
        return templates
