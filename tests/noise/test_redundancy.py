from crawler.noise.li2006 import MOST_FOLDED, fold, redundancy

ONE = "cdn.example.com/a/photo.jpg"


def test_one_image() -> None:
    rows = [
        "http://cdn.example.com/a/photo.jpg",
        "https://cdn.example.com/a/photo.jpg",
        "https://CDN.Example.com/a/photo.jpg",
        "https://cdn.example.com/a/photo.jpg#top",
        "https://cdn.example.com/a/photo.jpg?",
        "https://cdn.example.com/a/photo.jpg?1700000000",
        "https://cdn.example.com/a/photo.jpg?w=300&h=200",
        "https://cdn.example.com/a/photo.jpg?width=300&quality=80&cb=4711",
        "https://cdn.example.com/a/photo.jpg?ver=6.1",
        "https://cdn.example.com/a/photo-300x200.jpg",
        "https://cdn.example.com/a/photo_300x200.jpg",
        "https://cdn.example.com/a/photo-1024x768@2x.jpg",
        "https://cdn.example.com/a/photo@2x.jpg",
        "https://cdn.example.com/a/photo@1.5x.jpg",
        "https://cdn.example.com/a/photo_small.jpg",
        "https://cdn.example.com/a/photo-scaled.jpg",
        "https://cdn.example.com/a/photo_thumb.jpg",
        "https://cdn.example.com/a/320px-photo.jpg",
        "https://cdn.example.com/resize/300x200/a/photo.jpg",
        "https://cdn.example.com/fit-in/300x0/a/photo.jpg",
        "https://cdn.example.com/w_300,h_200/a/photo.jpg",
        "https://cdn.example.com/c_fill,w_300/a/photo.jpg",
        "https://cdn.example.com/300x200/a/photo.jpg",
    ]
    for url in rows:
        assert fold(url) == ONE


def test_other_images() -> None:
    rows = [
        "https://img.example.com/a/photo.jpg",
        "https://cdn.example.com/A/photo.jpg",
        "https://cdn.example.com/a/photo2.jpg",
        "https://cdn.example.com/a/photo.jpg?id=7",
        "https://cdn.example.com/a/photo.jpg?window=3",
        "https://cdn.example.com/a/300x200.jpg",  # the size is all its name
        "https://cdn.example.com/a/small.jpg",
        "https://cdn.example.com/a/photo_smaller.jpg",
        "https://cdn.example.com/a/photo_small_town.jpg",
        "https://cdn.example.com/a/photo-3x2.jpg",
        "https://cdn.example.com/a/photo@home.jpg",
        "https://cdn.example.com/a/photox.jpg",
    ]
    for url in rows:
        assert fold(url) != ONE


def test_odd_addresses() -> None:
    for url, expected in [("", ""), ("http://a", "a"), ("http://a?b=1", "a?b=1"), ("nonsense", "")]:
        assert fold(url) == expected


def test_formula_3() -> None:
    rows = [
        ({ONE: 3}, 4, 0.75),
        ({ONE: 4}, 4, 1.0),
        ({ONE: 1}, 2, 0.5),
        ({"other": 4}, 4, 0.0),
        ({}, 4, 0.0),
        ({ONE: 1}, 1, None),
        ({}, 0, None),
    ]
    for shown, pages, expected in rows:
        assert redundancy(f"https://{ONE}?w=300", shown, pages) == expected


def test_long_addresses_are_short_and_differ() -> None:
    fits = "a/" + "x" * (MOST_FOLDED - 2)
    assert fold(f"http://{fits}") == fits
    longer = {fold(f"http://{fits}{end}") for end in ("1", "2", "1" * 8000)}
    assert len(longer) == 3
    assert {len(one) for one in longer} == {MOST_FOLDED + 17}
    assert fold(f"http://{fits}12?cb=1") == fold(f"https://{fits}12")
