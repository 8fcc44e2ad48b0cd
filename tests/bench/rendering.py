"""What rendering costs, and how many pages are rendered.

`python tests/bench/rendering.py rate [--pages N] [--tabs N]` renders N pages of an application that fetches its text,
in N tabs. It prints pages a second and the memory of all processes after each hundred pages, and the CPU time of the
first hundred.
`python tests/bench/rendering.py signs FILE.jsonl.xz ...` prints how many saved pages (`html` in each line) have a sign
that they need a browser, by sign, and how long the check takes.
`python tests/bench/rendering.py mixed` crawls the six applications of the tests together with a plain site whose pages
have scripts, and prints what was rendered.
`python tests/bench/rendering.py floods` renders pages that fill memory, and prints the peak memory of the browser and
its driver.
"""

import argparse
import asyncio
import json
import lzma
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from applications import APPLICATIONS, Application  # noqa: E402
from flood_pages import FLOODS, STORES, peak_of_memory  # noqa: E402
from process_tree import descendants  # noqa: E402
from sites import OPEN, Site, crawl, page, serving  # noqa: E402

from crawler.contrib.browser.chromium import Chromium  # noqa: E402
from crawler.contrib.browser.page_load import PageSource, Renderer, RenderError, RenderOptions  # noqa: E402
from crawler.contrib.browser.parts import PagePart, PartAnswer, PartCache  # noqa: E402
from crawler.contrib.browser.processes import memory_of  # noqa: E402
from crawler.extraction import EXTRACTORS  # noqa: E402
from crawler.page.page import Page  # noqa: E402
from crawler.page.script_signs import sign_of  # noqa: E402

MEGABYTE = 1024 * 1024


def processor_seconds() -> float:
    """The CPU time of this process and of all its descendants, including those that have ended."""
    ticks = 0
    for process in descendants(os.getpid()) | {os.getpid()}:
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def rate(pages: int, tabs: int) -> None:
    application: Application = APPLICATIONS["client_routing"]

    async def fetch(part: PagePart) -> PartAnswer | None:
        answer = application.routes.get(part.url.removeprefix("http://a.example"))
        if answer is None or isinstance(answer, str) or callable(answer):
            return None
        assert isinstance(answer.body, str)
        return PartAnswer(200, {"content-type": answer.content_type}, answer.body.encode())

    chromium = Chromium("Winnow")
    renderer = Renderer(chromium, PartCache(fetch), RenderOptions(tabs=tabs))
    body = str(application.routes["/story/1"]).encode()
    source = PageSource("http://a.example/story/1", body, "text/html; charset=utf-8")
    await renderer.render(source)
    begun, done, used = time.monotonic(), 0, processor_seconds()
    print("pages  pages/s  memory of browser and driver  of this process  tasks")
    while done < pages:
        at_once = min(100, pages - done)
        rendered_pages = await asyncio.gather(*(renderer.render(source) for _ in range(at_once)))
        assert all(application.gold["/story/1"].splitlines()[-1] in rendered_page for rendered_page in rendered_pages)
        done += at_once
        size, own = sum(map(memory_of, descendants(os.getpid()))) // MEGABYTE, memory_of(os.getpid()) // MEGABYTE
        speed = done / (time.monotonic() - begun)
        print(f"{done:5}  {speed:7.2f}  {size:25} MB  {own:12} MB  {len(asyncio.all_tasks()):5}", flush=True)
        if done == at_once:
            print(f"processor seconds a page: {(processor_seconds() - used) / done:.3f}")
    await chromium.close()
    print(f"browsers started: {chromium.started}")


def signs(files: list[Path]) -> None:
    extract = EXTRACTORS["auto"]
    for path in files:
        counts: Counter[str] = Counter()
        seconds, number = 0.0, 0
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                shown = Page.from_html(row["html"], row.get("url") or "http://a.example/")
                extraction = shown.once(extract)
                shown.links  # noqa: B018 - a crawl has them anyway
                begun = time.perf_counter()
                sign = sign_of(shown, extraction)
                seconds += time.perf_counter() - begun
                counts[sign or "none"] += 1
                number += 1
        shares = ", ".join(f"{name} {count / number:.1%}" for name, count in counts.most_common())
        print(f"{path.name.partition('.')[0]}: {number} pages: {shares}; {1_000 * seconds / number:.2f} ms a page")


def mixed(pages: int) -> None:
    head = "<script src='/menu.js'></script>"
    texts = {
        f"/note/{number}": f"On day {number} the keeper wrote how heavy the combs had become."
        for number in range(pages)
    }
    links = {path: path for path in texts}
    plain = Site({"/": page("All notes.", links=links)})
    plain.routes |= {
        path: page(*[text] * 5, links=dict(list(links.items())[:9]), head=head) for path, text in texts.items()
    }
    sites = [plain, *(Site(application.routes) for application in APPLICATIONS.values())]
    with ExitStack() as served, tempfile.TemporaryDirectory() as folder:
        for site in sites:
            served.enter_context(serving(site))
        seeds = ",".join(site.url for site in sites)
        for render in ("never", "auto"):
            arguments = {"seeds": seeds, "images": "no", "listings": "yes", "render": render, "name": render}
            ended = crawl(Path(folder), arguments, OPEN, timeout=600)
            print(f"render={render}", ended.closing().partition("\n")[2], sep="\n")


async def floods() -> None:
    async def fetch(part: PagePart) -> PartAnswer | None:
        return None

    for name, script in {"an ordinary page": "document.body.append('x')", **FLOODS, **STORES}.items():
        chromium = Chromium("Winnow")
        renderer = Renderer(chromium, PartCache(fetch), RenderOptions(seconds=15.0))
        source = PageSource("https://a.example/", f"<body><p>x</p><script>{script}</script>".encode(), "text/html")
        begun = time.monotonic()
        async with peak_of_memory() as peak:
            try:
                ending = f"{len(await renderer.render(source))} characters"
            except RenderError as error:
                ending = str(error.fault)
        seconds = time.monotonic() - begun
        print(f"{name:26} {peak.size // MEGABYTE:5} MB  {seconds:5.1f} s  {ending}", flush=True)
        await chromium.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rate", "signs", "mixed", "floods"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--tabs", type=int, default=4)
    options = parser.parse_args()
    if options.what == "rate":
        asyncio.run(rate(options.pages, options.tabs))
    elif options.what == "signs":
        signs(options.files)
    elif options.what == "floods":
        asyncio.run(floods())
    else:
        mixed(options.pages)


if __name__ == "__main__":
    main()
