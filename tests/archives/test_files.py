"""HTML files and folders of them."""

import os
import subprocess
from pathlib import Path

import pytest
from saved_pages import PACK, html, outcomes, summary, text

from crawler.archives.records import MAX_PAGE


def fill(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        suffix = next((suffix for suffix in PACK if suffix and name.endswith(suffix)), "")
        path.write_bytes(PACK[suffix](html(number).encode()))


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("name", ["a.html", "a.htm", "a.xhtml", "A.HTML", "a"])
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_a_file(tmp_path: Path, name: str, suffix: str, encoding: str) -> None:
    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(PACK[suffix](html(1).encode(encoding)))
    assert outcomes(path) == [
        {"id": path.as_posix(), "url": "", "text": text(1), "title": "Title 1", "method": "leaf-tags"}
    ]


def test_folders_are_read_by_name(tmp_path: Path) -> None:
    fill(tmp_path, "b.html", "a/z.htm", "a/b/c.xhtml.gz", "a.html", "Z.HTML", "é.html", "a/10.html", "a/9.html")
    fill(tmp_path, "a/notes.txt", "html", "b.html.bak")
    found = outcomes(tmp_path)
    names = [one["id"].removeprefix(f"{tmp_path.as_posix()}/") for one in found if isinstance(one, dict)]
    assert names == ["Z.HTML", "a/10.html", "a/9.html", "a/b/c.xhtml.gz", "a/z.htm", "a.html", "b.html", "é.html"]
    assert summary(found, tmp_path).count("(no_html_name)") == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.html")
    assert summary(outcomes(tmp_path), tmp_path) == ["(not_a_file)"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    fill(tmp_path, "out/0.html", "in/1.html", "in/sub/2.html")
    home = tmp_path / "in"
    (home / "a.html").symlink_to(home / "1.html")
    (home / "b.html").symlink_to(tmp_path / "out" / "0.html")
    (home / "c.html").symlink_to("../out/0.html")
    (home / "d.html").symlink_to("nowhere.html")
    (home / "e.html").symlink_to("sub")
    (home / "f").symlink_to(tmp_path / "out")
    (home / "sub" / "g").symlink_to(home)
    not_followed = "(link_not_followed)"
    assert summary(outcomes(home), home) == [
        text(1),
        text(1),
        *[not_followed] * 2,
        "d.html: it cannot be read (No such file or directory)".replace("d.html", "d.html"),
        not_followed,
        "(no_html_name)",
        text(2),
        "(no_html_name)",
    ]


def test_a_link_that_is_given_itself_is_followed(tmp_path: Path) -> None:
    fill(tmp_path, "out/0.html")
    (tmp_path / "link").symlink_to("out")
    assert summary(outcomes(tmp_path / "link"), tmp_path) == [text(0)]


@pytest.mark.parametrize("suffix", list(PACK)[1:])
def test_a_damaged_file_costs_itself(tmp_path: Path, suffix: str) -> None:
    fill(tmp_path, "a.html", f"b.html{suffix}", "c.html")
    damaged = tmp_path / f"b.html{suffix}"
    damaged.write_bytes(damaged.read_bytes()[:-30])
    (tmp_path / f"b2.html{suffix}").write_bytes(b"<html>")
    first, second, third, last = summary(outcomes(tmp_path), tmp_path)
    assert (first, last) == (text(0), text(2))
    assert second.startswith(f"b.html{suffix}: the ")
    assert third.startswith(f"b2.html{suffix}: this is not ")


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(("more", "good"), [(0, True), (1, False)])
def test_long_files(tmp_path: Path, suffix: str, more: int, good: bool) -> None:
    (tmp_path / f"a.html{suffix}").write_bytes(PACK[suffix](b" " * (MAX_PAGE + more)))
    expected = "" if good else f"a.html{suffix}: the page is longer than {MAX_PAGE:,} bytes"
    assert summary(outcomes(tmp_path), tmp_path) == [expected]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere links want rights")
def test_links_in_a_circle_and_very_deep_folders(tmp_path: Path) -> None:
    home = tmp_path / "home"
    fill(home, "1.html", "z.html")
    (home / "b.html").symlink_to(home / "c.html")
    (home / "c.html").symlink_to(home / "b.html")
    try:
        make_deep(home, 1_200)
        found = summary(outcomes(home), home)
    finally:
        subprocess.run(["rm", "-rf", home / "d"], check=True)  # Python's own way is not deep enough
    circles = [f"{name}.html: it cannot be read (Too many levels of symbolic links)" for name in "bc"]
    assert found == [text(0), *circles, text(1)]


def make_deep(folder: Path, levels: int) -> None:
    """Make folders in folders, all called d."""
    deep = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=deep)
        inner = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
