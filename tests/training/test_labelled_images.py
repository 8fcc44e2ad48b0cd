"""Labelled links are found on their pages."""

from pathlib import Path

import garden
import pytest
from saved import PACK

from crawler.evaluation.gold import ImageLabel, read_labels
from crawler.noise.learned_model import SIGNS
from crawler.training.image_model import ImageExample, find_images

HTML = "<p>Text.<img src=/p.jpg><p>More text.<img src=/p.jpg>"


def found(folder: Path, labels: list[ImageLabel], **files: bytes) -> tuple[list[ImageExample], list[str]]:
    """What is found on the pages of some files, and what was said."""
    said: list[str] = []
    paths = []
    for name, data in files.items():
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_bytes(data)
    return find_images(labels, paths, 1, said.append), said


def test_links_on_their_pages(tmp_path: Path) -> None:
    (tmp_path / "labels").write_bytes(garden.labels())
    labels = list(read_labels(tmp_path / "labels").found)
    links, said = found(tmp_path, labels, pages=garden.pages())
    assert said == ["36 of 36 labelled links found, on pages of 1 site"]
    assert {one.label for one in links} == set(labels)
    assert {(one.site, one.pages, len(one.signs)) for one in links} == {("example.org", garden.PAGES, 1)}
    share = SIGNS.index("share of other pages with it")
    assert {one.signs[0][share] for one in links if one.label.is_noise} == {1.0}
    assert {one.signs[0][share] for one in links if not one.label.is_noise} == {0.0}


@pytest.mark.parametrize(
    ("url", "img", "site"),
    [
        ("http://www.example.org/1", "http://www.example.org/p.jpg", "example.org"),
        ("", "http://page.example/p.jpg", "pages 7"),
    ],
)
def test_the_site_of_a_page(url: str, img: str, site: str, tmp_path: Path) -> None:
    label = ImageLabel("x", "7", img, True, "icon")
    (one,), _ = found(tmp_path, [label], pages=garden.lines({"id": 7, "url": url, "html": HTML}))
    assert (one.label, one.site, one.pages) == (label, site, 1)
    assert len(one.signs) == 2  # places where it stands


def test_pages_of_sets_with_the_same_ids(tmp_path: Path) -> None:
    labels = [ImageLabel(name, "1", f"http://{name}.example/p.jpg", True, "icon") for name in ("a", "b")]
    pages = {name: garden.lines({"id": 1, "url": f"http://{name}.example/", "html": HTML}) for name in ("a", "b")}
    links, _ = found(tmp_path, labels, **pages)
    assert [(one.label.set, one.site) for one in links] == [("a", "a.example"), ("b", "b.example")]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    label = ImageLabel("x", "1", "http://a.example/p.jpg", True, "icon")
    page = {"id": 1, "url": "http://a.example/", "html": HTML}
    links, said = found(tmp_path, [label, label._replace(page="2")], pages=garden.lines(b"{", {"html": "x"}, page))
    assert len(links) == 1
    assert [line.rpartition("pages.jsonl: ")[2][:6] for line in said[:2]] == ["line 1", "line 2"]
    assert said[2:] == ["1 of 2 labelled links found, on pages of 1 site"]


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    label = ImageLabel("x", "page-0", garden.photo(0), False, "text")
    (tmp_path / "pages.jsonl.gz").write_bytes(PACK[".gz"](garden.pages())[:-4])
    said: list[str] = []
    assert len(find_images([label], [tmp_path / "pages.jsonl.gz"], 1, said.append)) == 1
    assert said[0].startswith(f"{tmp_path}/pages.jsonl.gz")
    assert len(said) == 2
