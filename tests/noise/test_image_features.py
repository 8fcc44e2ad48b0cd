"""The features of an image, by name, on small pages."""

import json
from math import log1p

import pytest
from image_pages import TEXT, URL, features_in, surroundings

from crawler.noise.image_features import FAR, FEATURES, LEVELS, NO_SIZE, features_of
from crawler.noise.page_features import FAMILIES

P = f"<p>{TEXT}</p>"
OTHER = "<p>Other words.</p>"
IMG = "<img src=/p.jpg>"


def head(image: str) -> str:
    return f'<meta property="og:image" content="{image}">'


def script(image: str) -> str:
    found = json.dumps({"@type": "NewsArticle", "image": image})
    return f'<script type="application/ld+json">{found}</script>'


def nested(count: int, inside: str) -> str:
    return "<span class=banner>" + "<span>" * count + inside + "</span>" * (count + 1)


CASES = [
    # Where it stands.
    (IMG + P, {"image number": 0, "place among images": 0, "place among blocks": 0, "before main text": 1}),
    (P + IMG, {"place among blocks": 1, "main text before": 1, "after main text": 1, "before main text": 0}),
    (P + IMG + P, {"main text before": 0.5, "after main text": 0, "before main text": 0, "next block main": 1}),
    (P + IMG + P, {"last block main": 1, "main blocks before": log1p(1), "main blocks after": log1p(1)}),
    (P + OTHER + IMG + P, {"last block main": 0, "blocks to main text back": log1p(2), "next block main": 1}),
    (P + IMG + OTHER + P, {"blocks to main text ahead": log1p(1), "next block main": 0, "last block main": 1}),
    (P + OTHER * (FAR - 2) + IMG, {"blocks to main text back": log1p(FAR - 1)}),
    (P + OTHER * FAR + IMG, {"blocks to main text back": log1p(FAR), "blocks to main text ahead": log1p(FAR)}),
    (IMG + P, {"blocks to main text back": log1p(FAR), "blocks to main text ahead": 0}),
    (IMG + OTHER * (FAR - 1) + P, {"blocks to main text ahead": log1p(FAR - 1)}),
    (IMG + OTHER * (FAR + 1) + P, {"blocks to main text ahead": log1p(FAR)}),
    (IMG + P, {"last block length": 0, "next block length": log1p(len(TEXT.strip()))}),
    (P + IMG, {"next block length": 0, "last block length": log1p(len(TEXT.strip()))}),
    (IMG + "<p><a href=/x>All</a> of it", {"next block linked": 3 / 9}),
    (IMG, {"copies": log1p(1), "next block linked": 0, "main text before": 0, "before main text": 1}),
    (IMG + P + IMG, {"copies": log1p(2)}),
    # The containers around it, the smallest first.
    (f"<div>{P}{IMG}</div>{OTHER}", {"share main ^0": 1, "share of main text ^0": 1, "blocks ^0": log1p(1)}),
    (f"{P}<div>{OTHER}{IMG}</div>", {"share main ^0": 0, "share of main text ^0": 0, "blocks ^1": log1p(2)}),
    (f"{P}<div>{IMG}{IMG}{OTHER}</div>", {"images ^0": log1p(2), "letters ^0": log1p(12)}),
    (f"{P}<div><a href=/x>All</a> of it{IMG}</div>", {"share linked ^0": 3 / 9}),
    (f"<div>{P}{P}{P}{P}{IMG}</div>{P}", {"in main container": 1, "levels to main": 0}),
    (f"<div>{P}{P}{P}{IMG}</div>{P}", {"in main container": 1, "levels to main": log1p(1)}),
    (f"<div>{P}{P}</div><div>{OTHER}{IMG}</div>", {"in main container": 0}),
    (f"<div><div>{IMG}<p>x</div></div><p>y", {"blocks ^0": log1p(1), "blocks ^1": log1p(2)}),
    # What the elements are.
    (f"<nav>{IMG}</nav>", {"in nav": 1, "in header": 0, "in main": 0}),
    (f"<main><article><figure><picture>{IMG}", {"in main": 1, "in article": 1, "in figure": 1, "in picture": 1}),
    (f"<ul><li><a href=/x>{IMG}</a>", {"in li": 1, "in a": 1, "in td": 0}),
    (IMG, {"images like it": log1p(1), "is lazy": 0}),
    ("<p class=a><img src=1></p><p class=a><img src=2></p><p class=b><img src=3>", {"images like it": log1p(2)}),
    ("<img src=1 loading=lazy>", {"is lazy": 1}),
    ("<img src=1 loading=eager>", {"is lazy": 0}),
    ("<img data-src=/p.jpg>", {"is lazy": 1}),
    # Its size.
    ("<img src=1>", {"width": NO_SIZE, "height": NO_SIZE, "area": NO_SIZE, "aspect": NO_SIZE, "size known": 0}),
    ("<img src=1 width=300 height=200>", {"width": log1p(300), "area": log1p(60_000), "aspect": 1.5, "size known": 1}),
    ("<img src=1 width=300>", {"width": log1p(300), "height": NO_SIZE, "size known": 0}),
    ("<img src=1 width=40 height=99>", {"icon": 1}),
    ("<img src=1 width=41 height=99>", {"icon": 0}),
    ("<img src=1 width=99 height=40>", {"icon": 1}),
    ("<img src=1>", {"icon": 0, "pixel": 0}),
    ("<table><tr><td width=40><img src=1>", {"icon": 1, "size known": 0}),
    ("<table><tr><td width=41><img src=1>", {"icon": 0}),
    ("<table><tr><td width=40%><img src=1>", {"icon": 0}),
    ("<table><tr><td width=40><img src=1 width=300>", {"icon": 0}),
    ("<img src=1 width=2 height=90>", {"pixel": 1}),
    ("<img src=1 width=3 height=90>", {"pixel": 0}),
    ("<img src=1 width=728 height=90>", {"advert's size": 1}),
    ("<img src=1 width=728 height=91>", {"advert's size": 0}),
    ("<img src=/a-300x200.jpg>", {"width": log1p(300), "height": log1p(200), "size in address": log1p(300)}),
    ("<img src=/a-300x200.jpg width=30>", {"width": log1p(30), "height": log1p(200)}),
    ("<img src=/a-300x200.jpg width=30 height=20>", {"area": log1p(600), "size in address": log1p(300)}),
    ("<img src=/a-3x2.jpg>", {"size in address": NO_SIZE, "size known": 0}),
    ("<img src=/a.jpg?w=640>", {"size in address": log1p(640), "width": NO_SIZE}),
    ("<img src=/a.jpg?w=6>", {"size in address": NO_SIZE}),
    # What is written beside it.
    ("<img src=1>", {"has alt": 0, "alt": 0, "title": 0, "anchor text": 0, "alt in title": 0, "alt words": 0}),
    ("<img src=1 alt=''>", {"has alt": 1, "alt": 0}),
    ("<img src=1 alt='The flood' title=Map>", {"alt": log1p(9), "title": log1p(3)}),
    ("<title>The flood</title><img src=1 alt='The bridge'>", {"alt in title": 0.5, "alt words": log1p(1)}),
    (f"<title>Flood</title><img src=1 alt='{'a' * 394} flood'>", {"alt words": log1p(1)}),
    (f"<title>Flood</title><img src=1 alt='{'a' * 395} flood'>", {"alt words": 0}),
    ("<a href=/x><img src=1> More</a>", {"anchor text": log1p(4)}),
    ("<figure><img src=1><figcaption>The bridge</figcaption></figure>", {"caption": 1}),
    ("<figure><img src=1><p>The bridge</p></figure>", {"caption": 0}),
    ("<img src=1><p class=thumbcaption>The bridge</p>", {"caption": 1}),
    ("<p>Figure 3. The bridge</p><img src=1>", {"caption": 1}),
    ("<p>Figures are below</p><img src=1>", {"caption": 0}),
    ("<p>图 3 桥</p><img src=1>", {"caption": 1}),
    ("<img src=1><p>One</p><p class=caption>Of another</p>", {"caption": 0}),
    # Where it leads.
    (IMG, {"linked": 0, "to image": 0, "to this site": 0, "to another site": 0, "target depth": 0}),
    (f"<a href=/a/b/c.html>{IMG}</a>", {"linked": 1, "to this site": 1, "to another site": 0, "target depth": 3}),
    (f"<a href=http://m.example.org/b>{IMG}</a>", {"to this site": 1, "to another site": 0, "to the front": 0}),
    (f"<a href=http://b.example/x>{IMG}</a>", {"to this site": 0, "to another site": 1}),
    (f"<a href=/large.JPEG>{IMG}</a>", {"to image": 1}),
    (f"<a href=/large.html>{IMG}</a>", {"to image": 0}),
    (f"<a href={URL}>{IMG}</a>", {"to itself": 1}),
    (f"<a href={URL}?2>{IMG}</a>", {"to itself": 0, "target query": 1}),
    (f"<a href=/>{IMG}</a>", {"to the front": 1}),
    (f"<a href=/a>{IMG}</a>", {"to the front": 0, "target query": 0}),
    (f"<a href=/x>{IMG}</a><a href=/x>More</a><a href=/x>Read it</a>", {"told elsewhere": log1p(7)}),
    (f"<a href=/x>{IMG}</a><a href=/y>More</a>", {"told elsewhere": 0}),
    # Its own address.
    ("<img src=/p.jpg>", {"own host": 1, "own site": 1, "path depth": 1, "query": 0, "is jpg": 1, "is png": 0}),
    ("<img src=http://cdn.example.org/a/b/p.jpeg?1>", {"own host": 0, "own site": 1, "path depth": 3, "query": 1}),
    ("<img src=http://b.example/p.PNG>", {"own site": 0, "is png": 1, "is jpg": 0}),
    ("<img src=/p12.jpeg>", {"is jpg": 1, "digits": log1p(2), "name length": log1p(3)}),
    ("<img src=/2024/05/p.jpg>", {"date in address": 1}),
    ("<img src=/2024/13/p.jpg>", {"date in address": 0}),
    # The page's own images.
    (head("/h/flood.jpg") + "<img src=/x/flood-300x200.jpg>", {"head image": 1, "has head image": 1}),
    (head("/h/flood.jpg") + "<img src=/x/fire.jpg>", {"head image": 0, "has head image": 1}),
    (head("/h/sea.jpg") + "<img src=/sea.jpg>", {"head image": 0, "has head image": 0}),
    (head("/h/wave.jpg") + "<img src=/wave.jpg>", {"head image": 1}),
    (head("/floodmap.jpg") + "<img src='/r?u=/floodmap.jpg'>", {"head image": 1}),
    (head("/flodmap.jpg") + "<img src='/r?u=/flodmap.jpg'>", {"head image": 0}),
    (script("/waves.jpg") + "<img src=/waves.jpg>", {"in scripts": 1}),
    (script("/wave.jpg") + "<img src=/wave.jpg>", {"in scripts": 0}),
    # How things are called: the image and what is right around it, near it, and far.
    ("<img class=ad-banner src=/p.jpg>", {"own advert": 2, "near advert": 0, "file advert": 0}),
    (nested(0, IMG), {"own advert": 1, "near advert": 0}),
    (nested(1, IMG), {"own advert": 0, "near advert": 1}),
    (nested(3, IMG), {"near advert": 1, "far advert": 0}),
    (nested(4, IMG), {"near advert": 0, "far advert": 1}),
    (nested(7, IMG), {"far advert": 1}),
    (nested(8, IMG), {"far advert": 0}),
    ("<img src=/icons/p.jpg>", {"file symbol": 1, "target symbol": 0}),
    ("<div class=admonition><img src=/note.svg></div>", {"own callout": 1, "file callout": 1, "near callout": 0}),
    (f"<a href=/ads/click>{IMG}</a>", {"target advert": 1, "file advert": 0}),
    # What all of the page's images share.
    (IMG + IMG + P + OTHER, {"images": log1p(2), "main blocks": log1p(1), "blocks": log1p(2)}),
    (IMG + P + f"<p>{'x' * 96}</p>", {"share of main text": 0.5, "main text": log1p(96)}),
    (IMG + OTHER, {"main text": 0, "share of main text": 0, "main blocks": 0}),
]


