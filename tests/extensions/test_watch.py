"""A crawl says what it waits for, and gives up what never ends."""

import json
import time
from pathlib import Path

from sites import OPEN, Answer, Asked, Site, crawl, page, serving

from crawler.settings import ITEM_PIPELINES

QUICK = OPEN | {"STALL_SECONDS": "0.5", "STALL_LIMIT": "2"}


def late(asked: Asked) -> Answer:
    time.sleep(1.5)
    return Answer(page("Late."))


def test_it_says_whose_answer_it_waits_for(tmp_path: Path) -> None:
    with serving(Site({"/": page("One.", links={"/late": "late"}), "/late": late})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, QUICK)
    name = site.url.split("/")[2]
    assert f"Waiting for {name} (1 on the way, since " in ended.err
    assert len(ended.items()) == 2


def test_it_says_that_a_host_rests(tmp_path: Path) -> None:
    busy = {"/": page("One.", links={"/b": "b"})}
    with serving(Site(busy)) as site:
        site.routes["/b"] = lambda asked: (
            Answer(page("Two.")) if asked.times else Answer("", 429, headers={"Retry-After": "3"})
        )
        ended = crawl(tmp_path, {"seeds": site.url}, QUICK)
    assert "Nothing has moved for " in ended.err
    assert "that rest" in ended.err
    assert len(ended.items()) == 2


def test_what_never_ends_is_given_up_and_counted(tmp_path: Path) -> None:
    pipelines = ITEM_PIPELINES | {"hanging.HangingPipeline": 800}
    routes = {"/": page("One.", links={"/hang": "h", "/b": "b"}), "/hang": page("Two."), "/b": page("Three.")}
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, QUICK | {"ITEM_PIPELINES": json.dumps(pipelines)})
    assert ended.status == 0
    assert ended.counts() == {"given up, it never came to an end": 1}
    assert len(ended.items()) == 2
