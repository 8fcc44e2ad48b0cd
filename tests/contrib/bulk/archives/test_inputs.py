"""What an input is, by its name or else by its first bytes."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from saved_pages import PACK, UNKNOWN, html, line, outcomes, summary, text, tianwang, warc

from crawler.contrib.bulk.archives.inputs import Input
from crawler.contrib.bulk.archives.records import MAX_PAGE, InputError

BEES = "Bees dance in the dark of the hive, and the others follow them."
CONTENT = {"HTML": html(1).encode(), "JSON lines": line(1), "WARC": warc(1), "Tianwang": tianwang(1)}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("ending", ["", ".txt", ".json", ".gz.old"])
@pytest.mark.parametrize("kind", CONTENT)
def test_by_first_bytes(tmp_path: Path, kind: str, ending: str, suffix: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(PACK[suffix](b"\n\n" * (kind != "HTML") + CONTENT[kind]))
    assert Input(str(path)).kind.name == kind  # type: ignore[union-attr]


@pytest.mark.parametrize("suffix", ["", *PACK])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.html", "HTML"),
        ("a.HTM", "HTML"),
        ("a.xhtml", "HTML"),
        ("a.jsonl", "JSON lines"),
        ("a.ndjson", "JSON lines"),
        ("a.jl", "JSON lines"),
        ("a.warc", "WARC"),
        ("a.html.warc", "WARC"),
        ("a.MD", "text"),
        ("a.markdown", "text"),
        ("a.eml", "text"),
        ("2025-May.mbox", "text"),
    ],
)
def test_by_name_whatever_it_holds(tmp_path: Path, name: str, kind: str, suffix: str) -> None:
    path = tmp_path / f"{name}{suffix}"
    for content in [b"", b"x", *CONTENT.values()]:
        path.write_bytes(PACK[suffix](content))
        assert Input(str(path)).kind.name == kind  # type: ignore[union-attr]


def test_a_damaged_beginning(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"vers" + tianwang(1)[30:] + tianwang(2))
    assert Input(str(tmp_path / "a")).kind.name == "Tianwang"  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"", b"bees", b"[1]", b"%PDF", UNKNOWN, b"<rss>", b"WARC", b"version 1.0"])
def test_what_is_nothing_of_that(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match=r"'.*/a' .*\.html.*\.warc"):
        Input(str(tmp_path / "a"))


def test_what_cannot_be_unpacked_and_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"bees")
    with pytest.raises(InputError, match=r"a\.gz' .*\(.* gzip, .* 0 .*\)"):
        Input(str(tmp_path / "a.gz"))


@pytest.mark.parametrize("name", ["missing", "missing.html", "missing.jsonl.gz"])
def test_what_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"/{re.escape(name)}' .*\(No such file"):
        Input(str(tmp_path / name))
    with pytest.raises(InputError, match="has no name"):
        Input("")


def test_the_position_in_a_file_grows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(map(line, range(2_000))))
    one = Input(str(tmp_path / "a.jsonl"))
    positions = [one.position for _ in one.records()]
    assert 0 < positions[0] < one.size == positions[-1]
    assert positions == sorted(positions)


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
    fill(tmp_path, "a/notes.log", "html", "b.html.bak")
    found = outcomes(tmp_path)
    names = [one["id"].removeprefix(f"{tmp_path.as_posix()}/") for one in found if isinstance(one, dict)]
    assert names == ["Z.HTML", "a/10.html", "a/9.html", "a/b/c.xhtml.gz", "a/z.htm", "a.html", "b.html", "é.html"]
    assert summary(found, tmp_path).count("(no_html_name)") == 3


MAIL = f"From: Ann <ann@bees.example>\nSubject: Of bees\n\n{BEES}\n"
TEXTS = {
    "1.md": f"# Of bees\n\n{BEES} See [wax](wax.md).",
    "2.txt": f"OF BEES\n\n{BEES}",
    "3.eml": MAIL,
    "4.mbox": f"From ann@bees.example Thu May  2 10:00:00 2024\n{MAIL}",
    "a/llms-full.txt": f"# Of bees\n\n*{BEES}*",
    "a/llms.txt": "# Of bees\n\n- [They dance](dance.md)",
    "b.txt": "x = {1: [2, 3]}\ny = x[1][0] + 2\n",
    "c.txt": "<!DOCTYPE html><p>Bees dance in the dark.",
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_files_are_read_as_a_server_would_declare_them(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a").mkdir()
    for name, source in TEXTS.items():
        (tmp_path / f"{name}{suffix}").write_bytes((PACK[suffix] if suffix else bytes)(source.encode()))
    texts = [f"Of bees\n{BEES} See wax.", f"OF BEES\n{BEES}", *[f"Of bees\n{BEES}"] * 3, "Of bees\n- They dance"]
    expected = [*texts, "(unread_document/no_sentences)", "(unread_document/broken)"]
    assert summary(outcomes(tmp_path), tmp_path) == expected
    by_name = [tmp_path / f"{name}{suffix}" for name in TEXTS]
    assert summary(outcomes(*by_name[:-1]), tmp_path) == expected[:-1]


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
