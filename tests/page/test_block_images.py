from crawler.page.links import LAZY, ImageLink
from crawler.page.page import Page

E = "http://e.com/d/"
DATA = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def images(html: str) -> tuple[ImageLink, ...]:
    return Page.from_html(html, E + "p.html").images


def test_address() -> None:
    rows = [
        ("<img src=a.png>", "a.png"),
        ("<img src=' a.png '>", "a.png"),
        ("<img src='a b.png'>", "a%20b.png"),
        ("<noscript><img src=a.png></noscript>", "a.png"),
        (f"<img src='{DATA}' srcset=a.png>", "a.png"),
        ("<img src='about:blank' srcset=a.png>", "a.png"),
        ("<img src=a.png srcset='b.png 2x'>", "a.png"),
        ("<img srcset='a.png 1x, b.png 2x'>", "b.png"),
        ("<img srcset='a.png 2x, b.png'>", "a.png"),
        ("<img srcset='a.png 480w,b.png 1080w'>", "b.png"),
        ("<img srcset='a.png 480w,\n  b.png 1080w,\n  c.png 20w'>", "b.png"),
        ("<img srcset='a.png\n 480w, b.png\n 1080w'>", "b.png"),
        ("<img srcset='w_3,h_4/a.png 3w, w_6,h_8/b.png 6w'>", "w_6,h_8/b.png"),
        ("<img srcset='w_3,h_4/a.png 3w,\nw_6,h_8/b.png 6w'>", "w_6,h_8/b.png"),
        ("<img srcset='a.png 1.5x, b.png 1.25x'>", "a.png"),
        ("<img srcset='a.png wide'>", "a.png"),
        ("<img src=a.png data-srcset='b.png 1x, c.png 2x'>", "c.png"),
        ("<picture><source srcset='a.webp 1x, b.webp 2x'><img></picture>", "b.webp"),
        ("<picture><source srcset=a.webp><source srcset=b.webp><img></picture>", "a.webp"),
        ("<picture><source data-srcset=a.webp><img></picture>", "a.webp"),
        ("<picture><source srcset=a.webp><img src=b.png></picture>", "b.png"),
        ("<picture><source srcset=a.webp></picture><img src=b.png>", "b.png"),
        ("<input type=IMAGE src=a.png>", "a.png"),
    ]
    for html, expected in rows:
        assert [image.url for image in images(html)] == [E + expected]


def test_every_lazy_attribute_comes_before_the_stand_in() -> None:
    for name in LAZY:
        assert [image.url for image in images(f"<img src=wait.gif {name}=real.png>")] == [E + "real.png"]
        assert [image.url for image in images(f"<img src=wait.gif {name}='{DATA}'>")] == [E + "wait.gif"]
        assert [image.url for image in images(f"<img src=real.png {name}=true>")] == [E + "real.png"]
        assert [image.url for image in images(f"<img src=real.png {name}>")] == [E + "real.png"]


def test_no_image() -> None:
    rows = [
        "<img>",
        "<img src=''>",
        f"<img src='{DATA}'>",
        f"<img src=' {DATA.upper()}'>",
        "<img src='blob:x'>",
        "<img srcset=' , ,'>",
        "<input src=a.png>",
        "<input type=text src=a.png>",
        "<picture><source srcset=a.webp></picture>",
        "<picture><source srcset=a.webp></picture><img>",
        "<video><source srcset=a.webp><img src=a.png></video>",
        "<svg><image href=a.png></svg>",
    ]
    for html in rows:
        assert images(html) == ()


def test_the_link_around_an_image() -> None:
    rows = [
        ("<img src=a>", "", ""),
        ("<a href=x><img src=a></a>", E + "x", ""),
        ("<a href=x>one <img src=a> two</a>", E + "x", "one two"),
        ("<a href='#x'><img src=a>t</a>", "", "t"),
        ("<a href=x>t</a><img src=a>", "", ""),
        ("<a href=x>t<div><a href=y><img src=a>u</a></div></a>", E + "y", "u"),
    ]
    for html, target, text in rows:
        assert [(image.target, image.anchor_text) for image in images(html)] == [(target, text)]


def test_size() -> None:
    rows = [
        ("", (None, None)),
        ("width=3 height=4", (3, 4)),
        ("width=' 3px ' height=4.5", (3, 4)),
        ("width=50% height=auto", (None, None)),
        ("width=-3 height=99999", (None, 99999)),
        ("width=123456 height=1e3", (None, None)),
        ("width=0 height=0", (0, 0)),
        ("style='width:3px;height: 4.5px'", (3, 4)),
        ("style='WIDTH : 3PX'", (3, None)),
        ("style='max-width:3px; min-height:4px'", (None, None)),
        ("style='border-width:3px'", (None, None)),
        ("style='width:3em;height:50%'", (None, None)),
        ("style='color:red;width:3px' width=9 height=9", (3, 9)),
    ]
    for attributes, size in rows:
        (image,) = images(f"<img src=a {attributes}>")
        assert (image.width, image.height) == size


def test_words_of_an_image() -> None:
    (image,) = images("<img src=a alt=' one\n two ' title='three  four'>")
    assert (image.alt, image.title) == ("one two", "three four")
