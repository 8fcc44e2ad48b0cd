"""Reads mail as its server stores it: the headers and the text of each message.

A message has the format of RFC 5322 (https://www.rfc-editor.org/rfc/rfc5322#section-2.1). An archive has the format of
RFC 4155 (https://www.rfc-editor.org/rfc/rfc4155#appendix-A): a line that begins with "From " is before each message.
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
"""The line before each message of an archive, which ends with a year."""
HEADERS = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]{0,60}:[^\n]*\n(?:[ \t]+\S[^\n]*\n)*)+(?=\s*(?:\n|$))")
"""The headers of a message, up to an empty line; an indented line continues a header."""
SIGNATURE_MARK = "--"
"""The line above a signature, with a trailing space or without (https://www.rfc-editor.org/rfc/rfc3676#section-4.3)."""
MAX_SIGNATURE = 12
"""The most lines of a signature; more lines may be text."""
REQUIRED_HEADER = "from"
"""A header that every message has. Other texts may also begin with fields, such as `Note: ...`."""
ONE_OF_HEADERS = ("subject", "date")
"""Headers of which every message has at least one."""
REPLY = re.compile(r"^(?:\s*(?:re|aw|sv|antw|回复|答复)\s*[:：])+\s*", re.IGNORECASE)
"""What mail programs put before the subject of a reply."""
MAX_MESSAGES = 10_000
MAX_HEADER = 10_000
"""The most characters of a header that are read."""
MAX_PARTS = 100
"""The text of a message is looked for among at most this many of its first parts."""


class _ShortHeaders(Compat32):
    """Reads only the beginning of each header, as parsing a header takes quadratic time."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MAX_HEADER]


@dataclass(frozen=True)
class Letter:
    """The text of a message and its headers; a missing header is empty."""

    subject: str
    author: str
    day: str
    """The date in ISO 8601."""
    text: str


def letters_of(text: str) -> list[Letter]:
    """The messages of a text; empty if it is not mail.

    >>> letters_of("From: Ann <a@bees.example>\\nSubject: Bees\\n\\nThey dance.")
    [Letter(subject='Bees', author='Ann', day='', text='They dance.')]
    >>> letters_of("Note: this is no mail.\\n\\nBees dance.")
    []
    """
    text = text.replace("\r\n", "\n").lstrip("\n")
    first_message = SEPARATOR.sub("", text, count=1).lstrip("\n")  # an archive has a separator before it
    if not _has_headers(first_message):
        return []
    return [letter for letter in map(_letter, _sources(text)) if letter is not None]


def common_subject(letters: list[Letter]) -> str:
    """The first message's subject if all messages have it, ignoring prefixes such as `Re:`; otherwise empty."""
    subjects = {REPLY.sub("", letter.subject, count=1) for letter in letters}
    if len(subjects) != 1:
        return ""
    return letters[0].subject


def _has_headers(text: str) -> bool:
    """Whether a text begins with the headers of a message."""
    match = HEADERS.match(text)
    if match is None:
        return False
    names = {line.partition(":")[0].lower() for line in match[0].splitlines() if not line[0].isspace()}
    return REQUIRED_HEADER in names and not names.isdisjoint(ONE_OF_HEADERS)


def _sources(text: str) -> Iterator[str]:
    """The source of each message, without the separator before it; before the first message, it may be missing."""
    starts = [separator.start() for separator in SEPARATOR.finditer(text)][:MAX_MESSAGES]
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        source = text[start:end]
        yield source.partition("\n")[2] if SEPARATOR.match(source) else source


def _letter(source: str) -> Letter | None:
    """The message in a source; None if its parts, or the comments in its headers, are nested too deeply to parse."""
    try:
        message = message_from_string(source, policy=_ShortHeaders())
        author, address = parseaddr(_header(message, "From"))
    except RecursionError:
        return None
    return Letter(
        subject=_header(message, "Subject"),
        author=author or address.partition("@")[0],
        day=_day(message),
        text=_unsigned(_text(message)),
    )


def _unsigned(text: str) -> str:
    """The text of a message without its signature, which has at most MAX_SIGNATURE lines.
    >>> _unsigned("They dance.\\n-- \\nAnn Smith, beekeeper\\n")
    'They dance.\\n'
    """
    lines = text.splitlines(keepends=True)
    first = max(len(lines) - MAX_SIGNATURE - 1, 0)
    at = next((at for at in range(first, len(lines)) if lines[at].rstrip() == SIGNATURE_MARK), len(lines))
    return "".join(lines[:at])


def _header(message: Message, name: str) -> str:
    """The decoded value of a header; empty if it is missing."""
    value = str(message.get(name, ""))
    try:
        return " ".join(str(make_header(decode_header(value))).split())
    except (MessageError, LookupError, ValueError):
        return " ".join(value.split())


def _day(message: Message) -> str:
    """The date of a message in ISO 8601; empty if it is missing or invalid."""
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _text(message: Message) -> str:
    """The text of the first part of a message that is plain text; empty if there is none."""
    for number, part in enumerate(message.walk()):
        if number >= MAX_PARTS:
            break
        if part.get_content_type() == "text/plain" and not part.is_multipart():
            return _payload(part)
    return ""


def _payload(part: Message) -> str:
    """The decoded text of a part."""
    transfer_encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    if transfer_encoding not in ("quoted-printable", "base64"):
        return str(part.get_payload())  # decoded already, with the whole file
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    # `decode` detects the encoding. Its text has no form feeds and backspaces, which `plain_text` needs.
    encoding = decode(data, str(part.get("Content-Type", "")))[1]
    return data.decode(encoding, "replace")
