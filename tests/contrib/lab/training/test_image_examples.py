"""How the learned model of images is made: on made-up links, in seconds."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import image_site
import numpy as np
import pytest
from missing import need
from saved_pages import PACK

from crawler.contrib.lab.evaluation.gold import ImageLabel, read_labels
from crawler.contrib.lab.training import image_weights
from crawler.contrib.lab.training.examples import TooFewError
from crawler.contrib.lab.training.image_examples import ImageExample, find_images
from crawler.contrib.lab.training.image_weights import FOLDS, MARGIN, TrainedImageModel, limit, noise_probability, train
from crawler.noise.learned_model import CODES, FEATURES, SPLITS, Floats, NoiseModel, load, save

need("lightgbm")

WIDTH, ALT, SHARE = (FEATURES.index(name) for name in ("width", "alt", "share of other pages with it"))
SITES = 30
NOTHING = 1e-34  # what LightGBM takes for 0


def sighted(site: str, is_noise: bool, *rows: Floats, unsure: bool = False) -> ImageExample:
    label = ImageLabel("made", "1", "http://a.example/p.jpg", is_noise, "icon" if is_noise else "text", unsure=unsure)
    return ImageExample(label, site, 3, rows)


def links(sites: int = SITES, each: int = 12) -> list[ImageExample]:
    """Noise is small, and shown on many pages; what is written beside it says nothing."""
    draw = np.random.default_rng(5)
    found = []
    for at in range(sites * each):
        is_noise = bool(draw.random() < 0.6)
        row = draw.normal(size=len(FEATURES)).astype(np.float32)
        row[WIDTH] = draw.normal(3 if is_noise else 6, 1)
        row[SHARE] = np.clip(draw.normal(0.6 if is_noise else 0.2, 0.3), 0, 1)
        found.append(sighted(f"site{at % sites}", is_noise, row))
    return found


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> Any:
    """Fewer trees than the shipped model has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image_weights, "TREES", 60)
        yield


@pytest.fixture(scope="module")
def trained(few_trees: None) -> TrainedImageModel:
    return train(links(), 0, lambda _: None)


def test_it_learns(trained: TrainedImageModel) -> None:
    noise = np.array([one.label.is_noise for one in links()])
    assert trained.likely[noise].mean() > 0.8 > 0.4 > trained.likely[~noise].mean()
    model = trained.model
    assert (model.splits.shape, model.tables.shape) == ((SPLITS, 60), (60, CODES))
    assert model.usual == pytest.approx(np.median([one.features[0] for one in links()], 0))
    assert (trained.likely[~noise] <= model.limit).mean() >= 1 - image_weights.LOST


def test_the_same_seed_makes_the_same_bytes(trained: TrainedImageModel, tmp_path: Path) -> None:
    for name, seed in (("again", 0), ("other", 1)):
        save(train(links(), seed, lambda _: None).model, tmp_path / name)
    save(trained.model, tmp_path / "first")
    first, again, other = ((tmp_path / name).read_bytes() for name in ("first", "again", "other"))
    assert first == again != other
    by_seed = [image_weights._fit(links(), seed) for seed in (0, 1)]
    assert not np.array_equal(by_seed[0].splits, by_seed[1].splits)


