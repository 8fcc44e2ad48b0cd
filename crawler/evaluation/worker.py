"""The process a method works in: `python -m crawler.evaluation.worker NAME`, questions and answers as lines of JSON.

Each method has a process of its own, so that no peer's imports, time or death are another's. It never sees the gold,
and reaches no network: an audit hook refuses every use of a Python socket that leads out.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from crawler.evaluation.peers import PEERS, Saved, version
from crawler.extraction import EXTRACTORS, LEARNING
from crawler.extraction.template import learn
from crawler.page.page import Page

HARMLESS = frozenset(("socket.__new__", "socket.gethostname", "socket.getservbyname", "socket.getservbyport"))
Method = Callable[[Saved, Any], str | None]


def main(name: str) -> None:
    """Answer questions until there are no more."""
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)  # what a peer prints must not come between
    sys.addaudithook(refuse_network)

    def answer(what: dict[str, Any]) -> None:
        print(json.dumps(what), file=answers, flush=True)

    try:
        method = load(name)
    except Exception as error:  # whatever a module does when it is imported
        answer({"absent": f"cannot be imported: {_words(error)}"})
        return
    answer({"version": version(name) if name in PEERS else ""})
    library: Any = None
    for line in questions:
        question = json.loads(line)
        if "learn" in question:
            library = learn(Page.from_html(html, url) for html, url in question["learn"])
            answer({})
        else:
            answer(attempt(method, Saved(*question["page"]), library, question["warm"]))


def load(name: str) -> Method:
    """The method of this name, Winnow's or a peer's, imported now."""
    if name in PEERS:
        peer = PEERS[name]
        module = import_module(peer.module)
        return lambda page, _: peer.text(module, page)
    extractor: Callable[..., Any] = EXTRACTORS[name]
    if name in LEARNING:
        return lambda page, library: extractor(Page.from_html(page.html, page.url), library=library).text
    return lambda page, _: extractor(Page.from_html(page.html, page.url)).text


def attempt(method: Method, page: Saved, library: Any, is_warm: bool) -> dict[str, Any]:
    """The text and the seconds of processor time it took; when the process is not warm yet, those of a second time."""
    start = time.process_time()
    try:
        if not is_warm:
            method(page, library)
            start = time.process_time()
        text = method(page, library) or ""
        return {"text": str(text), "seconds": time.process_time() - start}
    except Exception as error:  # a method that fails must not end the judgement
        return {"failure": _words(error), "seconds": time.process_time() - start}


def refuse_network(event: str, _: object) -> None:
    """Raise an error when somebody wants to reach out."""
    if event.startswith("socket.") and event not in HARMLESS:
        raise PermissionError(f"no network here: {event}")


def _words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


if __name__ == "__main__":
    main(sys.argv[1])
