"""Stored pages of which some are copies, and what an export keeps and removes of them."""

from typing import Any

from export_place import Place, lines
from sqlalchemy import create_engine, update

from crawler.page.text import fingerprint
from crawler.recrawl.near_duplicates import signature
from crawler.store import page_tables

LONG = "Bees dance in the dark of the hive. " + " ".join(f"word{n}" for n in range(300))
NEARLY = f"{LONG} Printed in May."


def fill(place: Place, texts: list[str], name: str = "bees", host: str = "", **more: Any) -> None:
    """Have a crawl store these texts, each on a page of its own."""
    table = page_tables.page
    place.fill(len(texts), name)
    engine = create_engine(place.url)
    with engine.begin() as connection:
        for n, text in enumerate(texts):
            values = {"text": text, "text_fingerprint": fingerprint(text), "signature": signature(text)} | more
            if host:
                values["url"] = f"http://{host}/{n}"
            of_this = table.c.url == f"http://{name}.example/{n}"
            connection.execute(update(table).where(of_this).values(**values))
    engine.dispose()


def kept(place: Place, *words: str) -> list[str]:
    said = place.export("-o", "kept.jsonl", *words)
    assert said.status == 0, said.err
    found = [one["url"].removeprefix("http://") for one in lines((place.folder / "kept.jsonl").read_bytes())]
    return [url.replace(".example/", "") for url in found]


def removed(place: Place) -> list[dict[str, Any]]:
    return lines((place.folder / "kept.removed.jsonl").read_bytes())
