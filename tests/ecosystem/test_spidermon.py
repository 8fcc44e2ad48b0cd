"""A crawl that the real Spidermon watches."""

from pathlib import Path

import pytest
from missing import need
from sites import OPEN, Site, crawl, page, serving

MONITORED = """
from crawler.settings import *

EXTENSIONS = EXTENSIONS | {"spidermon.contrib.scrapy.extensions.Spidermon": 500}
SPIDERMON_ENABLED = True
SPIDERMON_SPIDER_CLOSE_MONITORS = ("suite.Suite",)
"""
SUITE = """
from spidermon import MonitorSuite
from spidermon.contrib.scrapy.monitors import ItemCountMonitor

class Suite(MonitorSuite):
    monitors = [ItemCountMonitor]
"""


@pytest.mark.parametrize(("wanted", "said"), [(2, "OK"), (3, "FAIL")])
def test_spidermon_counts_the_items_of_a_crawl(tmp_path: Path, wanted: int, said: str) -> None:
    need("spidermon")
    (tmp_path / "monitored.py").write_text(MONITORED, encoding="utf-8")
    (tmp_path / "suite.py").write_text(SUITE, encoding="utf-8")
    with serving(Site({"/": page("Bees.", links={"/hive": "hive"}), "/hive": page("A hive.")})) as site:
        settings = OPEN | {"SPIDERMON_MIN_ITEMS": str(wanted)}
        environment = {"SCRAPY_SETTINGS_MODULE": "monitored"}
        ended = crawl(tmp_path, {"seeds": site.url, "images": "no"}, settings, env=environment)
    assert ended.status == 0
    assert "SPIDERMON_MIN_ITEMS" not in ended.err
    assert f"[Spidermon] Extracted Items Monitor/test_stat_monitor... {said}\n" in ended.err
