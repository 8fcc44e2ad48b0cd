"""A page of a crawl in a real browser: its frame, its keys, its sizes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.engine import URL

from crawler.store.batch.responses import zstd
from crawler.store.database import open_database
from crawler.store.page_tables import page as pages
from crawler.store.page_tables import page_version, stored_response

HOSTILE = (
    "<head><style>body { display: none } @import 'http://evil.example/x.css';</style>"
    "<meta http-equiv=refresh content='0;url=http://evil.example/'><base href=http://evil.example/></head>"
    "<body onload=alert(1)><script>alert(1); top.location = 'http://evil.example/'</script>"
    "<img src=http://evil.example/x.png onerror=alert(1)><iframe src=http://evil.example/></iframe>"
    "<form action=http://evil.example/><button autofocus onfocus=alert(1)>Go</button></form>"
    "<a href=javascript:alert(1) id=bad>Click</a><p style='position:fixed;background:url(http://evil.example/y)'>"
    "Bees dance in the dark of the hive, and others follow them out to the flowers.</p>"
)


def number_of(output: Path, title: str) -> int:
    """The number of a stored page."""
    engine = open_database(URL.create("sqlite", database=str(output / "crawl.db")))
    with engine.connect() as connection:
        found = connection.execute(select(pages.c.id).where(pages.c.title == title)).scalar()
    engine.dispose()
    assert found is not None
    return int(found)


@pytest.fixture
def bee(crawled: Path) -> int:
    return number_of(crawled, "What a bee sees")


def test_the_original_stands_beside_the_text(page: Any, bee: int) -> None:
    page.goto(f"/pages/{bee}")
    assert page.get_by_role("heading", level=1).inner_text() == "What a bee sees"
    assert page.title() == "What a bee sees · Winnow"
    frame = page.frame_locator("iframe")
    kept = frame.locator(".kept", has_text="In 1914 Karl von Frisch").first
    assert "it has sentences" in kept.get_attribute("title")
    tint, grey = (
        frame.locator(one).first.evaluate("(e) => getComputedStyle(e).backgroundColor") for one in (".kept", ".left")
    )
    assert tint != grey
    boxes = [page.locator(one).bounding_box() for one in ("#text", "#original")]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert kept.inner_text() in page.locator("#text .reading p").all_inner_texts()


@pytest.mark.long
def test_keys_lead_through_it(page: Any, bee: int) -> None:
    page.goto(f"/pages/{bee}")
    for key, where in (("o", "#original"), ("b", "/blocks"), ("d", "/versions"), ("l", "/links"), ("t", "")):
        page.keyboard.press(key)
        page.wait_for_url(f"**/pages/{bee}{where}")
    page.goto(f"/pages/{bee}/blocks")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("() => document.activeElement.rowIndex") == 2


@pytest.mark.parametrize("how", [{"viewport": {"width": 390, "height": 800}}])
def test_it_is_no_wider_than_a_phone(page: Any, bee: int) -> None:
    for view in ("", "/blocks", "/versions", "/links", "/links?of=all", "/links?of=images"):
        page.goto(f"/pages/{bee}{view}")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390, view


@pytest.mark.long
@pytest.mark.parametrize("how", [{"java_script_enabled": False}])
def test_without_scripts(page: Any, bee: int) -> None:
    page.goto(f"/pages/{bee}")
    page.get_by_role("link", name="Links and images").click()
    page.locator("main").get_by_role("link", name="Images", exact=True).click()
    assert page.locator("tbody tr").count() > 3
    page.get_by_role("link", name="Blocks").click()
    page.get_by_role("link", name="Kept", exact=True).click()
    assert set(page.locator("tbody tr .badge").all_inner_texts()) == {"kept"}


@pytest.fixture
def changed(copied: Path) -> Callable[..., int]:
    """Puts something else in the database for a page."""

    def change(table: Any, **values: Any) -> int:
        number = number_of(copied, "What a bee sees")
        engine = open_database(URL.create("sqlite", database=str(copied / "crawl.db")))
        with engine.begin() as connection:
            row = connection.execute(select(pages).where(pages.c.id == number)).mappings().one()
            if table is stored_response:
                connection.execute(stored_response.update().where(stored_response.c.key == row["key"]).values(**values))
            else:
                known = {"key": row["key"], "crawl_id": row["crawl_id"], "title": row["title"]}
                connection.execute(insert(table).values(**known, **values(row["text"]) if callable(values) else values))
        engine.dispose()
        return number

    return change


@pytest.mark.long
def test_nothing_of_a_hostile_page_acts(own_page: Any, changed: Callable[..., int]) -> None:
    number = changed(stored_response, body=zstd.compress(HOSTILE.encode()))
    for address in (f"/pages/{number}", f"/pages/{number}/original"):  # alone, too, it is sandboxed
        own_page.goto(address)
        inside = own_page.frame_locator("iframe") if "original" not in address else own_page
        assert inside.get_by_text("Bees dance in the dark").is_visible()
        inside.get_by_text("Click").click()
        own_page.wait_for_timeout(300)
        assert own_page.url.endswith(address)
        assert inside.locator("img, iframe, form, button, script, a[href], [onclick], [style]").count() == 0


@pytest.mark.parametrize("how", [{"timezone_id": "Asia/Shanghai"}])
def test_two_versions_are_compared(own_page: Any, changed: Callable[..., int]) -> None:
    for day, text in ((1, "Bees hum in the dark."), (2, "Bees dance in the dark.")):
        number = changed(page_version, fetched_at=f"2026-01-0{day}T00:00:00+00:00", text=text)
    own_page.goto(f"/pages/{number}/versions")
    assert own_page.locator("tbody tr").count() == 3
    listed = own_page.locator("tbody tr time").all_inner_texts()
    assert own_page.get_by_label("From").locator("option").all_inner_texts() == [f"{listed[0]} · current", *listed[1:]]
    own_page.get_by_label("To").select_option(index=1)
    own_page.get_by_label("From").select_option(index=2)
    own_page.locator("#versions del", has_text="hum").wait_for()
    assert own_page.locator("#versions ins").all_inner_texts() == ["dance"]
    assert "old=" in own_page.url
