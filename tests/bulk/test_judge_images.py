"""`scrapy noise judge` as it is typed."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import image_site
import pytest
from saved_pages import PACK
from scrapy.cmdline import execute
from scrapy.settings import Settings

from crawler.noise import learned_model


@pytest.fixture
def noise(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, given in an empty folder: exit status, what it wrote, what it said."""
    monkeypatch.chdir(tmp_path)

    def give(*words: str) -> tuple[int, str, str]:
        ours = Settings()
        ours.setmodule("crawler.settings", priority="project")
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", "noise", *words], ours)
        return ended.value.code, *capsys.readouterr()

    return give


@pytest.mark.parametrize("packing", [".gz", ".xz", ""])
def test_every_picture_of_every_page_in_order(packing: str, noise: Any) -> None:
    name = f"pages.jsonl{packing}"
    Path(name).write_bytes(PACK[packing](image_site.pages()))
    status, out, said = noise("judge", name)
    found = [json.loads(line) for line in out.splitlines()]
    assert [(one["page"], one["img"]) for one in found] == [
        (f"page-{number}", img)
        for number in range(12)
        for img in (image_site.LOGO, image_site.ADVERT, image_site.photo(number))
    ]
    assert {one["img"]: one["redundancy"] for one in found if one["page"] == "page-4"} == {
        image_site.LOGO: 1,
        image_site.ADVERT: 1,
        image_site.photo(4): pytest.approx(1 / 12, abs=1e-6),
    }
    assert status == 0
    assert "of 36 pictures noise, on 12 pages" in said


PAPER = ("-s", "IMAGE_NOISE_MODELS=redundancy,keyword", "-s", "EXTRACTOR=leaf-tags")


def test_the_models_of_the_paper(noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.pages())
    status, out, _ = noise("judge", "pages.jsonl", *PAPER)
    found = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert {one["img"] for one in found if one["verdict"] == "noise"} == {image_site.LOGO, image_site.ADVERT}
    reasons = next(one["reasons"] for one in found if one["img"] == image_site.ADVERT)
    assert {"code": "shown_on_pages", "values": {"shown": 12, "pages": 12}} in reasons


def test_people_at_a_terminal_read_sentences(noise: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pages.jsonl").write_bytes(image_site.lines(image_site.row(0)))
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        noise("judge", "pages.jsonl")
        found = [json.loads(line) for line in os.read(master, 65_536).splitlines()]
    os.close(master)
    assert "it stands in the main text" in found[-1]["reasons"]


def test_output_is_there_as_a_whole(noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.pages())
    _, out, _ = noise("judge", "pages.jsonl")
    Path("out.jsonl").write_text("before")
    assert noise("judge", "pages.jsonl", "-o", "out.jsonl")[:2] == (0, "")
    assert Path("out.jsonl").read_text() == out
    assert sorted(path.name for path in Path().iterdir()) == ["out.jsonl", "pages.jsonl"]


def test_bad_lines_are_named_and_counted(noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.lines(image_site.row(0), b"", b"{", image_site.row(1), {"html": "a"}))
    status, out, said = noise("judge", "pages.jsonl")
    assert (status, len(out.splitlines())) == (0, 6)
    first, second, closing = said.splitlines()
    assert first.startswith("scrapy noise judge: pages.jsonl: line 3: not JSON")
    assert second == 'scrapy noise judge: pages.jsonl: line 5: there is no "url"'
    assert closing.endswith("on 2 pages; 2 lines skipped, each named above")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{}\n", b"\xff\n"])
def test_a_file_without_a_page_is_an_error(data: bytes, noise: Any) -> None:
    Path("pages.jsonl").write_bytes(data)
    Path("out.jsonl").write_text("before")
    status, out, said = noise("judge", "pages.jsonl", "-o", "out.jsonl")
    assert (status, out) == (1, "")
    assert "there is no page with url and html" in said.splitlines()[-1]
    assert Path("out.jsonl").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["out.jsonl", "pages.jsonl"]


def test_pages_without_pictures_are_none(noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.lines({"url": "http://a.example/", "html": "<p>a"}))
    assert noise("judge", "pages.jsonl", "-o", "out.jsonl")[0] == 0
    assert Path("out.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "scrapy noise: what is to be done is not said; there is scrapy noise "),
        (["juge"], "scrapy noise: there is no scrapy noise 'juge'; there is scrapy noise "),
        (["judge"], "the following arguments are required: PAGES.jsonl"),
        (["judge", "pages.jsonl", "b"], "unrecognized arguments: b"),
        (["judge", "none.jsonl"], "'none.jsonl' cannot be read (No such file or directory)"),
        (["judge", "."], "'.' is no file"),
        (["judge", "pages.jsonl", "--quick"], "unrecognized arguments: --quick"),
        (["judge", "pages.jsonl", "-o"], "expected one argument"),
        (["judge", "pages.jsonl", "-s", "EXTRACTOR=magic"], "setting EXTRACTOR='magic' is wrong; allowed are auto, "),
        (["judge", "pages.jsonl", "-s", "IMAGE_NOISE_MODELS=keyword,quark"], "'quark' is not known; allowed are "),
        (["judge", "pages.jsonl", "-s", "IMAGE_NOISE_MODELS=keyword:x"], "the limit of 'keyword' is 'x'"),
        (
            ["judge", "pages.jsonl", "--jobs", "0"],
            "argument --jobs: '0' is wrong; allowed are whole numbers from 1 to 1,000",
        ),
        (["judge", "pages.jsonl", "--jobs", "1001"], "argument --jobs: '1001' is wrong"),
        (["judge", "pages.jsonl", "-o", "pages.jsonl"], "'pages.jsonl' is to be read and cannot be written to"),
        (["judge", "pages.jsonl", "-o", "no/out.jsonl"], "'no/out.jsonl' cannot be written to"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(words: list[str], said: str, noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.pages())
    status, out, err = noise(*words)
    assert (status, out) == (2, "")
    assert err.startswith("scrapy noise")
    assert said in err
    assert len(err.splitlines()) == 1
    assert Path("pages.jsonl").read_bytes() == image_site.pages()


@pytest.mark.parametrize(("models", "status"), [("learned", 2), ("keyword,learned", 2), ("keyword", 0)])
def test_broken_weights_are_said_in_one_sentence(
    noise: Any, monkeypatch: pytest.MonkeyPatch, models: str, status: int
) -> None:
    Path("pages.jsonl").write_bytes(image_site.pages())
    Path("weights.npz").write_bytes(b"PK")
    monkeypatch.setattr(learned_model, "WEIGHTS", Path("weights.npz"))
    monkeypatch.setattr("crawler.settings.IMAGE_NOISE_MODELS", ["size"])
    learned_model.shipped.cache_clear()
    ended, _, err = noise("judge", "pages.jsonl", "-s", f"IMAGE_NOISE_MODELS={models}")
    learned_model.shipped.cache_clear()
    assert (ended, len(err.splitlines())) == (status, 1)
    assert ("'weights.npz' holds no weights of pictures" in err) is (status == 2)
