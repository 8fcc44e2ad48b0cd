"""What several images of a page need."""

import pytest
from image_pages import TEXT, page, surroundings

from crawler.noise.page_features import MOST_TITLE, PageContext, file_name
from crawler.page.page import Extraction

P = f"<p>{TEXT}</p>"
LETTERS = len(TEXT.strip())


def test_names_of_files() -> None:
    rows = [
        ("http://a.example/b/Photo.JPG", "photo"),
        ("http://a.example/b/photo.tar.gz?v=1.2", "photo"),
        ("http://a.example/photo/", "photo"),
        ("http://a.example/photo-30x20.jpg", "photo"),
        ("http://a.example/photo-3x20.jpg", "photo-3x20"),
        ("http://a.example/photo-30x2.jpg", "photo-30x2"),
        ("http://a.example/photo_1024x768.jpg", "photo"),
        ("http://a.example/photo_10240x768.jpg", "photo_10240x768"),
        ("http://a.example/photo-thumbnail.jpg", "photo"),
        ("http://a.example/photo_scaled.jpg", "photo"),
        ("http://a.example/photosmall.jpg", "photosmall"),
        ("", ""),
    ]
    for url, name in rows:
        assert file_name(url) == name


def test_the_container_of_the_main_text() -> None:
    rows = [
        (f"<main>{P * 4}</main>{P}", "main"),
        (f"<main>{P * 3}</main>{P}", "body"),
        (f"<main><div>{P}</div></main>", "p"),
        (f"<main><p>x</p>{P}{P}</main><p>x</p>", "main"),
    ]
    for html, tag in rows:
        around = surroundings(f"<body>{html}")
        assert around.page.containers.elements[around.main_container].tag == tag


def test_without_main_text_it_is_the_whole_page() -> None:
    assert surroundings("<div><p>x</div>").main_container == 0


def test_letters_before_each_place() -> None:
    around = surroundings(f"<p>abc <a href=/x>de</a></p>{P}<p>x</p>")
    assert around.main_indexes == [1]
    assert around.main_length_before == [0, 0, LETTERS, LETTERS]
    assert around.length_before == [0, 6, 6 + LETTERS, 7 + LETTERS]
    assert around.linked_length_before == [0, 2, 2, 2]


def test_images_before_each_place() -> None:
    around = surroundings(f"<img src=1><img src=2>{P}<img src=3><p>x</p><img src=4>")
    assert around.images_before == [0, 2, 3, 4]


def test_images_of_a_kind_stand_in_four_like_elements() -> None:
    inner = "<section class={}><div><p><a href=/x><img src=1></a></p></div></section>"
    assert sorted(surroundings(inner.format("a") + inner.format("b")).images_of_kind.values()) == [2]
    inner = "<div class={}><p><a href=/x><img src=1></a></p></div>"
    assert sorted(surroundings(inner.format("a") + inner.format("b")).images_of_kind.values()) == [1, 1]


@pytest.mark.parametrize(("name", "heads"), [("sea", []), ("wave", ["wave"])])
def test_names_of_head_images(name: str, heads: list[str]) -> None:
    assert surroundings(f'<meta property="og:image" content="/{name}.jpg">').head_images == heads


@pytest.mark.parametrize(("spaces", "is_read"), [(MOST_TITLE - 7, True), (MOST_TITLE - 6, False)])
def test_the_words_of_a_title(spaces: int, is_read: bool) -> None:
    around = PageContext(page("<p>x"), Extraction("", "x" * (spaces - 1) + " floods"))
    assert ("floods" in around.title_words) is is_read


def test_of_texts_of_links_the_longest_is_told() -> None:
    around = surroundings("<a href=/x>More</a><a href=/x>Read more</a><a href=/x>All</a><a href=/y><img src=1></a>")
    assert list(around.link_text_lengths.values()) == [9]


def test_a_page_without_an_address_has_no_site() -> None:
    assert surroundings(P, url="").site == ""
    assert surroundings(P).site == "example.org"
