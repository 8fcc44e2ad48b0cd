"""The verdict on an image, with its reasons: by models (`Judge`), overruled by filter lists (`ImageFilter`).

An image is noise if the score of any model is above the model's limit. If the learned model's probability is over
LIKELY but not over its limit, a mark of noise (crawler.noise.advert_marks) is enough.

Filter lists are in the format of EasyList and are read by Brave's engine (the extra `adblock`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crawler.noise.advert_marks import has_advert_address, has_banner_size, is_repeated, leads_elsewhere
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import FEATURES, PIXEL, sightings
from crawler.noise.li2006 import LEAST_PAGES, NoiseWords, description, entropy, redundancy
from crawler.noise.li2006 import shipped as shipped_words
from crawler.noise.page_features import FAMILIES, families, file_name
from crawler.noise.verdict_reasons import GROUPS, JudgedImage, NoiseReason
from crawler.page.page import Extraction, Page
from crawler.translation.reasons import Reason, weightiest

if TYPE_CHECKING:  # imports numpy, which is delayed until the first image
    from crawler.noise.learned_model import NoiseModel


CALLOUT = list(FAMILIES).index("callout")
"""The index of the word family `callout`: signs for notes and warnings. A manual shows the same sign on many pages, but
often on too few for the limit of redundancy.
"""
MOST_NAMED = 5  # words in a reason
EVEN = 0.5  # above this probability, noise is more likely than content
LIKELY = 0.75
"""Probability of noise above which a mark is enough. On sites held out from training, adverts with a mark have at least
.86. Images in collections of adverts, which are content but have marks too, have at most .63.
"""
MARKED = 0.95
"""The least probability of noise that is given to an image over LIKELY with a mark. On sites held out from training,
about this share of these images is noise.
"""


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """The verdict of one model on an image."""

    _: KW_ONLY
    score: float | None = None
    """None if the model has no data."""
    limit: float = 1.0
    """The score above which the image is noise."""
    is_noise: bool = False
    reasons: tuple[Reason, ...] = ()
    """Why it is noise; the learned model also says why it is not."""
    is_calibrated: bool = False
    """Whether the score is a probability."""

    @property
    def probability(self) -> float:
        """The probability of noise: the score if it is calibrated. If not, the score is mapped linearly, so that 0
        becomes 0, the limit .5, and 1 becomes 1.
        """
        if self.score is None or self.is_calibrated:
            return self.score or 0.0
        if self.is_noise and self.limit >= 1:  # no scores lie between the limit and 1
            return 0.5
        if self.is_noise:  # perhaps below the limit: a sign for notes
            over = (self.score - self.limit) / (1 - self.limit)
            return 0.5 + min(max(over, 0.0), 1.0) / 2
        if self.limit > 0:
            return min(max(self.score / self.limit, 0.0), 1.0) / 2
        return 0.0


NOTHING = ModelVerdict()
"""The verdict of a model that has no data, or of the size model on an image that is large enough."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of all models on an image."""

    is_noise: bool
    probability: float
    """The probability that it is noise."""
    _: KW_ONLY
    keyword: float | None = None
    """This and the next two are the scores of the three models of Li 2006; None if a model has no data."""
    redundancy: float | None = None
    entropy: float | None = None
    reasons: tuple[Reason, ...] = ()
    decided_by: str = ""
    """The name of the first model that judged it noise, or BY_LIST; empty if it is content."""


@dataclass(frozen=True, slots=True)
class LiScores:
    """The scores of the three models of Li 2006 for an image; None if a model has no data."""

    keyword: float | None
    redundancy: float | None
    entropy: float | None


