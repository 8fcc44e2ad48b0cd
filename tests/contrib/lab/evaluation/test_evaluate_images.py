"""`scrapy noise evaluate` as it is typed."""

import json
import re
from pathlib import Path
from typing import Any

import image_site
import pytest
from command_line import run_command
from saved_pages import PACK

from crawler.contrib.lab.evaluation.evaluate_images import models
from crawler.noise.image_evidence import Evidence, Sighting

FAST = ("-s", "EXTRACTOR=leaf-tags", "--jobs", "1")


@pytest.fixture
def evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command in a folder with labels and pages: exit status, what it wrote, what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WINNOW_DATA", raising=False)
    Path("labels.jsonl").write_bytes(image_site.labels())
    Path("pages.jsonl").write_bytes(image_site.pages())

    def give(*words: str) -> tuple[int, str, str]:
        return run_command(capsys, "noise", "evaluate", *words)

    return give


def test_all_models_in_one_table(evaluate: Any) -> None:
    status, out, said = evaluate("labels.jsonl", "--pages", "pages.jsonl", *FAST)
    assert (status, said) == (0, "")
    assert re.match(r"36 labels .*\b0 .*\n.* text 12, advert 12, navigation 12\.", out)
    rows = {line.split("  ")[0]: line.split()[-9:] for line in out.split("\n\n")[1].splitlines()[1:]}
    assert list(rows) == [
        "joint verdict",
        "keyword",
        "redundancy",
        "entropy",
        "the three joined",
        "everything is content",
    ]
    assert rows["redundancy"] == ["36", "24", "1.000", "1.000", "1.000", "1.000", "1.000", "1.000", "1.000"]
    assert rows["everything is content"] == ["36", "24", ".500", ".000", "1.000", "1.000", ".000", "-", ".000"]


def test_it_is_the_same_every_time(evaluate: Any) -> None:
    words = ("labels.jsonl", "--pages", "pages.jsonl", *FAST, "--json")
    first, second = evaluate(*words, "a.json"), evaluate(*words, "b.json")
    assert first == second
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    found = json.loads(Path("a.json").read_text())
    assert found["labels"] == {"given": 36, "not found": 0, "text": 12, "advert": 12, "navigation": 12}
    assert found["tables"]["model"]["redundancy"]["auc"] == 1
    assert found["tables"]["joint verdict, set"]["garden"]["links"] == 36


def test_what_is_not_found_is_counted(evaluate: Any) -> None:
    gone = {"set": "garden", "page": "page-1", "img": "http://a.example/", "label": "noise", "kind": "icon"}
    with Path("labels.jsonl").open("ab") as labels:
        labels.write(image_site.lines(gone, gone | {"page": "page-99"}, b"{"))
    status, out, said = evaluate("labels.jsonl", "--pages", "pages.jsonl", *FAST)
    assert status == 0
    assert re.match(r"38 labels .*\b2\b", out)
    assert re.fullmatch(r"noise evaluate: labels\.jsonl: line 39: .*\n", said)


def test_evidence_is_counted_over_all_files(evaluate: Any) -> None:
    rows = [image_site.row(number) for number in range(12)]
    Path("a.jsonl").write_bytes(image_site.lines(*rows[:6]))
    Path("b.jsonl.gz").write_bytes(PACK[".gz"](image_site.lines(*rows[6:])))
    parts = evaluate("labels.jsonl", *FAST, "--pages", "a.jsonl", "b.jsonl.gz")
    assert parts == evaluate("labels.jsonl", *FAST, "--pages", "pages.jsonl")


def test_a_file_called_like_a_set_is_for_that_set(evaluate: Any) -> None:
    Path("labels.jsonl").write_bytes(image_site.labels("garden") + image_site.labels("shop"))
    Path("shop.jsonl").write_bytes(image_site.lines(image_site.row(0)))
    _, out, _ = evaluate("labels.jsonl", *FAST, "--pages", "pages.jsonl", "shop.jsonl")
    assert re.match(r"72 labels .*\b33\b", out)


