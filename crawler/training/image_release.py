"""The weights of the learned model of pictures as they are shipped, and what is to be said of them.

The model is judged as it comes out of its file, in half precision: on links of validation, but not on those of sites
that it was trained on. The weights and their card are put in place, both or none.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from crawler.evaluation.image_labels import Label
from crawler.noise.learned_model import load, save
from crawler.training.image_card import Given, Made, card
from crawler.training.image_model import judged, train
from crawler.training.labelled_images import Sighted, sighted
from crawler.training.teacher import Tell
from crawler.translation.message import counted


class Labelled(NamedTuple):
    """Labels, and the files of the pages that they are of."""

    labels: Sequence[Label]
    files: Sequence[Path]


class Plan(NamedTuple):
    """What is to be trained."""

    training: Labelled
    validation: Labelled
    output: Path
    seed: int
    jobs: int
    of_state: list[Sighted] | None = None
    """What people said of the pictures of crawls, if that is to be learned from too."""

    @property
    def card(self) -> Path:
        """The path of the card, beside the weights."""
        return self.output.with_suffix(".md")


def release(plan: Plan, tell: Tell) -> Made:
    """What was made of a plan; the weights are written, and the card beside them."""
    found = sighted(*plan.training, plan.jobs, tell) if plan.training.labels or plan.of_state is None else []
    labels, given = list(plan.training.labels), len(plan.training.labels)
    if plan.of_state is not None:
        found += plan.of_state
        labels += [one.label for one in plan.of_state]
        given += len(plan.of_state)
    trained = train(found, plan.seed, tell)
    known = {one.site for one in found}
    validation = sighted(*plan.validation, plan.jobs, tell) if plan.validation.labels else []
    apart = [one for one in validation if one.site not in known]
    if len(apart) < len(validation):
        tell(f"{counted(len(validation) - len(apart), 'link')} of validation left out, of sites that are trained on")
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=plan.output.parent, prefix=".train-") as folder:
        weights, text = Path(folder, "weights.npz"), Path(folder, "card.md")
        save(trained.model, weights)
        model = load(weights)
        made = Made(
            training=Given(found, trained.likely, given, fingerprint(labels)),
            validation=Given(
                apart,
                np.array([judged(model, one) for one in apart]),
                len(plan.validation.labels),
                fingerprint(plan.validation.labels),
            ),
            model=model,
            seed=plan.seed,
            size=weights.stat().st_size,
        )
        text.write_text(card(made), encoding="utf-8")
        weights.replace(plan.output)
        text.replace(plan.card)
    return made


def fingerprint(labels: Iterable[Label]) -> str:
    """16 hex digits that the same labels share, in any order."""
    digest = blake2b(digest_size=8)
    for label in sorted(labels):
        digest.update(repr(tuple(label)).encode())
    return digest.hexdigest()
