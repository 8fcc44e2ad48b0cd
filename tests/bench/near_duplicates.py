"""How well signatures find near duplicates, and how long a signature takes.

`python tests/bench/near_duplicates.py [--data FOLDER] [--pages N]` takes the clean texts of pages from FOLDER, by
default WINNOW_DATA, and makes pairs of each text and a copy: with another date, below another header, its version for
printing, and with 10, 30 and 50% of the text cut. Other pairs are not copies: pages of the same site, and of two sites.

For each kind of pair it prints the true similarity, the share of pairs that are near by their signatures, and the share
that also have a key in common; and the same for the library rensa on the same shingles, if it is installed. Then it
prints what `scrapy export --dedupe near` leaves of all texts and copies at once, the error of the estimates, how many
texts of a known similarity have a key in common, and the milliseconds that a signature takes.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import json
import lzma
import os
import random
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np
from throughput import machine

from crawler.extraction import extract
from crawler.recrawl.near_duplicates import NEAR, TextColumns, _shingles, band_keys, copies_among, signature, similarity

try:
    from rensa import RMinHash
except ImportError:
    RMinHash = None

SETS = "wcxb_dev daniel fundus andy_articles magic_article magic_forum zh_handcrafted".split()
COPIES = "date header print cut10".split()
PARTS = "cut30 cut50".split()
OTHERS = "same site, other site".split(", ")
OF_A_SITE = 300  # pairs, at most
KNOWN = 2000  # pairs of texts of a known similarity
SIZES = (2_000, 20_000, 200_000)


@dataclass(frozen=True)
class Text:
    """A page's clean text."""

    host: str
    text: str


def texts(data: Path, most: int) -> Iterator[Text]:
    """The clean texts of pages that are long enough to be told apart, as many of each set."""
    for name in SETS:
        with lzma.open(data / "extraction" / f"{name}.jsonl.xz") as lines:
            rows = map(json.loads, lines)
            long_texts = (
                Text(urlsplit(row["url"] or name).netloc, extract(row["html"], row["url"]).text) for row in rows
            )
            yield from islice((page_text for page_text in long_texts if signature(page_text.text) is not None), most)


def dated(text: str, day: int) -> str:
    return f"Published {day} March 2024, 10:{day:02}\n{text}\nLast updated on {day + 1} March 2024"


def printed(text: str, url: str) -> str:
    """The version for printing: the title again, no captions, the lines broken elsewhere, and where it is from."""
    lines = text.splitlines()
    kept = [line for at, line in enumerate(lines) if at == 0 or len(line) >= 40 or re.search("[.。!?！？]$", line)]
    return f"{lines[0]}\n" + re.sub(" ", "\n", "\n".join(kept)) + f"\nPrinted from http://{url}/?print=1"


def cut(text: str, share: float) -> str:
    return text[: round(len(text) * (1 - share))]


def copies(page_text: Text, other: Text) -> Iterator[tuple[str, str, str]]:
    """Kinds of pairs, and the two texts."""
    text = page_text.text
    yield "date", dated(text, 3), dated(text, 21)
    yield "header", text, f"{other.text[:150]}\n{text}"
    yield "print", text, printed(text, page_text.host)
    for share in (10, 30, 50):
        yield f"cut{share}", text, cut(text, share / 100)


def pairs(all_texts: list[Text]) -> Iterator[tuple[str, str, str]]:
    """All pairs, by kind."""
    chance = random.Random(1)
    for page_text in all_texts:
        yield from copies(page_text, chance.choice(all_texts))
    hosts = defaultdict(list)
    for page_text in all_texts:
        hosts[page_text.host].append(page_text.text)
    for of_host in hosts.values():
        every = list(combinations(of_host, 2))
        yield from (("same site", *pair) for pair in chance.sample(every, min(len(every), OF_A_SITE)))
    for _ in all_texts:
        page_text, other = chance.sample(all_texts, 2)
        if page_text.host != other.host:
            yield "other site", page_text.text, other.text


@dataclass(frozen=True)
class Outcome:
    """What became of a pair."""

    true: float
    ours: float
    is_found: bool
    theirs: float | None


def tokens(text: str) -> list[str]:
    """The shingles as another library takes them."""
    return [f"{shingle:x}" for shingle in _shingles(text).tolist()]


