"""A page whose owner marks its text is no item, but is counted; its links are followed; parts leave in later rounds."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sites import COUNTED, Answer, Site, crawl, page, serving

SOON = COUNTED | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
"""Every page is due at once."""
BEES = "Bees dance in the dark of the hive, and the others follow them to the flowers."
MOTHS = "Moths eat the combs of weak hives in the last warm days of the late autumn."


def test_marked_pages_are_counted_and_their_links_followed(tmp_path: Path) -> None:
    marked = page(MOTHS, links={"/part": "on"}).replace("<body>", "<body data-ai-crawl-exclude>")
    part = page(BEES, f"<span data-nosnippet>{MOTHS}</span>")
    site = Site({"/": page(BEES, links={"/marked": "on"}), "/marked": marked, "/part": part, "/robots.txt": Answer("")})
    with serving(site):
        ended = crawl(tmp_path, {"seeds": site.url, "scope": "host"}, SOON)
        items = {item["url"].removeprefix(site.url): item for item in ended.items()}
        assert items.keys() == {"", "part"}
        assert ended.outcomes()["text_withheld"] == 1
        assert MOTHS not in items["part"]["text"]
        assert [one["signal"] for one in items["part"]["rights"]["evidence"] if one["signal"] == "owner_mark"] == [
            "owner_mark"
        ]
        site.routes["/part"] = page(BEES).replace("<body>", "<body data-ai-crawl-exclude>")
        again = crawl(tmp_path, {"seeds": site.url, "scope": "host"}, SOON)
    assert again.outcomes()["text_withheld"] == 1
    assert again.items() == ended.items()
    with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as connection:
        gone = connection.execute("SELECT url FROM page WHERE gone_at IS NOT NULL").fetchall()
    assert gone == [(f"{site.url}part",)]
