"""A running crawl reads what people say of its pages, whenever it has changed, and nothing else."""

from typing import Any

import pytest
from sqlalchemy import Engine
from store_workers import Crew

from crawler.frontier.batch import TopicLabel
from crawler.store.batch import shared_learning
from crawler.store.batch.shared_learning import OFF_TOPIC, ON_TOPIC, topic_label_detail
from crawler.store.labels import Label, put_label, remove_label
from crawler.store.page_tables import LabelKind

DIGEST = "0123456789abcdef"
HIVE = TopicLabel("The hive", "Bees\nlive there.", is_on_topic=True)


def said(number: int = 1, value: str = ON_TOPIC, topic: str = DIGEST, **other: Any) -> Label:
    """Somebody's label of a page of the crew's crawl."""
    url, source = f"http://a.example/{number}", b"The hive\nBees\nlive there."
    values = {"kind": LabelKind.TOPIC, "crawl": "crawl", "url": url, "page": url, "value": value, "source": source}
    return Label(**values | {"detail": topic_label_detail(number, topic), "said_at": 1.0} | other)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers look at each commit for labels."""
    monkeypatch.setattr(shared_learning, "READ_SECONDS", 0.0)


@pytest.mark.usefixtures("at_once")
def test_labels_are_read_when_they_change(crew: Crew, engine: Engine) -> None:
    one, two = crew.pair(topic_digest=DIGEST)
    assert one.commit().topic_labels is None
    put_label(engine, said())
    assert [one.commit().topic_labels, one.commit().topic_labels] == [[HIVE], None]
    assert two.commit().topic_labels == [HIVE]
    put_label(engine, said(value=OFF_TOPIC, said_at=2.0))
    put_label(engine, said(2, said_at=2.0))
    assert one.commit().topic_labels == [HIVE._replace(is_on_topic=False), HIVE]
    for number in (1, 2):
        remove_label(engine, said(number).key)
    assert [one.commit().topic_labels, one.commit().topic_labels] == [[], None]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("other", [{"crawl": "wasps"}, {"kind": LabelKind.IMAGE}, {"topic": "f" * 16}])
def test_labels_of_something_else_are_none(crew: Crew, engine: Engine, other: dict[str, str]) -> None:
    one = crew.join(topic_digest=DIGEST)
    put_label(engine, said(**other))
    assert not one.commit().topic_labels


def test_labels_are_looked_for_now_and_then(crew: Crew, engine: Engine) -> None:
    one = crew.join(topic_digest=DIGEST)
    one.commit()
    put_label(engine, said())
    assert one.commit().topic_labels is None
    labels = one.session.committer.topic_labels
    assert labels.read_at is not None
    labels.read_at -= shared_learning.READ_SECONDS
    assert one.commit().topic_labels == [HIVE]


@pytest.mark.usefixtures("at_once")
def test_the_next_run_reads_them_too_and_of_very_many_the_newest(
    crew: Crew, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_learning, "MOST_LABELS", 5)
    for number in range(6):
        put_label(engine, said(number, value=OFF_TOPIC if number else ON_TOPIC))
    found = crew.join(topic_digest=DIGEST).commit().topic_labels
    assert found is not None
    assert (len(found), any(one.is_on_topic for one in found)) == (5, False)
