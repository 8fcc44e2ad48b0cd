"""The habits of hosts, good, odd and bad: a row of HABITS is a function that changes a host."""

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.utils import formatdate, parsedate_to_datetime
from functools import partial
from itertools import islice

import brotli
import internet_server as net
import zstandard
from internet import HOUR, Habit, Host, Internet, html
from internet_hostile import HOSTILE
from internet_robots import ROBOTS
from internet_server import Asked, Reply


def plain(web: Internet, host: Host) -> None:
    """No habit."""


def moved(web: Internet, host: Host) -> None:
    """Another host redirects to its articles; nothing else leads there."""
    host.lists_articles = False
    gate = _first(web, host, "plain")
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


def utf16(web: Internet, host: Host) -> None:
    """Its pages are in UTF-16, of which only the mark of byte order tells."""

    def around(asked: Asked, reply: Reply) -> Reply:
        return replace(reply, body=reply.body.decode().encode("utf-16"), content_type="text/html")

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


def dated(web: Internet, host: Host) -> None:
    """Last-Modified says when a page changed."""

    def around(asked: Asked, reply: Reply) -> Reply:
        if reply.edition is None:
            return reply
        changes = web.changes[host.name, asked.path]
        changed = int(changes[reply.edition - 1] if reply.edition else web.span.since)
        headers = {"Last-Modified": formatdate(changed, usegmt=True)}
        since = asked.headers.get("if-modified-since")
        if since and parsedate_to_datetime(since).timestamp() >= changed:
            return Reply(status=304, headers=headers, edition=reply.edition)
        return replace(reply, headers={**reply.headers, **headers})

    host.around.append(around)


def busy(status: int, web: Internet, host: Host) -> None:
    """Every seventh answer asks for a rest."""
    count = iter(range(1, 10**9))

    def around(asked: Asked, reply: Reply) -> Reply:
        return Reply(status=status, headers={"Retry-After": "1"}) if next(count) % 7 == 0 else reply

    host.around.append(around)


def secure(web: Internet, host: Host) -> None:
    """Over TLS alone, and with a certificate that is trusted."""
    host.certificate = "trusted"


def insecure(certificate: str, web: Internet, host: Host) -> None:
    """Over TLS alone, and with a certificate that proves nothing."""
    host.certificate, host.is_expected, host.forbidden = certificate, False, re.compile("")


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
    """Each of its articles is there twice, and those of another host as well."""
    other = _first(web, host, "plain")
    copies = {f"/mirror{path}": (host, path) for path in host.articles}
    copies |= {path: (other, path) for path in other.articles}
    for path, (of, original) in copies.items():
        host.routes[path] = partial(_copy, web, of, original, "")
        host.links.append(path)


def _first(web: Internet, host: Host, habit: str) -> Host:
    """The first host of its part with a habit."""
    return next((one for one in web.of_part(host.part) if one.habit == habit), host)


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


def ended(web: Internet, host: Host) -> None:
    """Some of its pages are gone for good after a while."""
    for quarter in range(1, 4):
        path = f"/notice/{quarter}"
        host.routes[path] = partial(_notice, web.span.since + (web.span.until - web.span.since) * quarter / 4)
        host.links.append(path)


def _notice(end: float, asked: Asked) -> Reply:
    if asked.wall > end:
        return Reply(status=410)
    return Reply(html("A notice", [f"This notice, which is at {asked.path} of {asked.host}, is taken down later."], {}))


def saved(web: Internet, host: Host) -> None:
    """Pages of real hosts, as they were saved; where they lead to is not there."""
    for number, body in enumerate(islice(web.saved, 6)):
        host.routes[f"/saved/{number}"] = _same(Reply(body))
        host.links.append(f"/saved/{number}")


def _same(reply: Reply) -> Callable[[Asked], Reply]:
    return lambda asked: reply


HABITS: Mapping[str, Habit] = {
    "plain": plain,
    **ROBOTS,
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
    "utf16": utf16,
    "etags": etags,
    "dated": dated,
    "busy": partial(busy, 429),
    "storm": partial(busy, 503),
    "secure": secure,
    **{name: partial(insecure, name) for name in ("unknown", "expired", "misnamed")},
    "calendar": calendar,
    "sessions": sessions,
    "mirror": mirror,
    "soft404": soft404,
    "wall": wall,
    "away": away,
    "ended": ended,
    "saved": saved,
    **HOSTILE,
}
