"""What the pages of both sites share: the frames, what they say in a language, and which articles they list.

Every value from a content file is escaped where it enters a frame; the frames are in `frames/`.
"""

import re
from functools import cache
from html import escape
from string import Template

from crawler.demo.article import LINK, Article, articles, folder, header

SENTENCE = re.compile(r"(?<=[.?!])\s|(?<=。)")


@cache
def frame(name: str) -> Template:
    """The frame of that name."""
    return Template((folder("frames") / name).read_text(encoding="utf-8"))


@cache
def words(language: str) -> dict[str, str]:
    """What the frames say in a language, escaped."""
    lines = (folder("frames") / f"{language}.txt").read_text(encoding="utf-8")
    return {key: escape(value) for key, value in header(lines).items()}


def inline(line: str) -> str:
    """A line of a content file as HTML.

    >>> inline("Smoke & [honey](/bees/)")
    'Smoke &amp; <a href="/bees/">honey</a>'
    """
    return LINK.sub(r'<a href="\2">\1</a>', escape(line))


def picture_path(article: Article, size: str = "") -> str:
    """The address of an article's picture.

    >>> [picture_path(a) for a in articles() if a.path in ("/zh/rail/qj", "/old/fengla.htm")]
    ['/images/zh-rail-qj.png', '/old/images/fengla.gif']
    """
    if article.frame == "old":
        return f"/old/images/{re.split('[/.]', article.path)[-2]}.gif"
    return f"/images/{article.path.strip('/').replace('/', '-')}{size}.png"


def chosen(language: str, site: str, topic: str = "") -> list[Article]:
    """The articles that the lists of a site show in a language, all or those of one topic, newest first."""
    shown = (a for a in articles() if a.listed and a.language == language and a.frame == site)
    return [article for article in shown if topic in ("", article.topic)]


def teaser(article: Article) -> str:
    """The first sentence of an article, escaped."""
    return escape(SENTENCE.split(article.paragraphs[0])[0])
