"""The HTML body that readers of documents write, one element after the other."""

from collections.abc import Iterable
from html import escape
from itertools import takewhile

from crawler.page.document import MAX_BLOCKS, MAX_TEXT

MAX_LIST_DEPTH = 8
"""The most lists around the list of an item; deeper lists are written at this depth."""
WEB = ("http://", "https://")


class Body:
    """Collects the elements of a document, in order; elements beyond the limits of a document are skipped.

    The methods take text as HTML, except `link`, which takes plain text. An item of a list stays open until the next
    item or the end of its list, because a list in the item may follow.
    """

    def __init__(self) -> None:
        self._elements: list[str] = []
        self._lists: tuple[str, ...] = ()
        """The tags of the lists that are open, the outermost first."""
        self._length = 0
        """The characters of all texts; elements are skipped once there are more than MAX_TEXT."""
        self._count = 0
        """The number of elements, including empty ones; elements are skipped once there are more than MAX_BLOCKS."""
        self.is_cut = False
        """Whether an element was skipped because of a limit."""

    def html(self) -> str:
        """The HTML so far."""
        return "".join(self._elements) + _closing(self._lists)

    def heading(self, text: str, level: int) -> None:
        tag = f"h{min(max(level, 1), 6)}"
        self._add(f"<{tag}>{text}</{tag}>", text)

    def paragraph(self, text: str) -> None:
        self._add(f"<p>{text}</p>", text)

    def code(self, text: str) -> None:
        self._add(f"<pre>{text}</pre>", text)

    def item(self, text: str, level: int = 0, number: int | None = None) -> None:
        """Add an item of a list: `level` is the number of lists around its list, and `number` its number if the list is
        ordered.
        """
        tag = "ul" if number is None else "ol"
        lists = (*self._lists[: min(level, MAX_LIST_DEPTH)], tag)
        continues_list = self._lists[: len(lists)] == lists
        before = "</li>" if continues_list else f"<{tag}>"
        value = "" if number is None else f' value="{number}"'
        self._add(f"{before}<li{value}>{text}", text, lists)

    def markup(self, html: str, text: str, count: int) -> None:
        """Add HTML of several elements; `text` and `count`, their text and their number, count towards the limits."""
        self._add(html, text, count=count)

    def link(self, url: str, title: str) -> None:
        """Add an empty link to the web, with its text in the document as title. Paragraphs have this text already."""
        self._count += 1
        if self._count > MAX_BLOCKS:
            self.is_cut = True
        elif url.startswith(WEB):
            self._elements.append(f'<a href="{escape(url)}" title="{escape(title)}"></a>')

    def table(self, rows: Iterable[Iterable[str]]) -> None:
        """Add a table of cells; a table of a single cell is added as a paragraph, as it is only a frame."""
        kept_rows = []
        cells_left = MAX_BLOCKS - self._count - 1
        for row in map(list, rows):
            cells_left -= len(row)
            if cells_left < 0:
                break  # the rows before it are kept
            kept_rows.append(row)

        cells = [cell for row in kept_rows for cell in row]
        if len(cells) == 1:
            self.paragraph(cells[0])
            return
        html = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in kept_rows)
        self._add(f"<table>{html}</table>", "".join(cells), count=len(cells) + 1)
        self.is_cut = self.is_cut or cells_left < 0

    def _add(self, html: str, text: str, lists: tuple[str, ...] = (), count: int = 1) -> None:
        """Add HTML, unless its text is empty or a limit is exceeded.

        `lists` are the tags of all lists that are open after the HTML; other open lists are closed before it.
        """
        self._length += len(text)
        self._count += count  # also of empty elements: a file may have millions
        self.is_cut = self.is_cut or self._length > MAX_TEXT or self._count > MAX_BLOCKS
        if self.is_cut or not text.strip():
            return
        tags = zip(self._lists, lists, strict=False)
        still_open = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], tags))
        self._elements.append(_closing(self._lists[still_open:]) + html + "\n")
        self._lists = lists


def _closing(lists: tuple[str, ...]) -> str:
    """The end tags of lists and of their last items."""
    return "".join(f"</li></{tag}>" for tag in reversed(lists))


def anchor(url: str, text: str) -> str:
    """A link, if it leads to the web.

    >>> anchor("https://a.example/", "Bees"), anchor("javascript:x", "Bees")
    ('<a href="https://a.example/">Bees</a>', 'Bees')
    """
    if url.startswith(WEB) and text:
        return f'<a href="{escape(url)}">{text}</a>'
    return text
