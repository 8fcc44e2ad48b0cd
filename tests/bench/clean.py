"""How fast saved pages are cleaned in bulk: `scrapy clean` with one process and with several, which take turns.

`python clean.py INPUT... [--jobs N] [--runs R] [--method NAME]` cleans the inputs, by default 3,000 made-up pages of
some 60 KB. It prints the pages a second of each run, including start and end, and the ratio of the medians. The outputs
must be the same.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "support")]

from sites import environment  # noqa: E402

PAGES = 3_000
LINE = re.compile(r"([\d,]+) pages? cleaned in ([\d.]+) s")


def made_up(folder: Path) -> Path:
    """A file of lines whose pages have text, links and lists as pages have."""
    menu = "".join(f'<li><a href="/part/{n}">Part {n} of the site</a></li>' for n in range(300))
    path = folder / "pages.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(PAGES):
            text = "".join(
                f"<p>Sentence {n} of page {number} says that bees dance. 蜜蜂会跳舞。</p>" for n in range(200)
            )
            html = f"<title>Page {number}</title><ul>{menu}</ul><div>{text}</div><ul>{menu}</ul>"
            file.write(json.dumps({"id": number, "url": "", "html": html}) + "\n")
    return path


def run(inputs: list[str], output: Path, jobs: int, method: str) -> float:
    """The pages a second of one run."""
    line = [
        sys.executable,
        "-m",
        "scrapy",
        "clean",
        *inputs,
        "-o",
        str(output),
        "--jobs",
        str(jobs),
        "--method",
        method,
    ]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", check=False)
    summary = LINE.search(ended.stderr)
    if summary is None:
        sys.exit(ended.stderr)
    return int(summary[1].replace(",", "")) / float(summary[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--method", default="auto")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        inputs = options.inputs or [str(made_up(folder))]
        rates: dict[int, list[float]] = {1: [], options.jobs: []}
        for _ in range(options.runs):
            for jobs, rates_of_jobs in rates.items():
                rates_of_jobs.append(run(inputs, folder / f"{jobs}.jsonl", jobs, options.method))
                print(f"{jobs} jobs: {rates_of_jobs[-1]:.1f} pages/s", flush=True)
        single, many = (statistics.median(found) for found in rates.values())
        print(
            f"medians: {single:.1f} with one process, {many:.1f} with {options.jobs}: {many / single:.2f} times as many"
        )
        if (folder / "1.jsonl").read_bytes() != (folder / f"{options.jobs}.jsonl").read_bytes():
            sys.exit("the outputs differ")


if __name__ == "__main__":
    main()
