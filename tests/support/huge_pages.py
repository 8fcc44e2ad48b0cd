"""Pages as large as a download may be, each of one thing, by what it is: made when they are asked for."""

import random
from collections.abc import Callable

SIZE = 10 * 1024 * 1024


def of(unit: str | bytes, before: str = "", after: str = "", codec: str = "utf-8") -> Callable[[], bytes]:
    """What makes a page of one thing over and over."""
    piece = unit.encode(codec) if isinstance(unit, str) else unit
    return lambda: before.encode(codec) + piece * (SIZE // len(piece) - 1) + after.encode(codec)


def counted(write: Callable[[int], str], before: str = "", after: str = "") -> Callable[[], bytes]:
    """What makes a page of things that differ by their number."""

    def made() -> bytes:
        page, number = bytearray(before.encode()), 0
        while len(page) < SIZE - 200:
            page += write(number).encode()
            number += 1
        return bytes(page + after.encode())

    return made


def noise(seed: int, alphabet: bytes) -> Callable[[], bytes]:
    """What makes a page of random bytes of some kind."""
    return lambda: random.Random(seed).randbytes(SIZE).translate((alphabet * 256)[:256])


HUGE: dict[str, Callable[[], bytes]] = {
    **{f"<{tag}>": of(f"<{tag}>") for tag in "a p div br b td li font tr form img".split()},
    **{f"<{tag}>x": of(f"<{tag}>x") for tag in "a p div br td li font option".split()},
    "<a href>": of("<a href=x>"),
    "links": counted(lambda n: f"<a href=/{n}>"),
    "links with text": counted(lambda n: f"<a href=/{n}>t{n}</a> "),
    "relative links": counted(lambda n: f"<a href=é{n}>t</a>"),
    "images": counted(lambda n: f"<img src={n}.png>"),
    "items of links": counted(lambda n: f"<li><a href=/{n}>t{n}</a>"),
    "sentences in p": of("<p>x.</p>"),
    "sentences in div": counted(lambda n: f"<div>It is {n}.</div>"),
    "nested": lambda: b"<div>" * 100_000 + b"<p>One. Two." * 500_000,
    "closed": of("</p>"),
    "after the end": of("</html>the bee dances"),
    "nested and closed": of("<div><p>One.</p></div>", before="<div>" * 1_500),
    "formatting across": of("<b><p>x.</b>"),
    "nested nav": of("<p>One is.</p>", before="<div>" * 2_000),
    "tables in tables": of("<table><tr><td>x."),
    "text": of("Some words make up a text. "),
    "short words": of("ab "),
    "a word": of("x"),
    "hanzi": of("春天来了，公园里的花都开了。"),
    "hanzi and a rare one": of("春天来了。", before="\U00020000"),
    "hanzi of GBK": of("春天来了，公园里的花都开了。".encode("gbk")),
    "shift_jis": of("春になりました。公園の花が".encode("cp932")),
    "latin-1": of("café déjà. ".encode("latin-1")),
    "utf-16": of("<p>中文。</p>".encode("utf-16-le"), before="\ufeff", codec="utf-16-le"),
    "broken utf-8": of(b"caf\xc3\xa9 \xc3( "),
    "nuls": of(b"\0"),
    "nuls between": of(b"a\0 <p\0>"),
    "surrogates": of(b"\xed\xa0\x80 "),
    "stops": of(". "),
    "dots": of("."),
    "copyright": of("&copy; 2004. "),
    "entities": of("&lt;"),
    "spaces": of(" "),
    "nbsp": of("&nbsp;"),
    "unknown entities": of("&bogus;"),
    "references": of("&#20013;"),
    "and": of("&"),
    "less": of("<"),
    "less and more": of("<>"),
    "greater": of(">"),
    "lines in pre": of("x\n", before="<pre>"),
    "zero width": of("\u200b"),
    "marks": of("a\u0301\u0316"),
    "comments": of("<!---->"),
    "open comments": of("<!--"),
    "open scripts": of("<script"),
    "scripts": of("<script>x</script>"),
    "a script": of("var a = '<p>x.';", before="<script>"),
    "a script of closings": of("</scrip", before="<script>"),
    "instructions": of("<?a>"),
    "declarations": of("<!a>"),
    "cdata": of("<![CDATA[x]]>"),
    "attributes": counted(lambda n: f"a{n} ", before="<p "),
    "attributes of <": counted(lambda n: f"a{n} <", before="<p "),
    "attributes with >": counted(lambda n: f"a{n}='>' ", before="<p "),
    "many with attributes": of("<p " + " ".join(f"a{n}" for n in range(50)) + ">"),
    "many with values": of("<p " + " ".join(f"a{n}=1" for n in range(300)) + ">"),
    "crowded": of("<p " + " ".join(map(chr, range(0x100, 0x400))) + ">"),
    "nearly crowded": of("<p " + " ".join(map(chr, range(0x100, 0x2F0))) + ">"),
    "a rare one in text": of("Some words make up a text. ", before="\U00020000"),
    "a rare one in many": of("<p>It is so.</p>", before="\U00020000"),
    "crowd beside a script in a value": counted(lambda n: f"a{n}='>'", before="<p title='<script>'><p "),
    "tags in values": of("<a b='<a b=\""),
    "tags in an open value": of("<a b=c"),
    "long tags in each other": of("<a b " + "c" * 300),
    "a value": of("x ", before="<p title='", after="'>One."),
    "an open value": of("x ", before="<p title='"),
    "a class": counted(lambda n: f"c{n} ", before="<div class='", after="'><p>One."),
    "classes": counted(lambda n: f"<p class=c{n}>x"),
    "classes and ids": counted(lambda n: f"<div class='c{n} d{n}' id=i{n}><p>It is {n}.</p></div>"),
    "names": counted(lambda n: f"<x{n}>"),
    "open quotes": of("<a =' =\""),
    "an address": of("x/", before="<a href='", after="'>One.</a>"),
    "a style": of("width: ", before="<img src=x style='", after="'>"),
    "a srcset": of("x 1w, ", before="<img srcset='", after="'>"),
    "srcsets": counted(lambda n: f"<img srcset='{n} 1w, {n} 2w'>"),
    "title": of("ab ", before="<title>", after="</title><p>One."),
    "titles": of("<title>ab</title>"),
    "headings": of("<h1>abx</h1>", before="<title>" + "ab " * 300 + "</title>"),
    "metas": of("<meta name=robots content=noindex>"),
    "bases": of("<base href=x>"),
    "svg": of("<svg><title>"),
    "options": of("<option>x"),
    "frames": of("<iframe src=x>"),
    "json-ld": of('{"datePublished":"x",', before="<script type='application/ld+json'>"),
    "json-lds": of("<script type='application/ld+json'>{}</script>"),
    "times": of("<time datetime=2012-01-01>"),
    "a base of length": of("<a href=x>t</a>", before="<base href='http://h/" + "A" * 2_000 + "/'>"),
    "letters": noise(1, b"<>/ apdivbrtl='\"&;.-!x"),
    "noise": noise(2, bytes(range(256))),
    "long tags": noise(3, b"<pa ='\"bcdefgh\nijklm "),
}
