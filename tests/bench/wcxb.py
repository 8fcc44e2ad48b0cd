"""Scores on the page set WCXB by its official script: `python tests/bench/wcxb.py CLONE [--split dev] [--methods A,B]`.

CLONE is a checkout of https://github.com/Murrough-Foley/web-content-extraction-benchmark. Each method extracts the main
text of each page of one split, and CLONE's own evaluate.py scores the texts, overall and by the type of the page. The
split is `test`, which nothing was learned from, or `dev`, on which the weights of `auto` were trained. The versions of
Python, lxml and each method are printed. Pages without a text are counted; the script scores them 0.
"""

import argparse
import gzip
import json
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawler import __version__  # noqa: E402
from crawler.contrib.lab.evaluation.gold import GoldPage  # noqa: E402
from crawler.contrib.lab.evaluation.method_process import PAGE_LIMIT, run  # noqa: E402
from crawler.contrib.lab.evaluation.peers import PEERS  # noqa: E402

METHODS = "auto,trafilatura"
LANGUAGE = "en"
"""The language of all pages of WCXB, for the methods that need one."""


def read_html(path: Path) -> str:
    """The source of a page, which may be compressed."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return content.decode("utf-8", "replace")


def read_pages(split: Path) -> list[GoldPage]:
    """The pages of a split, in the order of their numbers, without the gold."""
    urls = {}
    for path in split.glob("ground-truth/*.json"):
        urls[path.stem] = json.loads(path.read_text("utf-8")).get("url") or ""
    pages = []
    for path in sorted(split.glob("html/*.html*")):
        page_id = path.name.partition(".")[0]
        if page_id in urls:
            pages.append(
                GoldPage(id=page_id, url=urls[page_id], lang=LANGUAGE, page_type="", html=read_html(path), gold="")
            )
    missing = urls.keys() - {page.id for page in pages}
    if missing or not pages:
        sys.exit(f"{split} has {len(pages)} pages, and {len(missing)} gold texts without a page")
    return pages


def evaluate(method: str, pages: list[GoldPage], script: Path, split: str) -> None:
    """Extract the texts with a method, and print what the official script says of them."""
    outcome = run(method, pages, PAGE_LIMIT, lambda pages_done: None)
    name = f"{method} {outcome.version}" if method in PEERS else f"Winnow {__version__}, method {method}"
    if outcome.absent:
        print(f"\n## {name}: {outcome.absent}")
        return
    texts = {page.id: output.text for page, output in zip(pages, outcome.outputs, strict=True)}
    failures = sum(bool(output.failure) for output in outcome.outputs)
    print(f"\n## {name}: {sum(not text for text in texts.values())} empty, {failures} failed")
    sys.stdout.flush()
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        results.write_text(json.dumps(texts), "utf-8")
        line = [sys.executable, script, "--split", split, "--results", results, "--per-type"]
        subprocess.run(line, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, help="folder of WCXB's checkout")
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--methods", default=METHODS, help="separated by commas, by default %(default)s")
    options = parser.parse_args()
    script = options.clone / "evaluate.py"
    if not script.is_file():
        sys.exit(f"{script} does not exist; {options.clone} is not a checkout of WCXB")
    pages = read_pages(options.clone / options.split)
    print(f"Python {platform.python_version()}, lxml {version('lxml')}, {len(pages)} pages of {options.split}")
    for method in options.methods.split(","):
        evaluate(method, pages, script.resolve(), options.split)


if __name__ == "__main__":
    main()
