"""Crawls sites that strangers' programs make, and compares the items with the sources.

`python tests/bench/strangers.py [FOLDER] [--only NAME ...] [--fast] [--json FILE]` installs generators and themes by
name from npm, PyPI and Debian into FOLDER, builds a site with each from sources that are known, serves it on a
loopback address of its own, and crawls it with the crawler's defaults. FOLDER is kept, so that a second run builds
nothing. `--fast` leaves out the pauses between requests, `--at-once` says how many requests are sent at the same time.
`--names` lists the sites.

Each row of the table is a site: documents found among those of the source, items that are no documents, the mean word
F1 of the texts, code blocks that are whole, cells and formulas, how many titles, authors, dates and languages are
right among those that the source has, requests for each item that is no copy, items of a document that has one
already, items without text, items marked as copies, and items with comments of readers in their text. `--faults`
prints what is wrong, by address. The content systems of `strangers_sites/systems.py` need packages that are installed.

`--keep FOLDER` crawls nothing, but builds each site from its first documents and writes its pages into a file of
FOLDER. So the suite's pages in tests/strangers/sites are made:

    python tests/bench/strangers.py --keep tests/strangers/sites --only NAME ...
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from time import monotonic
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support"), str(ROOT / "tests/bench")]

from sites import OPEN, crawl  # noqa: E402
from strangers_sites.applications import APPLICATIONS  # noqa: E402
from strangers_sites.blogs import BLOGS  # noqa: E402
from strangers_sites.compare import Comparison, compare, faults, match  # noqa: E402
from strangers_sites.kept import keep_pages  # noqa: E402
from strangers_sites.manuals import MANUALS  # noqa: E402
from strangers_sites.site import Site, Workshop  # noqa: E402
from strangers_sites.systems import SYSTEMS  # noqa: E402

SITES = (*BLOGS, *MANUALS, *APPLICATIONS, *SYSTEMS)
LOOPBACK = {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}
FAST = {name: OPEN[name] for name in ("DOWNLOAD_DELAY", "AUTOTHROTTLE_ENABLED")}
AT_ONCE = ("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN")
TIMEOUT = 1_800.0
KEPT_DOCUMENTS = 8
"""The last is a post without a section."""
SHOWN_FAULTS = 8
"""Addresses printed of each kind of fault; the file of --json has all."""


def measure(root: Path, site: Site, settings: Mapping[str, str]) -> tuple[Comparison, dict[str, Any]]:
    """Build a site unless it is there, crawl it, and compare."""
    workshop = Workshop(root=root, site=site)
    workshop.prepare()
    arguments = {"seeds": f"{site.url}{site.front}", "markdown": "yes"}
    begun = monotonic()
    with TemporaryDirectory(prefix=f"{site.name}-") as folder:
        with workshop.serving() as served:
            crawled = crawl(Path(folder), arguments, LOOPBACK | settings, timeout=TIMEOUT)
        items = crawled.items()
    paths = [path for path in served.requested if path != "/robots.txt"]
    matched = match(items, workshop.documents)
    comparison = compare(site.name, matched, workshop.documents, len(paths), site.comment)
    details = {
        "row": {name: str(value) for name, value in asdict(comparison).items()},
        "seconds": round(monotonic() - begun),
        "faults": faults(matched, workshop.documents, site.comment),
        "closing": crawled.closing().splitlines()[1:],
        "asked": paths,
        "items": items,
    }
    return comparison, details


def keep(root: Path, site: Site, folder: Path) -> None:
    """Build a small site, and keep its pages."""
    workshop = Workshop(root=root, site=site, most_documents=KEPT_DOCUMENTS)
    workshop.prepare()
    keep_pages(workshop.output, site.url, folder / f"{site.name}.jsonl.xz")


def cells(comparison: Comparison) -> list[str]:
    """A row of the table."""
    values = [getattr(comparison, field.name) for field in fields(comparison)]
    return [f"{value:.3f}" if isinstance(value, float) else str(value) for value in values]


def print_table(comparisons: Iterable[Comparison]) -> None:
    """Print the table in columns."""
    rows = [[field.name for field in fields(Comparison)], *map(cells, comparisons)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_faults(details: Mapping[str, Any]) -> None:
    """Print what is wrong with the items of a site."""
    for kind, lines in details["faults"].items():
        print(f"  {kind}: {len(lines)}")
        print("".join(f"    {line}\n" for line in lines[:SHOWN_FAULTS]), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = Path(gettempdir()) / "strangers"
    parser.add_argument(
        "folder", nargs="?", type=Path, default=default, help=f"where programs and sites are ({default})"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="sites or beginnings of their names")
    parser.add_argument("--fast", action="store_true", help="leave out the pauses between requests")
    parser.add_argument("--at-once", type=int, metavar="N", help="requests at the same time, to a host too")
    parser.add_argument("--faults", action="store_true", help="print what is wrong, by address")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows, faults, requests and items")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the pages of small sites, and end")
    parser.add_argument("--names", action="store_true", help="list the sites and end")
    options = parser.parse_args()
    chosen = [site for site in SITES if not options.only or site.name.startswith(tuple(options.only))]
    if options.names:
        print("\n".join(f"{site.name}  {site.kind}" for site in chosen))
        return
    if options.keep:
        for site in chosen:
            keep(options.folder.resolve(), site, options.keep)
        return
    settings = FAST if options.fast else {}
    if options.at_once:
        settings = settings | dict.fromkeys(AT_ONCE, str(options.at_once))
    comparisons, details_by_site = [], {}
    for site in chosen:
        try:
            comparison, details = measure(options.folder.resolve(), site, settings)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{site.name}: {' '.join(str(error).split())}", flush=True)
            continue
        comparisons.append(comparison)
        details_by_site[site.name] = details
        print(f"{site.name}: {details['seconds']} s, {' '.join(cells(comparison)[1:])}", flush=True)
        if options.faults:
            print_faults(details)
    print_table(comparisons)
    if options.json:
        options.json.write_text(json.dumps(details_by_site, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
