"""The images of a page as its record lists them."""

import pytest

from crawler import clean
from crawler.extraction.auto import auto
from crawler.noise import page_images as module
from crawler.noise.page_images import all_images, page_images
from crawler.noise.verdict import Judge
from crawler.page.page import Page

WORDS = "Whoever walks along the river in the early morning may meet the heron, which is shy, and rarely seen. " * 3
HERON = "<img src=/heron.jpg><figure><img src=/heron.jpg alt=Heron width=640><figcaption>A heron</figcaption></figure>"
HERON += "<img src=/heron.jpg alt='The same heron'>"
PIXEL = "<img src=/count.gif width=1 height=1>"
PAGE = f"<h1>The heron</h1><p>{WORDS}</p>{HERON}<p>{WORDS}</p>{PIXEL}"
SHOTS = "".join(f"<td><img src=/shots/{name}.png alt='The window {name}'></td>" for name in ("open", "save", "print"))
MANUAL = f"""<title>Saving files</title><body><h1>Saving files</h1><p>{WORDS}</p><table><tr>{SHOTS}</tr></table>
<p>{WORDS}</p>"""


def listed(html: str, judges_images: bool = True) -> dict[str, tuple[str, float | None]]:
    page = Page.from_html(html, "http://a.example/")
    found = page_images(page, auto(page)) if judges_images else all_images(page)
    return {one["url"].removeprefix("http://a.example"): (one["alt"], one["noise"]) for one in found}


def test_noise_is_left_out_and_the_rest_has_its_verdict() -> None:
    ((url, (alt, noise)),) = listed(PAGE).items()
    assert (url, alt) == ("/heron.jpg", "Heron")
    assert 0 < noise < 0.5


def test_all_are_listed_where_none_is_judged() -> None:
    assert listed(PAGE, judges_images=False) == {"/heron.jpg": ("Heron", None), "/count.gif": ("", None)}


def test_figures_in_a_row_are_content() -> None:
    assert [*listed(MANUAL)] == ["/shots/open.png", "/shots/save.png", "/shots/print.png"]


@pytest.mark.parametrize("judges_images", [True, False])
def test_only_the_first_are_read(monkeypatch: pytest.MonkeyPatch, judges_images: bool) -> None:
    monkeypatch.setattr(module, "MOST_IMAGES", 2)
    html = f"<p>{WORDS}</p>" + "".join(f"<img src=/{n}.jpg alt=A{n} width=600 height=400>" for n in range(4))
    assert [*listed(html, judges_images)] == ["/0.jpg", "/1.jpg"]


def test_the_images_of_a_page_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    judge = Judge.judge
    monkeypatch.setattr(Judge, "judge", lambda own, one, seen: judged.append(one.url) or judge(own, one, seen))
    clean(MANUAL, "http://a.example/saving").fields()
    assert len(judged) == len(set(judged)) == 3
