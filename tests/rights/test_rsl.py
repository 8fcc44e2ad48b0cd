"""Licence files of Really Simple Licensing."""

import time

from crawler.rights.rsl import MAX_BYTES, read_file
from crawler.rights.statement import MAX_SAYS, Rights, Use

URL = "https://a.example/license.xml"
STATES = {"y": "allowed", "n": "disallowed", "?": "unknown", "!": "malformed"}


def permits(uses: str) -> str:
    return f'<permits type="usage">{uses}</permits>'


def prohibits(uses: str) -> str:
    return f'<prohibits type="usage">{uses}</prohibits>'


def payment(kind: str) -> str:
    return f'<payment type="{kind}"/>'


def content(*licences: str, url: str = "/", server: str = "") -> str:
    attribute = f' server="{server}"' if server else ""
    return f'<content url="{url}"{attribute}>' + "".join(f"<license>{one}</license>" for one in licences) + "</content>"


def file(*contents: str) -> str:
    return f'<rsl xmlns="https://rslstandard.org/rsl">{"".join(contents)}</rsl>'


def states(text: str, path: str = "/a", is_of_page: bool = False) -> str:
    """One sign for each of ai-train, ai-input and search."""
    found = Rights(None, tuple(read_file(text.encode(), URL).evidence(f"https://a.example{path}", is_of_page)))
    signs = {word: sign for sign, word in STATES.items()}
    return "".join(signs[found.state(use).value] for use in (Use.AI_TRAIN, Use.AI_INPUT, Use.SEARCH))


def test_files() -> None:
    rows = [
        # Templates and examples of the standard.
        (file(content(prohibits("train-ai"))), "n??"),
        (file(content(permits("train-ai"))), "ynn"),
        (
            file(content(permits("train-ai") + "<payment type='subscription'><custom>https://a/</custom></payment>")),
            "nnn",
        ),
        (file(content(prohibits("all"))), "nnn"),
        (file(content(permits("search"))), "nny"),
        (file(content(permits("search ai-input ai-index") + prohibits("ai-train") + payment("attribution"))), "nyy"),
        (file(content(permits("ai-all") + payment("use"))), "nnn"),
        (file(content(permits("ai-input") + '<permits type="user">education</permits>')), "n?n"),
        # Prohibitions win, also against another licence of the same content.
        (file(content(permits("ai-train ai-input") + prohibits("all"))), "nnn"),
        (file(content(permits("ai-train"), prohibits("ai-train"))), "nnn"),
        # Licences of one content are alternatives: one of them is free.
        (file(content(permits("search") + payment("free"), permits("ai-input") + payment("crawl"))), "nny"),
        (file(content(permits("ai-input") + payment("crawl"), permits("ai-input") + payment("free"))), "nyn"),
        (file(content(permits("ai-all"), server="https://olp.example/")), "nnn"),
        (file(content(permits("ai-all") + payment("free"), server="https://olp.example/")), "nnn"),
        (file(content(permits("search,ai-input"))), "nyy"),
        (file(content("<payment type='free'/>")), "???"),
        (file(content(permits("unheard-of"))), "nnn"),
        (file(), "???"),
        # The most specific content that says something about a use.
        (file(content(permits("search")), content(permits("ai-input"), url="/a*")), "nyn"),
        (file(content(permits("all")), content(prohibits("ai-train"), url="/a")), "nyy"),
        (file(content(permits("all"), url="/b")), "???"),
        (file(content(prohibits("all"), url="https://a.example/a")), "nnn"),
        (file(content(prohibits("all"), url="https://b.example/")), "???"),
        (file(content(prohibits("all"), url="")), "???"),
        # No licence file.
        ("", "!!!"),
        ("<rsl><content url='/'/></rsl>", "!!!"),
        ("<rsl xmlns='https://rslstandard.org/rsl'><content>", "!!!"),
        ("<html><p>404</html>", "!!!"),
    ]
    for text, expected in rows:
        assert states(text) == expected


def test_an_empty_pattern_is_the_page_that_names_the_file() -> None:
    text = file(content(permits("all")), content(prohibits("ai-train"), url=""))
    assert states(text, is_of_page=True) == "nyy"
    assert states(text) == "yyy"
    assert states(file(content(prohibits("all"), url="http://[/"))) == "???"


def test_evidence_is_the_content() -> None:
    text = file(content(prohibits("all"), url="/b"), content(prohibits("ai-train"), url="/a"))
    (one,) = read_file(text.encode(), URL, "then").evidence("https://a.example/a")
    assert one.says.startswith("<content")
    assert 'url="/a"' in one.says
    assert "ai-train" in one.says
    assert (one.where, one.read_at) == (URL, "then")


ENTITIES = (
    "<!DOCTYPE r [" + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 50 if n else "x" * 50}">' for n in range(9)) + "]>"
)


def test_hostile_files_are_read_at_once() -> None:
    rows = [
        ENTITIES + file(content(permits("&e8;"))),
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + file(content(permits("&x;"))),
        '<!DOCTYPE rsl SYSTEM "http://127.0.0.1:1/x.dtd">' + file(content(permits("ai-train"))),
        "<rsl xmlns='https://rslstandard.org/rsl'>" + "<content url='/'>" * 100_000,
        "<a>" * 20_000 + "</a>" * 20_000,
        file(content(permits("ai-train " * 50_000))),
        file(*[content(permits("all"), url=f"/{n}*") for n in range(5_000)]),
        file(content(*["<payment/>" * 100] * 400)),
        "x" * (MAX_BYTES + 1),
        "\x00\ud800".encode("utf-8", "replace").decode(),
    ]
    for text in rows:
        begin = time.perf_counter()
        found = read_file(text.encode(), URL)
        rows = Rights(None, tuple(found.evidence("https://a.example/4"))).field("")["evidence"]
        assert time.perf_counter() - begin < 1
        assert all(len(row["says"]) <= MAX_SAYS and "root:" not in row["says"] for row in rows)
