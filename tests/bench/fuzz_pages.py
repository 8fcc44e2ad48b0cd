"""Whether an extraction method fails, or takes long, on pages that are broken at random.

`python fuzz_pages.py [--minutes M] [--seed N] [--methods A,B]` changes real pages (of WINNOW_DATA if it is set, else of
the tests) and makes up others. It reads each page in a separate process, and prints the slowest, the largest and all
that failed. The same seed makes the same pages; `--keep FOLDER` writes those that failed or broke a limit.
"""

import argparse
import json
import lzma
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent)]

from huge_pages import SIZE  # noqa: E402
from measured_extraction import Cost, read, watched  # noqa: E402

from crawler.extraction import EXTRACTORS  # noqa: E402

SECONDS, MEGABYTES = 1.0, 200
TIMED = ("auto", "leaf-tags")
"""The methods that have these limits; the other methods only must not fail."""
FROM_EACH = 40  # pages of a set
TAGS = "a b body br button dd div dl dt font form frameset h1 h2 head html i iframe img input li main math nav".split()
TAGS += "noscript object ol option p path plaintext pre q script select span style svg table tbody td template".split()
TAGS += "meta textarea th time title tr ul video xmp x-y".split()
NAMES = "alt class content data-x href id itemprop name onclick rel src srcset style title type width".split()
VALUES = "a /x http://example.com/ javascript:x 2012-01-01 100% nofollow display:none 1x,2x ' \" > < = é".split()
WORDS = "the bee dances . 。 ， 蜜蜂 跳舞 Home | © 2012 12 : ! &amp; &nbsp; &#0; &lt; \u200b \u0301 \U0001f41d".split()
ODD = [
    "\0",
    "\x0b",
    "\f",
    "\x1b",
    "\ufeff",
    "\ufffe",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "</",
    "<?",
    "/>",
    "<",
    ">",
    '"',
    "'",
]
ODD += [
    "=",
    "&",
    "<script>",
    "</script>",
    "<title>",
    "</p>",
    "</br>",
    "</body>",
    "</html>",
    "<base href=//>",
    "\r",
    "&#xD800;",
]

Maker = Callable[[random.Random, list[bytes]], bytes]


class Tried(NamedTuple):
    """A page and what reading it by a method cost."""

    number: int
    method: str
    size: int
    cost: Cost

    @property
    def is_bad(self) -> bool:
        """Whether it failed, or broke a limit that its method has."""
        over = self.cost.seconds > SECONDS or self.cost.megabytes > MEGABYTES
        return bool(self.cost.error) or (over and self.method in TIMED)


def real_pages() -> list[bytes]:
    """Pages of the sets of WINNOW_DATA, or of the tests."""
    if data := os.environ.get("WINNOW_DATA"):
        sources = []
        for path in sorted(Path(data).glob("extraction/*.jsonl.xz")):
            with lzma.open(path) as lines:
                sources += [
                    json.loads(line)["html"].encode("utf-8", "replace")
                    for line, _ in zip(lines, range(FROM_EACH), strict=False)
                ]
        return sources
    return [path.read_bytes() for path in sorted(TESTS.glob("pages/*/*.html")) + sorted(TESTS.glob("gold/*/*.html"))]


def changed(chance: random.Random, pages: list[bytes]) -> bytes:
    """A real page after some accidents."""
    page = chance.choice(pages)
    for _ in range(chance.randint(1, 6)):
        page = chance.choice(ACCIDENTS)(chance, page) or b"x"
    if chance.random() < 0.2:
        other = chance.choice(pages)
        page = page[: chance.randrange(len(page))] + other[chance.randrange(len(other)) :]
    return page[:SIZE]


def _without(chance: random.Random, page: bytes) -> bytes:
    start = chance.randrange(len(page))
    return page[:start] + page[start + chance.randrange(1, 2_000) :]


def _cut(chance: random.Random, page: bytes) -> bytes:
    return page[: chance.randrange(len(page))]


def _with_odd(chance: random.Random, page: bytes) -> bytes:
    for _ in range(chance.randint(1, 40)):
        start = chance.randrange(len(page) + 1)
        page = page[:start] + chance.choice(ODD).encode("utf-8", "surrogatepass") + page[start:]
    return page


