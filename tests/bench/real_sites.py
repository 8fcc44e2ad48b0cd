"""How many requests a crawl needs for the articles of MediaWiki, WordPress and DokuWiki.

`python tests/bench/real_sites.py [mediawiki|wordpress|dokuwiki] [--keep FOLDER]` sets each system up, fills it with
articles of ../shared/data/wiki, crawls it with the topic birds, and counts by the system's own log: requests, of which
kinds, the pages that were kept, and the articles that were missed. `content_systems.py` names the packages it needs.
"""

import argparse
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from content_systems import SYSTEMS, Article, articles, slug
from sites import OPEN, Crawl, crawl

ARGUMENTS = {"topic": "birds", "images": "no"}
# One request at a time, as with the usual settings, but without pauses.
SETTINGS = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "STATS_DUMP": "False"}
TIMEOUT = 1800.0
REQUEST = re.compile(r"\[(\d{3})\]: GET (\S+)")
KINDS = {
    "robots.txt, sitemap": r"/robots\.txt|sitemap",
    "feed": r"/feed|feed\.php",
    "edit": r"action=edit|do=edit",
    "history": r"action=history|do=revisions|do=diff|diff=",
    "old version": r"oldid=|[?&]rev=",
    "info": r"action=info",
    "log-in": r"UserLogin|CreateAccount|wp-login|do=login|do=register|do=resendpwd",
    "answer to a comment": r"replytocom",
    "page of comments": r"/comment-page-\d",
    "archive by date": r"^/\d{4}/(\d\d/)?(\d\d/)?(page/\d+/?)?$",
    "archive by tag": r"^/tag/",
    "archive by category": r"^/category/|Category:",
    "archive by author": r"^/author/",
    "part of a list": r"^/page/\d",
    "backlinks": r"do=backlink|WhatLinksHere|RecentChangesLinked",
    "index": r"do=index|[?&]idx=|do=recent",
    "media": r"do=media|/lib/exe|File:|do=export",
    "other special page": r"Special:",
    "talk": r"/Talk:|title=Talk:",
}


def kind_of(path: str) -> str:
    """The kind of a request, for people."""
    return next((name for name, pattern in KINDS.items() if re.search(pattern, path)), "other")


def paths(log: Path) -> list[str]:
    """The paths that a crawl asked for."""
    found = REQUEST.findall(log.read_text(encoding="utf-8", errors="replace"))
    return [path for _, path in found]


def missed(of: Iterable[Article], crawled: Crawl) -> list[str]:
    """The titles of articles that no item has; each system has the title in the address."""
    found = {slug(unquote(urlsplit(item["url"]).query or urlsplit(item["url"]).path)) for item in crawled.items()}
    return [one.title for one in of if not any(f"-{name}".endswith(f"-{one.slug}") for name in found)]


def report(name: str, of: Sequence[Article], crawled: Crawl, asked: Sequence[str]) -> Iterable[str]:
    """What a crawl did, in lines."""
    items = crawled.items()
    pages = [path for path in asked if kind_of(path) not in ("robots.txt, sitemap", "feed")]
    copies = sum(1 for item in items if item["duplicate_of"])
    lost = missed(of, crawled)
    yield f"{name}: {len(asked)} requests, {len(pages)} for pages; {len(items)} items, {copies} of them copies"
    yield f"  articles: {len(of)}, found {len(of) - len(lost)}, missed {len(lost)} {lost[:5]}"
    yield f"  requests for pages per item that is no copy: {len(pages) / max(1, len(items) - copies):.2f}"
    yield f"  requests for pages per article: {len(pages) / len(of):.2f}"
    for kind, count in Counter(map(kind_of, asked)).most_common():
        yield f"  {count:6} {kind}"
    yield from ("  | " + line for line in crawled.err[crawled.err.rindex("Spider closed") :].splitlines()[1:])


def measure(name: str, folder: Path, share: float) -> None:
    """Set up one system, crawl it, and print the report."""
    of = articles(share)
    with SYSTEMS[name](folder, of) as served:
        served.log.write_bytes(b"")
        crawled = crawl(folder, ARGUMENTS | {"seeds": served.url}, SETTINGS, timeout=TIMEOUT)
        (folder / "crawl.log").write_text(crawled.err, encoding="utf-8")
        print("\n".join(report(name, of, crawled, paths(served.log))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(SYSTEMS))
    parser.add_argument("--keep", type=Path, help="keeps databases, logs and output in this folder")
    parser.add_argument("--share", type=float, default=1.0, help="of the articles (1)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped, too
    for name in options.systems or SYSTEMS:
        if options.keep:
            folder = options.keep.resolve() / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            measure(name, folder, options.share)
        else:
            with TemporaryDirectory(prefix=f"{name}-") as temporary:
                measure(name, Path(temporary), options.share)


if __name__ == "__main__":
    main()
