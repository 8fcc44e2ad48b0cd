"""How the model is trained: from pages with gold text, and from pages of which some snippets are known.

1. What is seen of each page, and the label of each of its blocks (crawler.training.labels).
2. What names and words speak for, by logistic regression; and the type of a page by its names.
3. A teacher, boosted trees over the signs of blocks, whose opinion is half of each label, and all of it where a page of
   snippets says nothing: what the trees find by rules the network need not find by itself.
4. The network, from the pages, from copies with less text, and from the pages of snippets.
5. The type of a page, by logistic regression over what the network makes of it.
What steps 2 and 3 say of a page is learned from pages of other hosts, as it will be of pages nobody has seen.

A set with few pages counts more than its number, or the largest set's idea of main text would be everyone's.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from crawler.extraction.auto import model, names, network, sight, signs
from crawler.extraction.auto.characters import BUCKETS, Ints
from crawler.training import descent
from crawler.training.cutting import plainer, shorter, subset
from crawler.training.labels import labels
from crawler.extraction.auto.model import KINDS, Kinds, Model, Vocabulary
from crawler.extraction.auto.sight import Floats, Sight
from crawler.page import Page

FOLDS = 5
SET_EXPONENT = 0.35
"""A set of so many times fewer pages than the largest weighs that number to this power more."""
MOST_WEIGHT = 3.0
PLAIN = 0.4
"""How many pages have a copy without names."""
COPY_WEIGHT, SNIPPETS_WEIGHT = 0.5, 0.7
KNOWN, GUESSED = 3.0, 0.5
"""What blocks of snippets weigh beside the others of their page."""
TRUST = 0.5
"""The teacher's part of a label."""
TREES = 150
TEACHER = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 100,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 127,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
}
EPOCHS = 12
AROUND = 0.3
"""What a name around a block is beside one of its own, before it is known what they speak for."""
NEVER = -30.0
Tell = Callable[[str], None]


class Example(NamedTuple):
    """A page to learn from."""

    group: str
    """The set it is of."""
    site: str
    seen: Sight
    labels: Floats
    """The share of each block that is main text, NaN where it is not known."""
    page_type: str


def example(group: str, site: str, page: Page, gold: str, page_type: str, tokens: Callable[[str], list[str]]) -> Example:
    """A page with its gold text; there must be a block."""
    found = labels([tokens(block.text) for block in page.blocks], tokens(gold))
    return Example(group, site, sight.sight(page), np.array(found, np.float32), page_type)


def snippets(
    group: str, site: str, page: Page, present: Iterable[str], absent: Iterable[str], tokens: Callable[[str], list[str]]
) -> Example:
    """A page of which it is known that its main text has some snippets and lacks others."""
    texts = [f" {' '.join(tokens(block.text))} " for block in page.blocks]
    found = np.full(len(texts), np.nan, np.float32)
    for value, wanted in ((0.0, absent), (1.0, present)):
        for snippet in wanted:
            words = " ".join(tokens(snippet))
            places = [place for place, text in enumerate(texts) if words and words in text]
            # What stands in many places may be meant in one of them.
            if len(places) <= 3 or not value:
                found[places] = value
    return Example(group, site, sight.sight(page), found, "")


def folds_of(examples: Sequence[Example], seed: int) -> list[int]:
    """The part of each example: whole sites in one of them."""
    sites = sorted({one.site for one in examples})
    np.random.default_rng(seed).shuffle(sites)
    part = {site: place % FOLDS for place, site in enumerate(sites)}
    return [part[one.site] for one in examples]


def train(examples: Sequence[Example], seed: int, epochs: int, tell: Tell) -> Model:
    """The model that examples teach."""
    folds = folds_of(examples, seed)
    weights = _set_weights(examples)
    rows = [_rows(one.seen) for one in examples]
    everywhere = list(range(len(examples)))
    vocabularies = []
    for fold in range(FOLDS):
        tell(f"names and words, part {fold + 1} of {FOLDS}")
        vocabularies.append(_vocabulary(examples, rows, weights, [at for at in everywhere if folds[at] != fold]))
    whole = _vocabulary(examples, rows, weights, everywhere)
    del rows
    chance = np.random.default_rng(seed)
    described, nests, owner, truths = [], [], [], []
    for at, one in enumerate(examples):
        for seen, truth in _with_copy(one, chance):
            matrix, nest = _described(seen, vocabularies[folds[at]])
            described.append(matrix)
            nests.append(nest)
            truths.append(truth)
            owner.append(at)
    is_copy = [place > 0 and owner[place - 1] == at for place, at in enumerate(owner)]
    taught = _teach(examples, described, truths, owner, is_copy, folds, weights, seed, tell)
    means, scales = _scaling([rows for rows, copy in zip(described, is_copy, strict=True) if not copy])
    lessons = [
        _lesson(examples[at], matrix, nest, truth, opinion, weights[at] * (COPY_WEIGHT if copy else 1), means, scales)
        for matrix, nest, truth, at, copy, opinion in zip(
            described, nests, truths, owner, is_copy, taught, strict=True
        )
    ]
    del described
    labels_of = signs.signs(*_probe(examples[0].seen, whole)).names
    layers = descent.learn(
        lessons, _hidden(labels_of), epochs, seed, lambda epoch, error: tell(f"epoch {epoch + 1}: {error:.4f}")
    )
    net = descent.network(layers, means, scales)
    kinds = _kinds(net, examples, lessons, owner, is_copy, [vocabularies[fold] for fold in folds])
    return Model(whole, net, kinds)