def _with_noise(chance: random.Random, page: bytes) -> bytes:
    start = chance.randrange(len(page) + 1)
    return page[:start] + chance.randbytes(chance.randint(1, 400)) + page[start:]


def _repeated(chance: random.Random, page: bytes) -> bytes:
    start = chance.randrange(len(page))
    piece = page[start : start + chance.choice((3, 10, 40, 200, 3_000))]
    times = min(chance.choice((10, 1_000, 1_000_000)), (SIZE - len(page)) // max(1, len(piece)))
    return page[:start] + piece * times + page[start:]


def _without_ends(chance: random.Random, page: bytes) -> bytes:
    tag = b"</" + chance.choice(TAGS).encode()
    return page.replace(tag, chance.choice((b"", b"<", b"<p")))


def _in_other_bytes(chance: random.Random, page: bytes) -> bytes:
    return page.decode("utf-8", "replace").encode(chance.choice(("utf-16", "gb18030", "cp932", "latin-1")), "replace")


ACCIDENTS = (_without, _cut, _with_odd, _with_noise, _repeated, _without_ends, _in_other_bytes)


def made_up(chance: random.Random, pages: list[bytes]) -> bytes:
    """A page of random pieces, one of which may be repeated until it fills the page."""
    pieces = [_piece(chance) for _ in range(chance.randint(1, 60))]
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(pieces))
        size = max(1, len(pieces[at].encode("utf-8", "surrogatepass")))
        pieces[at] *= min(chance.choice((20, 2_000, 10_000_000)), SIZE // 3 // size + 1)
    return "".join(pieces).encode("utf-8", "surrogatepass")[:SIZE]


def _piece(chance: random.Random) -> str:
    """Some markup and text."""
    written = []
    for _ in range(chance.randint(1, 5)):
        kind = chance.random()
        if kind < 0.45:
            names = chance.choices(NAMES, k=chance.choice((0, 0, 1, 2, 3)))
            quote = chance.choice(("'", '"', ""))
            attributes = "".join(f" {name}={quote}{chance.choice(VALUES)}{quote}" for name in names)
            written.append(f"<{chance.choice(TAGS)}{attributes}>")
        elif kind < 0.6:
            written.append(f"</{chance.choice(TAGS)}>")
        elif kind < 0.9:
            written.append(" ".join(chance.choices(WORDS, k=chance.randint(1, 12))))
        else:
            written.append(chance.choice(ODD))
    return "".join(written)


def tried(number: int, seed: int, pages: list[bytes], methods: list[str]) -> tuple[bytes, list[Tried]]:
    """A page, and what reading it by each method cost."""
    chance = random.Random(f"{seed}/{number}")
    body = chance.choice((changed, made_up))(chance, pages)
    return body, [Tried(number, name, len(body), watched(lambda name=name: read(body, name))) for name in methods]  # type: ignore[misc]


def show(title: str, readings: list[Tried]) -> None:
    """Print some pages, a line each."""
    print(title)
    for reading in readings:
        cost = reading.cost
        costs = f"{cost.seconds:6.2f} s {cost.megabytes:6.0f} MB {cost.error}"
        print(f"  page {reading.number:6} of {reading.size:10,} bytes, {reading.method:12} {costs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", default=",".join(TIMED))
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    pages, methods = real_pages(), options.methods.split(",") if options.methods != "all" else [*EXTRACTORS]
    for method in methods:
        read(b"<title>Once</title><p>What is loaded at first use is no page's cost.", method)
    readings: list[Tried] = []
    number, end = 0, time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        body, costs = tried(number, options.seed, pages, methods)
        readings += costs
        if options.keep and any(reading.is_bad for reading in costs):
            options.keep.mkdir(exist_ok=True)
            (options.keep / f"{options.seed}-{number}.html").write_bytes(body)
        number += 1
    print(f"{number:,} pages read by {', '.join(methods)}, seed {options.seed}")
    show("The slowest:", sorted(readings, key=lambda reading: -reading.cost.seconds)[:8])
    show("The largest:", sorted(readings, key=lambda reading: -reading.cost.megabytes)[:5])
    bad = [reading for reading in readings if reading.is_bad]
    show(f"Failed, or beyond {SECONDS:g} s or {MEGABYTES} MB: {len(bad)}", bad[:20])
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
