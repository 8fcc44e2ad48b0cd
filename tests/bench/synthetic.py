"""A made-up site whose pages are like those of the web, the same at each call."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

SEED = 2013
LINKS = 40  # a page, of which navigation and footer have 17
PARAGRAPHS = (14, 40)
SENTENCES = (2, 7)

_FIRST = "The A This Every Another Our That One Each Some".split()
_ADJECTIVES = (
    "old small northern quiet public early famous local wooden heavy open bright narrow careful modern royal simple "
    "distant common green difficult regular expensive popular"
).split()
_NOUNS = (
    "river town museum bridge engine garden school harbour railway village library market forest island company "
    "teacher engineer winter century letter weather history method machine field church castle journey question "
    "answer evening kitchen painter captain valley council newspaper station factory orchard"
).split()
_VERBS = (
    "follows crosses describes replaces changed opened kept carried reached needed showed joined shaped surprised "
    "supported moved observed collected repaired measured"
).split()
_JOINTS = ["and", "but", "because", "while", "although", "after", "before", "where"]
_SECTIONS = "Home News Places People Nature Science Arts Sport Travel Help".split()
_FOOTER = "About Contact Privacy Terms Accessibility Jobs Press".split()
_STYLE = "body{margin:0;font:16px/1.5 serif}nav li{display:inline}.side{float:right;width:20em}" * 6
_SCRIPT = "window.stats=window.stats||[];window.stats.push({page:location.pathname,at:Date.now()});" * 8


def build(folder: Path, pages: int) -> None:
    """Write a site of so many pages into an empty folder; all are reached from index.html."""
    random = Random(SEED)
    (folder / "pages").mkdir(parents=True)
    for number in range(pages):
        path = folder / _path(number)[1:]
        path.write_text(_page(random, number, pages), encoding="utf-8")


@contextmanager
def site_of(folder: Path | None, pages: int) -> Iterator[Path]:
    """The given folder, or a temporary one with a made-up site."""
    if folder is not None:
        if not (folder / "index.html").is_file():
            sys.exit(f"{folder} has no index.html; give a folder of static HTML that starts with one")
        yield folder.resolve()
        return
    with TemporaryDirectory(prefix="throughput-site-") as name:
        build(Path(name), pages)
        yield Path(name)


def _path(number: int) -> str:
    return f"/pages/{number}.html" if number else "/index.html"


def _page(random: Random, number: int, pages: int) -> str:
    # A page leads to the two below it in a tree, which makes each reachable, and to others anywhere.
    children = [n for n in (2 * number + 1, 2 * number + 2) if n < pages]
    others = [random.randrange(pages) for _ in range(LINKS - len(_SECTIONS) - len(_FOOTER) - len(children))]
    inline, aside = others[: len(others) // 2], others[len(others) // 2 :] + children
    title = _phrase(random).capitalize()
    paragraphs = [_paragraph(random) for _ in range(random.randint(*PARAGRAPHS))]
    for target in inline:
        place = random.randrange(len(paragraphs))
        paragraphs[place] += f" See {_link(random, target)} for more."
    for place in range(3, len(paragraphs), 6):
        paragraphs[place] = f"<h2>{_phrase(random).capitalize()}</h2>\n" + _figure(random) + paragraphs[place]
    items = "".join(f"<li>{_link(random, target)}</li>" for target in aside)
    body = "".join(f"<p>{paragraph}</p>\n" if paragraph[0] != "<" else paragraph for paragraph in paragraphs)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title} | The Example</title>\n'
        f'<meta name="description" content="{_sentence(random)}"><style>{_STYLE}</style><script>{_SCRIPT}</script>\n'
        f'</head><body><header><a href="/index.html"><img src="/logo.png" alt="The Example" width="120" height="40">'
        f"</a></header><nav><ul>{_menu(_SECTIONS, pages)}</ul></nav>\n<main><article><h1>{title}</h1>\n"
        f'<p class="byline">By the editors, <time datetime="{_date(random)}">some time ago</time></p>\n{body}'
        f'</article></main>\n<aside class="side"><h3>More to read</h3><ul>{items}</ul></aside>\n'
        f"<footer><ul>{_menu(_FOOTER, pages)}</ul><p>© 2024 The Example. All rights reserved.</p></footer>"
        f"</body></html>\n"
    )


def _menu(names: list[str], pages: int) -> str:
    return "".join(f'<li><a href="{_path(place % pages)}">{name}</a></li>' for place, name in enumerate(names))


def _date(random: Random) -> str:
    return f"{random.randint(2005, 2024)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def _figure(random: Random) -> str:
    number = random.randrange(10_000)
    return f'<figure><img src="/photos/{number}.jpg" alt="{_phrase(random)}" width="640" height="480"></figure>\n'


def _link(random: Random, target: int) -> str:
    return f'<a href="{_path(target)}">{_phrase(random)}</a>'


def _phrase(random: Random) -> str:
    return f"{random.choice(_ADJECTIVES)} {random.choice(_NOUNS)} {random.choice(('of', 'in', 'near'))} the " + (
        random.choice(_NOUNS)
    )


def _paragraph(random: Random) -> str:
    return " ".join(_sentence(random) for _ in range(random.randint(*SENTENCES)))


def _sentence(random: Random) -> str:
    clauses = [_clause(random) for _ in range(random.randint(1, 3))]
    joined = clauses[0] + "".join(f", {random.choice(_JOINTS)} {clause}" for clause in clauses[1:])
    return f"{random.choice(_FIRST)} {joined}{random.choice('......?!')}"


def _clause(random: Random) -> str:
    subject = f"{random.choice(_ADJECTIVES)} {random.choice(_NOUNS)}"
    return f"{subject} {random.choice(_VERBS)} the {random.choice(_NOUNS)} in {random.randint(1700, 2020)}"
