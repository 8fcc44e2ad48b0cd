"""What workers learn and share: lessons of seeds and examples (in the table `shared_example`), topic models, people's
labels, and templates of hosts.

Each worker number has one row for its topic model, which is overwritten; the next worker of that number continues it.
A label says whether a page is on the topic of its crawl, and contains the text of the page: a later crawl of the same
name and topic learns from it, too. A template is an element that pages of a host have in common, such as a menu.
Templates are read only for hosts that the worker has in memory, so memory grows with the number of concurrent hosts,
not with the crawl.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, or_, select

from crawler.frontier.batch import TopicLabel
from crawler.frontier.page_result import Completion, LessonKind, Template
from crawler.store.batch.images import label_key
from crawler.store.batch.responses import zstd
from crawler.store.crawl_tables import crawl, host, worker
from crawler.store.database import dialect_insert, in_chunks, storable
from crawler.store.page_tables import LabelKind, focus, label, shared_example, template

LATE_LESSONS = 1_000
"""How many ids before the last one are searched again: a lesson may be committed after one with a higher id."""
IDS_OF_LESSONS = select(shared_example.c.id).where(
    shared_example.c.crawl_id == bindparam("crawl"), shared_example.c.id > bindparam("after")
)
NAMES_OF_NEW_HOSTS = select(host.c.name).where(host.c.id.in_(bindparam("new_hosts", expanding=True)))
NAMES_OF_HOSTS_IN_MEMORY = select(host.c.name).where(host.c.id.in_(bindparam("hosts_in_memory", expanding=True)))
NEW_TEMPLATES = (
    select(template)
    .where(
        template.c.crawl_id == bindparam("crawl"),
        or_(
            template.c.host.in_(NAMES_OF_NEW_HOSTS),
            template.c.host.in_(NAMES_OF_HOSTS_IN_MEMORY) & (template.c.id > bindparam("last_id")),
        ),
    )
    .order_by(template.c.id)
)


def save_lessons(connection: Connection, crawl_id: int, ended: Iterable[Completion]) -> None:
    """Save the lessons of ended leases."""
    rows = [
        {"crawl_id": crawl_id, "kind": kind, "text": storable(text)}
        for completion in ended
        for kind, text in completion.result.lessons
    ]
    if rows:
        connection.execute(insert(shared_example), rows)


def new_lessons(connection: Connection, crawl_id: int, known_ids: Collection[int]) -> dict[int, tuple[LessonKind, str]]:
    """The lessons of a crawl whose ids are not known yet: kind and text, by id."""
    after = max(known_ids, default=0) - LATE_LESSONS
    ids = connection.execute(IDS_OF_LESSONS, {"crawl": crawl_id, "after": after}).scalars()
    new = sorted(set(ids).difference(known_ids))
    rows = [
        row
        for part in in_chunks(new)
        for row in connection.execute(
            select(shared_example).where(shared_example.c.id.in_(part)).order_by(shared_example.c.id)
        )
    ]
    return {row.id: (LessonKind(row.kind), row.text) for row in rows}


READ_SECONDS = 10.0
"""Seconds between two reads of the models of other workers, and of people's labels."""


