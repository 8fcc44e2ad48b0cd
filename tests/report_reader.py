"""What a browser makes of a report: its elements and its text; and markup that must stay text there."""

from html.parser import HTMLParser

EVIL = "</pre></div><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\x1b\u202e\ud800<!--"

HARMLESS = frozenset(
    "html head meta title style body h1 h2 h3 h4 p dl dt dd em b small br bdi ul li details summary div table thead "
    "tbody tr th td figure figcaption pre svg g line rect circle polyline text".split()
)


class Reader(HTMLParser):
    """What is in a page: tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data: str) -> None:
        self.text += data
