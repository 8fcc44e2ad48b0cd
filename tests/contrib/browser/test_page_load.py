"""A page rendered in a real browser: what its scripts made, what it may load, and what a fault costs."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import missing
import pytest
from rendered_pages import HTML, URL, Rendering, rendering_in_browser

from crawler.contrib.browser import page_load
from crawler.contrib.browser.page_load import PageSource, RenderError
from crawler.contrib.browser.parts import KEPT_SECONDS, PagePart, PartAnswer, PartCache
from crawler.contrib.browser.processes import is_renderer, kill, process_tree
from crawler.spiders.document_and_browser_interfaces import RenderFault

HEAD = f'<!DOCTYPE html><html><head><base href="{URL}"></head>'


@pytest.fixture(scope="module")
def opened() -> Iterator[Rendering]:
    with rendering_in_browser() as rendering:
        yield rendering


@pytest.fixture
def rendering(opened: Rendering) -> Rendering:
    opened.asked.clear()
    return opened


SHADOW = """<my-story><i slot="by">Ada</i> light</my-story><script>
customElements.define("my-story", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: "open" }).innerHTML = "<style>p{}</style><p>By <slot name=by>?</slot>:<slot></slot></p>";
  }
});</script>"""


FETCHING = """<script>fetch('/data.json').then((answer) => answer.json()).then((data) => {
  document.querySelector("p").textContent = data.text;
})</script>"""
REPLACING = "<script>Array.prototype.pop = String.prototype.replace = document.querySelectorAll = null</script>"


MADE = [
    ("<script>document.body.append('made')</script>", "<body>made</body>"),
    ("<p>a &amp; b &lt; c</p>", "<body><p>a &amp; b &lt; c</p></body>"),
    ('<p title="a &quot;b&quot;" onclick="x()">t</p>', '<body><p title="a &quot;b&quot;">t</p></body>'),
    ("<style>p{}</style><noscript>no</noscript><template>t</template><p>x</p>", "<body><p>x</p></body>"),
    (SHADOW, '<body><my-story><p>By <i slot="by">Ada</i>: light</p></my-story></body>'),
    (
        f"<p></p>{FETCHING}",
        "<body><p>Bees &amp; &lt;b&gt;蜜蜂&lt;/b&gt;</p></body>",
    ),
    ("<p>1</p><script>setTimeout(() => document.body.append('late'), 400)</script>", "<body><p>1</p>late</body>"),
    ("<p>stays</p><script>location.href = '/other'</script>", "<body><p>stays</p></body>"),
    ("<p>stays</p><script>location.reload()</script>", "<body><p>stays</p></body>"),
    ("<p>x</p><script>window.open('/a'); alert(1); confirm(2)</script>", "<body><p>x</p></body>"),
    ("<iframe src='/a'>no</iframe><p>x</p>", '<body><iframe src="/a"></iframe><p>x</p></body>'),
    (
        f"<p>x</p>{REPLACING}",
        "<body><p>x</p></body>",
    ),
    (
        "<form><select name=attributes></select>t</form>",
        '<body><form><select name="attributes"></select>t</form></body>',
    ),
    ("<form><input name=childNodes><p>t</p></form>", '<body><form><input name="childNodes"><p>t</p></form></body>'),
    (
        "<fieldset form=f name=shadowRoot><form id=f>t</form></fieldset>",
        '<body><fieldset form="f" name="shadowRoot"><form id="f">t</form></fieldset></body>',
    ),
    (
        '<script type="application/ld+json">{"name": "</p>"}</script>',
        '<body><script type="application/ld+json">{"name": "<\\/p>"}</script></body>',
    ),
    (
        "<script>document.body.append([navigator.userAgent, document.cookie, localStorage.length].join())</script>",
        "<body>Winnow/0.1,,0</body>",
    ),
]


@pytest.fixture(scope="module")
def made(opened: Rendering) -> Mapping[str, str]:
    """All these pages after their scripts have run, by their sources."""
    return opened.together({body: PageSource(URL, f"<body>{body}".encode(), HTML) for body, _ in MADE})


@pytest.mark.parametrize(("body", "expected"), MADE)
def test_the_page_that_scripts_made(made: Mapping[str, str], body: str, expected: str) -> None:
    assert made[body].removeprefix(HEAD).removesuffix("</html>").replace("\n", "") == expected


def test_links_are_relative_to_the_address_that_scripts_gave_the_page(rendering: Rendering) -> None:
    assert f'<base href="{URL}x/y">' in rendering.render("<p>x</p><script>history.pushState({}, '', '/x/y')</script>")
    given = "<head><base href='/own/'></head><p>x</p>"
    assert rendering.render(given).count("<base") == 1


def test_nothing_is_left_of_an_earlier_page(rendering: Rendering) -> None:
    look = "document.body.append(document.cookie + localStorage.length)"
    page = f"<body><script>{look}; document.cookie = 'a=1'; localStorage.a = 1</script>"
    assert [rendering.render(page).count(">0<") for _ in range(2)] == [1, 1]


LOADED = [
    ("fetch('/a', { method: 'POST', body: 'x' })", [("POST", f"{URL}a")]),
    ("fetch('http://b.example/a', { method: 'POST', body: 'x', mode: 'no-cors' })", []),
    ("fetch('/a', { method: 'DELETE' })", []),
    ("fetch('http://b.example/a')", [("GET", "http://b.example/a")]),
    ("fetch('/a'); fetch('/a')", [("GET", f"{URL}a")] * 2),
    ("navigator.sendBeacon('/a', 'x')", []),
    ("new Image().src = '/a.png'", []),
    ("new EventSource('/a')", []),
    ("window.open('/a')", []),
    ("new SharedWorker(`data:text/javascript,fetch('${location.origin}/a')`)", []),
    ("document.body.innerHTML = '<form method=post action=/a></form>'; document.forms[0].submit()", []),
    ("new WebSocket('ws://127.0.0.1:9/')", []),
    ("document.head.innerHTML = '<link rel=stylesheet href=/a.css><link rel=prefetch href=/b>'", []),
    ("document.body.innerHTML = '<video src=/a.mp4></video><object data=/b></object><embed src=/c>'", []),
    ("navigator.serviceWorker && navigator.serviceWorker.register('/a.js')", []),
    ("import('/a.js')", [("GET", f"{URL}a.js")]),
    ("new Worker('/a.js')", [("GET", f"{URL}a.js")]),
    ("document.head.innerHTML = '<link rel=preload as=fetch href=/a.json>'", [("GET", f"{URL}a.json")]),
]


@pytest.fixture(scope="module")
def loaded(opened: Rendering) -> Mapping[str, list[tuple[str, str]]]:
    """What the pages with these scripts load, each with nothing remembered of the others."""
    pages = {script: f"{URL}page/{number}" for number, (script, _) in enumerate(LOADED)}
    bodies = {script: f"<body><p>x</p><script>{script}</script>".encode() for script in pages}
    opened.asked.clear()
    opened.together({script: PageSource(url, bodies[script], HTML) for script, url in pages.items()})
    return {
        script: [(part.method, part.url) for part in opened.asked if part.page == url] for script, url in pages.items()
    }


@pytest.mark.parametrize(("script", "asked"), LOADED)
def test_what_a_page_loads(
    loaded: Mapping[str, list[tuple[str, str]]], script: str, asked: list[tuple[str, str]]
) -> None:
    assert loaded[script] == asked


def test_a_page_is_cut_at_its_limit(rendering: Rendering) -> None:
    made = rendering.render(
        "<body><script>document.body.innerHTML = '<p>bee</p>'.repeat(1000)</script>", most_characters=500
    )
    assert 450 < len(made) < 550
    assert made.endswith("</p></body></html>") or made.endswith("</body></html>")


def test_deep_pages_are_read_to_their_end(rendering: Rendering) -> None:
    deep = (
        "let node = document.body; for (let i = 0; i < 2000; i++) node = node.appendChild(document.createElement('b'))"
    )
    assert "inside" in rendering.render(f"<body><script>{deep}; node.append('inside')</script>")


GROWING = """<body><ul></ul><button>Load more stories</button><script>
let end = 3, pressed = 0;
const grow = () => { for (let i = 0; i < 3; i++) document.querySelector("ul").append(document.createElement("li")) };
grow(); document.body.style.height = "9000px"; addEventListener("scroll", () => end-- > 0 && grow());
document.querySelector("button").onclick = () => { grow(); pressed++ };
</script>"""


@pytest.mark.parametrize(
    ("options", "items"),
    [({}, 3), ({"scrolls": 1}, 6), ({"clicks_more": True}, 6), ({"scrolls": 1, "clicks_more": True}, 9)],
)
def test_lists_grow_on_request(rendering: Rendering, options: dict[str, Any], items: int) -> None:
    assert rendering.render(GROWING, **options).count("<li>") == items


BUFFER = "new Uint8Array(5e7).fill(7)"


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        pytest.param("while (true);", RenderFault.ENDLESS, marks=pytest.mark.long),
        ("setTimeout(() => { while (true); }, 100)", RenderFault.ENDLESS),
        ("const kept = []; while (true) kept.push(new Array(1e5).fill(Math.random()))", RenderFault.CRASHED),
        (f"const kept = []; setInterval(() => kept.push({BUFFER}, document.body.append('x')), 1)", RenderFault.CRASHED),
        ("for (let i = 0; i < 200; i++) fetch('/' + i)", RenderFault.FLOOD),
    ],
)
def test_a_fault_costs_one_page(
    rendering: Rendering, script: str, fault: RenderFault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_load, "FLOOD", 100)
    seconds = 2.0 if fault is RenderFault.ENDLESS else 20.0
    with pytest.raises(RenderError) as raised:
        rendering.render(f"<body><script>{script}</script>", seconds=seconds)
    assert raised.value.fault is fault
    assert "after" in rendering.render("<body><script>document.body.append('after')</script>")


@pytest.mark.parametrize(
    "html", ["<p>here</p><script>fetch('/never')</script>", "<p>here</p><script src='/never'></script>"]
)
def test_a_page_that_waits_for_ever_is_taken_as_it_is(rendering: Rendering, html: str) -> None:
    begun = time.monotonic()
    assert "here" in rendering.render(f"<body>{html}", seconds=1.5)
    assert time.monotonic() - begun < 10


def test_the_pages_beside_a_crashed_one_are_rendered(rendering: Rendering) -> None:
    async def both() -> list[str | BaseException]:
        renderer = rendering.renderer()
        busy = "let at = 0; setInterval(() => at++ < 30 && document.body.append(at == 30 ? 'whole' : '.'), 100)"
        source = PageSource(URL, f"<body><script>{busy}</script>".encode(), "text/html")
        working = [asyncio.ensure_future(renderer.render(source)) for _ in range(3)]
        await asyncio.sleep(2)
        kill([process for process in process_tree(os.getpid()) if is_renderer(process)][:1])
        return await asyncio.gather(*working, return_exceptions=True)

    found = rendering.do(both())
    assert sorted("whole" in str(one) for one in found)[-2:] == [True, True]


@pytest.mark.parametrize("kind", ["browser", pytest.param("driver", marks=pytest.mark.long)])
def test_a_browser_that_ended_is_started_again(rendering: Rendering, kind: str) -> None:
    async def killed() -> None:
        renderer = rendering.renderer()
        await renderer.render(PageSource(URL, b"<body>x", ""))
        running = rendering.chromium._running
        assert running is not None
        kill([running.process] if kind == "browser" else [running.driver])
        await asyncio.sleep(0.5)
        assert "y" in await renderer.render(PageSource(URL, b"<body>y", ""))

    before = rendering.chromium.started
    rendering.do(killed())
    assert rendering.chromium.started >= before + 1


def test_a_browser_is_renewed_after_a_number_of_pages(rendering: Rendering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.browser.chromium.MOST_PAGES", 2)
    rendering.do(rendering.chromium.close())
    before = rendering.chromium.started
    for _ in range(4):
        rendering.render("<body>x")
    assert rendering.chromium.started == before + 2


def test_a_browser_that_does_not_start_is_tried_three_times(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    missing.need("playwright")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setattr("crawler.contrib.browser.chromium.has_own_browser", lambda: False)
    monkeypatch.setattr("crawler.contrib.browser.chromium.system_browser", lambda: str(program))
    one = Rendering()
    for number in range(4):
        with pytest.raises(RenderError) as raised:
            one.render("<body>x")
        assert raised.value.fault is RenderFault.NO_BROWSER
        assert one.chromium.is_broken is (number >= 2)
    one.close()


def test_a_policy_that_forbids_scripts_is_obeyed(rendering: Rendering) -> None:
    body = b"<body><p>x</p><script>document.body.append('made')</script>"
    found = rendering.do(rendering.renderer().render(PageSource(URL, body, HTML, "script-src 'none'")))
    assert "<p>x</p>" in found
    assert "made" not in found


def cached(answers: Callable[[PagePart], PartAnswer | None], most: int = 1_000_000) -> tuple[PartCache, list[str]]:
    asked: list[str] = []

    async def fetch(part: PagePart) -> PartAnswer | None:
        asked.append(part.url)
        await asyncio.sleep(0)
        return answers(part)

    return PartCache(fetch, most), asked


DATED = {"last-modified": "Sat, 28 Nov 2026 10:00:00 GMT"}


@pytest.mark.parametrize(
    ("answer", "kind", "pages", "times"),
    [
        (PartAnswer(200, {}, b"x"), "script", (URL, f"{URL}b"), 1),
        (PartAnswer(200, {"vary": "Accept-Encoding"}, b"x"), "script", (URL, URL), 1),
        (PartAnswer(200, {}, b"x"), "script", (URL, "http://b.example/"), 2),
        (PartAnswer(200, DATED, b"x"), "fetch", (URL, f"{URL}b"), 1),
        (PartAnswer(200, DATED, b"x"), "xhr", (URL, "http://b.example/"), 2),
        (PartAnswer(200, {"cache-control": "max-age=60"}, b"x"), "fetch", (URL, f"{URL}b"), 1),
        (PartAnswer(200, {"cache-control": "max-age=0, must-revalidate"} | DATED, b"x"), "fetch", (URL, f"{URL}b"), 2),
        (PartAnswer(200, {"expires": "0"} | DATED, b"x"), "fetch", (URL, f"{URL}b"), 2),
        (PartAnswer(200, {"pragma": "no-cache"} | DATED, b"x"), "fetch", (URL, f"{URL}b"), 2),
        (PartAnswer(200, {}, b"x"), "fetch", (URL, f"{URL}b"), 2),
        (PartAnswer(200, {"cache-control": "no-store"}, b"x"), "xhr", (URL, URL), 2),
        (PartAnswer(200, {"cache-control": "no-store"}, b"x"), "script", (URL, URL), 2),
        (PartAnswer(200, {"cache-control": "Private, max-age=9"}, b"x"), "script", (URL, URL), 2),
        (PartAnswer(200, {"vary": "Referer"}, b"x"), "script", (URL, URL), 2),
        (PartAnswer(404, {}, b"x"), "fetch", (URL, URL), 1),
        (PartAnswer(500, {}, b"x"), "fetch", (URL, URL), 2),
        (None, "script", (URL, URL), 2),
    ],
)
def test_parts_are_kept_for_their_site(
    answer: PartAnswer | None, kind: str, pages: tuple[str, str], times: int
) -> None:
    async def twice() -> None:
        for page in pages:
            assert await cache.get(PagePart(URL, page, kind)) == answer

    cache, asked = cached(lambda part: answer)
    asyncio.run(twice())
    assert len(asked) == times


@pytest.mark.parametrize(
    ("headers", "kind", "seconds", "times"),
    [
        (DATED, "fetch", KEPT_SECONDS - 1, 1),
        (DATED, "fetch", KEPT_SECONDS, 2),
        ({}, "script", KEPT_SECONDS, 1),
        ({"cache-control": "no-store"}, "fetch", 0, 2),
    ],
)
def test_data_is_kept_for_some_minutes(headers: dict[str, str], kind: str, seconds: float, times: int) -> None:
    async def once_and_later() -> None:
        await cache.get(PagePart(URL, URL, kind))
        cache.files.clock = lambda: started + seconds
        await cache.get(PagePart(URL, URL, kind))

    cache, requested = cached(lambda part: PartAnswer(200, headers, b"x"))
    started = cache.files.clock()
    cache.files.clock = lambda: started
    asyncio.run(once_and_later())
    assert len(requested) == times


@pytest.mark.parametrize(("kind", "times"), [("fetch", 2), ("script", 1)])
def test_a_page_that_asks_again_waits_for_a_change(kind: str, times: int) -> None:
    async def twice() -> None:
        await cache.get(PagePart(URL, URL, kind))
        await cache.get(PagePart(URL, URL, kind, is_repeated=True))

    cache, requested = cached(lambda part: PartAnswer(200, DATED, b"x"))
    asyncio.run(twice())
    assert len(requested) == times


@pytest.mark.parametrize(("headers", "times"), [(DATED, 1), ({}, 3), (DATED | {"cache-control": "private"}, 3)])
def test_pages_that_load_at_the_same_time_share_what_may_be_shared(headers: dict[str, str], times: int) -> None:
    async def together() -> None:
        pages = (f"{URL}{number}" for number in range(3))
        await asyncio.gather(*(cache.get(PagePart(URL, page, "fetch")) for page in pages))

    cache, requested = cached(lambda part: PartAnswer(200, headers, b"x"))
    asyncio.run(together())
    assert len(requested) == times


@pytest.mark.parametrize(
    ("url", "names"),
    [
        (URL, "accept authorization x-token"),
        ("http://b.example/", "accept"),
    ],
)
def test_headers_of_scripts_go_to_their_own_site(url: str, names: str) -> None:
    every = "accept authorization x-token x-forwarded-host x-http-method-override cookie host"
    sent = PagePart(url, URL, "fetch", headers=dict.fromkeys(every.split(), "1")).sent_headers
    assert sorted(sent) == sorted(names.split())


def test_the_memory_of_parts_is_bounded() -> None:
    async def several() -> None:
        for number in (*range(12), 0):
            await cache.get(PagePart(f"{URL}{number}", URL, "script"))

    cache, asked = cached(lambda part: PartAnswer(200, {}, bytes(1_000)), 10_000)
    asyncio.run(several())
    assert cache.files.entries.weight <= 10_000
    assert asked.count(f"{URL}0") == 2
