"""`workers=2` is one crawl of two processes: what either stores is counted once, and neither's end loses any."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest
from fault_injection import Running, Web, database, faults, further_workers, left_by, spun, sqlite_url, wait_for
from sites import BY_SHARES, crawl

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

SIZE = 90


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def working(crawl: Running, web: Web) -> int:
    """The further worker of a crawl, once it holds addresses and the site has had some requests."""
    (one,) = further_workers(crawl.process.pid)
    with database(sqlite_url(crawl.folder)) as ask:
        crawl.until(lambda: ask("SELECT 1 FROM worker JOIN address ON address.worker = worker.id WHERE number = 2"))
    before = web.asked_for()
    crawl.until(lambda: web.asked_for() > before + 5)
    return one


def test_two_workers_are_one_crawl_to_the_user(tmp_path: Path) -> None:
    with spun(SIZE, 0.3) as web:
        ended = crawl(tmp_path, {"seeds": web.url, "workers": 2}, BY_SHARES, "-s", "STATS_DUMP=True", timeout=120)
        assert ended.status == 0, ended.err
        left = left_by(sqlite_url(tmp_path), [tmp_path / "output"])
        assert faults(left, web.pages) == []
    pages = len(web.pages)
    assert [path.name for path in sorted((tmp_path / "output").glob("*.jsonl"))] == [
        "topic.images.jsonl",
        "topic.jsonl",
    ]
    assert ended.closing().count(f"{pages} pages crawled") == 1
    assert f"\n{pages} items in output/topic.jsonl.\n" in ended.closing()
    assert "other workers" not in ended.closing()
    assert f"'downloader/request_count': {web.count.total()}," in ended.err
    with database(sqlite_url(tmp_path)) as ask:
        shares = dict(ask("SELECT number, sum(pages) FROM sample GROUP BY number"))
    assert sum(shares.values()) == pages
    assert min(shares[1], shares[2]) > 0


@pytest.mark.long
def test_workers_that_are_killed_and_stopped_lose_nothing(tmp_path: Path) -> None:
    arguments = {"seeds": "", "workers": "2"}
    with spun(200, 0.5) as web:
        arguments["seeds"] = web.url
        with Running(tmp_path, arguments, BY_SHARES) as run:
            wait_for(lambda: further_workers(run.process.pid))
            first = working(run, web)
            os.kill(first, signal.SIGKILL)
            run.until(lambda: further_workers(run.process.pid) not in ([], [first]))
            second = working(run, web)
            run.kill()
            wait_for(lambda: not is_alive(second))
        assert re.search(r"exit status -9\b", run.said)
        with Running(tmp_path, arguments, BY_SHARES) as run:
            wait_for(lambda: further_workers(run.process.pid))
            third = working(run, web)
            run.send(signal.SIGINT)
            assert run.wait() == 0
            assert not is_alive(third)
        assert "Stopped before the end." in run.said
        web.pause = 0
        with Running(tmp_path, arguments, BY_SHARES) as run:
            assert run.wait() == 0, run.said
        assert faults(left_by(sqlite_url(tmp_path), [tmp_path / "output"]), web.pages) == []
