"""What an input is, by its name or else by its first bytes."""

from pathlib import Path

import pytest
from saved_pages import PACK, UNKNOWN, html, line, tianwang, warc

from crawler.archives.inputs import Input
from crawler.archives.records import InputError

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
    with pytest.raises(InputError, match=r"'.*/a' is nothing that can be cleaned; inputs are HTML files"):
        Input(str(tmp_path / "a"))


def test_what_cannot_be_unpacked_and_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"bees")
    with pytest.raises(InputError, match=r"cannot be read \(this is not gzip, at byte 0 of the file\)"):
        Input(str(tmp_path / "a.gz"))


@pytest.mark.parametrize("name", ["missing", "missing.html", "missing.jsonl.gz"])
def test_what_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(No such file or directory\)"):
        Input(str(tmp_path / name))
    with pytest.raises(InputError, match="has no name"):
        Input("")


def test_the_position_in_a_file_grows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(map(line, range(2_000))))
    one = Input(str(tmp_path / "a.jsonl"))
    positions = [one.position for _ in one.found()]
    assert 0 < positions[0] < one.size == positions[-1]
    assert positions == sorted(positions)
