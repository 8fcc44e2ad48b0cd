"""The record of who changed what in the dashboard."""

import time
from enum import StrEnum

from sqlalchemy import Engine, insert

from crawler.store.crawl_tables import edit
from crawler.store.database import storable

MOST_SUBJECT = 2_000
"""Characters of a subject that are kept."""


class Action(StrEnum):
    """What somebody changed. The subject of its record is the name of the job or crawl, or the address of the page or
    image.
    """

    CRAWL_PAUSED = "crawl_paused"
    CRAWL_RESUMED = "crawl_resumed"
    CRAWL_STOPPED = "crawl_stopped"
    JOB_ADDED = "job_added"
    JOB_PAUSED = "job_paused"
    JOB_RESUMED = "job_resumed"
    JOB_STARTED = "job_started"
    JOB_STOPPED = "job_stopped"
    JOB_REMOVED = "job_removed"
    TEXT_LABELLED = "text_labelled"
    ON_TOPIC = "on_topic"
    OFF_TOPIC = "off_topic"
    CONTENT = "content"
    NOISE = "noise"
    LABEL_REMOVED = "label_removed"
    PAGE_ERASED = "page_erased"
    """Its subject is the digest of the page's address."""


def record(engine: Engine, user: str, action: Action, subject: str) -> None:
    """Store an edit, with the time of this machine."""
    row = {
        "at": time.time(),
        "user_name": storable(user),
        "action": str(action),
        "subject": storable(subject)[:MOST_SUBJECT],
    }
    with engine.begin() as connection:
        connection.execute(insert(edit).values(row))
