"""The page of a document, which the rest of the crawler treats as any other page."""

import re

from crawler.page.document import DocumentContent, Facts
from crawler.page.html_tree import Cut
from crawler.page.page import DocumentFacts, MadeFrom, Page
from crawler.page.text import fold_space

MAX_TITLE = 300
MAX_AUTHOR = 200
NO_TITLE = re.compile(
    r"untitled.{0,10}|unbenannt.{0,10}|无标题|無題|microsoft (?:word|powerpoint).*|powerpoint[- ].*|document\d*"
    r"|slide \d+|\W*"
    r"|.{0,200}\.(?:docx?|odt|pdf|tex|dvi|indd|qxd|rtf|txt|html?|pptx?|xlsx?|pmd|p65|ps|eps)",
    re.IGNORECASE,
)
"""Titles that programs write by default, and names of files."""
NO_AUTHOR = re.compile(
    r"(?:microsoft(?: office)? )?(?:user|admin(?:istrator)?|owner|author|root|unknown|anonymous|default|python-docx"
    r"|utilisateur.*|benutzer.*|用户|作者|微软用户|\W*)",
    re.IGNORECASE,
)
"""Authors that programs write by default."""
DAY = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def document_page(
    document: DocumentContent,
    url: str,
    media_type: str,
    robots_header: str = "",
    made_from: MadeFrom = MadeFrom.DOCUMENT,
) -> Page:
    """The page of a document; its title, author and date are those in the file, unless they are placeholders."""
    facts = _checked(document.facts, media_type, document.is_cut)
    html = document.html.encode("utf-8", "replace")
    return Page(
        url=url,
        body=html,
        content_type="text/html; charset=utf-8",
        robots_header=robots_header,
        document=facts,
        made_from=made_from,
    )


def _checked(facts: Facts, media_type: str, is_cut: bool) -> DocumentFacts:
    """The metadata of a document, without placeholders and invalid dates."""
    title, author = (_plain(text) for text in (facts.title[:MAX_TITLE], facts.author[:MAX_AUTHOR]))
    day = DAY.match(facts.published)
    return DocumentFacts(
        media_type=media_type,
        title="" if NO_TITLE.fullmatch(title) else title,
        author="" if NO_AUTHOR.fullmatch(author) else author,
        published=day[0] if day else None,
        pages=facts.pages,
        ended=Cut.DOCUMENT if is_cut else None,
    )


def _plain(text: str) -> str:
    """A text without control characters."""
    return fold_space("".join(character for character in text if character.isprintable() or character.isspace()))
