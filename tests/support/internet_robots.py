"""Habits of hosts in what they say to crawlers: robots.txt of many kinds, sitemaps and feeds."""

import gzip
import re
from collections.abc import Mapping
from html import escape

from internet import Habit, Host, Internet, html
from internet_server import Asked, Reply

PLAIN = "text/plain; charset=utf-8"


def _robots(host: Host, text: str) -> None:
    reply = Reply(text.encode(), content_type=PLAIN)
    host.routes["/robots.txt"] = lambda asked: reply


def _forbid(host: Host, text: str, forbidden: str) -> None:
    """Rules, and links to what they forbid."""
    _robots(host, text)
    host.forbidden = re.compile(forbidden)
    for path in ("/private/1", "/private/a?sort=up", "/a/b?sort=down"):
        host.links.append(path)
        host.routes[path] = lambda asked: Reply(html("Private", ["Nobody may read this."], {}))


def disallow(web: Internet, host: Host) -> None:
    _forbid(host, "User-agent: *\nDisallow: /private/\n", "^/private/")


def wildcards(web: Internet, host: Host) -> None:
    rules = "User-agent: *\nAllow: /\nDisallow: /*?sort=\nDisallow: /private/*$\nAllow: /private/1$\n"
    _forbid(host, rules, r"\?sort=|^/private/a")


def named(web: Internet, host: Host) -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: Winnow\nUser-agent: Other\nDisallow: /private\n"
    _forbid(host, rules, "^/private")


def closed(web: Internet, host: Host) -> None:
    _robots(host, "User-agent: *\nDisallow: /\n")
    host.forbidden, host.is_expected = re.compile(""), False


def unreadable(web: Internet, host: Host) -> None:
    """Its robots.txt fails, so nothing may be asked for."""
    host.routes["/robots.txt"] = lambda asked: Reply(status=500)
    host.forbidden, host.is_expected = re.compile(""), False


def hop(web: Internet, host: Host) -> None:
    """Its robots.txt is at another address."""
    _forbid(host, "User-agent: *\nDisallow: /private/\n", "^/private/")
    host.routes["/rules"] = host.routes["/robots.txt"]
    host.routes["/robots.txt"] = lambda asked: Reply(status=301, headers={"Location": "/rules"})


def untidy(web: Internet, host: Host) -> None:
    """Its robots.txt has a mark of byte order, ends of lines of old, and more than half a megabyte of remarks."""
    _forbid(host, "\ufeffUSER-AGENT : *\rdisallow:/private/ # no\r" + "# remark\r" * 60_000, "^/private/")


def forbidding(web: Internet, host: Host) -> None:
    """There are no rules for whoever may not read robots.txt."""
    host.routes["/robots.txt"] = lambda asked: Reply(status=403)


def delayed(web: Internet, host: Host) -> None:
    host.delay = 1.0
    _robots(host, f"User-agent: *\nCrawl-delay: {host.delay}\n")


def sitemap(web: Internet, host: Host) -> None:
    """Its articles are in a compressed sitemap alone, which an index names that robots.txt names."""
    host.lists_articles = False
    _robots(host, "Sitemap: /index.xml\n")
    host.routes["/index.xml"] = lambda asked: Reply(
        f"<sitemapindex><sitemap><loc>{web.url(host, '/map.xml.gz')}</loc></sitemap></sitemapindex>".encode(),
        content_type="application/xml",
    )

    def answer(asked: Asked) -> Reply:
        entries = "".join(f"<url><loc>{escape(web.url(host, path))}</loc></url>" for path in host.articles)
        return Reply(gzip.compress(f"<urlset>{entries}</urlset>".encode()), content_type="application/gzip")

    host.routes["/map.xml.gz"] = answer


def feed(web: Internet, host: Host) -> None:
    """Its articles are in a feed alone, which the front page declares."""
    host.lists_articles = False

    def answer(asked: Asked) -> Reply:
        items = "".join(f"<item><link>{escape(web.url(host, path))}</link></item>" for path in host.articles)
        return Reply(f"<rss><channel>{items}</channel></rss>".encode(), content_type="application/rss+xml")

    host.routes["/feed.xml"] = answer
    host.head = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'


ROBOTS: Mapping[str, Habit] = {
    one.__name__: one
    for one in (
        *(disallow, wildcards, named, closed, unreadable, hop, untidy, forbidding, delayed),
        *(sitemap, feed),
    )
}
