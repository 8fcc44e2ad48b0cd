"""The whole demo site as a dict from path to resource, built without any network.

Only robots.txt, the sitemap and the feed name a host, as their formats ask; every other link is relative, so that a
crawler never leaves the site. Images and a PDF are drawn in code: two colours or one line of text, the same bytes on
every run.
"""

import colorsys
import struct
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, time
from email.utils import format_datetime
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from crawler.demo.article import FOLDER, LINK, Article, articles, chosen, notices, related, words

if TYPE_CHECKING:
    from jinja2 import Environment

RUN = 120  # pixels between two clear codes: short enough that GIF codes stay 8 bits wide and need no compression
CLEAR = 128
END = 129


def colours(name: str) -> tuple[bytes, bytes]:
    """A dark and a light colour as RGB bytes, chosen by the image's name."""
    hue = zlib.crc32(name.encode()) % 360 / 360

    def shade(light: float) -> bytes:
        return bytes(round(255 * part) for part in colorsys.hls_to_rgb(hue, light, 0.6))

    return shade(0.35), shade(0.8)


def png(name: str, width: int, height: int) -> bytes:
    """A PNG of the given size, striped in the colours of its name."""
    row = bytes((width + 7) // 8)
    stripe = bytes(byte ^ 0xF0 for byte in row)
    rows = b"".join(b"\0" + (stripe if y // 8 % 2 else row) for y in range(height))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0)),
        (b"PLTE", b"".join(colours(name))),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(kind, data) for kind, data in chunks)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """One part of a PNG file: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def gif(name: str, width: int, height: int) -> bytes:
    """A GIF of the given size, striped in the colours of its name."""
    pixels = b"".join(bytes([y // 8 % 2]) * width for y in range(height))
    runs = (pixels[start : start + RUN] for start in range(0, len(pixels), RUN))
    codes = b"".join(bytes([CLEAR]) + run for run in runs) + bytes([END])
    blocks = (codes[start : start + 255] for start in range(0, len(codes), 255))
    table = b"".join(colours(name)).ljust(3 * CLEAR, b"\0")
    screen = struct.pack("<HHBBB", width, height, 0xF6, 0, 0)
    image = struct.pack("<cHHHHBB", b",", 0, 0, width, height, 0, 7)
    return b"GIF89a" + screen + table + image + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0;"


def pdf(line: str) -> bytes:
    """A PDF of one page with one line of ASCII text."""
    text = f"BT /F1 18 Tf 60 500 Td ({line}) Tj ET".encode("ascii")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 842 595] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    )
    body = b"%PDF-1.4\n"
    table = b"0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(body)
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    trailer = b"trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(body)
    return body + b"xref\n0 7\n" + table + trailer


ARCHIVE = "/bees/archive"  # noindex; links to UNLISTED
UNLISTED = "/bees/telling-the-bees"  # no other page links to it
DUPLICATE = "/rail/rainhill-trials"  # the same page as /rail/rainhill
REDIRECT = "/bees/old-address"  # 301 to REDIRECT_TARGET
REDIRECT_TARGET = "/bees/why-hexagons"
DEAD = "/old/en/links.htm"  # linked, 404
DRAFTS = "/private/drafts.html"  # robots.txt disallows it
MEMBERS = "/members/"  # every link to it is nofollow
ADVERT = "/ads/click"  # where the banners lead; robots.txt disallows it
PDF = "/files/hive-plan.pdf"

NEWEST = 10  # articles in the feed
BANNERS = 4
MOST_READ = 5
ON_HOME = 8
HTML = "text/html; charset=utf-8"
XML = "application/xml; charset=utf-8"
PNG_SIZES = {
    "/images/logo.png": (180, 48),
    **{f"/images/icon-{name}.png": (32, 32) for name in ("home", "bees", "rail")},
    **{f"/images/share-{name}.png": (24, 24) for name in ("mail", "print", "phone")},
    **{f"/ads/banner{number}.png": (728, 90) for number in range(1, BANNERS + 1)},
    "/ads/box.png": (300, 250),
}
GIF_SIZES = {
    "/count.gif": (1, 1),
    "/images/placeholder.gif": (1, 1),
    "/old/images/spacer.gif": (1, 1),
    "/old/images/title.gif": (200, 60),
    **{f"/old/images/nav_{name}.gif": (88, 31) for name in ("home", "bees", "rail")},
    "/ads/banner.gif": (468, 60),
}


@dataclass(frozen=True)
class Resource:
    """What the server answers to one path."""

    body: bytes
    content_type: str = HTML
    status: int = 200
    location: str = ""  # where a redirect leads
    headers: tuple[tuple[str, str], ...] = ()  # beside the usual ones


def resources(base: str) -> dict[str, Resource]:
    """Every path of the demo site; `base` is its address with scheme and host and a slash at the end."""
    return {
        **article_pages(),
        **list_pages(),
        **notice_pages(),
        REDIRECT: Resource(b"", status=301, location=REDIRECT_TARGET),
        PDF: Resource(pdf("Plan of our garden hive: ten frames, 450 by 365 by 245 mm"), "application/pdf"),
        **images(),
        "/robots.txt": Resource(robots(base).encode(), "text/plain; charset=utf-8"),
        "/sitemap.xml": Resource(sitemap(base).encode(), XML),
        "/feed.xml": Resource(feed(base).encode(), "application/rss+xml; charset=utf-8"),
    }


@cache
def environment() -> "Environment":
    """The templates, which escape what content files say."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # not at the top: most crawls do without
    from markupsafe import Markup, escape

    templates = Environment(
        loader=FileSystemLoader(str(FOLDER / "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    templates.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    templates.filters["inline"] = lambda line: Markup(LINK.sub(r'<a href="\2">\1</a>', str(escape(line))))  # noqa: S704
    return templates


def modern_page(template: str, path: str, title: str, language: str, **values: object) -> str:
    """A page of the news site."""
    return (
        environment()
        .get_template(template)
        .render(
            says=words(language),
            path=path,
            title=title,
            language="zh-CN" if language == "zh" else language,
            advert=zlib.crc32(path.encode()) % BANNERS + 1,
            most_read=chosen(language, "modern")[-MOST_READ:],
            **values,
        )
    )


def modern_list_page(language: str, topic: str) -> str:
    """A section page of the news site or, without a topic, its front page."""
    says = words(language)
    shown = chosen(language, "modern", topic)
    name = topic or "home"
    values = {"heading": says[f"{topic}_word" if topic else "site"], "lead": says[f"{name}_lead"]}
    shown = shown if topic else shown[:ON_HOME]
    return modern_page("modern_list.html", says[name], says[f"{name}_word"], language, shown=shown, **values)


def old_page(template: str, path: str, title: str, language: str, declared: str, **values: object) -> str:
    """A page of the site of the 2000s, with tables, spacers and unclosed tags."""
    values |= {"path": path, "title": title, "declared": declared, "articles": chosen(language, "old")}
    return environment().get_template(template).render(says=words(language), **values)


def article_page(article: Article) -> str:
    """An article as its site shows it."""
    head = (article.path, article.title, article.language)
    others = related(article)
    if article.frame == "old":
        return old_page("old_article.html", *head, article.declared, article=article, related=others)
    return modern_page("modern_article.html", *head, article=article, related=others)


def article_pages() -> dict[str, Resource]:
    """Every article under each of its addresses; the old pages name no encoding in the header."""
    resources: dict[str, Resource] = {}
    for article in articles():
        content_type = "text/html" if article.frame == "old" else HTML
        body = article_page(article).encode(article.encoding)
        resources |= dict.fromkeys(article.paths, Resource(body, content_type, headers=article.headers))
    return resources


def list_pages() -> dict[str, Resource]:
    """The front pages and the section pages."""
    news = {
        words(language)[topic or "home"]: Resource(modern_list_page(language, topic).encode())
        for language in ("en", "zh")
        for topic in ("", "bees", "rail")
    }
    for language, declared, encoding in (("zh", "", "gb18030"), ("en", "windows-1252", "windows-1252")):
        path = words(language)["old"]
        page = old_page("old_list.html", path, words(language)["home_word"], language, declared)
        news[path] = Resource(page.encode(encoding), "text/html")
    return news


def notice_pages() -> dict[str, Resource]:
    """The pages of the news site that are no articles."""
    return {
        notice.path: Resource(
            modern_page("notice.html", notice.path, notice.title, notice.language, notice=notice).encode(),
            status=notice.status,
        )
        for notice in notices()
    }


def images() -> dict[str, Resource]:
    """Every image: of the templates, of the advertising and of the articles."""
    modern = [article for article in articles() if article.frame == "modern"]
    pngs = PNG_SIZES | {article.image(): (640, 428) for article in modern}
    pngs |= {article.image("-small"): (320, 214) for article in modern}
    gifs = GIF_SIZES | {article.image(): (200, 150) for article in articles() if article.frame == "old"}
    drawn = {path: Resource(png(path, *size), "image/png") for path, size in pngs.items()}
    return drawn | {path: Resource(gif(path, *size), "image/gif") for path, size in gifs.items()}


def robots(base: str) -> str:
    """The rules for crawlers: where they may go, and what the pages may be used for."""
    rules = (FOLDER / "templates" / "robots.txt").read_text(encoding="utf-8")
    return f"{rules}\nSitemap: {base}sitemap.xml\n"


def sitemap(base: str) -> str:
    """Every page that search engines are welcome to, with the day it last changed."""
    newest = articles()[0].date
    days = dict.fromkeys(list_pages(), newest) | {path: a.date for a in articles() for path in a.paths}
    rows = "\n".join(
        f"<url><loc>{base}{path.removeprefix('/')}</loc><lastmod>{day}</lastmod></url>" for path, day in days.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}\n</urlset>\n'
    )


def feed(base: str) -> str:
    """The newest articles as RSS."""
    entries = "\n".join(entry(article, base) for article in articles()[:NEWEST])
    says = words("en")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>\n'
        f"<title>{escape(says['site'])}</title><link>{base}</link><description>{escape(says['slogan'])}</description>\n"
        f"{entries}\n</channel></rss>\n"
    )


def entry(article: Article, base: str) -> str:
    """One article of the feed."""
    link = f"{base}{article.path.removeprefix('/')}"
    published = format_datetime(datetime.combine(article.date, time(8), UTC))
    return (
        f"<item><title>{escape(article.title)}</title><link>{link}</link><guid>{link}</guid>"
        f"<pubDate>{published}</pubDate><description>{escape(article.paragraphs[0])}</description></item>"
    )
