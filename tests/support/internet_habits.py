"""The habits of hosts, good, odd and bad: a row of HABITS is a function that changes a host."""

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from html import escape

import brotli
import internet_server as net
import zstandard
from hostile_pages import PAGES
from internet import HOUR, Habit, Host, Internet, html
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


def plain(web: Internet, host: Host) -> None:
    """No habit."""


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


def delayed(web: Internet, host: Host) -> None:
    host.delay = 1.0
    _robots(host, f"User-agent: *\nCrawl-delay: {host.delay}\n")


def sitemap(web: Internet, host: Host) -> None:
    """Its articles are in a compressed sitemap alone, which robots.txt names."""
    host.lists_articles = False
    _robots(host, "Sitemap: /map.xml.gz\n")

    def answer(asked: Asked) -> Reply:
        entries = "".join(f"<url><loc>{escape(web.url(host, path))}</loc></url>" for path in host.articles)
        return Reply(gzip.compress(f"<urlset>{entries}</urlset>".encode()), content_type="application/gzip")

    host.routes["/map.xml.gz"] = answer


def feed(web: Internet, host: Host) -> None:
    """Its articles are in a feed as well."""

    def answer(asked: Asked) -> Reply:
        items = "".join(f"<item><link>{escape(web.url(host, path))}</link></item>" for path in host.articles)
        return Reply(f"<rss><channel>{items}</channel></rss>".encode(), content_type="application/rss+xml")

    host.routes["/feed.xml"] = answer
    host.links.append("/feed.xml")


def moved(web: Internet, host: Host) -> None:
    """Another host redirects to its articles; nothing else leads there."""
    host.lists_articles = False
    gate = next((one for one in web.of_part(host.part) if one.habit == "plain"), host)
    for number, path in enumerate(host.articles):
        go, status = f"/go/{host.name}/{number}", (301, 302, 303, 307, 308)[number % 5]
        gate.routes[go] = lambda asked, path=path, status=status: Reply(
            status=status, headers={"Location": web.url(host, path)}
        )
        gate.links.append(go)


def circles(web: Internet, host: Host) -> None:
    for number in range(3):
        host.routes[f"/round/{number}"] = lambda asked, number=number: Reply(
            status=302, headers={"Location": f"/round/{(number + 1) % 3}"}
        )
    host.links.append("/round/0")


def canonical(web: Internet, host: Host) -> None:
    """Print versions, and languages of a page, that name the page they stand for."""
    for path in list(host.articles):
        head = f'<link rel="canonical" href="{path}"><link rel="alternate" hreflang="de" href="/de{path}">'
        copy = partial(_copy, web, host, path, head)
        host.routes |= {f"/print{path}": copy, f"/de{path}": copy}
        host.links += [f"/print{path}", f"/de{path}"]


def _copy(web: Internet, host: Host, path: str, head: str, asked: Asked) -> Reply:
    return web.page(host, path, asked.wall, head)


def _packed(pack: Callable[[bytes], bytes], name: str) -> Callable[[Asked, Reply], Reply]:
    def around(asked: Asked, reply: Reply) -> Reply:
        if name not in asked.headers.get("accept-encoding", ""):
            return reply
        return replace(reply, body=pack(reply.body), headers={**reply.headers, "Content-Encoding": name})

    return around


PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=1),
    "zstd": zstandard.compress,
}


def packed(name: str, web: Internet, host: Host) -> None:
    host.around.append(_packed(PACKERS[name], name))


def sent(way: net.Way, web: Internet, host: Host) -> None:
    """All answers are sent in this way, in which they arrive whole."""
    host.around.append(lambda asked, reply: replace(reply, way=way))


def damaged(way: net.Way, web: Internet, host: Host) -> None:
    """An answer of its own never arrives whole."""
    body = html("Damaged", ["This never arrives whole. " * 20], {})
    host.routes["/damaged"] = lambda asked: Reply(body, way=way)
    host.links.append("/damaged")


def types(web: Internet, host: Host) -> None:
    """Types and charsets that are wrong, but that every browser reads."""
    kinds = ("text/html; charset=gb2312", "TEXT/HTML; charset='utf-8'", "text/html, text/html", "", "text/html;x")

    def around(asked: Asked, reply: Reply) -> Reply:
        return replace(reply, content_type=kinds[zlib.crc32(asked.path.encode()) % len(kinds)])

    host.around.append(around)


def etags(web: Internet, host: Host) -> None:
    def around(asked: Asked, reply: Reply) -> Reply:
        if reply.edition is None:
            return reply
        tag = f'"{reply.edition}"'
        if asked.headers.get("if-none-match") == tag:
            return Reply(status=304, headers={"ETag": tag}, edition=reply.edition)
        return replace(reply, headers={**reply.headers, "ETag": tag})

    host.around.append(around)


def busy(status: int, web: Internet, host: Host) -> None:
    """Every seventh answer asks for a rest."""
    count = iter(range(1, 10**9))

    def around(asked: Asked, reply: Reply) -> Reply:
        return Reply(status=status, headers={"Retry-After": "1"}) if next(count) % 7 == 0 else reply

    host.around.append(around)