def rensa_of(shingles: list[str]) -> "RMinHash":
    rensa_signature = RMinHash(num_perm=128, seed=42)
    rensa_signature.update(shingles)
    return rensa_signature


def outcome(first: str, other: str) -> Outcome | None:
    """What becomes of two texts; None where one of them is too short."""
    ours = signature(first), signature(other)
    if ours[0] is None or ours[1] is None:
        return None
    theirs = rensa_of(tokens(first)).jaccard(rensa_of(tokens(other))) if RMinHash else None
    is_found = not set(band_keys(ours[0])).isdisjoint(band_keys(ours[1]))
    return Outcome(jaccard(first, other), similarity(*ours), is_found, theirs)


def share(of: list[bool]) -> str:
    return f"{sum(of) / len(of):10.4f}" if of else f"{'-':>10}"


def show(outcomes_by_kind: dict[str, list[Outcome]]) -> None:
    """Print the outcomes by kind, and precision and recall."""
    print(f"\n{'':12}{'pairs':>8}{'true, median':>14}{'true near':>10}{'near':>10}{'both':>10}{'rensa':>10}")
    for kind, outcomes in outcomes_by_kind.items():
        median = statistics.median(result.true for result in outcomes)
        pairs = ((result.true, result.ours) for result in outcomes)
        true, near = ([value >= NEAR for value in values] for values in zip(*pairs, strict=True))
        both = [result.ours >= NEAR and result.is_found for result in outcomes]
        theirs = [result.theirs >= NEAR for result in outcomes if result.theirs is not None]
        print(f"{kind:12}{len(outcomes):8,}{median:14.3f}{share(true)}{share(near)}{share(both)}{share(theirs)}")
    for name, is_near in (("ours", lambda o: o.ours >= NEAR), ("with keys", lambda o: o.ours >= NEAR and o.is_found)):
        right = sum(is_near(result) for kind in COPIES for result in outcomes_by_kind[kind])
        parts = sum(is_near(result) for kind in PARTS for result in outcomes_by_kind[kind])
        wrong = sum(is_near(result) for kind in OTHERS for result in outcomes_by_kind[kind])
        all_copies = sum(len(outcomes_by_kind[kind]) for kind in COPIES)
        print(
            f"{name}: recall of copies ({', '.join(COPIES)}) {right / all_copies:.4f}, "
            f"precision {(right + parts) / (right + parts + wrong):.4f} ({wrong} of other pages)"
        )
    every = [result for outcomes in outcomes_by_kind.values() for result in outcomes]
    print(f"error of the estimate, root mean square: ours {rms([o.ours - o.true for o in every]):.4f}", end="")
    print(f", rensa {rms([o.theirs - o.true for o in every if o.theirs is not None]):.4f}" if RMinHash else "")


def all_at_once(all_texts: list[Text]) -> None:
    """Print which of all texts and their copies an export leaves out, and how similar to what stays they truly are."""
    chance = random.Random(3)
    kinds_and_texts = [("text", page_text.text) for page_text in all_texts]
    for page_text in all_texts:
        kinds_and_texts += [
            (kind, text) for kind, _, text in copies(page_text, chance.choice(all_texts)) if kind in COPIES
        ]
    signed_texts = [
        (kind, text, text_signature)
        for kind, text in kinds_and_texts
        if (text_signature := signature(text)) is not None
    ]
    places = np.frombuffer(b"".join(text_signature for *_, text_signature in signed_texts), "<u2").reshape(
        len(signed_texts), -1
    )
    every = np.arange(len(signed_texts))
    kept, _ = copies_among(
        TextColumns(
            signatures=places,
            is_signed=np.ones(len(signed_texts), np.bool_),
            fingerprints=every,
            has_letters=np.zeros(len(signed_texts), np.bool_),
            sites=every,
            ranks=every,
        ),
        every,
    )
    print(f"\nall at once, {len(signed_texts):,} texts: left out of")
    for kind in ("text", *COPIES):
        rows = [row for row, entry in enumerate(signed_texts) if entry[0] == kind]
        out = [row for row in rows if kept[row] != row]
        print(f"  {kind:8} {len(out):6,} of {len(rows):6,} ({len(out) / len(rows):.4f})")
    true = [
        jaccard(signed_texts[row][1], signed_texts[kept[row]][1])
        for row in range(len(signed_texts))
        if kept[row] != row
    ]
    near, far = sum(value >= NEAR for value in true), sum(value < NEAR - 0.1 for value in true)
    print(f"  of {len(true):,} left out, {near:,} are truly near to what stays ({near / len(true):.4f}),", end=" ")
    print(f"{far} have a similarity of less than {NEAR - 0.1:.1f}, and the least has {min(true):.3f}")


