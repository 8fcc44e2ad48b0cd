"""Link redundancy (Li 2006, NRel m2): an address that most pages of a site show is an advert or navigation.

Formula 3 is p(u) = |Prev(u)| / |{p : Host(p) = Host(u)}|. Prev(u) are the pages that link the address u; they are
divided by the pages collected of u's host, and u is noise if p is over a threshold that the paper leaves blank.

What the paper leaves open, and what is chosen here:

- A picture may come from a host that has no pages, such as a content delivery network, where the formula divides by
  zero. Both sides are counted by the site (registrable domain) of the page that shows the picture: its pages with the
  picture over all its pages.
- Pages are counted, not occurrences: a bullet shown twenty times on one page was shown on one.
- One picture has many addresses: with other scheme, at other sizes, with a number against caches. They are one.
- Of a site with one page nothing can be said, and an address repeats only when three pages show it: of two pages each
  has half, which would make noise of every picture of a small site.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

LEAST_PAGES = 3
"""That must show an address before it is called redundant, however few the site has."""

LONGEST = 200
"""Letters of an address that are kept as they are; what comes after them becomes 16 digits."""
KEPT = 2048
"""Addresses whose one spelling is kept ready: a site shows the same pictures on many pages."""

# Sizes within a name (photo-300x200.jpg, photo_thumb.png, photo@2x.png), in front of one (320px-photo.jpg) and as
# folders of a service that resizes (/resize/300x200/, /w_300,h_200/, /fit-in/300x0/).
_SIZES = re.compile(
    r"(?<=[^/])[-_.](?:\d{2,4}x\d{2,4}|(?:small|medium|large|thumb|thumbnail|scaled)(?=\.\w+$))"
    r"|@[1-4](?:\.\d)?x(?=\.|$)"
    r"|(?<=/)\d{2,4}px-(?=[^/]+$)"
    r"|/(?:resize|fit-in|crop|resized)(?=/)"
    r"|/(?:[whqc]_[\w.]+(?:,[a-z]{1,2}_[\w.:]+)*|\d{2,4}x\d{1,4})(?=/)"
)
# What each of them has, one way or another: most addresses have none of it, and are spared the pattern.
_TIMES = re.compile(r"\dx\d")
_ENDS = ("small", "medium", "large", "thumb", "thumbnail", "scaled")
_MARKS = ("@", "px-", "/resize", "/fit-in", "/crop", "/w_", "/h_", "/q_", "/c_")
# Parameters for a size, a quality or against caches; a query of digits alone is such a number too.
_IDLE = re.compile(
    r"(?:w|h|q|s|dpr|width|height|size|sz|quality|resize|fit|crop|strip|auto|ssl|format|fm|scale|zoom|maxwidth|maxheight"
    r"|v|ver|version|rev|t|ts|time|timestamp|rnd|rand|random|cb|cache|cachebuster|bust|nocache|ord|_|_t|dc)=[^&]*"
    r"|[\d.]+",
    re.IGNORECASE,
)


@lru_cache(maxsize=KEPT)
def fold(url: str) -> str:
    """One spelling for all addresses of a picture: no scheme, size or number against caches.

    >>> fold("https://CDN.example.com/a/photo-300x200@2x.jpg?w=300&id=7&cb=99")
    'cdn.example.com/a/photo.jpg?id=7'
    """
    host, slash, rest = url.partition("://")[2].partition("/")
    path, mark, query = rest.partition("#")[0].partition("?")
    path = slash + path
    if _may_have_size(path):
        path = _SIZES.sub("", path)
    if mark:
        kept = "&".join(pair for pair in query.split("&") if pair and not _IDLE.fullmatch(pair))
        path = f"{path}?{kept}" if kept else path
    address = host.lower() + path
    if len(address) <= LONGEST:
        return address
    return f"{address[:LONGEST]}#{blake2b(address.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def _may_have_size(path: str) -> bool:
    if "x" in path and _TIMES.search(path):
        return True
    return path[: path.rfind(".")].endswith(_ENDS) or any(map(path.__contains__, _MARKS))


def redundancy(url: str, shown: Mapping[str, int], pages: int) -> float | None:
    """Formula 3: the share of a site's pages that show the address; None where the site has one page.

    `shown` has for each folded address how many of the site's pages show it.

    >>> redundancy("http://example.com/logo.gif?2", {"example.com/logo.gif": 3}, 4)
    0.75
    """
    return shown.get(fold(url), 0) / pages if pages > 1 else None
