"""The learned model: its sums by hand, its file, and what the shipped weights say of a small page."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from image_pages import TEXT, seen

from crawler.errors import ModelFileError
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.learned_model import (
    CODES,
    FEATURES,
    MOST_LOGIT,
    OF_SITE,
    SPLITS,
    UNKNOWN,
    WEIGHTS,
    NoiseModel,
    features_of,
    load,
    probability,
    save,
    shipped,
)
from crawler.noise.verdict import MODELS, NOTHING, Judge, Verdict, scores_of
from crawler.noise.verdict_reasons import NoiseReason
from crawler.translation.reasons import Reason

FIRST, SECOND, THIRD = 0, 7, 20


def model(**changed: object) -> NoiseModel:
    """Two trees: the second asks one feature at two edges, and has a split that asks nothing."""
    found = NoiseModel(
        splits=np.array([[FIRST, SECOND], [SECOND, SECOND], [THIRD, 0]]),
        edges=np.array([[0.5, 1.0], [1.0, 2.0], [0.0, 0.0]], np.float32),
        tables=np.array([[0, 1, 2, 3, 4, 5, 6, 7], [0, 10, 20, 30, 0, 10, 20, 30]], np.float32),
        usual=np.zeros(len(FEATURES), np.float32),
        limit=0.9,
    )
    return replace(found, **changed)


def features(first: float = 0, second: float = 0, third: float = 0) -> np.ndarray:
    found = np.zeros(len(FEATURES), np.float32)
    found[[FIRST, SECOND, THIRD]] = first, second, third
    return found


def test_logits() -> None:
    rows = [
        (features(), 0),
        (features(first=0.5), 0),
        (features(first=0.6), 1),
        (features(second=1), 0),
        (features(second=1.5), 2 + 10),
        (features(second=2.5), 2 + 30),
        (features(third=0.1), 4),
        (features(1, 3, 1), 7 + 30),
    ]
    for row, logit in rows:
        assert model().logits(row[None]).tolist() == [logit]


def test_logits_of_many_rows() -> None:
    assert model().logits(np.stack([features(), features(first=1), features(third=1)])).tolist() == [0, 1, 4]


def test_probabilities() -> None:
    rows = [(0, 0.5), (1, 0.7310585786), (-1, 0.2689414214), (1e9, 1.0), (-1e9, 0.0), (MOST_LOGIT, 1.0)]
    for logit, likely in rows:
        assert probability(logit) == pytest.approx(likely)


ONE = Sighting(
    "http://a.example/p.jpg?w=3", "", "", compute_features=lambda: tuple(range(len(FEATURES) - len(OF_SITE)))
)


def test_features_of_the_site() -> None:
    rows = [
        (0, 0, (0, 0, UNKNOWN)),
        (1, 1, (1, 0, UNKNOWN)),
        (2, 1, (2, 0, 0.0)),
        (2, 2, (2, 1, 1.0)),
        (5, 3, (5, 2, 0.5)),
        (5, 0, (5, 0, 0.0)),
    ]
    for pages, shown, expected in rows:
        evidence = Evidence(pages=pages)
        evidence.pages_by_address["a.example/p.jpg"] = shown
        found = features_of(ONE, evidence, None, 0.25)
        assert found[: -len(OF_SITE)].tolist() == list(ONE.features)
        of_site = (np.log1p(expected[0]), np.log1p(expected[1]), expected[2], UNKNOWN, 0.25)
        assert found[-len(OF_SITE) :].tolist() == pytest.approx(of_site)


def test_an_image_without_features_is_nothing() -> None:
    one = Sighting("http://a.example/ads/banner.gif", "", "")
    scores = scores_of(one, Evidence())
    assert MODELS["learned"](one, Evidence(), scores, Judge()) == NOTHING
    assert Judge().judge(one, Evidence()) == Verdict(False, 0.0, keyword=1.0)


@pytest.mark.parametrize(("limit", "is_noise"), [(0.0, True), (1.0, False)])
def test_the_limit_can_be_given(limit: float, is_noise: bool) -> None:
    (one,) = seen("<img src=/p.jpg>")
    assert Judge(learned_limit=limit).judge(one, Evidence()).is_noise is is_noise


@pytest.mark.parametrize(("limit", "is_noise"), [(0.4999, True), (0.5, False)])
def test_noise_is_over_the_limit(limit: float, is_noise: bool) -> None:
    even = model(tables=np.zeros((2, CODES), np.float32), limit=limit)
    (one,) = seen("<img src=/p.jpg>")
    verdict = Judge(learned=even).judge(one, Evidence())
    assert (verdict.is_noise, verdict.probability) == (is_noise, 0.5)


def test_a_model_comes_back(tmp_path: Path) -> None:
    save(model(), tmp_path / "w.npz")
    found = load(tmp_path / "w.npz")
    for name in ("splits", "edges", "tables", "usual", "limit"):
        assert np.array_equal(getattr(found, name), getattr(model(), name))
    save(found, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "w.npz").read_bytes()


def changed(**arrays: object) -> Callable[[Path], object]:
    """Writes the shipped weights with some of them changed, or left out where they are None."""

    def write(path: Path) -> None:
        with np.load(WEIGHTS) as held, path.open("wb") as file:
            found = {**held, **arrays}
            np.savez_compressed(file, **{name: rows for name, rows in found.items() if rows is not None})

    return write


TREES = len(shipped().tables)
FILES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("weights"),
    "truncated": lambda path: path.write_bytes(WEIGHTS.read_bytes()[:-500]),
    "half": lambda path: path.write_bytes(WEIGHTS.read_bytes()[:5_000]),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"splits": [1]})),
    "one array": lambda path: np.save(path.open("wb"), np.zeros(3)),
    "objects": changed(limit=np.array([None])),
    "other features": changed(names=np.array([*FEATURES[:-1], "luck"])),
    "signs in another order": changed(names=np.array([FEATURES[1], FEATURES[0], *FEATURES[2:]])),
    "fewer features": changed(names=np.array(FEATURES[:-1])),
    "no features": changed(names=None),
    "no tables": changed(tables=None),
    "words": changed(edges=np.full((SPLITS, TREES), "a")),
    "two limits": changed(limit=np.array([0.5, 0.6])),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", FILES)
def test_what_is_not_weights_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    FILES[name](path)
    with pytest.raises(ModelFileError, match=r"^'.*w\.npz' "):
        load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="holds no weights"):
        load(tmp_path / "w.npz")


def test_the_shipped_weights() -> None:
    found = shipped()
    assert found is shipped()
    assert found.tables.shape == (400, CODES)
    assert 0.5 < found.limit < 1


MENU = "<nav class=menu><a href=/><img src=/img/logo.png alt=Post width=120 height=40></a> <a href=/n>News</a></nav>"
BANNER = (
    '<div class="ad banner"><a href="http://ads.network.example/click?1">'
    "<img src=http://ads.network.example/728x90.gif width=728 height=90></a></div>"
)
PHOTO = "<figure><img src=/2024/05/bridge.jpg alt='The bridge' width=800 height=500><figcaption>The bridge</figure>"
STORY = (
    "<html><head><title>The flood</title><meta property=og:image content=http://www.example.org/2024/05/flood.jpg>"
    f"</head><body>{MENU}{BANNER}<header><img src=/2024/05/flood.jpg alt='The flood'></header>"
    f"<main><article><h1>The flood</h1>{f'<p>{TEXT * 3}</p>' * 4}{PHOTO}{f'<p>{TEXT * 3}</p>' * 4}</article></main>"
    "<footer><a href=/n>News</a></footer></body></html>"
)


def test_what_the_shipped_weights_say() -> None:
    rows = [
        ("/img/logo.png", True, "shown_on_pages"),
        ("728x90.gif", True, "links_to_site"),
        ("flood.jpg", False, "head"),
        ("bridge.jpg", False, "in_main_text"),
    ]
    for name, is_noise, reason in rows:
        evidence = Evidence()
        for at in range(4):
            shown = seen(STORY.replace("flood", f"flood{at}").replace("bridge", f"bridge{at}"))
            evidence.see(shown)
        shown = seen(STORY)
        evidence.see(shown)
        (one,) = [one for one in shown if one.url.endswith(name)]
        verdict = Judge().judge(one, evidence)
        assert verdict.is_noise is is_noise, verdict
        assert reason in [one.code for one in verdict.reasons]


@pytest.mark.parametrize(
    ("limit", "is_noise", "says"), [(0.9999, False, True), (0.2, True, False), (None, True, False)]
)
def test_what_is_kept_though_it_is_likely_noise_says_why(limit: float | None, is_noise: bool, says: bool) -> None:
    shown = seen(STORY)
    evidence = Evidence()
    evidence.see(shown)
    (logo,) = [one for one in shown if one.url.endswith("logo.png")]
    verdict = Judge(models=("learned",), learned_limit=limit).judge(logo, evidence)
    assert verdict.is_noise is is_noise
    assert (verdict.reasons[0] == Reason(NoiseReason.BELOW_LIMIT, {"percent": 99.99})) is says
    assert NoiseReason.BELOW_LIMIT not in [one.code for one in verdict.reasons[1:]]
