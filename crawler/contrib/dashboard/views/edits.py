"""The view "edits": who changed what in the dashboard, latest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import select

from crawler.contrib.dashboard.context import Context, NothingYetError, Whole
from crawler.contrib.dashboard.edit_record import Action
from crawler.store.crawl_tables import edit
from crawler.translation.message import N_

AT_ONCE = 100
"""Edits in a part."""
SENTENCES: Mapping[str, str] = {
    Action.CRAWL_PAUSED: N_("paused the crawl"),
    Action.CRAWL_RESUMED: N_("resumed the crawl"),
    Action.CRAWL_STOPPED: N_("stopped the crawl"),
    Action.JOB_ADDED: N_("added the job"),
    Action.JOB_PAUSED: N_("paused the job"),
    Action.JOB_RESUMED: N_("resumed the job"),
    Action.JOB_STARTED: N_("started the job"),
    Action.JOB_STOPPED: N_("stopped the job"),
    Action.JOB_REMOVED: N_("removed the job"),
    Action.TEXT_LABELLED: N_("labelled the main text of"),
    Action.ON_TOPIC: N_("labelled as on topic"),
    Action.OFF_TOPIC: N_("labelled as off topic"),
    Action.CONTENT: N_("labelled as content the image"),
    Action.NOISE: N_("labelled as noise the image"),
    Action.LABEL_REMOVED: N_("removed the label of"),
    Action.PAGE_ERASED: N_("erased the page with the digest"),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """Something that somebody changed."""

    id: int
    at: float
    """Seconds since 1970."""
    user_name: str
    """Empty if the dashboard had no users."""
    action: str
    subject: str
    """The name of a job or a crawl, the address of a page or an image, or the digest of an erased page's address."""


@dataclass(frozen=True, slots=True)
class EditList:
    """A part of the edits, latest first."""

    edits: tuple[Edit, ...]
    more: int | None
    """The value of `before` for the next part."""


Before = Annotated[Whole, Query(description=N_("the next edits: the value of more from the previous response"))]
router = APIRouter()
api = APIRouter()


@api.get("/api/edits", summary=N_("Who changed what in the dashboard, latest first"))
def edits(context: Context, before: Before = 0) -> EditList:
    latest = select(edit).order_by(edit.c.id.desc()).limit(AT_ONCE + 1)
    if before:
        latest = latest.where(edit.c.id < before)
    try:
        with context.reading() as connection:
            rows = connection.execute(latest).all()
    except NothingYetError:
        rows = []
    latest_edits = tuple(Edit(*row) for row in rows[:AT_ONCE])
    more = latest_edits[-1].id if len(rows) > AT_ONCE else None
    return EditList(edits=latest_edits, more=more)


@router.get("/edits")
def show(context: Context, request: Request, before: Before = 0) -> Response:
    return context.page(request, "edits.html", found=edits(context, before), before=before, sentences=SENTENCES)
