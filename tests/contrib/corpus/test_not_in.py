"""`--not-in`: which pages an export leaves out as copies of texts that somebody has, and what it says of them."""

import csv
import gzip
import io
import json
import sys
import tracemalloc
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pyarrow
import pytest
from copied_pages import LONG, NEARLY, fill, kept, removed
from export_place import Place, lines
from pyarrow import parquet

from crawler.contrib.corpus import text_files
from crawler.page.text import fingerprint
from crawler.recrawl.near_duplicates import signature

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

OTHER = LONG.replace("word", "thing")
PAGES = [LONG, NEARLY, OTHER, "Short.", ""]
OLD = "http://old.example/1"


def row(text: str, url: str = OLD) -> bytes:
    return json.dumps({"url": url, "text": text}).encode() + b"\n"


def table(**columns: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


def signatures(*texts: str, header: object = text_files.HEADER) -> bytes:
    rows = [
        {
            "url": OLD,
            "text_fingerprint": fingerprint(text),
            "signature": None if (signed := signature(text)) is None else b64encode(signed).decode(),
        }
        for text in texts
    ]
    return b"".join(json.dumps(one).encode() + b"\n" for one in (header, *rows))


def in_csv(*rows: list[str]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue().encode()


def write(place: Place, name: str, data: bytes) -> str:
    path = place.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return name


FILES = [
    ("old.jsonl", row(LONG), OLD),
    ("old.ndjson.gz", gzip.compress(row(LONG)), OLD),
    ("old.jl.zst", zstd.compress(row(LONG)), OLD),
    ("old.jsonl", b"\xef\xbb\xbf\n" + row(LONG, ""), "old.jsonl:2"),
    ("old.jsonl", row(f"{LONG} \ud800"), OLD),
    ("old.jsonl", row(LONG, OLD + "0" * 5_000), (OLD + "0" * 5_000)[:2_000]),
    ("old.csv", in_csv(["text", "url"], [LONG.replace(" ", "\n"), OLD]), OLD),
    ("old.csv", b"\xef\xbb\xbf" + in_csv(["text"], [LONG]), "old.csv:2"),
    ("old.csv", in_csv(["text"], [LONG, OLD]), "old.csv:2"),
    ("old.csv.gz", gzip.compress(in_csv(["url", "text"], [OLD, LONG])), OLD),
    ("old.parquet", table(url=[OLD], text=[LONG]), OLD),
    ("old.parquet", table(text=pyarrow.array([LONG]).dictionary_encode()), "old.parquet:1"),
    ("old.parquet", table(url=[1], text=pyarrow.array([LONG], pyarrow.large_string())), "old.parquet:1"),
    ("old.txt", f"\ufeff{LONG}".encode(), "old.txt"),
    ("old.txt.zst", zstd.compress(LONG.encode()), "old.txt.zst"),
    ("old.signatures", signatures(LONG), OLD),
    ("old.signatures.zst", zstd.compress(signatures(LONG)), OLD),
    ("old/b/part-1.jsonl.zst", zstd.compress(row(LONG)), OLD),
    ("old/b/bees.txt", LONG.encode(), "b/bees.txt"),
]


@pytest.mark.parametrize(("name", "data", "copied"), FILES)
def test_copies_of_a_file_are_left_out(place: Place, name: str, data: bytes, copied: str) -> None:
    fill(place, PAGES)
    old = write(place, name, data).partition("/")[0]
    assert kept(place, "--not-in", old) == ["bees2", "bees3", "bees4"]
    exact, nearly = removed(place)
    assert exact == {
        "url": "http://bees.example/0",
        "rule": "not-in: exact",
        "value": 1.0,
        "limit": 1.0,
        "copy_of": copied,
        "copy_in": old,
    }
    assert (nearly["url"], nearly["rule"], nearly["copy_of"]) == ("http://bees.example/1", "not-in: near", copied)
    assert 0.9 < nearly["value"] < 1


def test_copies_of_another_crawl_are_left_out(either: Place) -> None:
    fill(either, PAGES)
    fill(either, [LONG, "short"], "wasps")
    fill(either, [OTHER], "ants")
    assert kept(either, "--name", "bees", "--not-in", "crawl:wasps") == ["bees2", "bees4"]
    assert [one["copy_of"] for one in removed(either)] == [f"http://wasps.example/{n}" for n in (0, 0, 1)]
    assert {one["copy_in"] for one in removed(either)} == {"crawl:wasps"}


def test_several_olds(place: Place) -> None:
    """What both have is a copy of the first."""
    fill(place, PAGES)
    first = write(place, "a.jsonl", row(OTHER))
    second = write(place, "b.jsonl", row(LONG) + row(OTHER, "http://b.example/"))
    said = place.export("-o", "kept.jsonl", "--not-in", first, "--not-in", second)
    assert [(one["url"][-1], one["copy_in"], one["copy_of"]) for one in removed(place)] == [
        ("0", second, OLD),
        ("1", second, OLD),
        ("2", first, OLD),
    ]
    assert "Compared with 1 text of a.jsonl." in said.err
    assert "Compared with 2 texts of b.jsonl." in said.err
    assert "3 pages removed, by: not-in: exact (2), not-in: near (1)." in said.err


def test_copies_within_the_export_stay_unless_they_are_removed_too(place: Place) -> None:
    fill(place, [LONG, OTHER, OTHER, "Short.", "short"])
    old = write(place, "old.txt", LONG.encode())
    assert kept(place, "--not-in", old) == ["bees1", "bees2", "bees3", "bees4"]
    assert kept(place, "--not-in", old, "--dedupe", "near") == ["bees1", "bees3"]
    assert [one["rule"] for one in removed(place)] == ["not-in: exact", "dedupe: exact", "dedupe: exact"]
    paragraphs = ["--dedupe", "paragraphs", "--where", "depth < 4"]
    assert kept(place, "--not-in", old, *paragraphs) == ["bees1", "bees2", "bees3"]
    assert [one["rule"] for one in removed(place)] == ["depth < 4", "not-in: exact"]


def test_texts_that_are_like_each_other_all_count(place: Place) -> None:
    """The second text is near the first one, and only it is near the page."""
    words = [f"word{n}" for n in range(400)]
    texts = [" ".join(words[start : start + 300]) for start in (0, 25, 50)]
    fill(place, [texts[2]])
    assert kept(place, "--not-in", write(place, "a.txt", texts[0].encode())) == ["bees0"]
    old = write(place, "b.jsonl", row(texts[0]) + row(texts[1], "http://old.example/2"))
    assert kept(place, "--not-in", old) == []
    assert removed(place)[0]["copy_of"] == "http://old.example/2"


def test_pages_of_a_site_are_no_copies_by_what_they_share(place: Place) -> None:
    menu = " ".join(f"menu{n}" for n in range(150))
    texts = [f"{menu} " + " ".join(f"own{page}x{n}" for n in range(150)) for page in range(3)]
    fill(place, texts)
    old = write(place, "old.jsonl", b"".join(row(text) for text in texts[1:]))
    assert kept(place, "--not-in", old) == ["bees0"]


@pytest.mark.parametrize("data", [b"", row(""), in_csv(["text"])])
def test_an_old_without_texts(place: Place, data: bytes) -> None:
    """Pages without text are no copies of each other."""
    fill(place, PAGES)
    name = "old.csv" if data.startswith(b"text") else "old.jsonl"
    assert len(kept(place, "--not-in", write(place, name, data))) == len(PAGES)


def test_signatures_of_what_is_had_then(place: Place) -> None:
    """The file has what OLD has and what was written, so that it can be written anew each time."""
    fill(place, [LONG, OTHER, "Short."])
    old = write(place, "old.jsonl", row(LONG))
    known = ["--signatures", "known.signatures.zst"]
    said = place.export("-o", "kept.jsonl", "--not-in", old, *known, "--fields", "url", "--where", "depth < 2")
    assert said.status == 0, said.err
    assert "2 signatures written to known.signatures.zst" in said.err
    found = lines(zstd.decompress((place.folder / "known.signatures.zst").read_bytes()))
    assert found[0] == text_files.HEADER
    assert [one["url"] for one in found[1:]] == [OLD, "http://bees.example/1"]
    assert found[1:2] == lines(signatures(LONG))[1:]
    assert kept(place, "--not-in", "known.signatures.zst", *known) == ["bees2"]
    assert kept(place, "--not-in", "known.signatures.zst", *known) == []
    assert {one["copy_in"] for one in removed(place)} == {"known.signatures.zst"}


@pytest.mark.parametrize("output", ["kept.jsonl", "kept.parquet", "pages/", "kept.warc"])
def test_signatures_of_every_format(place: Place, output: str) -> None:
    fill(place, [LONG, OTHER])
    assert place.export("-o", output, "--signatures", "a.signatures").status == 0
    assert kept(place, "--not-in", "a.signatures") == []


@pytest.mark.parametrize("format", ["parquet", "jsonl.zst"])
def test_a_data_set(place: Place, format: str) -> None:
    fill(place, [LONG, OTHER])
    fill(place, PAGES, "wasps")
    first = ["--name", "bees", "--into", "old", "--format", format, "--where", "depth < 1"]
    assert place.export(*first).status == 0
    second = ["--name", "wasps", "--into", "new", "--format", format, "--not-in", "old", "--signatures", "a.signatures"]
    said = place.export(*second)
    assert said.status == 0, said.err
    manifest = json.loads((place.folder / "new" / "manifest.json").read_bytes())
    assert manifest["not_in"] == [{"name": "old", "texts": 1, "unread": 0, "removed": 2}]
    assert manifest["filters"] == {"--not-in": ["old"]}
    assert "--signatures a.signatures" in manifest["command"]
    assert "- `old`: 1 text\n" in (place.folder / "new" / "README.md").read_text(encoding="utf-8")


def test_a_manifest_names_no_folder_of_this_machine(place: Place) -> None:
    fill(place, [LONG])
    write(place, "secret/old.txt", LONG.encode())
    old, signed = (str(place.folder / "secret" / name) for name in ("old.txt", "a.signatures"))
    assert place.export("--into", "new", "--not-in", old, "--signatures", signed).status == 0
    for name in ("manifest.json", "README.md"):
        assert "secret" not in (place.folder / "new" / name).read_text(encoding="utf-8")


BROKEN = [
    ("old.jsonl", b"{\n", "old.jsonl:2 is not a JSON object"),
    ("old.jsonl", b"[1]\n", "old.jsonl:2 is not a JSON object"),
    ("old.jsonl", b"[" * 100_000 + b"\n", "old.jsonl:2 is not a JSON object"),
    ("old.jsonl", b'{"text": "\xff"}\n', "old.jsonl:2 is not UTF-8"),
    ("old.jsonl", b'{"text": 1}\n', "old.jsonl:2 has no field text"),
    ("old.csv", b'"\xff"\n', "old.csv:3 is not UTF-8"),
    ("old.parquet", None, "old.parquet:2 has no field text"),
    ("old.signatures", b'{"signature": "AAAA"}\n', "old.signatures:3 is no signature"),
    ("old.signatures", b'{"signature": 1}\n', "old.signatures:3 is no signature"),
    ("old.signatures", b'{"text_fingerprint": "00"}\n', "old.signatures:3 is no signature"),
    ("old.signatures", b'{"text_fingerprint": 1234567890123456}\n', "old.signatures:3 is no signature"),
]
BEFORE: dict[str, Callable[[], bytes]] = {
    "old.jsonl": lambda: row(LONG),
    "old.csv": lambda: in_csv(["text"], [LONG]),
    "old.signatures": lambda: signatures(LONG),
}


@pytest.mark.parametrize(("name", "data", "why"), BROKEN)
def test_what_cannot_be_read_is_counted(place: Place, name: str, data: bytes | None, why: str) -> None:
    fill(place, [LONG, OTHER])
    written = table(text=[LONG, None]) if data is None else BEFORE[name]() + data
    said = place.export("-o", "kept.jsonl", "--not-in", write(place, name, written))
    assert said.status == 0, said.err
    assert f"Compared with 1 text of {name}." in said.err
    assert f"1 text of {name} could not be read: {why}." in said.err
    assert len(removed(place)) == 1


@pytest.mark.parametrize(("spare", "is_read"), [(0, True), (-1, False)])
def test_long_lines_are_not_read(place: Place, monkeypatch: pytest.MonkeyPatch, spare: int, is_read: bool) -> None:
    fill(place, [LONG, "Short.", "Last."])
    monkeypatch.setattr(text_files, "MOST_BYTES", len(row(LONG)) + spare)
    old = write(place, "old.jsonl", row("Short.") + row(LONG) + row("Last."))
    assert kept(place, "--not-in", old) == ["bees0"][is_read:]


@pytest.mark.parametrize(("spare", "unread"), [(0, 0), (-1, 1)])
def test_a_long_row_of_csv_is_not_read(place: Place, monkeypatch: pytest.MonkeyPatch, spare: int, unread: int) -> None:
    """Each of its lines and fields is short."""
    fill(place, [LONG])
    lines = b'"","' + b'\n","' * 1_000 + b'"\n'
    monkeypatch.setattr(text_files, "MOST_BYTES", 100)
    monkeypatch.setattr(text_files, "LONGEST_ROW", len(lines) + spare)
    old = write(place, "old.csv", in_csv(["text"], ["Short."]) + lines)
    said = place.export("-o", "kept.jsonl", "--not-in", old)
    assert said.status == 0, said.err
    assert ("1 text of old.csv could not be read" in said.err) == bool(unread)


@pytest.mark.parametrize("name", ["old.jsonl.gz", "old.csv.gz", "old.txt.gz", "old.txt.zst"])
def test_what_is_compressed_is_read_as_a_stream(place: Place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What would take 20 MB is refused in a tenth of that."""
    fill(place, [LONG])
    pack = gzip.compress if name.endswith(".gz") else zstd.compress
    old = write(place, name, pack(b"text" + b" " * 20_000_000))
    monkeypatch.setattr(text_files, "MOST_BYTES", 100_000)
    tracemalloc.start()
    said = place.export("-o", "kept.jsonl", "--not-in", old)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said.status == 2
    assert "is longer than" in said.err
    assert peak < 2_000_000


WRONG = [
    ("absent.jsonl", None, "'absent.jsonl' cannot be read (No such file or directory)"),
    ("old.doc", b"", "the name 'old.doc' does not tell the format"),
    ("old.parquet.gz", b"", "the name 'old.parquet.gz' does not tell the format"),
    ("old/README.md", b"", "'old' has no file with texts"),
    ("old/old.removed.jsonl", b"", "'old' has no file with texts"),
    ("old.jsonl", b"\xff\n", "no text of 'old.jsonl' can be read: old.jsonl:1 is not UTF-8"),
    ("old.jsonl", b'{"url": "a"}\n', "no text of 'old.jsonl' can be read: old.jsonl:1 has no field text"),
    ("old.jsonl.gz", row(LONG), "'old.jsonl.gz' cannot be read ("),
    ("old.jsonl.gz", gzip.compress(row(LONG))[:-9], "'old.jsonl.gz' cannot be read ("),
    ("old.jsonl.zst", row(LONG), "'old.jsonl.zst' cannot be read ("),
    ("old.jsonl.zst", zstd.compress(row(LONG))[:-9], "'old.jsonl.zst' cannot be read ("),
    ("old.csv", b"url,title\na,b\n", "'old.csv' has no column of texts named text; its columns are 'url', 'title'"),
    ("old.csv", b"text,url\ra,b\r", "'old.csv' cannot be read ("),
    ("old.txt", b"\xff", "no text of 'old.txt' can be read: old.txt is not UTF-8"),
    ("old.parquet", b"PAR1", "'old.parquet' cannot be read ("),
    (
        "old.parquet",
        table(url=["a"], text=[1]),
        "'old.parquet' has no column of texts named text; its columns are 'url'",
    ),
    (
        "old.signatures",
        signatures(header={"winnow_signatures": 2}),
        "'old.signatures' has signatures of another version",
    ),
    ("crawl:wasps", None, "there is no crawl 'wasps'; there are bees"),
    ("crawl:bees", None, "--not-in crawl:bees is the crawl that is exported"),
]


@pytest.mark.parametrize(("name", "data", "why"), WRONG)
@pytest.mark.parametrize("output", [["-o", "kept.jsonl"], ["--into", "kept"]])
def test_a_wrong_old_writes_nothing(place: Place, name: str, data: bytes | None, why: str, output: list[str]) -> None:
    fill(place, [LONG])
    old = name if data is None else write(place, name, data).partition("/")[0]
    before = place.names()
    said = place.export(*output, "--not-in", old, "--signatures", "a.signatures")
    assert (said.status, said.out) == (2, "")
    assert why in said.err
    assert said.err.count("\n") == 1
    assert place.names() == before


@pytest.mark.parametrize(
    ("old", "output", "is_refused"),
    [
        ("had/a.jsonl", "had/a.jsonl", True),
        ("had", "had/a.jsonl", True),
        ("had/a.jsonl", "had/", True),
        ("had", "had/b.jsonl", False),
        ("had", "b/../had/../had/a.jsonl", True),
    ],
)
def test_what_is_had_is_not_replaced_by_what_is_new(place: Place, old: str, output: str, is_refused: bool) -> None:
    fill(place, [LONG, OTHER])
    (place.folder / "b").mkdir()
    write(place, "had/a.jsonl", row(LONG))
    said = place.export("-o", output, "--not-in", old)
    assert said.status == (2 if is_refused else 0)
    assert ("is an input and cannot be the output" in said.err) == is_refused
    assert (place.folder / "had" / "a.jsonl").read_bytes() == row(LONG)


def test_what_an_export_did_not_finish_is_not_read(place: Place) -> None:
    fill(place, [LONG, OTHER])
    write(place, "had/a.jsonl", row(LONG))
    write(place, "had/b.0123456789abcdef.part/part-00000.parquet", b"PAR1")
    assert kept(place, "--not-in", "had") == ["bees1"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--signatures", "a.jsonl"], "the name of a file of signatures ends in .signatures, and this is 'a.jsonl'"),
        (
            ["--signatures", "a.signatures", "-o", "a.signatures", "--format", "jsonl"],
            "is another output of this export",
        ),
        (["--signatures", "no/a.signatures"], "'no/a.signatures' cannot be written to (No such file or directory)"),
        (["--signatures", "a.signatures", "--labels"], "--signatures does not go with --labels"),
        (["--not-in", "crawl:wasps", "--labels"], "--not-in does not go with --labels"),
        (["--not-in", "crawl:wasps", "--changes-after", "0"], "--not-in does not go with --changes-after"),
    ],
)
def test_wrong_use_writes_nothing(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)