def jaccard(first: str, other: str) -> float:
    sets = _shingles(first), _shingles(other)
    shared = len(np.intersect1d(*sets, assume_unique=True))
    return shared / (len(sets[0]) + len(sets[1]) - shared)


def rms(errors: list[float]) -> float:
    return statistics.fmean(error * error for error in errors) ** 0.5


def of_similarity(target: float, chance: random.Random) -> tuple[str, str]:
    """Two texts of random words, of this similarity up to a shingle or two."""
    own = round(1000 * (1 - target) / (2 * target))
    words = [f"{chance.getrandbits(40):x}" for _ in range(1000 + 2 * own)]
    return " ".join(words[: 1000 + own]), " ".join(words[:1000] + words[1000 + own :])


def lookups() -> None:
    """Print how many texts of a known similarity have a key in common."""
    chance = random.Random(2)
    for target in (0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.3):
        outcomes = [outcome(*of_similarity(target, chance)) for _ in range(KNOWN)]
        results = [result for result in outcomes if result]
        true, near = statistics.fmean(o.true for o in results), [o.ours >= NEAR for o in results]
        print(
            f"similarity {target:.2f} (truly {true:.3f}): a key in common {share([o.is_found for o in results])}, "
            f"near {share(near)}, error {rms([o.ours - o.true for o in results]):.4f}"
        )


def timed(work: Callable[[], object], times: int = 30) -> str:
    """The least and the median of the milliseconds of the processor."""
    milliseconds = []
    for _ in range(times):
        started = time.thread_time()
        work()
        milliseconds.append(1000 * (time.thread_time() - started))
    return f"{min(milliseconds):8.3f} at least, {statistics.median(milliseconds):8.3f} in the median"


def times(all_texts: list[Text]) -> None:
    """Print what a signature takes."""
    of_chinese = [page_text.text for page_text in all_texts if re.search("[\u4e00-\u9fff]{20}", page_text.text)]
    languages = {"English": "\n".join(page_text.text for page_text in all_texts if page_text.text.isascii()), "any": ""}
    languages["any"] = "\n".join(page_text.text for page_text in all_texts[:400])
    languages["Chinese"] = "\n".join(of_chinese)
    print("\nmilliseconds of the processor")
    for language, whole in languages.items():
        for size in SIZES:
            text = whole.encode()[:size].decode(errors="ignore")
            print(f"{language:8} {len(text.encode()):8,} bytes: {timed(lambda text=text: signature(text))}", end="")
            shingles = tokens(text)
            print(f"; rensa, shingles given: {timed(lambda s=shingles: rensa_of(s))}" if RMinHash else "")
    english = signature(languages["English"])
    if english:
        print(f"bands: {timed(lambda: band_keys(english))}; similarity: {timed(lambda: similarity(english, english))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("WINNOW_DATA"), help="a folder with extraction/")
    parser.add_argument("--pages", type=int, default=400, help="of each set, at most")
    options = parser.parse_args()
    if options.data is None:
        parser.error("Say where the pages are: --data FOLDER or WINNOW_DATA.")
    print(machine())
    all_texts = list(texts(options.data, options.pages))
    outcomes_by_kind: dict[str, list[Outcome]] = defaultdict(list)
    left = 0
    for kind, first, other in pairs(all_texts):
        if result := outcome(first, other):
            outcomes_by_kind[kind].append(result)
        else:
            left += 1
    print(f"{len(all_texts):,} texts; NEAR = {NEAR}; {left} pairs left out, one of which is too short")
    show(outcomes_by_kind)
    all_at_once(all_texts)
    print()
    lookups()
    times(all_texts)


if __name__ == "__main__":
    main()