def _set_weights(examples: Sequence[Example]) -> list[float]:
    sizes: dict[str, int] = {}
    for one in examples:
        sizes[one.group] = sizes.get(one.group, 0) + 1
    most = max(sizes.values())
    weight = {group: min(MOST_WEIGHT, (most / size) ** SET_EXPONENT) for group, size in sizes.items()}
    return [SNIPPETS_WEIGHT if np.isnan(one.labels).any() else weight[one.group] for one in examples]


def _rows(seen: Sight) -> sparse.csr_matrix:
    """For each block, the names of its home, those around it, and its words."""
    outline, number = seen.outline, len(seen.homes)
    named = np.split(seen.words.buckets, np.flatnonzero(np.diff(seen.words.owner)) + 1)
    around: list[Ints] = []
    for name, parent in zip(outline.names, outline.parents, strict=True):
        around.append(np.concatenate([around[parent], named[name]]) if parent >= 0 else named[name])
    bounds = np.searchsorted(seen.texts.owner, np.arange(number + 1))
    columns, values, ends = [], [], [0]
    for block, home in enumerate(seen.homes):
        own, out = named[outline.names[home]], around[home]
        if seen.wraps[block] >= 0:
            own = np.concatenate([own, named[seen.wraps[block]]])
        words = seen.texts.words[bounds[block] : bounds[block + 1]]
        columns += [own, out + BUCKETS, words + 2 * BUCKETS]
        values += [np.ones(len(own)), np.full(len(out), AROUND), np.full(len(words), 1 / np.sqrt(max(1, len(words))))]
        ends.append(ends[-1] + len(own) + len(out) + len(words))
    shape = (number, 3 * BUCKETS)
    return sparse.csr_matrix((np.concatenate(values).astype(np.float32), np.concatenate(columns), ends), shape=shape)


def _weights(one: Example, weight: float) -> Floats:
    """What each block weighs in learning: the root of its tokens, all blocks of a page together as much as `weight`."""
    found = np.sqrt(model.tokens(one.seen) + 1)
    return (weight * found / found.sum()).astype(np.float32)


def _shares(matrix: Floats, weight: float) -> Floats:
    """The same, by the signs of the blocks."""
    found = np.sqrt(np.exp(matrix[:, TOKENS]))
    return (weight * found / found.sum()).astype(np.float32)


def _vocabulary(
    examples: Sequence[Example], rows: Sequence[sparse.csr_matrix], weights: Sequence[float], chosen: Sequence[int]
) -> Vocabulary:
    from sklearn.linear_model import LogisticRegression

    golden = [at for at in chosen if not np.isnan(examples[at].labels).any()]
    fitted = LogisticRegression(C=0.3, max_iter=60, tol=1e-3).fit(
        sparse.vstack([rows[at] for at in golden]).tocsr(),
        np.concatenate([examples[at].labels for at in golden]) >= 0.5,
        sample_weight=100 * np.concatenate([_weights(examples[at], weights[at]) for at in golden]),
    )
    learned = fitted.coef_[0].astype(np.float32)
    typed = [at for at in chosen if examples[at].page_type in KINDS]
    pages = np.zeros((len(typed), names.BUCKETS), np.float32)
    for row, at in enumerate(typed):
        pages[row, list(examples[at].seen.names)] = 1
    kinds, bias = _fit_kinds(sparse.csr_matrix(pages), [examples[at].page_type for at in typed])
    own, around, words = learned.reshape(3, BUCKETS)
    return Vocabulary(own, AROUND * around, words, kinds, bias)


def _fit_kinds(rows: sparse.csr_matrix | Floats, types: Sequence[str]) -> tuple[Floats, Floats]:
    """Weights that tell page types; a type that is in no example is never told."""
    from sklearn.linear_model import LogisticRegression

    weights, bias = np.zeros((rows.shape[1], len(KINDS)), np.float32), np.full(len(KINDS), NEVER, np.float32)
    there = sorted(set(types))
    if len(there) < 2:
        bias[[KINDS.index(kind) for kind in there] or [0]] = 0
        return weights, bias
    fitted = LogisticRegression(max_iter=2_000, tol=1e-3).fit(rows, types)
    found, shifts = fitted.coef_, fitted.intercept_
    if len(there) == 2:  # scikit-learn gives one row for two classes
        found, shifts = np.concatenate([-found, found]) / 2, np.concatenate([-shifts, shifts]) / 2
    for kind, row, shift in zip(fitted.classes_, found, shifts, strict=True):
        weights[:, KINDS.index(kind)], bias[KINDS.index(kind)] = row, shift
    return weights, bias


