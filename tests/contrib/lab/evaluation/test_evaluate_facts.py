"""`scrapy evaluate --metadata` and `--structure`: what they print, and what they refuse."""

import json
from pathlib import Path

import pytest
from command_line import run_command
from missing import need

need("scipy")

TEXT = (
    "<p>Bees dance in the dark of the hive to tell the others the way to the flowers, and the longer the better.</p>"
    * 5
)
PAGE = (
    "<html lang=en><head><title>How bees dance</title><meta name=author content='Ann Lee'>"
    "<meta property=article:published_time content=2024-05-06></head><body><article><h1>How bees dance</h1>"
    f"{TEXT}<pre>a = 1\nb = 2</pre></article></body></html>"
)


def write(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_metadata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = {"title": "How bees dance", "author": "Ann Lee", "published": "2024-05-07"}
    path = write(tmp_path / "a.jsonl", {"html": PAGE, "url": "http://a.example/bees", **known})
    status, out, _ = run_command(capsys, "evaluate", "--metadata", path)
    rows = [line.split() for line in out.splitlines() if "winnow" in line]
    assert status == 0
    assert [row[:6] for row in rows] == [
        ["title", "winnow", "1", "1", "0", "0"],
        ["author", "winnow", "1", "1", "0", "0"],
        ["published", "winnow", "1", "0", "1", "0"],
    ]


def test_structure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.jsonl", {"html": PAGE, "url": "", "gold_markdown": "```\na = 1\nb = 3\n```"})
    status, out, _ = run_command(capsys, "evaluate", "--structure", path)
    (row,) = [line.split() for line in out.splitlines() if line.startswith("winnow")]
    assert status == 0
    assert row[3:7] == ["0.909", "(1)", "0.000", "(0)"]  # one of eleven characters of the code differs; no formulas


@pytest.mark.parametrize(
    ("switch", "said"),
    [
        ("--metadata", "html and one of title, author, published, comments must be there and be text"),
        ("--structure", "html and gold_markdown must be there and be text"),
    ],
)
def test_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str], switch: str, said: str) -> None:
    status, out, err = run_command(capsys, "evaluate", switch, write(tmp_path / "a.jsonl", {"html": PAGE}))
    assert (status, out) == (1, "")
    assert f"a.jsonl:1: {said}" in err
