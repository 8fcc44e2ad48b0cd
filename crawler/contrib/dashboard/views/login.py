"""The views that log visitors in and out."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crawler.contrib.dashboard.access import RefusedError, check_origin
from crawler.contrib.dashboard.context import Context, DashboardContext, Text, see_other
from crawler.contrib.dashboard.logins import COOKIE, SESSION_SECONDS, in_turn

LOGIN = "/login"
LOGOUT = "/logout"
START = "/"
router = APIRouter()


@router.get(LOGIN)
def show(context: Context, request: Request) -> Response:
    return context.page(request, "login.html", target=START)


def login_form(context: DashboardContext, request: Request, refusal: RefusedError, target: str) -> Response:
    """The form to log in, with the reason for it; after the login it leads to the target."""
    return context.page(request, "login.html", refusal.status, why=refusal.message, target=target)


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
        return login_form(context, request, error, target)
    try:
        response = see_other(target)
    except ValueError:  # not in the dashboard
        response = see_other(START)
    response.set_cookie(
        COOKIE,
        key,
        SESSION_SECONDS,
        path=f"{context.root}/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@router.post(LOGOUT)
async def log_out(context: Context, request: Request) -> Response:
    context.logins.log_out(request)
    response = see_other(START)
    response.delete_cookie(COOKIE, path=f"{context.root}/")
    return response
