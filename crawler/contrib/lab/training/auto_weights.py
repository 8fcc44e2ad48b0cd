"""Trains the shipped weights of `auto`, and writes their card.

1. All pages are read, and the outline of each is kept.
2. A model is trained without one part of the sites, and judged on the pages of this part.
3. The model to ship is trained on all pages. It is judged on the pages of the validation sets whose sites it was not
   trained on. Both models are judged after they were saved and loaded, because this rounds weights to half precision.
4. The weights and their card are put in place, both or neither.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.contrib.lab.evaluation.text_metrics import CountedText, f1, mean, precision_recall
from crawler.contrib.lab.training import auto_model, examples, gradient_descent
from crawler.contrib.lab.training.auto_model import FOLDS, train
from crawler.contrib.lab.training.card import card, escaped, put_in_place
from crawler.contrib.lab.training.examples import (
    PageExample,
    SetSummary,
    Tell,
    TrainingPage,
    example,
    parts_of,
    read_pages,
    snippets,
)
from crawler.extraction.auto import auto
from crawler.extraction.auto.model import PAGE_TYPES, Model, load, save
from crawler.translation.message import counted

CARD = "CARD.md"
COLUMNS = ("pages", "precision", "recall", "shingle F1", "word F1", "page type")
HELD_OUT_PART = 0
"""The part of the sites that is held out from the first model."""
WEAKEST_ROWS = 3
"""Rows of each table that the card lists as the weakest."""


@dataclass(frozen=True, slots=True)
class PageScore:
    """The scores of a model on a page with gold text."""

    page_type: str
    """The type that the page's line in the set declares; empty if there is none, or `auto` does not know it."""
    precision: float | None
    """Shingle precision; None if the text is empty."""
    recall: float | None
    """Shingle recall; None if the gold text is empty."""
    word_f1: float
    is_type_right: bool
    """Whether `auto` found the declared type; meaningless if there is none."""


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """The average scores of a model on many pages."""

    pages: int
    precision: float
    recall: float
    f1: float
    word_f1: float
    typed: int
    """How many of the pages declare a type that `auto` knows."""
    accuracy: float | None
    """The share of the `typed` pages whose type was right; None if there are none."""


def score(row: TrainingPage, model: Model) -> PageScore:
    """The score of the text that a model extracts from a page with gold text."""
    extraction = auto(row.page, model=model)
    text = CountedText(extraction.text)
    gold = CountedText(row.gold or "")
    precision, recall = precision_recall(text.shingles, gold.shingles)
    word_precision, word_recall = precision_recall(text.words, gold.words)
    page_type = row.page_type if row.page_type in PAGE_TYPES else ""
    return PageScore(
        page_type=page_type,
        precision=precision,
        recall=recall,
        word_f1=f1(word_precision or 0.0, word_recall or 0.0),
        is_type_right=extraction.page_type == page_type,
    )


def figures(scores: Sequence[PageScore]) -> ModelFigures:
    """The averages over at least one page; the F1 is that of the average precision and recall."""
    precision = mean(page_score.precision for page_score in scores) or 0.0
    recall = mean(page_score.recall for page_score in scores) or 0.0
    typed = [page_score.is_type_right for page_score in scores if page_score.page_type]
    words = sum(page_score.word_f1 for page_score in scores) / len(scores)
    return ModelFigures(
        pages=len(scores),
        precision=precision,
        recall=recall,
        f1=f1(precision, recall),
        word_f1=words,
        typed=len(typed),
        accuracy=mean(typed),
    )


def by_type(scores: Sequence[PageScore]) -> dict[str, ModelFigures]:
    scores_by_type = {
        kind: [page_score for page_score in scores if page_score.page_type == kind] for kind in PAGE_TYPES
    }
    return {kind: figures(type_scores) for kind, type_scores in scores_by_type.items() if type_scores}


def cells(averages: ModelFigures) -> tuple[str, ...]:
    """The figures as text, in the order of COLUMNS.

    >>> cells(ModelFigures(1_200, 0.9, 0.8, 0.847, 0.85, 0, None))
    ('1,200', '0.900', '0.800', '0.847', '0.850', '–')
    """
    shares = (f"{share:.3f}" for share in (averages.precision, averages.recall, averages.f1, averages.word_f1))
    return (
        f"{averages.pages:,}",
        *shares,
        "–" if averages.accuracy is None else f"{averages.accuracy:.3f} of {averages.typed:,}",
    )


@dataclass(frozen=True, slots=True)
class AutoTraining:
    """A trained model, with the values for its card."""

    sets: list[SetSummary]
    """The sets that the model was trained on."""
    validation: list[SetSummary]
    examples: int
    """How many pages the model was trained on."""
    held_out: dict[str, list[PageScore]]
    """By set, the scores on pages of held-out sites, of a model trained without them."""
    validated: dict[str, list[PageScore]]
    """By set, the scores of the trained model on pages of validation sets."""
    model: Model
    seed: int
    size: int
    """The size of the weights in bytes."""


def tables(training: AutoTraining) -> list[tuple[str, dict[str, ModelFigures]]]:
    """The figures in groups, each with its title."""
    held_out = [score for scores in training.held_out.values() for score in scores]
    groups = [
        ("pages of held-out sites", {name: figures(scores) for name, scores in training.held_out.items()}),
        ("the same by type of page", by_type(held_out)),
        ("validation", {name: figures(scores) for name, scores in training.validated.items()}),
    ]
    return [(title, rows) for title, rows in groups if rows]


