"""Logging in and out."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crawler.dashboard.access import RefusedError, check_origin
from crawler.dashboard.context import Context, DashboardContext, Text, see_other
from crawler.dashboard.logins import COOKIE, SESSION_SECONDS
from crawler.dashboard.server import BUSY

LOGIN, LOGOUT = "/login", "/logout"
START = "/"
ONE_PASSWORD, MOST_WAITING = CapacityLimiter(1), 10
T = TypeVar("T")
router = APIRouter()


@router.get(LOGIN)
def show(context: Context, request: Request) -> Response:
    return context.page(request, "login.html", target=START)


def ask(context: DashboardContext, request: Request, refusal: RefusedError, target: str) -> Response:
    """The form to log in, which leads to an address of the dashboard."""
    return context.page(request, "login.html", refusal.status, why=refusal.message, target=target)


async def in_turn(check: Callable[..., T], *given: Any) -> T:
    """The result of checking a password, which takes 0.1 s: one after another, so that guesses leave the processor and
    the threads to others.
    """
    if ONE_PASSWORD.statistics().tasks_waiting >= MOST_WAITING:
        raise BUSY
    return await to_thread.run_sync(partial(check, *given), limiter=ONE_PASSWORD)


@router.post(LOGIN)
async def log_in(
    context: Context,
    request: Request,
    name: Text = "",
    password: Text = "",
    target: Annotated[str, Query(alias="to")] = START,
) -> Response:
    check_origin(request)
    try:
        key = await in_turn(context.logins.log_in, request, name, password)
    except RefusedError as error:
        return ask(context, request, error, target)
    try:
        answer = see_other(target)
    except ValueError:
        answer = see_other(START)
    answer.set_cookie(
        COOKIE,
        key,
        SESSION_SECONDS,
        path=f"{context.root}/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post(LOGOUT)
async def log_out(context: Context, request: Request) -> Response:
    context.logins.log_out(request)
    answer = see_other(START)
    answer.delete_cookie(COOKIE, path=f"{context.root}/")
    return answer
