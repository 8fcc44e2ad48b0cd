"""JSON lines: what the objects say is carried through as it came, and a bad line costs itself."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from saved_pages import PACK, html, line, outcomes, summary, text, url

from crawler.contrib.bulk.archives import json_lines
from crawler.contrib.bulk.archives.records import MAX_PAGE


def read(folder: Path, data: bytes, name: str = "a.jsonl") -> list[str]:
    (folder / name).write_bytes(data)
    return summary(outcomes(folder / name), folder)


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("named", [True, False])
def test_pages(tmp_path: Path, suffix: str, named: bool) -> None:
    path = tmp_path / (f"a.jsonl{suffix}" if named else "a")
    path.write_bytes(PACK[suffix](b"".join(map(line, range(3)))))
    assert outcomes(path) == [
        {"id": n, "url": url(n), "text": text(n), "title": f"Title {n}", "method": "leaf-tags"} for n in range(3)
    ]


@pytest.mark.parametrize(
    "source",
    [
        *["1", "-0", "1.10", "1" * 4_000, "true", "null", '"a"', '""', '"\\ud800"', '"\\u0000"', '"蜂"'],
        *[
            '"\u2028"',
            "[]",
            '[1, {"a": [2.50]}]',
            '{"html": 1, "b": {}}',
            '{"a": 1, "a": 2}',
            '"{}"',
            '"\\"}"',
            '"[\\\\"',
        ],
    ],
)
@pytest.mark.parametrize(
    "form", ['{{"id": {}, "html": {}}}', '{{\t"html" :{1} ,"id":{0}}}', '{{"x":[],"id":{},"html":{}}}']
)
def test_ids_are_carried_through_as_they_came(tmp_path: Path, source: str, form: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(form.format(source, json.dumps(html(1))), encoding="utf-8")
    found = json_lines.record(next(json_lines.read(saved_stream(path), "a")))  # type: ignore[arg-type]
    assert json.loads(found.id) == json.loads(source)
    (page,) = outcomes(path)
    assert (page["text"], page["url"]) == (text(1), None)


def saved_stream(path: Path) -> Any:
    return json_lines.Stream([path.read_bytes()])


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"url": ""}, ""),
        ({"url": None}, None),
        ({"url": ...}, None),
        ({"url": "not an address"}, "not an address"),
        ({"url": "http://[bad"}, "http://[bad"),
        ({"url": "\ud800"}, "\ud800"),
        ({"url": "http://例え.example/蜂?\n"}, "http://例え.example/蜂?\n"),
    ],
)
def test_addresses_are_carried_through_as_they_came(tmp_path: Path, more: dict[str, Any], expected: str | None) -> None:
    (tmp_path / "a.jsonl").write_bytes(line(1, **more))
    (page,) = outcomes(tmp_path / "a.jsonl")
    assert (page["url"], page["text"]) == (expected, text(1))


def test_the_last_of_equal_names_counts(tmp_path: Path) -> None:
    assert read(tmp_path, b'{"html": 1, ' + line(1)[1:]) == [text(1)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"\n  \t\r\n"])
def test_line_ends_and_blank_lines(tmp_path: Path, end: bytes) -> None:
    assert read(tmp_path, end.join(line(n).strip() for n in range(3))) == [text(n) for n in range(3)]


def test_a_byte_order_mark(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf" + line(1), "a") == [text(1)]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"{", "not JSON: Expecting property name enclosed in double quotes at character "),
        (b"[]", "not JSON: Expecting '{' at character 1"),
        (b'"html"', "not JSON: Expecting '{' at character 1"),
        (b"{}", 'there is no "html"'),
        (b'{"html": null}', '"html" is no text'),
        (b'{"html": 5}', '"html" is no text'),
        (b'{"html": ["<p>"]}', '"html" is no text'),
        (b'{"HTML": "<p>"}', 'there is no "html"'),
        (b'{"html": "", "url": 5}', '"url" is no text'),
        (b'{"html": ""} {"html": ""}', "not JSON: Extra data at character 14"),
        (b'{"html": "",}', "not JSON: "),
        (b'{"html": "" "url": ""}', "not JSON: Expecting ',' delimiter at character 13"),
        (b'{"html" ""}', "not JSON: Expecting ':' delimiter at character 9"),
        (b'{1: "", "html": ""}', "not JSON: Expecting property name enclosed in double quotes at character 2"),
        (b"{'html': ''}", "not JSON: Expecting property name enclosed in double quotes at character 2"),
        (b'{"id": NaN, "html": ""}', "not JSON: NaN is no number"),
        (b'{"id": [-Infinity], "html": ""}', "not JSON: -Infinity is no number"),
        (b'{"html": "\t"}', "not JSON: Invalid control character at at character 11"),
        (b'{"html": "\xff"}', "not UTF-8 at byte 10"),
        (b'{"html": "<p>', "not JSON: Invalid control character at at character 14"),
        (b'{"id": ' + b"[" * 100_000, "its JSON is nested too deeply"),
        (b"\0", "not JSON: Expecting value at character 1"),
        (b'{"id": 1e999, "html": ""}', "not JSON: Out of range float values are not JSON compliant"),
    ],
)
def test_a_bad_line_costs_itself(tmp_path: Path, bad: bytes, why: str) -> None:
    first, broken, last = read(tmp_path, line(0) + bad + b"\n" + line(2))
    assert (first, last) == (text(0), text(2))
    assert broken.startswith(f"a.jsonl: line 2: {why}")


@pytest.mark.parametrize("suffix", list(PACK)[1:])
def test_damage_in_a_compressed_file(tmp_path: Path, suffix: str) -> None:
    parts = [PACK[suffix](line(2 * n) + line(2 * n + 1)) for n in range(3)]
    cut = read(tmp_path, parts[0] + parts[1][:-30], f"a.jsonl{suffix}")
    assert cut[:2] == [text(0), text(1)]
    assert re.search(r": line [3-5]: .* byte [\d,]+ ", cut[-1])
    first, second, broken, *rest = read(tmp_path, parts[0] + parts[1][:-30] + parts[2], f"a.jsonl{suffix}")
    assert [first, second] == [text(0), text(1)]
    assert broken.startswith("a.jsonl" + suffix + ": line 3: the ")
    assert rest == [text(5)]  # the first line behind a hole may be half a line


@pytest.mark.parametrize(("more", "good"), [(0, True), (1, False)])
def test_long_pages(tmp_path: Path, more: int, good: bool) -> None:
    long = line(1, html=" " * (MAX_PAGE + more))
    expected = "" if good else f"a.jsonl: line 1: the page is longer than {MAX_PAGE:,} bytes"
    assert read(tmp_path, long + line(2)) == [expected, text(2)]


@pytest.mark.parametrize(("suffix", "end"), [("", b"\n"), (".zst", b"")])
def test_long_lines(tmp_path: Path, suffix: str, end: bytes) -> None:
    bomb = line(0) + b" " * (json_lines.MAX_LINE + 1) + end
    found = read(tmp_path, PACK[suffix](bomb + line(2) if end else bomb), f"a.jsonl{suffix}")
    long = f"a.jsonl{suffix}: line 2: the line is longer than {json_lines.MAX_LINE:,} bytes"
    assert found == [text(0), long, text(2)][: 3 if end else 2]
