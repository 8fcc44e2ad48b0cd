"""The body of HTML that a document is read into, an element after the other."""

from collections.abc import Iterable
from html import escape
from itertools import takewhile

from crawler.page.document import MAX_BLOCKS, MAX_TEXT

MAX_DEPTH = 8
WEB = ("http://", "https://")


class Body:
    """Elements with text that is HTML already; those beyond the limits of a document are left out."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._lists: tuple[str, ...] = ()
        """The tags of the lists that are open, the outermost first."""
        self._length = self._count = 0
        self.is_cut = False

    def html(self) -> str:
        """The HTML so far."""
        return "".join(self._found) + _closing(self._lists)

    def heading(self, text: str, level: int) -> None:
        tag = f"h{min(max(level, 1), 6)}"
        self._add(f"<{tag}>{text}</{tag}>", text)

    def paragraph(self, text: str) -> None:
        self._add(f"<p>{text}</p>", text)

    def code(self, text: str) -> None:
        self._add(f"<pre>{text}</pre>", text)

    def item(self, text: str, level: int = 0, number: int | None = None) -> None:
        """Add an item of a list; the level is how many lists it is in beside its own, the number that of the item."""
        tag = "ul" if number is None else "ol"
        lists = (*self._lists[: min(level, MAX_DEPTH)], tag)
        is_next = self._lists[: len(lists)] == lists
        before = "</li>" if is_next else f"<{tag}>"  # a list within an item stands in that item
        value = "" if number is None else f' value="{number}"'
        self._add(f"{before}<li{value}>{text}", text, lists)

    def markup(self, html: str, text: str, count: int) -> None:
        """Add HTML with so many elements, whose text is given."""
        self._add(html, text, count=count)

    def link(self, url: str, title: str) -> None:
        """Add a link to the web that stands somewhere in the text, with what it says there; no text is added."""
        self._count += 1
        if self._count > MAX_BLOCKS:
            self.is_cut = True
        elif url.startswith(WEB):
            self._found.append(f'<a href="{escape(url)}" title="{escape(title)}"></a>')

    def table(self, rows: Iterable[Iterable[str]]) -> None:
        """Add a table of cells; one of a single cell is a paragraph, as such tables are frames."""
        kept_rows = []
        left = MAX_BLOCKS - self._count - 1
        for row in map(list, rows):
            left -= len(row)
            if left < 0:
                break  # the rows before it are kept
            kept_rows.append(row)
        if sum(map(len, kept_rows)) == 1:
            self.paragraph(next(cell for row in kept_rows for cell in row))
            return
        html = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in kept_rows)
        self._add(
            f"<table>{html}</table>",
            "".join(cell for row in kept_rows for cell in row),
            count=sum(map(len, kept_rows)) + 1,
        )
        self.is_cut = self.is_cut or left < 0

    def _add(self, html: str, text: str, lists: tuple[str, ...] = (), count: int = 1) -> None:
        self._length += len(text)
        self._count += count  # empty ones, too, of which a file may have millions
        self.is_cut = self.is_cut or self._length > MAX_TEXT or self._count > MAX_BLOCKS
        if self.is_cut or not text.strip():
            return
        pairs = zip(self._lists, lists, strict=False)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._found.append(_closing(self._lists[kept:]) + html + "\n")
        self._lists = lists


def _closing(lists: tuple[str, ...]) -> str:
    """The ends of lists and of their last items."""
    return "".join(f"</li></{tag}>" for tag in reversed(lists))


def anchor(url: str, text: str) -> str:
    """A link, if it leads to the web.

    >>> anchor("https://a.example/", "Bees"), anchor("javascript:x", "Bees")
    ('<a href="https://a.example/">Bees</a>', 'Bees')
    """
    if url.startswith(WEB) and text:
        return f'<a href="{escape(url)}">{text}</a>'
    return text