def _with_copy(one: Example, chance: np.random.Generator) -> Iterable[tuple[Sight, Floats]]:
    """A page, and of one with gold a shorter copy, and now and then a plainer one."""
    yield one.seen, one.labels
    if not np.isnan(one.labels).any():
        kept = shorter(one.labels, one.seen, chance)
        yield subset(one.seen, kept), one.labels[kept]
        if chance.random() < PLAIN:
            yield plainer(one.seen), one.labels


def _probe(seen: Sight, vocabulary: Vocabulary) -> tuple[Sight, signs.Scores, Ints]:
    return seen, vocabulary.scores(seen), signs.ranges(seen)


def _described(seen: Sight, vocabulary: Vocabulary) -> tuple[Floats, network.Nest]:
    """The signs of a page, a row a block, and what belongs together."""
    probe = _probe(seen, vocabulary)
    matrix = np.ascontiguousarray(signs.signs(*probe).matrix.T)
    outline = seen.outline
    return matrix, network.nest(probe[2], outline.starts, outline.ends, outline.paths[seen.homes])


def _teach(
    examples: Sequence[Example],
    described: Sequence[Floats],
    truths: Sequence[Floats],
    owner: Sequence[int],
    is_copy: Sequence[bool],
    folds: Sequence[int],
    weights: Sequence[float],
    seed: int,
    tell: Tell,
) -> list[Floats | None]:
    """What boosted trees, trained on pages of other sites, say of each page; nothing of copies."""
    import lightgbm

    found: list[Floats | None] = [None] * len(described)
    golden = [place for place, truth in enumerate(truths) if not np.isnan(truth).any()]
    for fold in range(FOLDS):
        tell(f"the teacher, part {fold + 1} of {FOLDS}")
        chosen = [place for place in golden if folds[owner[place]] != fold]
        shares = [
            100 * _shares(described[place], weights[owner[place]] * (COPY_WEIGHT if is_copy[place] else 1))
            for place in chosen
        ]
        rows = lightgbm.Dataset(
            np.concatenate([described[place] for place in chosen]),
            np.concatenate([truths[place] for place in chosen]),
            weight=np.concatenate(shares),
        )
        trees = lightgbm.train({**TEACHER, "seed": seed}, rows, TREES)
        for place, at in enumerate(owner):
            if folds[at] == fold and not is_copy[place]:
                found[place] = trees.predict(described[place]).astype(np.float32)
    return found


def _scaling(described: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The mean of each sign and one over its deviation."""
    rows = np.concatenate(described)
    return rows.mean(0), (1 / (rows.std(0) + 0.01)).astype(np.float32)


def _lesson(
    one: Example,
    matrix: Floats,
    nest: network.Nest,
    truth: Floats,
    opinion: Floats | None,
    weight: float,
    means: Floats,
    scales: Floats,
) -> descent.Lesson:
    known = ~np.isnan(truth)
    tokens = np.expm1(matrix[:, TOKENS]).astype(np.float32)
    weights = np.sqrt(tokens + 1)
    target, f1_weight = truth, weight
    if not known.all():
        weights, f1_weight = weights * np.where(known, KNOWN, GUESSED), 0.0
        target = np.where(known, truth, opinion)
    elif opinion is not None:
        target = (1 - TRUST) * truth + TRUST * opinion
    rows = descent.normalised(matrix, means, scales)
    shares = (weight * weights / weights.sum()).astype(np.float32)
    return descent.Lesson(rows, nest, target.astype(np.float32), tokens, shares, f1_weight)


TOKENS = 2
"""The row of the signs that tells how many words a block has."""


def _hidden(labels_of: Sequence[str]) -> list[Ints]:
    """The signs that come from words, from names, and from the page."""
    groups = (
        lambda name: name.startswith(("words ", "word score", "heading words", "path word")),
        lambda name: "names" in name or name.startswith("around"),
        lambda name: name.startswith("page "),
    )
    return [np.array([at for at, name in enumerate(labels_of) if group(name)], np.int64) for group in groups]


def _kinds(
    net: network.Network,
    examples: Sequence[Example],
    lessons: Sequence[descent.Lesson],
    owner: Sequence[int],
    is_copy: Sequence[bool],
    vocabularies: Sequence[Vocabulary],
) -> Kinds:
    """What tells the type of a page from what the network makes of it."""
    rows, types = [], []
    for lesson, at, copy in zip(lessons, owner, is_copy, strict=True):
        if not copy and examples[at].page_type in KINDS:
            found = network.hidden_of(net, lesson.signs, lesson.nest)
            likely = network.probabilities(net, found)
            rows.append(model.summary(found, likely, vocabularies[at].scores(examples[at].seen).kinds))
            types.append(examples[at].page_type)
    table = np.array(rows)
    deviations = 10 * (table.std(0) + 0.01)  # a tenth each, which keeps the weights small
    weights, bias = _fit_kinds(table / deviations, types)
    return Kinds(weights / deviations[:, None], bias)
