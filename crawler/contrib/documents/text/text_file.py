"""Reads text files: plain text, which may be mail or a book, and Markdown."""

import re
from dataclasses import replace

from crawler.contrib.documents.html_body import Body
from crawler.contrib.documents.text.book_wrapper import book_of
from crawler.contrib.documents.text.mail import Letter, common_subject, letters_of
from crawler.contrib.documents.text.markdown import read_markdown
from crawler.contrib.documents.text.plain_text import Kind, TextPart, is_for_readers, parts_of, write
from crawler.page.decoding import decode
from crawler.page.document import MAX_TEXT, DocumentContent, DocumentError, Facts, Fault
from crawler.page.document_type import MARKDOWN
from crawler.page.page import media_type

MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
"""The beginning of HTML or XML, which is not read as a text file, whatever its declared type is."""
BINARY = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\ufffd]")
"""Control characters that texts do not have, and U+FFFD, which stands for bytes that could not be decoded."""
MOST_BINARY = 0.005
"""The largest share of characters of a text that may match BINARY."""
MAX_LINES = 200_000
"""The most lines of a text that are read, five times as many as a long book has."""
BYTE_ORDER_MARK = "\ufeff"


def read_text_file(data: bytes, content_type: str) -> DocumentContent:
    """The document in a text file; raises a DocumentError if the bytes are not a text, or not for readers.

    The media type in `content_type` is one of `crawler.page.document_type.TEXT_TYPES`.
    """
    whole = _decoded(data, content_type)
    text = "\n".join(whole[:MAX_TEXT].split("\n", MAX_LINES)[:MAX_LINES])
    if MARKUP.match(text) or len(BINARY.findall(text)) > MOST_BINARY * len(text):
        raise DocumentError(Fault.BROKEN)
    is_cut = len(whole) > len(text)
    document = read_markdown(text) if media_type(content_type) == MARKDOWN else _plain_text(text)
    return replace(document, is_cut=document.is_cut or is_cut)


def _plain_text(text: str) -> DocumentContent:
    """The document in mail, a book or another plain text; raises a DocumentError if it is not for readers."""
    letters = letters_of(text)
    if letters:
        return _mail(letters)
    book = book_of(text)
    parts = parts_of(book.text)
    if parts and not is_for_readers(parts):
        raise DocumentError(Fault.NO_SENTENCES)
    body = Body()
    write(parts, body)
    return DocumentContent(
        body=body.html(),
        facts=Facts(title=book.title, author=book.author, published=book.published),
        is_cut=body.is_cut,
    )


def _decoded(data: bytes, content_type: str) -> str:
    """The text of the bytes, with the form feeds and backspaces that `decode` removes: `plain_text` needs them."""
    encoding = decode(data, content_type)[1]
    return data.decode(encoding, "replace").removeprefix(BYTE_ORDER_MARK)


def _mail(letters: list[Letter]) -> DocumentContent:
    """The document of a message, or of an archive. A message begins with its subject, and in an archive also with its
    author and date.
    """
    body = Body()
    is_archive = len(letters) > 1
    for letter in letters:
        parts: list[TextPart] = []
        if letter.subject:
            parts.append(TextPart(Kind.HEADING, (letter.subject,), 2 if is_archive else 1))
        author_and_day = ", ".join(filter(None, (letter.author, letter.day)))
        if is_archive and author_and_day:
            parts.append(TextPart(Kind.PARAGRAPH, (author_and_day,)))
        write([*parts, *parts_of(letter.text)], body)

    first = letters[0]
    author = "" if is_archive else first.author
    return DocumentContent(
        body=body.html(),
        facts=Facts(title=common_subject(letters), author=author, published=first.day),
        is_cut=body.is_cut,
    )
