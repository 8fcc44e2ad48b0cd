"""Addresses: the one spelling of the address of a link (`absolute`), the form for readers (`readable`), and questions
about their parts.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from urllib.parse import urljoin, urlsplit

from w3lib.url import safe_url_string

from crawler.urls.address import address_of

# Most links are absolute (PLAIN) or relative (RELATIVE) addresses in plain ASCII, and spelled as they should be. Only
# the others take the slow way through `_respelled`.
PLAIN = re.compile(
    r"https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::[1-5]?[0-9]{1,4})?/[A-Za-z0-9._~!$&()*+,;=:@/?%-]*"
)
RELATIVE = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~!$&()*+,=@/?%-]*")
SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,30}+):", re.ASCII)
RESPELLED = re.compile(r":80/|:443/|:0|/\.\.?(?:[/?]|$)|%[a-f]|%.[a-f]|[?;]$")
"""Parts that an address in the form of PLAIN may have, but that must be respelled: a default port, a port that begins
with 0, a dot segment, an escape in lower case, an empty query or parameter.
"""
MAX_LENGTH = 8192  # characters of an address as written: no server accepts a longer one
MAX_HOST = 253  # characters of a host name: DNS allows no longer one
# A host name, or an IPv6 address without brackets. Names with other characters cannot be looked up.
HOST = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63})*|[\w.:]*:[\w.:]*", re.ASCII)
DEFAULT_PORTS = {"http": 80, "https": 443}
ROUTES = ("#/", "#!/")
"""Beginnings of the fragments with which applications in a browser name their pages."""
# What browsers strip from an address before they parse it.
STRIPPED = "\t\r\n"


def absolute(base: str, href: str) -> str | None:
    """The address of a link on the page `base`, in one spelling and without its fragment; None if it is not http or
    https.

    >>> absolute("http://Example.com:80/a/b.html", " ../c?d=1#top ")
    'http://example.com/c?d=1'
    >>> absolute("http://example.com/", "mailto:someone@example.com")
    """
    href = href.strip()
    for blank in STRIPPED:
        if blank in href:
            href = href.replace(blank, "")
    if "#" in href:
        href = href.partition("#")[0]
    if len(href) > MAX_LENGTH:
        return None
    if href[:1] == "/" and href[1:2] not in ("/", "\\"):
        href = address_of(base).origin + href
    if _is_plain(href):
        return href
    if RELATIVE.fullmatch(href):
        joined = address_of(base).folder + href
        if _is_plain(joined) and "//" not in joined[8:]:  # `urljoin` removes empty segments from relative addresses
            return joined
    scheme = SCHEME.match(href)
    if scheme and scheme[1].lower() not in DEFAULT_PORTS:
        return None
    return _respelled(base, href)


def route(href: str) -> str:
    """The fragment of an address, with its `#`, if it may be a route: the name of a page that an application in the
    browser shows. Otherwise empty.

    `#/` is no route, with or without parameters: it shows the same page as the address without a fragment.

    >>> route("/app#/guide/start"), route("#!/guide"), route("/app#start"), route("#/"), route("#/?id=start")
    ('#/guide/start', '#!/guide', '', '', '')
    """
    fragment = "#" + href.partition("#")[2].strip()
    is_first_page = fragment.partition("?")[0] in ROUTES
    if not fragment.startswith(ROUTES) or is_first_page or len(href) > MAX_LENGTH:
        return ""
    return safe_url_string(fragment)


def _is_plain(url: str) -> bool:
    if not PLAIN.fullmatch(url):
        return False
    # RESPELLED is slower than this check for the characters that it needs, which few addresses have.
    if ("/." in url or "%" in url or ":" in url[6:] or url[-1] in "?;") and RESPELLED.search(url):
        return False
    # The host of a short address is short, too.
    return len(url) <= MAX_HOST or len(url.split("/", 3)[2]) <= MAX_HOST


def _respelled(base: str, href: str) -> str | None:
    """The address of a link in its one spelling; None if it has no valid host or port, or a user name."""
    try:
        parts = urlsplit(safe_url_string(urljoin(base, href.replace("\\", "/"))))
        port = parts.port
    except (ValueError, UnicodeError):
        return None
    name = (parts.hostname or "").rstrip(".")
    if parts.scheme not in DEFAULT_PORTS or not HOST.fullmatch(name) or "@" in parts.netloc or len(name) > MAX_HOST:
        return None
    if ":" in name:
        name = f"[{name}]"
    if port not in (None, DEFAULT_PORTS[parts.scheme]):
        name = f"{name}:{port}"
    path = _without_dots(parts.path)
    if parts.query:
        path = f"{path}?{parts.query}"
    # Percent-encoded characters in capitals: https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.1
    return f"{parts.scheme}://{name}" + re.sub("(?:%[0-9a-fA-F]{2})+", lambda run: run[0].upper(), path)


def _without_dots(path: str) -> str:
    """The path without `.` and `..` (https://www.rfc-editor.org/rfc/rfc3986#section-5.2.4)."""
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/" + "/".join(kept)


def host_of(url: str) -> str:
    """The host of an address from a file or database; empty if the text is no address.

    >>> host_of("HTTPS://Example.com/a"), host_of("a/b"), host_of("")
    ('example.com', '', '')
    """
    address = absolute("", url)
    if address is None:
        return ""
    return address_of(address).host


def lies_in(name: str, domains: Collection[str]) -> bool:
    """Whether a host is one of these domains or a subdomain of one; its port is ignored.

    >>> lies_in("news.example.org:8000", ["example.org"]), lies_in("myexample.org", ["example.org"])
    (True, False)
    """
    name = name.partition(":")[0]
    return any(name == domain or name.endswith(f".{domain}") for domain in domains)


def repeats_itself(url: str, limit: int) -> bool:
    """Whether one path segment occurs more than `limit` times in the address, as in relative links that add the same
    folders to each page's address.

    >>> repeats_itself("http://example.com/a/b/a/b/a/b/", 2), repeats_itself("http://example.com/a/b/a/", 2)
    (True, False)
    """
    segments = url.partition("?")[0].split("/")[3:]
    if len(segments) - len(set(segments)) < limit:  # too few repeated segments; faster than counting each
        return False
    return max(Counter(filter(None, segments)).values(), default=0) > limit


def with_ending(urls: Iterable[str], endings: Collection[str]) -> set[str]:
    """The addresses that have one of these endings."""
    return {url for url in urls if address_of(url).ending in endings}


ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\\]*", re.IGNORECASE)
"""Scheme and host, which are shown unchanged."""
ENCODED = re.compile(r"%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){1,3}")
"""A non-ASCII character, percent-encoded in UTF-8."""
ENCODED_RUN = re.compile(f"(?:{ENCODED.pattern})+")
MOST_MARKS = 3
"""The most combining marks on one letter; real text has no more."""
# Unicode's bidirectional classes of left-to-right letters, of European digits and of combining marks.
LEFT_TO_RIGHT = ("L", "EN", "NSM")
# Unicode's general categories of letters and digits, and of combining marks.
LETTERS = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd")
MARKS = ("Mn", "Mc")
INVISIBLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2d7f\u3164\ufe00-\ufe0f\uffa0"
    "\U0001107f\U00016fe4\U000e0100-\U000e01ef"
)
LOOK_ALIKES = (
    "\u01c0-\u01c3\u02b0-\u02ff\u0334-\u0338\u037a\u1400-\u167f\u20d0-\u20ff\u3031-\u3035\ua4f8-\ua4ff\ua78b-\ua78f"
)
BETTER_ENCODED = re.compile(f"[{INVISIBLE}{LOOK_ALIKES}]")
"""Letters and marks that stay encoded: invisible ones, and those that look like a stroke, a dot or a colon."""


