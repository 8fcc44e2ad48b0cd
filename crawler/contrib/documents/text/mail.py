"""Reads mail as its server keeps it: what the headers say, and the text of each message.

A message is what RFC 5322 (https://www.rfc-editor.org/rfc/rfc5322#section-2.1) calls so, an archive is several of them
as RFC 4155 (https://www.rfc-editor.org/rfc/rfc4155#appendix-A) describes, each after a line that begins with "From ".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import Compat32
from email.utils import parseaddr, parsedate_to_datetime

from crawler.page.decoding import decode

SEPARATOR = re.compile(r"^From \S.{0,200}\d{4}$(?=\n[A-Za-z-]{1,60}:)", re.MULTILINE)
HEADERS = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]{0,60}:[^\n]*\n(?:[ \t]+\S[^\n]*\n)*)+(?=\s*(?:\n|$))")
SIGNATURE_MARK = "--"
"""The line above a signature, with a space or without (https://www.rfc-editor.org/rfc/rfc3676#section-4.3)."""
MAX_SIGNATURE = 12
"""Lines of a signature; more may be text."""
NEEDED, ONE_OF = "from", ("subject", "date")
"""Headers by which mail is told from other texts that begin with such lines."""
REPLY = re.compile(r"^(?:\s*(?:re|aw|sv|antw|回复|答复)\s*[:：])+\s*", re.IGNORECASE)
MAX_MESSAGES = 10_000
MAX_HEADER = 10_000
"""Characters of a header that are read."""
MAX_PARTS = 100
"""Parts of a message among which its text is looked for."""


class _ShortHeaders(Compat32):
    """Reads no more than the beginning of each header: its parts take quadratic time to find."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MAX_HEADER]


@dataclass(frozen=True)
class Letter:
    """A message with what its headers say; empty where they say nothing."""

    subject: str
    author: str
    day: str
    """ISO 8601."""
    text: str


def letters_of(text: str) -> list[Letter]:
    """The messages of a text; none if it is no mail.

    >>> letters_of("From: Ann <a@bees.example>\\nSubject: Bees\\n\\nThey dance.")
    [Letter(subject='Bees', author='Ann', day='', text='They dance.')]
    >>> letters_of("Note: this is no mail.\\n\\nBees dance.")
    []
    """
    text = text.replace("\r\n", "\n").lstrip("\n")
    first = SEPARATOR.sub("", text, count=1).lstrip("\n")
    letters = map(_letter, _sources(text)) if _has_headers(first) else ()
    return [letter for letter in letters if letter is not None]


def common_subject(letters: list[Letter]) -> str:
    """The subject of all messages; empty if they have several. The mark of a reply makes no other one."""
    subjects = {REPLY.sub("", letter.subject, count=1) for letter in letters}
    return letters[0].subject if len(subjects) == 1 else ""


def _has_headers(text: str) -> bool:
    match = HEADERS.match(text)
    if match is None:
        return False
    names = {line.partition(":")[0].lower() for line in match[0].splitlines() if not line[0].isspace()}
    return NEEDED in names and not names.isdisjoint(ONE_OF)


def _sources(text: str) -> Iterator[str]:
    """The source of each message."""
    starts = [separator.start() for separator in SEPARATOR.finditer(text)][:MAX_MESSAGES]
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        source = text[start:end]
        yield source.partition("\n")[2] if SEPARATOR.match(source) else source


def _letter(source: str) -> Letter | None:
    """The message in a source; None if its parts or the comments in its headers are too deep in each other."""
    try:
        message = message_from_string(source, policy=_ShortHeaders())
        author, address = parseaddr(_header(message, "From"))
    except RecursionError:
        return None
    return Letter(
        _header(message, "Subject"), author or address.partition("@")[0], _day(message), _unsigned(_text(message))
    )


def _unsigned(text: str) -> str:
    """The text of a message without its signature.

    >>> _unsigned("They dance.\\n-- \\nAnn Smith, beekeeper\\n")
    'They dance.\\n'
    """
    lines = text.splitlines(keepends=True)
    first = max(len(lines) - MAX_SIGNATURE - 1, 0)
    at = next((at for at in range(first, len(lines)) if lines[at].rstrip() == SIGNATURE_MARK), len(lines))
    return "".join(lines[:at])


def _header(message: Message, name: str) -> str:
    value = str(message.get(name, ""))
    try:
        return " ".join(str(make_header(decode_header(value))).split())
    except (MessageError, LookupError, ValueError):
        return " ".join(value.split())


def _day(message: Message) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _text(message: Message) -> str:
    """The first part of a message that is plain text."""
    for number, part in enumerate(message.walk()):
        if number >= MAX_PARTS:
            break
        if part.get_content_type() == "text/plain" and not part.is_multipart():
            return _payload(part)
    return ""


def _payload(part: Message) -> str:
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    if encoding not in ("quoted-printable", "base64"):
        return str(part.get_payload())  # decoded with all of the text
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    return data.decode(decode(data, str(part.get("Content-Type", "")).replace('"', ""))[1], "replace")
