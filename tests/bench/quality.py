"""Whether `auto` is as good as it was: `scrapy evaluate` on the sets of WINNOW_DATA, against the figures in auto.json.

`python quality.py` fails if a figure fell by more than the tolerance of `scrapy evaluate`. The data are in WINNOW_DATA,
by default shared/data beside this checkout; it prints a message if they are missing. `--save` writes auto.json again.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = Path(__file__).with_name("auto.json")
HELD = ("f1", "word_f1")
"""What of a method's figures the comparison reads."""


def sets(data: Path) -> list[str]:
    """The files with pages whose whole main text is known."""
    figures = []
    for path in sorted(data.glob("extraction/*.jsonl.xz")):
        with lzma.open(path) as lines:
            first = json.loads(next(iter(lines)))
            if "gold" in first and not first.get("gold_partial"):
                figures.append(str(path))
    return figures


def smaller(record: str) -> str:
    """A record with only what a comparison reads, a set a line."""
    read = json.loads(record)
    lines = []
    for name, of in read["sets"].items():
        of["methods"] = {method: {held: figures[held] for held in HELD} for method, figures in of["methods"].items()}
        lines.append(f"  {json.dumps(name)}: {json.dumps(of)}")
    head = f'{{"format": {read["format"]}, "winnow": {json.dumps(read["winnow"])}, "sets": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="write the figures instead of comparing them")
    options = parser.parse_args()
    data = Path(os.environ.get("WINNOW_DATA") or ROOT.parent / "shared" / "data")
    paths = sets(data)
    if not paths:
        print(f"The quality of auto is not measured: {data} has no sets (WINNOW_DATA names another folder).")
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    line = [sys.executable, "-m", "scrapy", "evaluate", *paths, "--methods", "auto", "--jobs", str(min(cores, 8))]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with TemporaryDirectory() as folder:
        record = Path(folder) / "auto.json"
        line += ["--save", str(record)] if options.save else ["--baseline", str(KEPT)]
        status = subprocess.run(line, cwd=ROOT, env=environment, check=False).returncode
        if options.save and not status:
            KEPT.write_text(smaller(record.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(status)


if __name__ == "__main__":
    main()