def auto_card(training: AutoTraining) -> str:
    """The card in Markdown. The template gets three modules, whose constants it shows."""
    groups = tables(training)
    networks = training.model.networks
    layers = [layer for net in networks for layer in (net.first, *net.layers, net.last)]
    kind_of_gold = {True: "gold text", False: "snippets"}
    return card(
        "auto_card.md",
        training=training,
        sets=[
            (summary.name, summary.pages, len(summary.sites), kind_of_gold[summary.is_golden], summary.fingerprint)
            for summary in training.sets
        ],
        first=next(summary.name for summary in training.sets if summary.is_golden),
        sites=len({site for summary in training.sets for site in summary.sites}),
        head=("", *COLUMNS),
        groups=[(title, [(name, *cells(row)) for name, row in group.items()]) for title, group in groups],
        validation=[
            (summary.name, summary.pages, len(training.validated.get(summary.name, ())), summary.fingerprint)
            for summary in training.validation
        ],
        weak=[(title, _weakest(group)) for title, group in groups],
        features=len(networks[0].means),
        networks=len(networks),
        layers=" ".join(map(str, gradient_descent.STEPS)),
        numbers=sum(layer.weights.size + layer.bias.size for layer in layers),
        auto_model=auto_model,
        examples=examples,
        gradient_descent=gradient_descent,
    )


def _weakest(group: Mapping[str, ModelFigures]) -> str:
    """The rows with the lowest shingle F1, e.g. "news 0.912 (1,234), more is lost than left in"."""
    lowest = sorted(group.items(), key=lambda entry: (entry[1].f1, entry[0]))[:WEAKEST_ROWS]
    return "; ".join(f"{escaped(name)} {row.f1:.3f} ({row.pages:,}), {_weakness(row)}" for name, row in lowest)


def _weakness(row: ModelFigures) -> str:
    if row.recall < row.precision:
        return "more is lost than left in"
    return "more is left in than lost"


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What to train on, and where the weights go."""

    paths: tuple[Path, ...]
    validate: tuple[Path, ...]
    output: Path
    seed: int


def write_auto_weights(plan: TrainingPlan, tell: Tell) -> AutoTraining:
    """Train, and write the weights with their card beside them."""
    # Read all pages, and hold out a part of the sites. Of validation sets, only a summary is kept.
    validation = [_summary(path, tell) for path in plan.validate]
    sets = []
    pages: list[PageExample] = []
    for path in plan.paths:
        summary, pages_of_set = _read(path, tell)
        sets.append(summary)
        pages += pages_of_set
    parts = parts_of({site for summary in sets for site in summary.sites}, FOLDS, plan.seed)
    held_out_sites = {site for site, part in parts.items() if part == HELD_OUT_PART}
    other_pages = [page for page in pages if page.site not in held_out_sites]

    # Train both models, and judge them. The second one replaces the first in the file of weights.
    with put_in_place(plan.output, plan.output.with_name(CARD)) as (weights_file, card_file):
        tell(f"training without {counted(len(held_out_sites), 'site')}: {counted(len(other_pages), 'page')}")
        model = _trained_and_saved(plan, other_pages, weights_file, tell)
        golden_sets = [summary for summary in sets if summary.is_golden]
        held_out = _scores(golden_sets, lambda row: row.site in held_out_sites, model, tell)
        tell(f"training on everything: {counted(len(pages), 'page')}")
        model = _trained_and_saved(plan, pages, weights_file, tell)
        validated = _scores(validation, lambda row: row.site not in parts, model, tell)  # `parts` has all trained sites
        training = AutoTraining(
            sets=sets,
            validation=validation,
            examples=len(pages),
            held_out=held_out,
            validated=validated,
            model=model,
            seed=plan.seed,
            size=weights_file.stat().st_size,
        )
        card_file.write_text(auto_card(training), encoding="utf-8")
    return training


def _summary(path: Path, tell: Tell) -> SetSummary:
    summary = SetSummary(path)
    for row in read_pages(path):
        summary.add(row)
    _tell_size(summary, tell)
    return summary


def _read(path: Path, tell: Tell) -> tuple[SetSummary, list[PageExample]]:
    """The summary of a file, and the examples of its pages that have any text."""
    summary = SetSummary(path)
    page_examples = []
    for row in read_pages(path, with_snippets=True):
        summary.add(row)
        page = row.page
        if not page.blocks:
            continue
        if row.gold is None:
            page_examples.append(snippets(summary.name, row.site, page, row.present, row.absent))
        else:
            page_examples.append(example(summary.name, row.site, page, row.gold, row.page_type, is_weak=row.is_weak))
    _tell_size(summary, tell)
    return summary, page_examples


def _tell_size(summary: SetSummary, tell: Tell) -> None:
    tell(f"{summary.name}: {counted(summary.pages, 'page')} of {counted(len(summary.sites), 'site')}")


def _trained_and_saved(plan: TrainingPlan, examples: list[PageExample], weights_file: Path, tell: Tell) -> Model:
    """The model trained on these examples, as loaded from the file, whose weights have half precision."""
    save(train(examples, plan.seed, auto_model.EPOCHS, tell), weights_file)
    return load(weights_file)


def _scores(
    sets: list[SetSummary], is_judged: Callable[[TrainingPage], bool], model: Model, tell: Tell
) -> dict[str, list[PageScore]]:
    """The scores on the judged pages with gold text, by set; sets without such pages are left out."""
    scores_of_set = {}
    for summary in sets:
        tell(f"judging {summary.name}")
        rows = read_pages(summary.path, with_snippets=True)
        scores = [score(row, model) for row in rows if row.gold is not None and is_judged(row)]
        if scores:
            scores_of_set[summary.name] = scores
    return scores_of_set
