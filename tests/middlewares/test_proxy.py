"""A crawl through a proxy that the environment names, as the how-to page on private networks has it."""

from pathlib import Path
from typing import Any

import pytest
from sites import Site, crawl, page, serving

BEES = "http://bees.example/"
ROUTES = {BEES: page("Bees gather nectar in the warm hours.", links={"/hive": "hive"}), f"{BEES}hive": page("A hive.")}


@pytest.mark.long
@pytest.mark.parametrize(("opened", "pages"), [("127.0.0.2", 2), ("10.0.0.1", 0)])
def test_a_proxy_on_a_private_address_is_used_where_it_is_allowed(opened: str, pages: int, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"HTTPPROXY_ENABLED": "True", "ALLOWED_PRIVATE_HOSTS": opened, "DOWNLOAD_DELAY": "0"}
    with serving(Site(ROUTES), "127.0.0.2") as proxy:
        variables = {"http_proxy": proxy.url, "no_proxy": ""}
        ended = crawl(tmp_path, {"seeds": BEES, "images": "no"}, settings, env=variables)
    assert (ended.status == 0, len(ended.items()) if pages else 0) == (bool(pages), pages)
    assert proxy.paths() == [f"{BEES}robots.txt", *ROUTES][: pages and pages + 1]
