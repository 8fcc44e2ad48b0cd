"""The articles of the demo site, and how their text becomes HTML.

A content file is a header of `key: value` lines, an empty line, then paragraphs. A paragraph is one line. `> ` begins a
pull quote, `- ` a list item, and `[words](address)` is a link. Comments come last, a line each: `@ name: remark`. A key
in capitals, such as `X-Robots-Tag`, is a header that the server sends.

The HTML around articles is in `templates/`. So are the other texts of the site in each language, e.g. `en.txt`, and
the paths of its lists.
"""

import datetime
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

SENTENCE = re.compile(r"(?<=[.?!])\s|(?<=。)")  # where a sentence ends
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
OLD_ENCODING = {"zh": "gb18030", "en": "windows-1252"}  # of the old site's pages, by language
FOLDER = files(__package__)


@dataclass(frozen=True)
class Article:
    """One article as its author wrote it, without the frame of a page."""

    paths: tuple[str, ...]  # more than one: the same page at several addresses
    title: str
    language: str
    topic: str
    frame: str  # the site around it: `modern` or `old`
    author: str
    date: datetime.date
    caption: str
    blocks: tuple[str, ...]  # paragraphs, pull quotes and lists as in the file, with markup for links
    remarks: tuple[tuple[str, str], ...]  # readers' comments below it, each with a name
    related: tuple[str, ...]  # the addresses of articles that it recommends
    image_markup: str  # how the HTML names the image: `plain`, `lazy` or `srcset`
    head_data: tuple[str, ...]  # kinds of machine-readable data in the head: `json-ld`, `og`
    is_listed: bool  # whether the lists of its site show it
    uses_br: bool  # whether paragraphs end with <br><br> instead of beginning with <p>
    encoding: str  # of its HTML
    declared: str  # the encoding that the page declares; empty if it declares none
    licence: str  # the address of the licence that it names; empty if it names none
    robots: str  # its directives for robots
    headers: tuple[tuple[str, str], ...]  # sent with it, in addition to the usual ones

    @property
    def path(self) -> str:
        """The article's first address."""
        return self.paths[0]

    @cached_property
    def paragraphs(self) -> tuple[str, ...]:
        """The main text as readers see it: one string for each paragraph, pull quote or list item, without markup."""
        lines = (line for block in self.blocks for line in block.splitlines())
        return tuple(LINK.sub(r"\1", line.removeprefix("> ").removeprefix("- ")) for line in lines)

    @property
    def teaser(self) -> str:
        """The first sentence."""
        return SENTENCE.split(self.paragraphs[0])[0]

    def image(self, size: str = "") -> str:
        """The address of its image. `size`, e.g. `-small`, is part of the name in the modern site.

        >>> [one.image() for one in articles() if one.path in ("/zh/rail/qj", "/old/fengla.htm")]
        ['/images/zh-rail-qj.png', '/old/images/fengla.gif']
        """
        if self.frame == "old":
            return f"/old/images/{re.split('[/.]', self.path)[-2]}.gif"
        return f"/images/{self.path.strip('/').replace('/', '-')}{size}.png"

    @property
    def file_name(self) -> str:
        """Its file name, by which pages in the same folder link to it."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Notice:
    """A page of the modern site that is not an article: archive, drafts, members, advertisement, not found."""

    path: str
    title: str
    language: str
    blocks: tuple[str, ...]
    robots: str
    status: int


def header_values(lines: str) -> dict[str, str]:
    """The values of `key: value` lines by key.

    >>> header_values("title: Why: a question")
    {'title': 'Why: a question'}
    """
    return dict(line.split(": ", 1) for line in lines.splitlines())


def read_folder(name: str) -> list[tuple[dict[str, str], tuple[str, ...]]]:
    """The header and the paragraphs of every content file in a folder, in the order of the file names."""
    sources = sorted((file.name, file.read_text(encoding="utf-8")) for file in (FOLDER / name).iterdir())
    parts = (source.strip().split("\n\n") for _, source in sources)
    return [(header_values(head), tuple(blocks)) for head, *blocks in parts]


def article(head: dict[str, str], blocks: tuple[str, ...]) -> Article:
    """The article that a content file describes, given its header and its paragraphs."""
    frame = head.get("frame", "modern")
    remark_lines = (
        line.removeprefix("@ ").split(": ", 1) for block in blocks for line in block.splitlines() if line[0] == "@"
    )
    encoding = "utf-8"
    declared = encoding
    if frame == "old":
        encoding = OLD_ENCODING[head["language"]]
        # The old Chinese pages declare no encoding, so that the crawler must detect it.
        declared = "" if head["language"] == "zh" else encoding

    return Article(
        paths=(head["path"], *head.get("also", "").split()),
        title=head["title"],
        language=head["language"],
        topic=head["topic"],
        frame=frame,
        author=head["author"],
        date=datetime.date.fromisoformat(head["date"]),
        caption=head["caption"],
        blocks=tuple(block for block in blocks if block[0] != "@"),
        remarks=tuple((name, remark) for name, remark in remark_lines),
        related=tuple(head["related"].split()),
        image_markup=head.get("show", "plain"),
        head_data=tuple(head.get("marks", "").split()),
        is_listed=head.get("listed") != "no",
        uses_br=head.get("breaks") == "br",
        encoding=encoding,
        declared=head.get("declared", declared),
        licence=head.get("licence", ""),
        robots=head.get("robots", ""),
        headers=tuple((key, value) for key, value in head.items() if key[0].isupper()),
    )


@cache
def articles() -> tuple[Article, ...]:
    """Every article of the demo site, newest first."""
    all_articles = (article(head, blocks) for head, blocks in read_folder("articles"))
    return tuple(sorted(all_articles, key=lambda article: article.date, reverse=True))


@cache
def notices() -> tuple[Notice, ...]:
    """Every page of the demo site that is neither article nor list."""
    return tuple(
        Notice(
            path=head["path"],
            title=head["title"],
            language=head["language"],
            blocks=blocks,
            robots=head.get("robots", ""),
            status=int(head.get("status", "200")),
        )
        for head, blocks in read_folder("notices")
    )


def related(article: Article) -> list[Article]:
    """The articles that an article recommends."""
    by_path = {other.path: other for other in articles()}
    return [by_path[path] for path in article.related]


def listed_articles(language: str, frame: str, topic: str = "") -> list[Article]:
    """The articles in the lists of the modern or old site in a language, newest first: all, or those of a topic."""
    return [
        article
        for article in articles()
        if article.is_listed
        and article.language == language
        and article.frame == frame
        and topic in ("", article.topic)
    ]


@cache
def site_texts(language: str) -> dict[str, str]:
    """The texts and the paths of the site in a language, by name: the text `bees_word` labels the path `bees`."""
    return header_values((FOLDER / "templates" / f"{language}.txt").read_text(encoding="utf-8"))
