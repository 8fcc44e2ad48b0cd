"""Pages that show an image or a gallery and have next to no text."""

from crawler.extraction.auto import auto
from crawler.metadata.photo_page import FEWEST_IN_A_GALLERY, MOST_BESIDE_A_PHOTO, MOST_WITH_WEAK_EVIDENCE, is_photo_page
from crawler.page.page import Extraction, Page

PHOTO = "<img src=/files/hive-at-dawn-1024x768.jpg alt='Hive at dawn'>"
LARGER = f"<a href=/files/hive-at-dawn.jpg>{PHOTO}</a>"
FETCHED = "<img src='/lib/fetch.php?w=500&media=wiki:hive-at-dawn.jpg'>"
PAGE = "http://a.example/2024/hive-at-dawn/"
POST = "http://a.example/2024/a-morning/"
SHORT, LONG = "The hive in May.", "x" * (MOST_WITH_WEAK_EVIDENCE + 1)


def test_pages_of_an_image() -> None:
    rows = [
        (POST, f"<body class='single attachment'>{PHOTO}", SHORT, True),
        (POST, f"<body class='single attachment'>{PHOTO}", "x" * MOST_BESIDE_A_PHOTO, True),
        (POST, f"<body class='single attachment'>{PHOTO}", "x" * (MOST_BESIDE_A_PHOTO + 1), False),
        (POST, f"<body class='single attachment'>{PHOTO}", "蜂" * (MOST_BESIDE_A_PHOTO // 2 + 1), False),
        (POST, "<body class='single attachment'>", SHORT, False),
        (POST, f"<body class='single attachments'>{PHOTO}", SHORT, False),
        # The address or the title is the name of the file.
        ("http://a.example/detail.php?id=bees&media=wiki:hive-at-dawn.jpg", f"<body>{FETCHED}", LONG, True),
        ("http://a.example/File:Hive-at-dawn.jpg", f"<body>{PHOTO}", LONG, True),
        ("http://a.example/File:Other.jpg", f"<body>{PHOTO}", LONG, False),
        (POST, f"<body><h1>hive-at-dawn.jpg</h1>{PHOTO}", LONG, True),
        (POST, f"<title>Hive_at_dawn.JPG</title><body>{PHOTO}", LONG, True),
        (POST, f"<body><h1>About hive-at-dawn.jpg and others</h1>{PHOTO}", LONG, False),
        ("http://a.example/hive-at-dawn.jpg", f"<body>{PHOTO}", "x" * (MOST_BESIDE_A_PHOTO + 1), False),
        # The page is named as the image that leads to its larger version.
        (PAGE, f"<body>{LARGER}", SHORT, True),
        ("http://a.example/hive_at_dawn.html", f"<body>{LARGER}", SHORT, True),
        (PAGE, f"<body>{LARGER}", LONG, False),
        (PAGE, f"<body>{PHOTO}", SHORT, False),
        (POST, f"<body>{LARGER}", SHORT, False),
        (POST, f"<body><h1>Hive at dawn</h1>{LARGER}", SHORT, True),
        (POST, f"<body><h1>A morning</h1>{LARGER}", SHORT, False),
        (POST, f"<body><h1>Hive at dawn</h1><a href=/post>{PHOTO}</a>", SHORT, False),
        (POST, "<body><h1></h1><a href=/files/dawn.jpg><img src=/dawn.jpg alt=''></a>", SHORT, False),
    ]
    for url, html, text, expected in rows:
        assert is_photo_page(Page.from_html(html, url), Extraction(text, "")) is expected


def gallery(count: int, ending: str = ".jpg") -> str:
    return "<body>" + "".join(f"<a href=/large/{n}{ending}><img src=/small/{n}.jpg></a>" for n in range(count))


def test_galleries() -> None:
    rows = [
        (gallery(FEWEST_IN_A_GALLERY), SHORT, True),
        (gallery(FEWEST_IN_A_GALLERY), "", True),
        (gallery(FEWEST_IN_A_GALLERY - 1), SHORT, False),
        (gallery(FEWEST_IN_A_GALLERY), LONG, False),
        (gallery(FEWEST_IN_A_GALLERY, ""), SHORT, False),
        (3 * gallery(FEWEST_IN_A_GALLERY // 2), SHORT, False),
    ]
    for html, text, expected in rows:
        assert is_photo_page(Page.from_html(html, POST), Extraction(text, "")) is expected


def test_an_article_with_a_photo_is_none() -> None:
    text = "".join(f"<p>{n}. The hive wakes at dawn, and the first bees leave it for the meadow.</p>" for n in range(9))
    page = Page.from_html(f"<title>Hive at dawn</title><body><h1>Hive at dawn</h1>{LARGER}{text}", PAGE)
    assert not is_photo_page(page, auto(page))