def readable(url: str) -> str:
    """The address with decoded letters and digits in its path and query.

    Everything else stays encoded: the host, right-to-left scripts, invisible characters, and reserved characters or
    their look-alikes.

    >>> readable("http://a.example/%E8%9C%9C%E8%9C%82?q=%2F%20"), readable("http://%E8%9C%9C.example/%EF%BC%8F")
    ('http://a.example/蜜蜂?q=%2F%20', 'http://%E8%9C%9C.example/%EF%BC%8F')
    """
    origin = ORIGIN.match(url)
    if origin is None or "@" in origin[0]:  # no address, or one with a user name
        return url
    return origin[0] + ENCODED_RUN.sub(lambda run: _decoded_run(run[0]), url[origin.end() :])


def _decoded_run(run: str) -> str:
    """A run of encoded characters, decoded where they are letters with at most MOST_MARKS combining marks each."""
    characters = []
    marks_allowed = 0  # how many more marks the last letter may have
    for encoded in ENCODED.findall(run):
        letter = _decoded(encoded)
        if not letter:
            marks_allowed = 0
        elif unicodedata.category(letter) not in MARKS:
            marks_allowed = MOST_MARKS
        elif marks_allowed:
            marks_allowed -= 1
        else:
            letter = ""
        characters.append(letter or encoded)
    return "".join(characters)


def _decoded(encoded: str) -> str:
    """The letter, digit or combining mark; empty if it should stay encoded."""
    try:
        letter = bytes.fromhex(encoded.replace("%", "")).decode()
    except UnicodeDecodeError:
        return ""
    is_plain = unicodedata.bidirectional(letter) in LEFT_TO_RIGHT and not BETTER_ENCODED.match(letter)
    if is_plain and unicodedata.category(letter) in LETTERS + MARKS:
        return letter
    return ""
