"""A made-up site of 12 pages with a logo, adverts and images of their own, and what its images are."""

import json
from typing import Any

PAGES = 12
FLOWERS = "rose tulip lily iris daisy poppy violet aster peony dahlia crocus jasmine".split()
TEXT = (
    "It likes the sun in the morning and the shade in the afternoon, wants water every other day in the summer and "
    "none in the winter, and flowers from the middle of May to the end of September if what withers is cut off in time."
)
LOGO = "http://www.example.org/img/logo.gif"
ADVERT = "http://ads.network.example/banner/728x90.gif"


def address(number: int) -> str:
    """Of every other page it is the one for telephones, which is the same site."""
    return f"http://{('www', 'm')[number % 2]}.example.org/flowers/{number}.html"


def photo(number: int) -> str:
    return f"http://www.example.org/photos/{FLOWERS[number]}{number}.jpg"


def html(number: int, more: str = "") -> str:
    name = FLOWERS[number].title()
    paragraphs = "".join(f"<p>{name}, part {part}. {TEXT}</p>" for part in range(4))
    return (
        f"<html><head><title>{name}</title></head><body>"
        f'<div class="menu"><a href="/"><img src="{LOGO}" alt="Garden"></a> <a href="/a">All</a></div>'
        f'<a href="http://ads.network.example/click?{number}"><img src="{ADVERT}" alt="Advertisement"></a>'
        f'<article><h1>{name}</h1><img src="{photo(number)}" alt="A {name} in June">{paragraphs}</article>{more}'
        "</body></html>"
    )


def row(number: int, **more: Any) -> dict[str, Any]:
    """The page as an object of a line."""
    return {"id": f"page-{number}", "url": address(number), "html": html(number)} | more


def lines(*rows: Any) -> bytes:
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in rows)


def pages() -> bytes:
    return lines(*map(row, range(PAGES)))


def labels(set_: str = "garden") -> bytes:
    """What each image of each page is."""
    kinds = (("navigation", lambda _: LOGO), ("advert", lambda _: ADVERT), ("text", photo))
    return lines(
        *(
            {
                "set": set_,
                "page": f"page-{number}",
                "img": img(number),
                "label": "content" if kind == "text" else "noise",
                "kind": kind,
            }
            for number in range(PAGES)
            for kind, img in kinds
        )
    )
