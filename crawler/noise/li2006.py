"""The three noise models of Li 2006 (NRel m1, m2, m3), over the words that describe an image.

U_Nm is the description of an image: the words of its address, its target, the text of the link around it, its alt and
its title. Addresses are cut like any text: host, path and file name give their words. The scheme and `www` are left
out, as every address has them; escapes are decoded, so that a Chinese file name gives Chinese words. In scripts without
spaces, the words are the pairs of neighbouring characters (crawler/page/text.py).

1. Keywords (m1). Noise_m is a vector of words and their weights, as they come with the crawler. Formula 1 is the mean
   weight of the words that Noise_m and U_Nm share; formula 2, N sigma, is the mean weight of all words of Noise_m. The
   image is noise if formula 1 is over N sigma.
2. Redundancy (m2). Formula 3 is p(u) = |Prev(u)| / |{p : Host(p) = Host(u)}|: the number of pages that link the address
   u, divided by the number of pages collected of u's host. u is noise if p(u) is over a threshold that the paper leaves
   blank: an address that most pages of a site show is an advert or navigation.
3. Entropy (m3). Formula 4 is E(t_i) = -sum over the links j of w_ij log w_ij. The share w_ij = tf_ij / sum over k of
   tf_ik says which part of the occurrences of the word t_i link j has; tf_ij is how often the description of link j has
   t_i. Formula 5 gives a link the mean E of its words. High entropy is noise: a word spread evenly over many of a
   site's image links says little.
   With f = tf_ij, T the sum of f and S the sum of f log f over the links, formula 4 is log T - S/T exactly, and the
   counts T and S of many pages add up.

What the paper leaves open, and what is chosen here:

- Keywords. Without a common word, formula 1 is 0/0: the score is None. How often a description has a word does not
  matter.
- Redundancy. An image may come from a host that has no pages, such as a content delivery network, where the formula
  divides by zero: both sides are counted by the site (registrable domain) of the page that shows the image. Pages are
  counted, not occurrences: a bullet shown twenty times on one page counts once. One image has many addresses, with
  another scheme, at other sizes, with a number against caches: `fold` makes them one. On a site with one page, the
  score is None. On a site with two pages, each image is on at least half of them, and all would be noise: an address is
  redundant only if LEAST_PAGES pages show it (applied in crawler/noise/verdict.py).
- Entropy. The paper prints log2, but its worked example has 0.3562 = log 2 / log 7 for a word in two of seven links:
  the logarithm is to the base n, which puts E between 0 and 1 for sites of any size. n is the number of the site's
  image links so far, each counted as often as pages show it, as in the example's seven columns. With one link there is
  no such logarithm, and a link without words has no mean: the score is None. The mean is over different words. A word
  that is not counted yet, or no longer (crawler/noise/image_evidence.py), is treated as if no other link had it: its
  entropy is 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from math import fsum, log  # the result of fsum does not depend on the order
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from crawler.page.text import words

if TYPE_CHECKING:
    from crawler.noise.image_evidence import Sighting

LEAST_PAGES = 3
"""The fewest pages that show a redundant address, however few the site has; applied in crawler/noise/verdict.py."""

MOST_FOLDED = 200  # characters of a folded address; the rest is replaced by 16 digits of a hash
KEPT_ADDRESSES = 2048  # addresses whose folded spelling is cached: a site shows the same images on many pages

# Sizes within a name (photo-300x200.jpg, photo_thumb.png, photo@2x.png), in front of one (320px-photo.jpg) and as
# folders of a service that resizes (/resize/300x200/, /w_300,h_200/, /fit-in/300x0/).
_SIZES = re.compile(
    r"(?<=[^/])[-_.](?:\d{2,4}x\d{2,4}|(?:small|medium|large|thumb|thumbnail|scaled)(?=\.\w+$))"
    r"|@[1-4](?:\.\d)?x(?=\.|$)"
    r"|(?<=/)\d{2,4}px-(?=[^/]+$)"
    r"|/(?:resize|fit-in|crop|resized)(?=/)"
    r"|/(?:[whqc]_[\w.]+(?:,[a-z]{1,2}_[\w.:]+)*|\d{2,4}x\d{1,4})(?=/)"
)
# Parameters of a query that do not identify an image: its size, its quality, or a number that keeps caches from
# answering. Such a number may also be the whole query.
_NOT_IDENTIFYING = re.compile(
    r"(?:w|h|q|s|dpr|width|height|size|sz|quality|resize|fit|crop|strip|auto|ssl|format|fm|scale|zoom|maxwidth|maxheight"
    r"|v|ver|version|rev|t|ts|time|timestamp|rnd|rand|random|cb|cache|cachebuster|bust|nocache|ord|_|_t|dc)=[^&]*"
    r"|[\d.]+",
    re.IGNORECASE,
)


@lru_cache(maxsize=KEPT_ADDRESSES)
def fold(url: str) -> str:
    """One spelling for all addresses of an image: without scheme, size and cache-busting number, and of limited length.

    >>> fold("https://CDN.example.com/a/photo-300x200@2x.jpg?w=300&id=7&cb=99")
    'cdn.example.com/a/photo.jpg?id=7'
    """
    host, slash, rest = url.partition("://")[2].partition("/")
    path, question_mark, query = rest.partition("#")[0].partition("?")
    path = _SIZES.sub("", slash + path)
    if question_mark:
        identifying = "&".join(pair for pair in query.split("&") if pair and not _NOT_IDENTIFYING.fullmatch(pair))
        if identifying:
            path = f"{path}?{identifying}"
    address = host.lower() + path
    if len(address) <= MOST_FOLDED:
        return address
    return f"{address[:MOST_FOLDED]}#{blake2b(address.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def redundancy(url: str, pages_by_address: Mapping[str, int], pages: int) -> float | None:
    """Formula 3: the share of a site's pages that show the address; None if the site has one page.

    `pages_by_address` has for each folded address how many of the site's pages show it.

    >>> redundancy("http://example.com/logo.gif?2", {"example.com/logo.gif": 3}, 4)
    0.75
    """
    if pages > 1:
        return pages_by_address.get(fold(url), 0) / pages
    return None


def entropy(
    words: Collection[str], word_counts: Mapping[str, int], repetitions: Mapping[str, float], links: int
) -> float | None:
    """Formula 5: the mean entropy of a link's words, by T (`word_counts`) and S (`repetitions`) of each word. `links`
    is n, the number of the site's image links. The entropy is None if n is 1, or if there are no words.

    >>> round(entropy(["zhenwen080703"], {"zhenwen080703": 2}, {}, 7), 4)
    0.3562
    """
    different = dict.fromkeys(words)  # in their order, so that the same words always have the same sum
    if links < 2 or not different:
        return None
    total = 0.0
    for word in different:
        count = word_counts.get(word, 0)
        if count > 1:
            total += log(count) - repetitions.get(word, 0.0) / count
    return max(0.0, total / log(links) / len(different))


SHIPPED = ("noise_words_en.txt", "noise_words_zh.txt")  # files beside this module


@dataclass(frozen=True)
class NoiseWords:
    """The vector Noise_m."""

    weights: dict[str, float]

    @cached_property
    def limit(self) -> float:
        """Formula 2: N sigma, the mean weight of all words."""
        if self.weights:
            return fsum(self.weights.values()) / len(self.weights)
        return 0.0

    def common(self, description: Iterable[str]) -> list[str]:
        """The words that a description has in common with the vector, each once."""
        return list(self.weights.keys() & description)

    def score(self, description: Iterable[str]) -> float | None:
        """Formula 1: the mean weight of the common words; None if there are none.

        >>> NoiseWords({"ad": 3.0, "banner": 2.0}).score(["top", "ad", "banner", "ad"])
        2.5
        """
        common_words = self.weights.keys() & description
        if common_words:
            return fsum(map(self.weights.__getitem__, common_words)) / len(common_words)
        return None

    def is_over(self, score: float | None, limit: float | None = None) -> bool:
        """Whether a score means noise: above the limit, by default N sigma."""
        if limit is None:
            limit = self.limit
        return score is not None and score > limit


def noise_words(lines: Iterable[str]) -> NoiseWords:
    """The vector in lines of a word and its weight; # begins a comment.

    >>> noise_words(["# of our sites", "banner 2.5", "广告位 1"]).weights
    {'banner': 2.5, '广告': 1.0, '告位': 1.0}
    """
    weights: dict[str, float] = {}
    for line in lines:
        rule, _, _ = line.partition("#")
        *terms, weight = rule.split() or [""]
        for word in words(" ".join(terms)):
            weights[word] = max(float(weight), weights.get(word, 0.0))
    return NoiseWords(weights)


@cache
def shipped() -> NoiseWords:
    """The English and Chinese words that come with the crawler."""
    here = Path(__file__).parent
    return noise_words(line for name in SHIPPED for line in (here / name).read_text("utf-8").splitlines())


MOST_ADDRESS = 300  # characters of an address that are read: its host, path and name come first
MOST_WORD = 40  # characters of a word that are kept: longer ones are keys and hashes, and occur in a single address
KEPT_DESCRIPTIONS = 2048  # descriptions that are cached: a site shows the same images on many pages

# A table splits ASCII text eight times as fast as `words`: letters become lower-case; all except letters and digits
# becomes a space.
_TABLE = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))


def description(sighting: Sighting) -> tuple[str, ...]:
    """The words that describe an image, with repetitions.

    >>> from crawler.noise.image_evidence import Sighting
    >>> description(Sighting("https://img.example.com/ads/top_banner.gif", "", "https://example.com/", alt="Buy now!"))
    ('img', 'example', 'com', 'ads', 'top', 'banner', 'gif', 'buy', 'now')
    """
    addresses = f"{sighting.url[:MOST_ADDRESS]} {sighting.target[:MOST_ADDRESS]}"
    return _description(addresses, f"{sighting.anchor_text} {sighting.alt} {sighting.title}")


@lru_cache(maxsize=KEPT_DESCRIPTIONS)
def _description(addresses: str, texts: str) -> tuple[str, ...]:
    addresses = addresses.replace("https://", "").replace("http://", "").replace("www.", "")
    if "%" in addresses:
        addresses = unquote(addresses)
    description_words = _words_of(addresses) + _words_of(texts)
    if description_words and len(max(description_words, key=len)) > MOST_WORD:
        description_words = [word[:MOST_WORD] for word in description_words]
    return tuple(description_words)


def _words_of(text: str) -> list[str]:
    """The same words that `words` finds, faster for ASCII. The table would split a word such as "don't"."""
    if text.isascii() and "'" not in text:
        return text.encode().translate(_TABLE).decode().split()
    return words(text)
