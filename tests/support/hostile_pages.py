"""Pages that no crawler should stumble over, by what is wrong with them."""

import random

TEXT = "春天来了，公园里的花都开了。"
PNG = b"\x89PNG\r\n\x1a\n" + random.Random(7).randbytes(50_000)

PAGES: dict[str, bytes] = {
    "empty": b"",
    "white space": b" \t\r\n\f" * 100,
    "nuls": b"\0" * 100_000,
    "nuls in a page": b"<p>\0O\0ne\0.</\0p>",
    "random bytes": random.Random(7).randbytes(200_000),
    "image": PNG,
    "gzip": b"\x1f\x8b\x08\x00" + random.Random(8).randbytes(10_000),
    "cut in a tag": b"<p>One.</p><div cla",
    "cut in a character": f"<p>{TEXT}".encode()[:-2],
    "cut in a gbk character": f"<p>{TEXT}".encode("gbk")[:-1],
    "cut in an attribute": b'<p>One.</p><a href="http://example.com/a',
    "cut in an entity": b"<p>One.</p>&am",
    "nested divs": b"<div>" * 100_000 + b"One.",
    "nested links": b"<a href=x><b>" * 100_000 + b"One.",
    "nested tables": b"<table><tr><td>" * 30_000 + b"One.",
    "nested forms": b"<form>" * 100_000 + b"One.",
    "nested svg titles": b"<svg><title>" * 30_000 + b"One.",
    "fonts": b"<font>x" * 100_000,
    "line breaks": b"x<br>" * 100_000,
    "links": b"".join(b"<a href=/%d>x</a>" % number for number in range(50_000)),
    "long attribute": b'<p title="' + b"x" * 1_000_000 + b'">One.</p>',
    "long address": b'<a href="' + b"x/" * 500_000 + b'">One.</a>',
    "long style": b'<img src=x style="' + b"width: " * 150_000 + b'">',
    "long srcset": b'<img srcset="' + b"x 1w, " * 150_000 + b'">',
    "many attributes": b"<p " + b" ".join(b"a%d" % number for number in range(10_000)) + b">One.",
    "a million attributes": b"<p " + b" ".join(b"a%d='>\"'" % number for number in range(1_000_000)) + b">One.",
    "crowded tags": (b"<p " + b" ".join(b"a%d" % number for number in range(5_000)) + b">One.") * 200,
    "a long attribute": b"<p title='" + b"a b=c " * 100_000 + b"' class=x>One.",
    "long word": b"<p>" + b"x" * 5_000_000,
    "long word of hanzi": "字".encode() * 1_000_000,
    "many sentences": b"<p>" + b"One. " * 200_000,
    "many copyright lines": b"<p>&copy; 2004. " * 10_000,
    "open paragraphs": b"<p>x" * 50_000,
    "open script": b"<p>One.</p><script>var a = '<p>Two.</p>'",
    "open comment": b"<p>One.</p><!-- <p>Two.</p>",
    "open title": b"<title>One." + b"<p>x" * 50_000,
    "open textarea": b"<textarea><p>One.",
    "invalid entities": b"<p>&bogus; &amp &#0; &#x110000; &#99999999999999999999; &; &# One.</p>",
    "surrogate references": b"<title>&#xD800;</title><p>&#xD800;&#xDFFF; &#55357;&#56832; One.<a href='/&#xD800;'>x",
    "surrogate bytes": b"<p>\xed\xa0\x80 One.</p>",
    "duplicate attributes": b"<p title=a title=b>One.</p><a href=x href=y>x</a>",
    "two pages": b"<html lang=en><body>One.</body></html><html lang=de><body>Two.</body></html>",
    "script as base": b"<base href='javascript:alert(1)'><a href=x>One</a>",
    "xml declaration": f"<?xml version='1.0' encoding='gbk'?><html><body><p>{TEXT}</p></body></html>".encode("gbk"),
    "entity declaration": b"<!DOCTYPE html [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><p>&x; One.</p>",
    "cdata": b"<![CDATA[ <p>One.</p> ]]>",
    "php": b"<?php echo '<p>One.</p>' ?><p>Two.",
    "frameset": b"<frameset><frame src=a><frame src=b><noframes><p>One.</p></noframes></frameset>",
    "odd names": b"<o:p>One.</o:p><a:b:c x:y:z=1><1a><p\xff><\xe4>",
    "only features": b"<" * 300_000 + b"&" * 300_000 + b">" * 300_000,
    "robots": b"<meta name=robots content=noindex>" * 30_000,
    "refresh": b"<meta http-equiv=refresh content='1" + b" " * 500_000 + b"\"'>",
    "long title and headings": b"<title>" + b"ab " * 300_000 + b"</title>" + b"<h1>abx</h1>" * 20_000,
    "dashes in the title": b"<title>" + b" - x" * 50_000 + b"-" * 300_000 + b"</title><p>x",
}

WITHOUT_TEXT = frozenset(
    (
        *("empty", "white space", "nuls", "nested divs", "nested links", "nested tables", "nested forms"),
        *("nested svg titles", "long style", "long srcset", "open title", "open textarea", "frameset"),
        *("robots", "refresh"),
    )
)
LONG = frozenset(("line breaks", "many copyright lines", "open paragraphs", "long title and headings"))
"""Those with 2,000 blocks and more."""
