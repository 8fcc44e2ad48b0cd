import math
import os
import signal
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from crawler.contrib.lab.evaluation.gold import GoldPage, GoldSet
from crawler.contrib.lab.evaluation.method_process import MethodOutput
from crawler.contrib.lab.evaluation.method_scores import WORST, EvaluationPlan, ScoredPage, figures, judge
from crawler.contrib.lab.evaluation.text_metrics import PageScorer

HTML = "<p>" + "x" * 93 + "</p>"


def sample(gold: str, text: str, seconds: float = 0.5, failure: str = "", host: str = "") -> ScoredPage:
    page = GoldPage("1", f"http://{host}/" if host else "", "", "", HTML, gold)
    return ScoredPage(page, MethodOutput(text, seconds, failure), PageScorer(page).score(text))


def test_figures_are_those_of_a_set() -> None:
    found = figures(
        [
            sample("a b c d e", "a b c d x"),  # shingles 1/2, 1/2, words 4/5
            sample("a b c d", ""),  # no precision, recall 0, words 0
            sample("a b c d", "a b c d", 0.0, "ValueError"),  # 1, 1, 1
        ]
    )
    assert (found.pages, found.failed) == (3, 1)
    assert (found.precision, found.recall) == ((1 / 2 + 1) / 2, (1 / 2 + 0 + 1) / 3)
    assert found.f1 == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert found.word_f1 == pytest.approx((0.8 + 0 + 1) / 3)
    assert found.right == pytest.approx(1 / 3)
    assert found.grades == pytest.approx({"excellent": 1 / 3, "good": 0, "medium": 1 / 3, "poor": 1 / 3})
    assert found.rate == pytest.approx((4 / 5 + 0 + 1) / 3)
    assert (found.leaf_precision, found.leaf_recall) == (None, None)
    assert found.reduction == pytest.approx(1 - (9 + 0 + 7) / 300)
    assert found.speed == 2 / 1.0
    assert found.f1_interval is not None
    assert found.f1_interval[0] <= found.f1 <= found.f1_interval[1]


def test_leaves_are_those_of_all_pages_together() -> None:
    html = "<p>One two three four.</p><p>Five six seven eight.</p>"
    page = GoldPage("1", "", "", "", html, "One two three four.")
    sheet = PageScorer(page)
    texts = ["One two three four.", "One two three four. Five six seven eight.", ""]
    found = figures([ScoredPage(page, MethodOutput(text, 1), sheet.score(text)) for text in texts])
    assert (found.leaf_precision, found.leaf_recall) == (2 / 3, 2 / 3)


def test_no_figure_is_not_a_number() -> None:
    rows = [
        [sample("", "")],
        [sample("a b", "", 0.0)],
        [sample("", "a b"), sample("", "")],
        [sample("a", "a", host="one"), sample("a", "b", host="one")],
    ]
    for samples in rows:
        for value in asdict(figures(samples)).values():
            assert not isinstance(value, float) or math.isfinite(value)


def test_a_single_page_has_no_interval() -> None:
    found = figures([sample("a b", "a b")])
    assert (found.f1, found.f1_interval, found.word_f1_interval) == (1, None, None)


def gold_set() -> GoldSet:
    pages = [
        GoldPage(str(n), f"http://h{n}.example/", "en" if n % 2 else "zh", "", f"<p>It is {n}.", "It is 1.")
        for n in range(6)
    ]
    return GoldSet("numbers", tuple(pages), ())


def test_groups_are_judged_after_their_set() -> None:
    whole, english, chinese = judge(gold_set(), EvaluationPlan(("leaf-tags",), by="lang"), lambda *what: None)
    assert [whole.name, english.name, chinese.name] == ["numbers", "numbers lang=en", "numbers lang=zh"]
    assert [verdict.is_group for verdict in (whole, english, chinese)] == [False, True, True]
    counts = [verdict.judged[0].figures.pages for verdict in (whole, english, chinese) if verdict.judged[0].figures]
    assert counts == [6, 3, 3]
    assert english.judged[0].f1s == whole.judged[0].f1s[1::2]
    assert len({verdict.fingerprint for verdict in (whole, english, chinese)}) == 3
    (of,) = judge(gold_set(), EvaluationPlan(("leaf-tags",), by=""), lambda *what: None)
    assert of.fingerprint == whole.fingerprint


@pytest.mark.long
def test_methods_at_work_at_once_give_the_same() -> None:
    ticks: list[tuple[str, str, int, int]] = []
    (one,) = judge(gold_set(), EvaluationPlan(("leaf-tags", "auto")), lambda *what: ticks.append(what))
    (two,) = judge(gold_set(), EvaluationPlan(("leaf-tags", "auto"), jobs=2), lambda *what: None)
    assert [judged.f1s for judged in one.judged] == [judged.f1s for judged in two.judged]
    assert one.comparisons == two.comparisons
    assert ticks == [("numbers", method, done, 6) for method in ("leaf-tags", "auto") for done in range(1, 7)]
    for judged in one.judged:
        assert [sample.score.f1 for sample in judged.worst] == sorted(judged.f1s)[:WORST]


def test_ctrl_c_does_not_wait_for_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"
    code = f"import time\ndef extract_text(html):\n    open({str(begun)!r}, 'w').close()\n    time.sleep(60)"
    (tmp_path / "html_text.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    interrupted_at = []

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.02)
        interrupted_at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            judge(gold_set(), EvaluationPlan(("html-text",)), lambda *what: None)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert time.monotonic() - interrupted_at[0] < 20  # a page may take 30 s
