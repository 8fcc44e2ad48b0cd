"""`scrapy noise judge` as it is typed."""

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import image_site
import pytest
from command_line import run_command
from saved_pages import PACK

from crawler.contrib.bulk.archives.records import Broken
from crawler.contrib.bulk.judge_images import ImageJudging, JudgedPage, evidence, judged, lines, read
from crawler.extraction import EXTRACTORS
from crawler.noise import learned_model
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.verdict import Judge, Verdict
from crawler.noise.verdict_reasons import NoiseReason
from crawler.page.page import Extraction, Page
from crawler.translation.reasons import Reason


@pytest.fixture
def noise(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, given in an empty folder: exit status, what it wrote, what it said."""
    monkeypatch.chdir(tmp_path)

    def give(*words: str) -> tuple[int, str, str]:
        return run_command(capsys, "noise", *words)

    return give


@pytest.mark.parametrize("packing", [".gz", ".xz", ""])
def test_every_image_of_every_page_in_order(packing: str, noise: Any) -> None:
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
    assert re.search(r"\b36 images .*\b12 pages", said)


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
    assert {type(reason) for reason in found[-1]["reasons"]} == {str}


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
    assert "pages.jsonl: line 3: " in first
    assert re.search('pages.jsonl: line 5: .*"url"', second)
    assert re.search(r"\b2 pages\b.*\b2 lines\b", closing)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{}\n", b"\xff\n"])
def test_a_file_without_a_page_is_an_error(data: bytes, noise: Any) -> None:
    Path("pages.jsonl").write_bytes(data)
    Path("out.jsonl").write_text("before")
    status, out, said = noise("judge", "pages.jsonl", "-o", "out.jsonl")
    assert (status, out) == (1, "")
    assert said.splitlines()[-1].startswith("noise judge: ")
    assert Path("out.jsonl").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["out.jsonl", "pages.jsonl"]


def test_pages_without_images_are_none(noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.lines({"url": "http://a.example/", "html": "<p>a"}))
    assert noise("judge", "pages.jsonl", "-o", "out.jsonl")[0] == 0
    assert Path("out.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "noise: no subcommand given; allowed are winnow noise "),
        (["juge"], "noise: there is no winnow noise 'juge'; allowed are winnow noise "),
        (["judge"], "the following arguments are required: PAGES.jsonl"),
        (["judge", "pages.jsonl", "b"], "unrecognized arguments: b"),
        (["judge", "none.jsonl"], "'none.jsonl' cannot be read (No such file or directory)"),
        (["judge", "."], "'.' is not a file"),
        (["judge", "pages.jsonl", "--quick"], "unrecognized arguments: --quick"),
        (["judge", "pages.jsonl", "-o"], "expected one argument"),
        (["judge", "pages.jsonl", "-s", "EXTRACTOR=magic"], "setting EXTRACTOR='magic' is wrong; allowed are auto, "),
        (["judge", "pages.jsonl", "-s", "IMAGE_NOISE_MODELS=keyword,quark"], "'quark' is not known; allowed are "),
        (
            ["judge", "pages.jsonl", "-s", "IMAGE_NOISE_MODELS=keyword:x"],
            "the limit of 'keyword' must be a number, not 'x'",
        ),
        (
            ["judge", "pages.jsonl", "--jobs", "0"],
            "argument --jobs: '0' is wrong; allowed are whole numbers from 1 to 1,000",
        ),
        (["judge", "pages.jsonl", "--jobs", "1001"], "argument --jobs: '1001' is wrong"),
        (["judge", "pages.jsonl", "-o", "pages.jsonl"], "'pages.jsonl' is an input and cannot be the output"),
        (["judge", "pages.jsonl", "-o", "no/out.jsonl"], "'no/out.jsonl' cannot be written to"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(words: list[str], said: str, noise: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.pages())
    status, out, err = noise(*words)
    assert (status, out) == (2, "")
    assert err.startswith("noise")
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
    assert ("'weights.npz'" in err) is (status == 2)


EXTRACT = EXTRACTORS["leaf-tags"]


@dataclass(frozen=True)
class ByAlt:
    """Takes the text beside an image for its probability; a capital N makes noise of it."""

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        return Verdict(sighting.alt.startswith("N"), float(sighting.alt.lstrip("N")))


def nobody_died() -> None:
    raise AssertionError


@pytest.fixture
def go(tmp_path: Path) -> Any:
    def run(*rows: Any, panel: ImageJudging | None = None, jobs: int = 1) -> list[JudgedPage | Broken]:
        path = tmp_path / "pages.jsonl"
        path.write_bytes(image_site.lines(*rows))
        nameless = panel.nameless if panel else ""
        counts = evidence(read(path), jobs, nobody_died, nameless)
        panel = ImageJudging((Judge(),), EXTRACT, counts) if panel is None else panel
        return list(judged(read(path), panel, jobs, nobody_died))

    return run


def test_evidence_is_that_of_all_pages_of_the_site(go: Any) -> None:
    other = image_site.row(0, url="http://other.example/", id="other")
    found = go(*map(image_site.row, range(3)), other, *map(image_site.row, range(3, 12)))
    counts = {page.id: (page.site, page.pages) for page in found}
    assert counts.pop("other") == ("other.example", 1)
    assert counts == {f"page-{number}": ("example.org", 12) for number in range(12)}
    for number, page in enumerate(page for page in found if page.id != "other"):
        redundancy = {img: verdict.redundancy for img, (verdict,) in page.images.items()}
        assert redundancy == {image_site.LOGO: 1, image_site.ADVERT: 1, image_site.photo(number): 1 / 12}
        assert list(redundancy) == [image_site.LOGO, image_site.ADVERT, image_site.photo(number)]


@pytest.mark.long
def test_any_number_of_processes_finds_the_same(go: Any) -> None:
    rows = [image_site.row(number % 12, id=number) for number in range(40)]
    assert go(*rows, jobs=2) == go(*rows)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "not JSON: Expecting property name enclosed in double quotes at character 3"),
        (b"[1]", "not JSON: Expecting '{' at character 1"),
        ({"url": "http://a.example/"}, 'there is no "html"'),
        ({"html": "<p>a"}, 'there is no "url"'),
        ({"html": "<p>a", "url": None}, 'there is no "url"'),
        ({"html": "<p>a", "url": "ftp://a.example/"}, '"url" is no http address'),
        ({"html": "<p>a", "url": "a/b.html"}, '"url" is no http address'),
        ({"html": "<p>a", "url": 7}, '"url" is no text'),
        ({"html": ["<p>a"], "url": "http://a.example/"}, '"html" is no text'),
    ],
)
def test_what_is_no_page_is_named_with_its_line(line: Any, why: str, go: Any, tmp_path: Path) -> None:
    first, broken, last = go(image_site.row(0), line, image_site.row(1))
    assert broken == Broken(f"{(tmp_path / 'pages.jsonl').as_posix()}: line 2", why)
    assert (first.pages, last.pages) == (2, 2)


def test_a_page_that_breaks_the_extractor_costs_itself(go: Any) -> None:
    def extract(page: Page) -> Extraction:
        if "tulip" in page.html:
            raise ZeroDivisionError("no tulips")
        return EXTRACT(page)

    first, broken, last = go(*map(image_site.row, range(3)), panel=ImageJudging((Judge(),), extract, {}))
    assert "(ZeroDivisionError: no tulips)" in broken.why
    assert len(first.images) == len(last.images) == 3


@pytest.mark.parametrize("html", ["", "<", "\0", "<p>no image", "<img>", '<img src="http://[">', "<img src='data:,'>"])
def test_odd_pages_give_no_images(html: str, go: Any) -> None:
    (page,) = go({"html": html, "url": "http://a.example/"})
    assert page.images == {}
    assert list(lines(page)) == []


@pytest.mark.parametrize(
    ("alts", "said"),
    [
        (["0.2", "0.7"], (False, 0.2)),
        (["0.7", "0.2"], (False, 0.2)),
        (["N0.6", "0.7"], (False, 0.7)),  # what is no noise comes before what is less probable
        (["N0.9", "N0.8", "N0.95"], (True, 0.8)),
    ],
)
def test_the_sighting_least_like_noise_counts(alts: list[str], said: tuple[bool, float], go: Any) -> None:
    html = "<p>a</p>".join(f'<img src="/a.png" alt="{alt}">' for alt in alts) + '<img src="/b.png" alt="0">'
    (page,) = go({"html": html, "url": "http://a.example/"}, panel=ImageJudging((ByAlt(),), EXTRACT, {}))
    assert {url: (verdict.is_noise, verdict.probability) for url, (verdict,) in page.images.items()} == {
        "http://a.example/a.png": said,
        "http://a.example/b.png": (False, 0),
    }


def test_pages_without_an_address_are_sites_of_their_own(go: Any) -> None:
    html = '<img src="/a.png"><img src="http://b.example/b.png">'
    rows = [{"html": html, "url": "", "id": n} for n in range(2)]
    first, second = go(*rows)
    assert first.site != second.site
    assert (first.pages, list(first.images)) == (1, ["http://b.example/b.png"])
    first, _ = go(*rows, panel=ImageJudging((Judge(),), EXTRACT, {}, "http://page.example/"))
    assert list(first.images) == ["http://page.example/a.png", "http://b.example/b.png"]


def test_only_pages_that_are_asked_for(go: Any) -> None:
    found = go(
        *map(image_site.row, range(3)), panel=ImageJudging((Judge(),), EXTRACT, {}, page_ids=frozenset(("page-1",)))
    )
    assert [page.id for page in found] == ["page-1"]


@pytest.mark.parametrize(
    ("id_", "shown"), [("a", "a"), (7, 7), ("", ""), (None, "http://a.example/"), ([1], [1]), ("\ud800", "\ud800")]
)
def test_lines(id_: Any, shown: Any, go: Any) -> None:
    (page,) = go({"html": '<img src="a.png" alt="N0.25">', "url": "HTTP://a.example/", "id": id_}, panel=_by_alt())
    (line,) = lines(page)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "page": shown,
        "img": "http://a.example/a.png",
        "verdict": "noise",
        "probability": 0.25,
        "keyword": None,
        "redundancy": None,
        "entropy": None,
        "reasons": [],
    }
    assert list(json.loads(line))[:4] == ["page", "img", "verdict", "probability"]


@pytest.mark.parametrize(
    ("for_people", "expected"),
    [
        (False, [{"code": "shown_on_pages", "values": {"shown": 3, "pages": 5}}]),
        (True, ["3 of 5 pages of the site show it"]),
    ],
)
def test_programs_read_codes_and_people_sentences(for_people: bool, expected: list[Any]) -> None:
    said = Verdict(True, 0.9, reasons=(Reason(NoiseReason.SHOWN_ON_PAGES, {"shown": 3, "pages": 5}),))
    (line,) = lines(JudgedPage("a", '"a"', "file", "site", 5, {"http://a.example/a.png": (said,)}), for_people)
    assert json.loads(line)["reasons"] == expected


def _by_alt() -> ImageJudging:
    return ImageJudging((ByAlt(),), EXTRACT, {})
