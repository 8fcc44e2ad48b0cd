"""The view that labels a page: on the topic of its crawl, or not."""

import time
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, see_other, slow
from crawler.contrib.dashboard.edit_record import Action
from crawler.page.text import fold_space
from crawler.store.batch.shared_learning import MOST_TEXT, MOST_TITLE, topic_label_detail
from crawler.store.crawl_tables import crawl
from crawler.store.labels import Label, put_label, remove_label
from crawler.store.page_tables import LabelKind
from crawler.store.page_tables import page as page_table

router = APIRouter()
TopicValue = Annotated[Literal["on_topic", "off_topic", "none"], Query()]


@slow(router.post("/pages/{page}/topic"))
def set_label(context: Context, request: Request, page: Number, value: TopicValue) -> Response:
    columns = page_table.c.url, page_table.c.title, page_table.c.text, crawl.c.name, crawl.c.topic_digest
    query = select(*columns).join(crawl, crawl.c.id == page_table.c.crawl_id).where(page_table.c.id == page)
    with context.reading() as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")

    # The text from which crawls learn the label, and the topic for which it holds.
    source = f"{fold_space(row.title)[:MOST_TITLE]}\n{row.text[:MOST_TEXT]}".encode("utf-8", "replace")
    detail = topic_label_detail(page, row.topic_digest)
    label = Label(
        kind=LabelKind.TOPIC,
        crawl=row.name,
        url=row.url,
        page=row.url,
        value=value,
        detail=detail,
        source=source,
        said_at=time.time(),
    )

    action = Action.LABEL_REMOVED if value == "none" else Action(value)
    with context.changing() as engine:
        if value == "none":
            remove_label(engine, label.key)
        else:
            put_label(engine, label)
    context.record(request, action, row.url)
    return see_other(f"/pages/{page}")