def secure(web: Internet, host: Host) -> None:
    """Over TLS alone, and with a certificate that is trusted."""
    host.is_tls = True


def untrusted(web: Internet, host: Host) -> None:
    host.is_tls, host.is_expected, host.forbidden = True, False, re.compile("")


def calendar(web: Internet, host: Host) -> None:
    """A page for each month of all years."""

    def month(asked: Asked) -> Reply:
        number = int(asked.path.removeprefix("/month/") or 0)
        links = {f"/month/{number + 1}": "next month", f"/month/{number - 1}": "before"}
        return Reply(html("A calendar", [f"Nothing takes place in month {number}."], links))

    host.routes["/month/*"] = month
    host.links.append("/month/0")


def sessions(web: Internet, host: Host) -> None:
    """Each visit has a number of its own in all addresses."""
    host.lists_articles = False
    visits = iter(range(10**9))

    def front(asked: Asked) -> Reply:
        visit = f"{next(visits):032x}"
        links = {f"{path}?PHPSESSID={visit}": one.title for path, one in host.articles.items()}
        return Reply(html("Hello, visitor", ["What there is to read."], links))

    host.routes["/"] = front


def mirror(web: Internet, host: Host) -> None:
    """Under a second name each article is there once more."""
    for path in list(host.articles):
        other = f"/mirror{path}"
        host.routes[other] = partial(_copy, web, host, path, "")
        host.links.append(other)


def soft404(web: Internet, host: Host) -> None:
    """What is not there is answered with 200."""
    for number in range(3):
        host.links.append(f"/lost/{number}")
    sorry = html("Page not found", ["The page that you asked for was not found. It may have moved."], {})
    host.routes["/lost/*"] = lambda asked: Reply(sorry)


def wall(web: Internet, host: Host) -> None:
    """Some pages lead to a login, some ask for consent."""
    form = b"<title>Log in</title><form method=post><input name=user><input type=password name=word></form>"
    host.routes["/login"] = lambda asked: Reply(form)
    host.routes["/members/*"] = lambda asked: Reply(status=302, headers={"Location": f"/login?to={asked.path}"})
    consent = html("Before you go on", ["We and our 742 partners use cookies. Accept all, or manage options."], {})
    host.routes["/consent/*"] = lambda asked: Reply(consent)
    host.links += [f"/{kind}/{n}" for kind in ("members", "consent") for n in range(2)]


def away(web: Internet, host: Host) -> None:
    """It is gone for two hours of eleven."""
    host.is_up = lambda wall: (wall - web.span.since) % (11 * HOUR) < 9 * HOUR


def _bad(reply: Reply) -> Callable[[Asked], Reply]:
    return lambda asked: reply


HOSTILE: Mapping[str, Reply] = {
    "bomb": Reply(gzip.compress(bytes(20_000_000)), headers={"Content-Encoding": "gzip"}),
    "endless": Reply(way=net.dripping),
    "depth": Reply(PAGES["nested divs"]),
    "attributes": Reply(PAGES["many attributes"]),
    "nuls": Reply(PAGES["nuls in a page"]),
    "title": Reply(PAGES["open title"]),
    "no-http": Reply(b"220 mail.example ESMTP\r\n", way=net.raw),
    "cookie": Reply(b"<p>A cookie.", headers={"Set-Cookie": "a=" + "b" * 15_000}),
    "inside": Reply(status=302, headers={"Location": "http://inside.example/admin"}),
    "terminal": Reply(b"<p>One.", content_type="\x1b]0;gone\x07/x"),
}
"""Ten answers that are made to do harm."""


def hostile(name: str, web: Internet, host: Host) -> None:
    """An answer that is made to do harm, beside articles that do none."""
    host.routes["/bad"] = _bad(HOSTILE[name])
    host.links.append("/bad")


HABITS: Mapping[str, Habit] = {
    "plain": plain,
    "disallow": disallow,
    "wildcards": wildcards,
    "named": named,
    "closed": closed,
    "unreadable": unreadable,
    "delayed": delayed,
    "sitemap": sitemap,
    "feed": feed,
    "moved": moved,
    "circles": circles,
    "canonical": canonical,
    **{name: partial(packed, name) for name in PACKERS},
    "old": partial(sent, net.old),
    "chunked": partial(sent, net.chunked),
    "slow": partial(sent, net.slow),
    "broken": partial(damaged, net.broken_chunks),
    "cut": partial(damaged, net.cut),
    "overlong": partial(damaged, net.overlong),
    "stuck": partial(damaged, net.stuck),
    "lost": partial(damaged, net.lost),
    "types": types,
    "etags": etags,
    "busy": partial(busy, 429),
    "storm": partial(busy, 503),
    "secure": secure,
    "untrusted": untrusted,
    "calendar": calendar,
    "sessions": sessions,
    "mirror": mirror,
    "soft404": soft404,
    "wall": wall,
    "away": away,
    **{name: partial(hostile, name) for name in HOSTILE},
}
