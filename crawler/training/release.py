"""The weights of `auto` as they are shipped, and what is to be said of them.

1. All pages are read, and of each what is seen of it is kept.
2. A model is trained without one part of the sites, and judged on the pages of these.
3. The model to ship is trained on everything, and judged on sets that are only for that: on the pages of sites that it
   was not trained on. Both are judged as they come out of a file, in half precision.
4. The weights and their card are put in place, both or none.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crawler.extraction.auto.model import Model, load, save
from crawler.training import fitting
from crawler.training.card import Made, card
from crawler.training.examples import Example, example, parts_of, snippets
from crawler.training.fitting import FOLDS, train
from crawler.training.sets import Count, GoldSet, Row, rows
from crawler.training.teacher import Tell
from crawler.training.trial import PageScore, tried
from crawler.translation.message import counted

CARD = "CARD.md"
APART = 0
"""The part of the sites that the first model is not shown."""


class Plan(NamedTuple):
    """What is to be trained."""

    paths: tuple[Path, ...]
    validate: tuple[Path, ...]
    output: Path
    seed: int


class _Pages(NamedTuple):
    """What there is to learn from."""

    sets: list[GoldSet]
    examples: list[Example]
    parts: dict[str, int]
    """Of each site."""


def release(plan: Plan, tell: Tell) -> Made:
    """What was made of a plan; the weights are written, and the card beside them."""
    validation = [_counted(path, tell) for path in plan.validate]
    pages = _pages(plan, tell)
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=plan.output.parent, prefix=".train-") as folder:
        weights = Path(folder, "weights.npz")
        held = _held(plan, pages, weights, tell)
        tell(f"training on everything: {counted(len(pages.examples), 'page')}")
        model = _trained(plan, pages.examples, weights, tell)
        validated = _scores(validation, lambda row: row.site not in pages.parts, model, tell)
        made = Made(
            sets=pages.sets,
            validation=validation,
            examples=len(pages.examples),
            held=held,
            validated=validated,
            model=model,
            seed=plan.seed,
            size=weights.stat().st_size,
        )
        Path(folder, CARD).write_text(card(made), encoding="utf-8")
        weights.replace(plan.output)
        Path(folder, CARD).replace(plan.output.with_name(CARD))
    return made


def _pages(plan: Plan, tell: Tell) -> _Pages:
    found = [_read(path, tell) for path in plan.paths]
    sets = [one for one, _ in found]
    sites = {site for one in sets for site in one.sites}
    return _Pages(sets, [each for _, some in found for each in some], parts_of(sites, FOLDS, plan.seed))


def _counted(path: Path, tell: Tell) -> GoldSet:
    count = Count(path)
    for row in rows(path):
        count.add(row)
    return _told(count, tell)


def _read(path: Path, tell: Tell) -> tuple[GoldSet, list[Example]]:
    """What a file holds, and the pages of it that show anything."""
    count, found = Count(path), []
    for row in rows(path, snippets=True):
        count.add(row)
        if (page := row.page).blocks:
            if row.gold is None:
                found.append(snippets(count.name, row.site, page, row.present, row.absent))
            else:
                found.append(example(count.name, row.site, page, row.gold, row.page_type))
    return _told(count, tell), found


def _told(count: Count, tell: Tell) -> GoldSet:
    found = count.done()
    tell(f"{found.name}: {counted(found.pages, 'page')} of {counted(len(found.sites), 'site')}")
    return found


def _held(plan: Plan, pages: _Pages, weights: Path, tell: Tell) -> dict[str, list[PageScore]]:
    """The scores of the pages of the sites kept apart, by set."""
    apart = {site for site, part in pages.parts.items() if part == APART}
    known = [one for one in pages.examples if one.site not in apart]
    tell(f"training without {counted(len(apart), 'site')}: {counted(len(known), 'page')}")
    model = _trained(plan, known, weights, tell)
    golden = [one for one in pages.sets if one.is_golden]
    return _scores(golden, lambda row: row.site in apart, model, tell)


def _trained(plan: Plan, examples: list[Example], weights: Path, tell: Tell) -> Model:
    save(train(examples, plan.seed, fitting.EPOCHS, tell), weights)
    return load(weights)


def _scores(
    sets: list[GoldSet], is_apart: Callable[[Row], bool], model: Model, tell: Tell
) -> dict[str, list[PageScore]]:
    """The scores of the pages that are apart, by set; sets without any are left out."""
    found = {}
    for one in sets:
        tell(f"judging {one.name}")
        if scores := tried(rows(one.path, snippets=True), is_apart, model):
            found[one.name] = scores
    return found