def test_features() -> None:
    for html, expected in CASES:
        found = features_in(html)
        assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_the_second_image() -> None:
    found = features_in(IMG + "<img src=2>" + P, index=1)
    assert (found["image number"], found["place among images"]) == (pytest.approx(log1p(1)), 0.5)


@pytest.mark.parametrize(("page_type", "value"), [("forum", 1.0), ("article", 0.0), ("", 0.0)])
def test_the_type_of_the_page(page_type: str, value: float) -> None:
    assert features_in(IMG, page_type=page_type)["page is forum"] == value


@pytest.mark.parametrize("levels", [1, 4, 6])
def test_containers_are_told_one_larger_than_the_other(levels: int) -> None:
    html = IMG + "<p>x</p>"
    for _ in range(levels - 1):
        html = f"<div>{html}</div><p>x</p>"
    found = features_in(f"<div>{html}</div>")
    assert [found[f"blocks ^{level}"] for level in range(LEVELS)] == pytest.approx(
        [log1p(min(level + 1, levels)) for level in range(LEVELS)]
    )


def test_every_feature_has_one_name() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
    assert len(features_of(surroundings(IMG), 0)) == len(FEATURES)
    assert {f"own {family}" for family in FAMILIES} <= set(FEATURES)


@pytest.mark.parametrize("url", ["", "http://[", "about:blank"])
def test_pages_without_an_address(url: str) -> None:
    assert len(features_in("<img src=http://a.example/p.jpg>" + P, url=url)) == len(FEATURES)