@dataclass(frozen=True)
class Judge:
    """Judges images by its settings: an image is noise if any of the models says so."""

    models: tuple[str, ...] = ("learned", "size", "redundancy")
    """Names of `MODELS`."""
    learned: "NoiseModel | None" = None
    """None for the model that comes with this release."""
    learned_limit: float | None = None
    """None for the limit of the learned model."""
    noise_words: NoiseWords = field(default_factory=shipped_words)
    keyword_limit: float | None = None
    """None for formula 2 of Li 2006: the mean weight of the words."""
    redundancy_limit: float = 0.3
    entropy_limit: float = 0.8

    @property
    def word_limit(self) -> float:
        """The score of the keyword model above which an image is noise."""
        if self.keyword_limit is None:
            return self.noise_words.limit
        return self.keyword_limit

    def is_redundant(self, share: float, pages: int) -> bool:
        """Whether so many pages of a site show an image that it is noise: `share` of the site's `pages`."""
        return share > self.redundancy_limit and round(share * pages) >= LEAST_PAGES

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict on an image, given what its site has shown on all its pages so far."""
        scores = scores_of(sighting, evidence, self.noise_words)
        verdict_of_model = {name: MODELS[name](sighting, evidence, scores, self) for name in self.models}
        model_verdicts = tuple(verdict_of_model.values())
        is_noise = any(verdict.is_noise for verdict in model_verdicts)
        reasons: list[Reason] = []
        for verdict in model_verdicts:
            if verdict.is_noise == is_noise:  # two models may have the same reason
                reasons += [reason for reason in verdict.reasons if reason not in reasons]
        return Verdict(
            is_noise=is_noise,
            probability=_probability(model_verdicts, is_noise),
            keyword=scores.keyword,
            redundancy=scores.redundancy,
            entropy=scores.entropy,
            reasons=tuple(reasons),
            decided_by=next((name for name, verdict in verdict_of_model.items() if verdict.is_noise), ""),
        )


def scores_of(sighting: Sighting, evidence: Evidence, noise_words: NoiseWords | None = None) -> LiScores:
    """The scores of the three models of Li 2006, by default with the words that come with the crawler."""
    words = description(sighting)
    return LiScores(
        keyword=(noise_words or shipped_words()).score(words),
        redundancy=redundancy(sighting.url, evidence.pages_by_address, evidence.pages),
        entropy=entropy(words, evidence.word_counts, evidence.repetitions, evidence.links),
    )


def _by_keyword(sighting: Sighting, evidence: Evidence, scores: LiScores, judge: Judge) -> ModelVerdict:
    if not judge.noise_words.is_over(scores.keyword, judge.word_limit):
        return ModelVerdict(score=scores.keyword, limit=judge.word_limit)
    return ModelVerdict(
        score=scores.keyword, limit=judge.word_limit, is_noise=True, reasons=(_heaviest_words(sighting, judge),)
    )


def _heaviest_words(sighting: Sighting, judge: Judge) -> Reason:
    """The reason of the keyword model: the words of an image that weigh most."""
    weights = judge.noise_words.weights
    heavy = [word for word in judge.noise_words.common(description(sighting)) if weights[word] >= judge.word_limit]
    heaviest = sorted(heavy, key=lambda word: (-weights[word], word))[:MOST_NAMED]
    return Reason(NoiseReason.KEYWORDS, {"words": heaviest})


def _by_redundancy(sighting: Sighting, evidence: Evidence, scores: LiScores, judge: Judge) -> ModelVerdict:
    limit = judge.redundancy_limit
    score = scores.redundancy
    if score is None:
        return ModelVerdict(limit=limit)
    reason = _shown_on_pages(score, evidence)
    if judge.is_redundant(score, evidence.pages):
        return ModelVerdict(score=score, limit=limit, is_noise=True, reasons=(reason,))
    # A sign for notes is noise even if few pages show it.
    if reason.values["shown"] >= LEAST_PAGES and families(file_name(sighting.url))[CALLOUT]:
        return ModelVerdict(
            score=score, limit=limit, is_noise=True, reasons=(reason, Reason(NoiseReason.FILE_CALLOUT, {}))
        )
    return ModelVerdict(score=score, limit=limit)


def _shown_on_pages(share: float, evidence: Evidence) -> Reason:
    """The reason of the redundancy model."""
    return Reason(NoiseReason.SHOWN_ON_PAGES, {"shown": round(share * evidence.pages), "pages": evidence.pages})


def _is_head_image(sighting: Sighting) -> bool:
    """Whether the page names the image as its representative one."""
    return bool(sighting.features) and bool(sighting.features[FEATURES.index("head image")])


def _by_size(sighting: Sighting, evidence: Evidence, scores: LiScores, judge: Judge) -> ModelVerdict:
    """An image is noise if it is too small to be seen."""
    width, height = sighting.size
    if width is None or height is None or max(width, height) > PIXEL or _is_head_image(sighting):
        return NOTHING
    reason = Reason(NoiseReason.UNSEEN, {"width": width, "height": height})
    return ModelVerdict(score=1.0, limit=1.0, is_noise=True, reasons=(reason,), is_calibrated=True)


def _marks(sighting: Sighting, evidence: Evidence, scores: LiScores, judge: Judge) -> tuple[Reason, ...]:
    """The marks of noise that an image has (crawler.noise.advert_marks)."""
    marks: list[Reason] = []
    if has_banner_size(sighting):
        width, height = sighting.size
        marks.append(Reason(NoiseReason.ADVERT_SIZE, {"width": width, "height": height}))
    if has_advert_address(sighting):
        marks.append(Reason(NoiseReason.ADVERT_ADDRESS, {}))
    if judge.noise_words.is_over(scores.keyword, judge.word_limit) and leads_elsewhere(sighting):
        marks.append(_heaviest_words(sighting, judge))
    if scores.redundancy is not None and is_repeated(scores.redundancy, evidence.pages):
        marks.append(_shown_on_pages(scores.redundancy, evidence))
    return tuple(marks)


def _by_entropy(sighting: Sighting, evidence: Evidence, scores: LiScores, judge: Judge) -> ModelVerdict:
    limit = judge.entropy_limit
    score = scores.entropy
    # On one or two pages, images share the words of their host and folder, whatever they show.
    if score is None or score <= limit or evidence.pages < LEAST_PAGES:
        return ModelVerdict(score=score, limit=limit)
    commonest = sorted(set(description(sighting)), key=lambda word: (-evidence.word_counts[word], word))
    return ModelVerdict(
        score=score,
        limit=limit,
        is_noise=True,
        reasons=(Reason(NoiseReason.COMMON_WORDS, {"words": commonest[:MOST_NAMED]}),),
    )


def _probability(model_verdicts: Sequence[ModelVerdict], is_noise: bool) -> float:
    """The highest probability of the models; for content, only of the calibrated ones if there are any."""
    if not is_noise:
        model_verdicts = [verdict for verdict in model_verdicts if verdict.is_calibrated] or model_verdicts
    return max([verdict.probability for verdict in model_verdicts], default=0.0)


def _by_learned(sighting: Sighting, evidence: Evidence, scores: LiScores, judge: Judge) -> ModelVerdict:
    if not sighting.features:  # the page that shows it is not known
        return NOTHING
    from crawler.noise import learned_model  # late, as it imports numpy

    # The probability.
    model = judge.learned or learned_model.shipped()
    features = learned_model.features_of(sighting, evidence, scores.entropy, scores.keyword)
    changes = learned_model.changes(model, features)
    probability = learned_model.probability(changes.logit)
    limit = model.limit if judge.learned_limit is None else judge.learned_limit

    # If the model is less certain, one mark is enough.
    marks: tuple[Reason, ...] = ()
    if LIKELY < probability <= limit:
        marks = _marks(sighting, evidence, scores, judge)
    if marks:
        probability = max(probability, MARKED)
    is_noise = probability > limit or bool(marks)

    # The reasons: the marks, and the groups of features on which the probability depends most.
    index_of_feature = learned_model.INDEX_OF_FEATURE
    image = JudgedImage(lambda name: features.item(index_of_feature[name]), is_noise, max(1, evidence.pages))
    weighty = weightiest(GROUPS, changes.groups, image) or (Reason(NoiseReason.ALL_TOGETHER, {}),)
    reasons = (*marks, *(reason for reason in weighty if reason not in marks))
    if probability > EVEN and not is_noise:
        percent = float(f"{100 * limit:.4g}")  # 29, not 28.999999999999996
        reasons = (Reason(NoiseReason.BELOW_LIMIT, {"percent": percent}), *reasons)
    return ModelVerdict(score=probability, limit=limit, is_noise=is_noise, reasons=reasons, is_calibrated=True)


MODELS: dict[str, Callable[[Sighting, Evidence, LiScores, Judge], ModelVerdict]] = {
    "learned": _by_learned,
    "size": _by_size,
    "keyword": _by_keyword,
    "redundancy": _by_redundancy,
    "entropy": _by_entropy,
}
"""The models that a judge may use, by name."""


class ImageJudge(Protocol):
    """Judges images, such as `Judge`."""

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict: ...


def verdicts(page_sightings: Iterable[Sighting], judge: ImageJudge, evidence: Evidence) -> dict[str, Verdict]:
    """The verdict on each image of a page, by address. If the page shows an image twice, the verdict nearer to content
    counts.
    """
    verdict_of_image: dict[str, Verdict] = {}
    for sighting in page_sightings:
        verdict = judge.judge(sighting, evidence)
        verdict_of_image[sighting.url] = min(
            verdict_of_image.get(sighting.url, verdict),
            verdict,
            key=lambda verdict: (verdict.is_noise, verdict.probability),
        )
    return verdict_of_image


def page_verdicts(page_sightings: Sequence[Sighting], judge: Judge | None = None) -> dict[str, Verdict]:
    """The verdict on each image of a page, by address, judged by this page alone."""
    evidence_of_page = Evidence()
    evidence_of_page.see(page_sightings)
    return verdicts(page_sightings, judge or Judge(), evidence_of_page)


@dataclass(frozen=True)
class VerdictsOnPage:
    """Judges the images of a page by this page alone. `page.once(VerdictsOnPage(extraction))` caches the verdicts."""

    extraction: Extraction

    def __call__(self, page: Page) -> dict[str, Verdict]:
        return page_verdicts(sightings(page, self.extraction))


def noise_of(page: Page, extraction: Extraction) -> frozenset[str]:
    """The addresses of a page's images that are noise, judged by this page alone."""
    verdict_of_image = page.once(VerdictsOnPage(extraction))
    return frozenset(url for url, verdict in verdict_of_image.items() if verdict.is_noise)