class SharedTopicModel:
    """Saves the topic model of this worker, and reads each new version of other workers' models."""

    def __init__(self, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self.read_at: float | None = None
        """When this worker last read models; None before the first time."""
        self._known: dict[int, float] = {}
        """The times at which the rows read so far had been saved, by worker number."""
        self._read: dict[int, float] | None = None
        """These times as the uncommitted transaction has read them; None if it has read none."""

    def save(self, connection: Connection, worker_id: int, learned: tuple[str, str], now: float) -> None:
        """Save what a worker has learned, the summary and the model, in place of its earlier row."""
        summary, text = map(storable, learned)
        number = select(worker.c.number).where(worker.c.id == worker_id).scalar_subquery()
        new = dialect_insert(connection.engine)(focus)
        new = new.values(crawl_id=self.crawl_id, number=number, saved=now, summary=summary, learned=text)
        renewed: dict[str, Any] = {name: new.excluded[name] for name in ("saved", "summary", "learned")}
        connection.execute(new.on_conflict_do_update(index_elements=["crawl_id", "number"], set_=renewed))

    def read(self, connection: Connection, worker_id: int) -> list[str]:
        """The models that are new to this worker; none if it has read models less than READ_SECONDS ago.

        The first call also returns the model of an earlier worker of this number. The time of each row is remembered,
        and not only the latest, because rows need not be committed in the order of their times.
        """
        self._read = None
        if self.read_at is not None and time.monotonic() - self.read_at < READ_SECONDS:
            return []
        own = None
        if self.read_at is not None:
            own_number = select(worker.c.number).where(worker.c.id == worker_id)
            own = connection.execute(own_number).scalar()
        rows = connection.execute(select(focus.c.number, focus.c.saved).where(focus.c.crawl_id == self.crawl_id)).all()
        self._read = {row.number: row.saved for row in rows}
        new = sorted(
            number for number, saved in self._read.items() if number != own and self._known.get(number) != saved
        )
        learned = select(focus.c.learned).where(focus.c.crawl_id == self.crawl_id, focus.c.number.in_(new))
        if new:
            return list(connection.execute(learned.order_by(focus.c.number)).scalars())
        return []

    def committed(self) -> None:
        """Remember what was read, as the transaction is committed."""
        if self._read is not None:
            self._known = self._read
            self._read = None
            self.read_at = time.monotonic()


ON_TOPIC = "on_topic"
OFF_TOPIC = "off_topic"
MOST_LABELS = 500
"""The most labels from which a worker learns: the newest."""
MOST_TEXT = 20_000
"""The most characters of a labelled page's text that are kept: as many as a crawl reads of a page."""
MOST_TITLE = 500
"""The most characters of a labelled page's title that are kept."""


def topic_label_detail(number: int, topic: str | None) -> str:
    """The column `detail` of a label: the number of the page, and the digest of the topic for which it was judged."""
    return json.dumps({"number": number, "topic": topic})


class TopicLabels:
    """Reads the labels of a crawl's pages whenever they have changed."""

    def __init__(self, crawl_id: int) -> None:
        self._name_and_topic = select(crawl.c.name, crawl.c.topic_digest).where(crawl.c.id == crawl_id)
        self.read_at: float | None = None
        """When the labels were last read."""
        self._known: dict[int, float] = {}
        """The times at which the labels read so far had been given, by id."""
        self._read: dict[int, float] | None = None
        """These times as the uncommitted transaction has read them; None if it has read none."""

    def read(self, connection: Connection) -> list[TopicLabel] | None:
        """All labels that were given for the crawl's topic.

        None if no label has changed since they were last read, or if that was less than READ_SECONDS ago.
        """
        self._read = None
        if self.read_at is not None and time.monotonic() - self.read_at < READ_SECONDS:
            return None
        name, topic = connection.execute(self._name_and_topic).one()
        newest = select(label.c.id, label.c.said_at).where(label.c.crawl == name, label.c.kind == LabelKind.TOPIC)
        rows = connection.execute(newest.order_by(label.c.id.desc()).limit(MOST_LABELS)).all()
        self._read = {row.id: row.said_at for row in rows}
        if self._read == self._known:
            return None
        rows_of_labels = connection.execute(select(label).where(label.c.id.in_(list(self._read))).order_by(label.c.id))
        return [_topic_label(row) for row in rows_of_labels if json.loads(row.detail)["topic"] == topic]

    def committed(self) -> None:
        """Remember what was read, as the transaction is committed."""
        if self._read is not None:
            self._known = self._read
            self._read = None
            self.read_at = time.monotonic()


def _topic_label(row: Row[Any]) -> TopicLabel:
    title, _, text = zstd.decompress(row.source).decode().partition("\n")
    return TopicLabel(title, text, row.value == ON_TOPIC)


def topic_labels(connection: Connection, name: str, urls: Iterable[str]) -> dict[str, str]:
    """The labels of the pages of a crawl with these addresses, by address."""
    keys = {label_key(name, LabelKind.TOPIC, url, url): url for url in urls}
    rows = connection.execute(select(label.c.key, label.c.value).where(label.c.key.in_(list(keys))))
    return {keys[row.key]: row.value for row in rows}


def save_templates(connection: Connection, crawl_id: int, templates: Iterable[Template]) -> None:
    """Save templates that are new."""
    rows = {}
    for new_template in templates:
        fields = {name: storable(value) for name, value in asdict(new_template).items()}
        key = _key(crawl_id, *fields.values())
        rows[key] = {"key": key, "crawl_id": crawl_id, **fields}
    if rows:
        new = dialect_insert(connection.engine)(template)
        # All workers insert in the same order, so that they cannot deadlock.
        connection.execute(new.on_conflict_do_nothing(index_elements=["key"]), [rows[key] for key in sorted(rows)])


def new_templates(
    connection: Connection, crawl_id: int, new_hosts: Collection[int], hosts_in_memory: Collection[int], last: int
) -> tuple[list[Template], int]:
    """All templates of new hosts, the templates with ids above `last` of the hosts in memory, and the last id read.

    A template that another worker commits after a later one is missed until its host is claimed again. This cannot
    happen if only one worker at a time may request a host.
    """
    if not new_hosts and not hosts_in_memory:
        return [], last
    hosts = {"new_hosts": sorted(new_hosts), "hosts_in_memory": sorted(hosts_in_memory)}
    rows = connection.execute(NEW_TEMPLATES, {"crawl": crawl_id, "last_id": last, **hosts}).all()
    return [Template(row.host, row.tag, row.text) for row in rows], max([last, *(row.id for row in rows)])


def templates_of(connection: Connection, crawl_id: int, host_name: str) -> list[Template]:
    """All templates of a host."""
    of_host = (template.c.crawl_id == crawl_id) & (template.c.host == host_name)
    rows = connection.execute(select(template).where(of_host).order_by(template.c.id))
    return [Template(row.host, row.tag, row.text) for row in rows]


def _key(*parts: object) -> int:
    """The key of a template: 64 bits."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
