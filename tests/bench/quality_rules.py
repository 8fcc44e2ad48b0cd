"""Whether the rules of `scrapy export --keep` decide as datatrove's filters do, and what the quality numbers cost.

    python quality_rules.py --datatrove PYTHON

PYTHON is the interpreter of an environment with datatrove and its tokenizers:
`pip install datatrove spacy nltk jieba orjson regex`. The texts are those that `auto` extracts from the English and
Chinese pages of WINNOW_DATA. English texts are judged with datatrove's own limits. Chinese texts are judged with those
of FineWeb 2, and by mC4's rule of long lines in place of C4's, as published.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import thread_time_ns

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    *("extraction/wcxb_dev", "extraction/daniel", "extraction/dragnet", "extraction/zh_handcrafted"),
    *("extraction/magic_article", "extraction/magic_forum", "sites/wuchong_zh_blog", "sites/flink_web"),
    *("sites/cx_news", "unmarked/pages", "unmarked/more"),
)
LANGUAGES = ("en", "zh")
AGREEMENT = 0.99
FINEWEB_2_STOP_WORDS = "的 年 在 月 是 和 日 了 於 · 為 有 被 人 中 为 他 與 後 也 而 由".split()
FINEWEB_2_TOP = ((2, 0.256), (3, 0.201), (4, 0.171))
FINEWEB_2_REPEATED = ((5, 0.198), (6, 0.182), (7, 0.167), (8, 0.154), (9, 0.14), (10, 0.127))


def texts(data: Path) -> list[dict[str, str]]:
    """The texts of the English and Chinese pages, each once."""
    from crawler import clean

    language_by_text = {}
    for name in FILES:
        with lzma.open(data / f"{name}.jsonl.xz", "rt") as lines:
            for line in lines:
                row = json.loads(line)
                document = clean(row["html"], row.get("url") or "")
                if document.text and document.language in LANGUAGES:
                    language_by_text[document.text] = document.language
    return [{"text": text, "language": language} for text, language in language_by_text.items()]


def judge(path: Path) -> None:
    """Print why datatrove's filters remove each text of a file; runs in datatrove's own environment."""
    from datatrove.data import Document
    from datatrove.pipeline.filters import (
        C4ParagraphFilter,
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
    )

    chinese = {"language": "cmn_Hani"}
    stops = {"stop_words": FINEWEB_2_STOP_WORDS, "min_stop_words": 2}
    lengths = {"min_avg_word_length": 1, "max_avg_word_length": 5, "max_non_alpha_words_ratio": 0.735}
    off = {"dup_para_frac": 0, "dup_line_char_frac": 0, "dup_para_char_frac": 0, "dup_line_frac": 0.287}
    lines = {"line_punct_thr": 0.106, "short_line_thr": 999, "char_duplicates_ratio": 0.1, "new_line_ratio": 0.178}
    repeated = {"top_n_grams": FINEWEB_2_TOP, "dup_n_grams": FINEWEB_2_REPEATED}
    filters = {
        "en": {
            "gopher": [GopherQualityFilter(), GopherRepetitionFilter()],
            "fineweb": [FineWebQualityFilter()],
            "c4": [C4QualityFilter()],
        },
        "zh": {
            "gopher": [
                GopherQualityFilter(**lengths, **stops, **chinese),
                GopherRepetitionFilter(**off, **repeated, **chinese),
            ],
            "fineweb": [FineWebQualityFilter(**lines, **chinese)],
            "c4": [C4ParagraphFilter()],
        },
    }
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        reasons = {}
        for name, some in filters[row["language"]].items():
            # A filter may change the text of its document, so each gets its own.
            ends = [quality_filter.filter(Document(text=row["text"], id="")) for quality_filter in some]
            reasons[name] = [str(end[1]) for end in ends if end is not True]
        print(json.dumps(reasons), flush=True)


def cost(rows: list[dict[str, str]]) -> list[float]:
    """Milliseconds of processor time for the numbers of each text, after a tenth of them, as words are remembered."""
    from crawler.contrib.corpus.quality import measured

    spent = []
    for row in rows:
        began = thread_time_ns()
        measured(row["text"], row["language"])
        spent.append((thread_time_ns() - began) / 1e6)
    return spent[len(rows) // 10 :]


def compare(rows: list[dict[str, str]], theirs: list[dict[str, list[str]]], shown: int) -> bool:
    """Print the share of texts with the same verdict by set and language; returns whether all reach AGREEMENT."""
    from crawler.contrib.corpus.quality import PUBLISHED, broken_limit, measured

    same: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    removed: Counter[tuple[str, str]] = Counter()
    others: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row, reasons in zip(rows, theirs, strict=True):
        numbers = measured(row["text"], row["language"])
        for name in PUBLISHED:
            limit = broken_limit(numbers, name, row["language"])
            key = name, row["language"]
            same[key].append((limit is None) == (not reasons[name]))
            removed[key] += bool(reasons[name])
            if not same[key][-1]:
                value = "" if limit is None else f" ({numbers[limit.name]})"
                others[key][f"{limit}{value} | {', '.join(reasons[name])}"] += 1
    for key, agreed in sorted(same.items()):
        share = sum(agreed) / len(agreed)
        print(
            f"{key[0]:8} {key[1]}  {len(agreed):5} texts  {removed[key]:5} removed  "
            f"{100 * share:.2f} % the same verdict"
        )
        for line, count in others[key].most_common(shown):
            print(f"    {count} x ours: {line}")
    return all(sum(agreed) >= AGREEMENT * len(agreed) for agreed in same.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datatrove", metavar="PYTHON", default=sys.executable, help="the Python that has datatrove")
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=Path, help="a file for the texts: made if it is not there, else read")
    parser.add_argument("--shown", type=int, default=0, help="how many kinds of other agreed are shown")
    options = parser.parse_args()
    if options.judge:
        judge(options.judge)
        return
    data = Path(os.environ.get("WINNOW_DATA") or ROOT.parent / "shared" / "data")
    with TemporaryDirectory() as folder:
        path = options.texts or Path(folder) / "texts.jsonl"
        if not path.exists():
            path.write_text("".join(json.dumps(row) + "\n" for row in texts(data)), encoding="utf-8")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        spent = cost(rows)
        print(f"{len(rows)} texts, {mean(spent):.2f} ms for the numbers of one, median {median(spent):.2f}", flush=True)
        line = [options.datatrove, __file__, "--judge", str(path)]
        ended = subprocess.run(line, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"datatrove's filters did not run; --datatrove names a Python that has them:\n{ended.stderr[-2000:]}")
    theirs = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    sys.exit(0 if compare(rows, theirs, options.shown) else 1)


if __name__ == "__main__":
    main()
