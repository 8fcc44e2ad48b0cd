"""`scrapy noise train --labels state`: what people said of the images of a crawl is learned from."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import image_site
import pytest
from command_line import run_command
from missing import need
from sites import OPEN, STUB, Answer, Site, crawl, page, serving, stubbed
from sqlalchemy import Engine, select
from sqlalchemy.engine import URL

from crawler.contrib.lab.training import image_weights
from crawler.contrib.lab.training.image_examples import labelled_images
from crawler.demo.site import png
from crawler.noise.image_evidence import Evidence
from crawler.noise.learned_model import FEATURES as MODEL_FEATURES
from crawler.noise.learned_model import load
from crawler.store.database import open_database
from crawler.store.labels import CONTENT, NOISE, Label, put_label
from crawler.store.page_tables import LabelKind, evidence, verdict

need("lightgbm")

SITES, PAGES = 6, 3
STORY = "The {n} are shy, and rarely seen by those who talk while they walk along the river in the early morning. " * 3


def routes() -> dict[str, Any]:
    """A site whose pages show an image of their own, an advert and a logo."""
    links = {f"/{n}": f"page {n}" for n in range(PAGES)}
    found: dict[str, Any] = {"/robots.txt": "", "/": page("All animals.", links=links)}
    for n in range(PAGES):
        shown = f'<article><p>{STORY.format(n=n)}</p><img src="/photos/{n}.png" alt="{n}" width="300" height="200">'
        found[f"/{n}"] = (
            page(STORY.format(n=n), links=links) + f'<a href="/"><img src="/logo.png"></a>{shown}</article>'
        )
        found[f"/{n}"] += '<a href="http://ads.example/x"><img src="/ads/banner.png" width="468" height="60"></a>'
        found[f"/photos/{n}.png"] = Answer(png(str(n), 300, 200), content_type="image/png")
    for name in ("/logo.png", "/ads/banner.png"):
        found[name] = Answer(png(name, 60, 60), content_type="image/png")
    return found


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a crawl of some sites was run, whose images somebody labelled."""
    folder = tmp_path_factory.mktemp("labelled")
    names = [f"animals{n}.example" for n in range(SITES)]
    with serving(Site(routes())) as site:
        port = site.url.rstrip("/").rpartition(":")[2]
        seeds = ",".join(f"http://{name}:{port}/" for name in names)
        known = stubbed(folder, {name: ["127.0.0.1"] for name in names})
        assert crawl(folder, {"seeds": seeds}, OPEN | STUB, env=known).status == 0
    engine = open_database(URL.create("sqlite", database=str(folder / "output" / "crawl.db")))
    for one in made(engine):
        put_label(engine, one)
    engine.dispose()
    return folder


def made(engine: Engine) -> list[Label]:
    """What somebody says of all that was judged."""
    with engine.connect() as connection:
        rows = connection.execute(select(verdict).where(verdict.c.kind == "image")).all()
    return [
        Label(LabelKind.IMAGE, "topic", row.url, row.page, CONTENT if "/photos/" in row.url else NOISE, row.sight)
        for row in rows
    ]


@pytest.fixture
def state(crawled: Path) -> Iterator[Engine]:
    engine = open_database(URL.create("sqlite", database=str(crawled / "output" / "crawl.db")))
    yield engine
    engine.dispose()


@pytest.fixture
def train(crawled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command in that folder: exit status, what it wrote, what it said."""
    monkeypatch.chdir(crawled)
    monkeypatch.delenv("WINNOW_DATA", raising=False)
    monkeypatch.setattr(image_weights, "TREES", 20)

    def give(*words: str) -> tuple[int, str, str]:
        return run_command(capsys, "noise", "train", *words)

    return give


def test_it_learns_from_labels(train: Any) -> None:
    status, out, said = train("--labels", "state", "-o", "w.npz")
    assert status == 0
    links = SITES * (PAGES + 2)
    assert re.findall(r"\d+", said.splitlines()[0]) == [f"{links}", f"{SITES}"]
    assert f"Trained on {links} of {links} links" in out
    assert load(Path("w.npz")).limit > 0
    card = Path("w.md").read_text()
    assert f"| crawl topic | {links} | {2 * SITES} | 0 | {SITES} |" in card
    assert "Kinds" not in card


def test_labels_of_crawls_add_to_others(train: Any) -> None:
    Path("pages.jsonl").write_bytes(image_site.pages())
    Path("labels.jsonl").write_bytes(image_site.labels())
    both = ("labels.jsonl", "--pages", "pages.jsonl", "--jobs", "1", "--labels", "state", "--crawl", "topic")
    status, out, _ = train(*both, "-o", "both.npz")
    assert status == 0
    assert f"Trained on {36 + SITES * (PAGES + 2)} of " in out
    assert "| garden | 36 |" in Path("both.md").read_text()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--labels", "state", "--crawl", "other"), 1, "; these are of 0 sites"),
        (("--labels", "hearsay"), 2, "argument --labels: invalid choice: 'hearsay'"),
        (("--crawl", "topic"), 2, "--crawl goes with --labels state"),
        (("--labels", "state", "--pages", "x"), 2, "--pages FILE goes with LABELS.jsonl"),
        (("--labels", "state", "a", "b"), 2, "unrecognized arguments: b"),
        (("--labels", "state", "-s", "OUTPUT_DIR=nowhere"), 2, "no crawl was ever run here (nowhere/crawl.db)"),
        (("--labels", "state", "-s", "STATE_URL=x"), 2, "setting STATE_URL is wrong"),
    ],
)
def test_what_cannot_be_learned(train: Any, words: tuple[str, ...], status: int, said: str) -> None:
    ended, out, heard = train(*words)
    assert (ended, out) == (status, "")
    assert said in heard.splitlines()[-1]


def test_the_features_are_those_of_the_crawl(state: Engine) -> None:
    """With what it has counted of all pages of the site, though the page of each is one."""
    found = labelled_images(state.url, None, lambda _: None)
    assert {one.pages for one in found} == {PAGES + 1}
    share = MODEL_FEATURES.index("share of other pages with it")
    shares = {one.label.is_noise: one.features[0][share] for one in found}
    assert shares[False] == 0 < shares[True]
    with state.connect() as connection:
        pages = sum(Evidence.of(text).pages for text in connection.execute(select(evidence.c.counts)).scalars())
    assert pages == SITES * (PAGES + 1)