def test_tables_are_the_trees(few_trees: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import lightgbm

    boosters = []
    make = lightgbm.train
    monkeypatch.setattr(lightgbm, "train", lambda *given: boosters.append(make(*given)) or boosters[-1])
    found = links()
    model = image_weights._fit(found, 0)
    rows = np.concatenate([np.stack([one.features[0] for one in found]), _at_the_edges(model)])
    assert model.logits(rows) == pytest.approx(boosters[0].predict(rows, raw_score=True), abs=1e-6)


def _at_the_edges(model: NoiseModel) -> Floats:
    """Rows whose features lie on the edges, right over and right under them."""
    rows = []
    for splits, edges in zip(model.splits.T, model.edges.T, strict=True):
        for moved in (edges, np.nextafter(edges, np.float32(np.inf)), np.nextafter(edges, np.float32(-np.inf))):
            row = model.usual.copy()
            row[splits] = moved
            rows.append(row)
    found = np.stack(rows)
    found[np.abs(found) < NOTHING] = 0
    return found


def test_edges_are_rounded_down() -> None:
    rows = [(0.5, 0.5), (1 + 2**-30, 1.0), (1 - 2**-30, 1 - 2**-24), (-1 - 2**-30, -1 - 2**-23)]
    for edge, rounded in rows:
        found = image_weights._rounded_down(np.array([edge]))
        assert (found.dtype, float(found[0])) == (np.float32, rounded)


def test_more_pages_that_show_it_are_never_less_like_noise(trained: TrainedImageModel) -> None:
    model = trained.model
    for one in links(3, 10):
        rows = np.repeat(one.features[0][None], 50, 0)
        rows[:, SHARE] = np.linspace(-1, 1, 50)
        assert (np.diff(model.logits(rows)) >= -1e-6).all()
    assert SHARE in model.splits


@pytest.mark.parametrize("sites", [7, 30])
def test_a_site_is_never_on_both_sides(sites: int, monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[set[str]] = []
    asked: list[tuple[int, str]] = []
    model = NoiseModel(
        np.zeros((SPLITS, 1), int), np.zeros((SPLITS, 1)), np.zeros((1, CODES)), np.zeros(len(FEATURES)), 0.5
    )

    def fit(found: list[ImageExample], seed: int) -> NoiseModel:
        known.append({one.site for one in found})
        return model

    def judge(_: NoiseModel, one: ImageExample) -> float:
        asked.append((len(known) - 1, one.site))
        return 0.5

    monkeypatch.setattr(image_weights, "_fit", fit)
    monkeypatch.setattr(image_weights, "noise_probability", judge)
    train(links(sites), 0, lambda _: None)
    assert all(site not in known[part] for part, site in asked)
    assert sorted(site for _, site in asked) == sorted(one.site for one in links(sites))
    assert len(known) == FOLDS + 1
    assert len(known[-1]) == sites


ONE_SITE_IN_20 = [[0.1] * 50] * 19
ONE_SITE_IN_19 = [[0.1] * 50] * 18


def test_the_limit_loses_no_more_content_than_it_may() -> None:
    rows = [
        ([np.linspace(0.001, 1, 1000)], 0.99),
        ([[0.3]], 0.3),
        ([[0.2, 0.9, 0.4]], 0.9),
        ([*ONE_SITE_IN_20, [0.1, 0.1, 0.8]], 0.1),
        ([*ONE_SITE_IN_19, [0.1, 0.1, 0.8]], 0.8),
        ([*ONE_SITE_IN_20, [0.8] * 11], 0.1),
        ([*ONE_SITE_IN_20, [0.8] * 12], 0.8),
        ([[1.0] * 9], 1 - MARGIN),
        ([[0.0] * 9], MARGIN),
    ]
    for content_of_sites, chosen in rows:
        assert limit(content_of_sites) == pytest.approx(chosen)


def test_an_image_is_judged_by_its_best_place(trained: TrainedImageModel) -> None:
    small, large = np.zeros((2, len(FEATURES)), np.float32)
    small[WIDTH], large[WIDTH] = 2, 7
    alone = [noise_probability(trained.model, sighted("a", True, row)) for row in (small, large)]
    assert noise_probability(trained.model, sighted("a", True, small, large)) == min(alone) == alone[1]


@pytest.mark.parametrize("sites", [FOLDS - 1, FOLDS])
def test_so_many_sites_there_must_be(sites: int) -> None:
    if sites < FOLDS:
        with pytest.raises(TooFewError, match=r"\b5 sites are needed, .* 4 sites$"):
            train(links(sites), 0, lambda _: None)
    else:
        assert len(train(links(sites), 0, lambda _: None).likely) == sites * 12


@pytest.mark.parametrize("is_noise", [True, False])
def test_there_must_be_content_and_noise(is_noise: bool) -> None:
    found = [one for one in links() if one.label.is_noise is is_noise]
    with pytest.raises(TooFewError, match=r"\b5 sites are needed, "):
        train(found, 0, lambda _: None)


def test_links_that_say_nothing_give_trees_that_say_nothing(tmp_path: Path) -> None:
    row = np.zeros(len(FEATURES), np.float32)
    found = [sighted(f"site{at}", at % 2 == 0, row) for at in range(40)]
    made = train(found, 0, lambda _: None)
    assert made.likely == pytest.approx(0.5, abs=0.1)
    save(made.model, tmp_path / "w.npz")
    assert noise_probability(load(tmp_path / "w.npz"), found[0]) == pytest.approx(0.5, abs=0.01)


def test_what_a_reader_was_not_sure_of_weighs_less() -> None:
    small = np.zeros(len(FEATURES), np.float32)
    small[WIDTH] = 2
    large = np.zeros((50, len(FEATURES)), np.float32)
    large[:, WIDTH] = np.linspace(6, 8, 50)
    content = [sighted("t", False, row) for row in large]

    def likely(unsure: bool) -> float:
        """Of small images that one reader calls noise and another, who may be unsure, content."""
        both = [sighted(f"s{at}", at % 2 == 0, small, unsure=unsure and at % 2 == 1) for at in range(100)]
        model = image_weights._fit(both + content, 0)
        return noise_probability(model, both[0])

    assert likely(unsure=False) == pytest.approx(0.5, abs=0.05)
    assert likely(unsure=True) == pytest.approx(2 / 3, abs=0.05)


HTML = "<p>Text.<img src=/p.jpg><p>More text.<img src=/p.jpg>"


def found(folder: Path, labels: list[ImageLabel], **files: bytes) -> tuple[list[ImageExample], list[str]]:
    """What is found on the pages of some files, and what was said."""
    said: list[str] = []
    paths = []
    for name, data in files.items():
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_bytes(data)
    return find_images(labels, paths, 1, said.append), said


def test_links_on_their_pages(tmp_path: Path) -> None:
    (tmp_path / "labels").write_bytes(image_site.labels())
    labels = read_labels(tmp_path / "labels")[0]
    links, said = found(tmp_path, labels, pages=image_site.pages())
    assert [re.findall(r"\d+", line) for line in said] == [["36", "36", "1"]]
    assert {one.label for one in links} == set(labels)
    assert {(one.site, one.pages, len(one.features)) for one in links} == {("example.org", image_site.PAGES, 1)}
    share = FEATURES.index("share of other pages with it")
    assert {one.features[0][share] for one in links if one.label.is_noise} == {1.0}
    assert {one.features[0][share] for one in links if not one.label.is_noise} == {0.0}


@pytest.mark.parametrize(
    ("url", "img", "site"),
    [
        ("http://www.example.org/1", "http://www.example.org/p.jpg", "example.org"),
        ("", "http://page.example/p.jpg", "pages 7"),
    ],
)
def test_the_site_of_a_page(url: str, img: str, site: str, tmp_path: Path) -> None:
    label = ImageLabel("x", "7", img, True, "icon")
    (one,), _ = found(tmp_path, [label], pages=image_site.lines({"id": 7, "url": url, "html": HTML}))
    assert (one.label, one.site, one.pages) == (label, site, 1)
    assert len(one.features) == 2  # places where it stands


def test_pages_of_sets_with_the_same_ids(tmp_path: Path) -> None:
    labels = [ImageLabel(name, "1", f"http://{name}.example/p.jpg", True, "icon") for name in ("a", "b")]
    pages = {name: image_site.lines({"id": 1, "url": f"http://{name}.example/", "html": HTML}) for name in ("a", "b")}
    links, _ = found(tmp_path, labels, **pages)
    assert [(one.label.set, one.site) for one in links] == [("a", "a.example"), ("b", "b.example")]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    label = ImageLabel("x", "1", "http://a.example/p.jpg", True, "icon")
    page = {"id": 1, "url": "http://a.example/", "html": HTML}
    links, said = found(tmp_path, [label, replace(label, page="2")], pages=image_site.lines(b"{", {"html": "x"}, page))
    assert len(links) == 1
    assert [line.rpartition("pages.jsonl: ")[2][:6] for line in said[:2]] == ["line 1", "line 2"]
    assert [re.findall(r"\d+", line) for line in said[2:]] == [["1", "2", "1"]]


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    label = ImageLabel("x", "page-0", image_site.photo(0), False, "text")
    (tmp_path / "pages.jsonl.gz").write_bytes(PACK[".gz"](image_site.pages())[:-4])
    said: list[str] = []
    assert len(find_images([label], [tmp_path / "pages.jsonl.gz"], 1, said.append)) == 1
    assert said[0].startswith(f"{tmp_path}/pages.jsonl.gz")
    assert len(said) == 2