class FilterLists:
    """Filter lists, read once; a check takes about 2 us."""

    def __init__(self, lists: Iterable[Path]) -> None:
        try:
            import adblock
        except ImportError:
            raise ValueError("Filter lists need the package adblock: pip install 'winnow-crawler[adblock]'.") from None
        rules = adblock.FilterSet()
        for path in lists:
            try:
                rules.add_filter_list(path.read_text(encoding="utf-8", errors="replace"))
            except OSError as error:
                raise ValueError(f"The filter list {path} cannot be read: {error.strerror}.") from None
        self._engine = adblock.Engine(rules)

    def hit(self, url: str, page: str, kind: str = "image") -> bool:
        """Whether a browser with these lists would block an address on a page.

        `kind` is what the page loads it as: `image` for an image, `document` for the target of a link.
        """
        return bool(self._engine.check_network_urls(url, page, kind).matched)


BY_LIST = "filter_list"
"""The value of `Verdict.decided_by` if a filter list decides."""


@dataclass(frozen=True)
class ImageFilter:
    """A judge of images, and filter lists that overrule it."""

    judge: Judge
    lists: FilterLists | None = None

    def verdict(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict on an image, given what its site has shown on all its pages so far."""
        verdict = self.judge.judge(sighting, evidence)
        url = sighting.url
        target = sighting.target
        page = sighting.page
        lists = self.lists
        if lists is not None and (lists.hit(url, page) or (target and lists.hit(target, page, "document"))):
            reasons = (*(verdict.reasons if verdict.is_noise else ()), Reason(NoiseReason.BLOCKED_BY_LIST, {}))
            return replace(verdict, is_noise=True, probability=1.0, reasons=reasons, decided_by=BY_LIST)
        return verdict


def leads_to_noise(sighting: Sighting, verdict: Verdict, judge: Judge, pages: int) -> bool:
    """Whether the page that an image links to is noise too. `pages` is how many pages of the image's site are counted.

    An image that is noise may link to a good page of the same site, such as the thumbnail of another story. So the page
    is noise only if it is on another site, if the image is redundant (an advert; or a menu, to whose pages other links
    lead as well), or if advert words or a filter list decide.
    """
    if not verdict.is_noise:
        return False
    is_redundant = verdict.redundancy is not None and judge.is_redundant(verdict.redundancy, pages)
    has_advert_words = judge.noise_words.is_over(verdict.keyword, judge.word_limit)
    return leads_elsewhere(sighting) or is_redundant or has_advert_words or verdict.decided_by == BY_LIST
