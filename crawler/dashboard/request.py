"""What a browser asks, and what it is answered; neither knows the server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote

from crawler.translation.message import Message, MessageError

HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
OF_ADDRESSES = "/?&=#%:;,@!$'()*+~"


@dataclass(frozen=True)
class Request:
    """A question: of what came with it, the first of each name."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """By their names in small letters."""
    client: str = ""
    """The address in numbers that it comes from."""

    @property
    def language(self) -> str:
        """The language of the page: as the visitor chose, or the browser's own."""
        cookies = dict(part.strip().partition("=")[::2] for part in self.headers.get("cookie", "").split(";"))
        wanted = self.query.get("lang") or cookies.get("lang") or self.headers.get("accept-language", "")
        return "zh" if wanted.strip().lower().startswith("zh") else "en"


class Answer(NamedTuple):
    """What the browser gets."""

    body: bytes
    type: str = HTML
    status: int = HTTPStatus.OK
    headers: tuple[tuple[str, str], ...] = ()
    """Besides those that every answer has; of the same name, these count."""


class RefusedError(MessageError):
    """What cannot be answered."""

    def __init__(self, status: int, sentence: str | Message, /, **values: object) -> None:
        super().__init__(sentence, **values)
        self.status = status


def see_other(where: str) -> Answer:
    """The answer to a change: the browser goes on to a page of this dashboard.

    >>> see_other("/pages?site=a b\\r\\nX: y").headers
    (('Location', '/pages?site=a%20b%0D%0AX:%20y'),)
    """
    if not where.startswith("/") or where.startswith(("//", "/\\")):
        raise ValueError(f"{where!r} is no address of the dashboard")
    return Answer(b"", TEXT, HTTPStatus.SEE_OTHER, (("Location", quote(where, safe=OF_ADDRESSES, errors="replace")),))
