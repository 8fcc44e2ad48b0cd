"""The action that erases a page from its crawl."""

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select

from crawler.checked_settings import canonical_of
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, slow
from crawler.contrib.dashboard.edit_record import Action
from crawler.contrib.index.erasure_targets import erasure_targets
from crawler.contrib.index.forget import erase, sentences_of
from crawler.errors import BusyError
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import page as page_table
from crawler.urls.page_id import page_id

router = APIRouter()


@slow(router.post("/pages/{page}/erase"))
def erase_page(context: Context, request: Request, page: Number) -> Response:
    """Erase a page, and show what was erased."""
    columns = page_table.c.url, crawl.c.name
    of_page = select(*columns).join(crawl, crawl.c.id == page_table.c.crawl_id).where(page_table.c.id == page)
    with context.reading() as connection:
        row = connection.execute(of_page).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
    targets = erasure_targets([row.url], canonical_of(context.settings))
    try:
        erasure = erase(context.url, context.output, row.name, targets)
    except BusyError as error:
        raise RefusedError(HTTPStatus.CONFLICT, error.message) from None
    # The list of changes names the page only by its digest.
    context.record(request, Action.PAGE_ERASED, page_id(row.url))
    return context.page(request, "erased.html", crawl=row.name, sentences=list(sentences_of(erasure)))