def test_pages_of_the_data_by_the_names_of_the_sets(evaluate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_DATA", ".")
    Path("extraction").mkdir()
    Path("extraction/garden.jsonl.xz").write_bytes(PACK[".xz"](image_site.pages()))
    Path("extraction/other.jsonl.xz").write_bytes(PACK[".xz"](b"{\n"))
    status, out, said = evaluate("labels.jsonl", *FAST)
    assert (status, said) == (0, "")
    assert re.match(r"36 labels .*\b0\b", out)
    Path("labels.jsonl").write_bytes(image_site.labels() + image_site.labels("shop"))
    status, _, said = evaluate("labels.jsonl", *FAST)
    assert status == 2
    assert re.search(r"'extraction/shop\.jsonl\.xz'.*--pages", said)


def test_lines_that_are_no_pages_are_named(evaluate: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.lines(b"{") + image_site.pages())
    status, out, said = evaluate("labels.jsonl", "--pages", "pages.jsonl", *FAST)
    assert said.startswith("noise evaluate: pages.jsonl: line 1: ")
    assert (status, len(said.splitlines())) == (0, 1)
    assert re.match(r"36 labels .*\b0\b", out)


@pytest.mark.parametrize(
    ("labels", "said"), [(b"", "contains no label"), (b"{}\n", "contains no label"), (..., "none of the")]
)
def test_nothing_to_say(labels: Any, said: str, evaluate: Any) -> None:
    Path("labels.jsonl").write_bytes(image_site.labels() if labels is ... else labels)
    Path("pages.jsonl").write_bytes(image_site.lines({"url": "http://a.example/", "html": "a"}))
    status, _, err = evaluate("labels.jsonl", "--pages", "pages.jsonl", "--json", "out.json", *FAST)
    assert status == 1
    assert said in err
    assert not Path("out.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the following arguments are required: LABELS.jsonl"),
        (["labels.jsonl", "b"], "unrecognized arguments: b"),
        (["labels.jsonl"], "no --pages FILE is given, and WINNOW_DATA names no folder"),
        (["none.jsonl", "--pages", "pages.jsonl"], "'none.jsonl' cannot be read"),
        (["labels.jsonl", "--pages", "none.jsonl"], "'none.jsonl' cannot be read"),
        (["labels.jsonl", "--pages"], "expected at least one argument"),
        (["labels.jsonl", "--pages", "pages.jsonl", "--lists", "none.txt"], "'none.txt' cannot be read"),
        (["labels.jsonl", "--pages", "pages.jsonl", "--json", "labels.jsonl"], "is an input and cannot be the output"),
        (["labels.jsonl", "--pages", "pages.jsonl", "--json", "no/a.json"], "'no/a.json' cannot be written"),
        (["labels.jsonl", "--pages", "pages.jsonl", "--json", "."], "'.' cannot be written"),
        (["labels.jsonl", "--pages", "pages.jsonl", "-s", "EXTRACTOR=magic"], "setting EXTRACTOR='magic' is wrong"),
        (["labels.jsonl", "--pages", "pages.jsonl", "--jobs", "x"], "argument --jobs: 'x' is wrong"),
        (["labels.jsonl", "--models", "keyword"], "unrecognized arguments: --models"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(words: list[str], said: str, evaluate: Any) -> None:
    status, out, err = evaluate(*words)
    assert (status, out) == (2, "")
    assert err.startswith("noise evaluate: ")
    assert said in err
    assert len(err.splitlines()) == 1


PAGE = "http://a.example/"
ADVERT = Sighting("http://b.example/ads/banner.gif", "", PAGE)
PHOTO = Sighting("http://a.example/bee.jpg", "http://b.example/track?1", PAGE, alt="A bee")


def counts(*pages: tuple[Sighting, ...]) -> Evidence:
    found = Evidence()
    for page in pages:
        found.see(page)
    return found


def test_names_in_the_order_of_the_table() -> None:
    names = ["joint verdict", "keyword", "redundancy", "entropy", "the three joined", "everything is content"]
    assert list(models(())) == names


def test_a_model_alone_scores_by_its_own_figure() -> None:
    evidence = counts(*[(ADVERT, PHOTO)] * 3, (ADVERT,))
    said = {name: model.judge(PHOTO, evidence) for name, model in models(()).items()}
    assert said["keyword"].probability == -1  # it knows nothing of the words, which is less than to know little
    assert said["redundancy"].probability == 0.75
    assert said["redundancy"].is_noise
    assert said["entropy"].probability == said["the three joined"].entropy > 0
    everything = said["everything is content"]
    assert (everything.is_noise, everything.probability) == (False, 0)


def test_all_three_speak_in_the_joined_one() -> None:
    said = models(())["the three joined"].judge(ADVERT, counts(*[(ADVERT, PHOTO)] * 3))
    assert None not in (said.keyword, said.redundancy, said.entropy)


def test_lists_say_what_they_would_block_or_what_leads_there(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("/ads/banner\n")
    model = models((path,))["filter lists"]
    linked = Sighting("http://a.example/c.jpg", "http://b.example/ads/banner/", PAGE)
    verdicts = [model.judge(one, Evidence()) for one in (ADVERT, PHOTO)]
    assert [(verdict.is_noise, verdict.probability) for verdict in verdicts] == [(True, 1), (False, 0)]
    path.write_text("||b.example^$document\n/ads/banner\n")
    assert models((path,)) is not None
    assert isinstance(model.judge(linked, Evidence()).is_noise, bool)


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        models((tmp_path / "none.txt",))
