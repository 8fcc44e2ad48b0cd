"""Takes in each fetched page, and gives the queued links their priorities.

The order in which a page is taken in:

    fetched      its words are counted and compared with the topic; what led to it learns its relevance
    seen_again   the links it shows that wait already have one page more that speaks for them, or against them
    found        its new links get the scores that their words and their pages give them
    renewed      every few pages the aim is drawn anew, pages are judged anew, and all links that wait get new scores
"""

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from heapq import heappush, heappushpop
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.page.text import page_terms, terms
from crawler.topic.aims import Aims, TopicWord
from crawler.topic.calibration import Calibration
from crawler.topic.keywords import NONE_SIMILAR, Keywords, forms
from crawler.topic.link_chances import JudgedLink, LinkChances
from crawler.topic.link_scores import SITE_FACTOR, Apprentice, FocusOptions, PageCredits, Prioritizer, Scorer
from crawler.topic.link_table import (
    KEPT,
    SCORE,
    SITE,
    TOLD,
    LinkContext,
    LinkReader,
    LinkTable,
    WaitingLinks,
    site_number,
)
from crawler.topic.priorities import HIGHEST, SCALE, UNLIKELY, score_of
from crawler.topic.relevance import Subject
from crawler.topic.shared_model import MOST_PAGES, Learned, read, summary, written
from crawler.topic.stop_rule import ON_TOPIC
from crawler.topic.topic import STOP_WORDS, SimilarWords, Topic
from crawler.topic.translations import NO_ADDRESS, NamedTranslations, Translations, address_key
from crawler.topic.word_statistics import PLACES, KnownPage, Values, Vector, Vocabulary
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict

MOST_TEXT = 20_000
"""Characters of a page's text that are read."""
MOST_TITLE = 500
"""Characters of its title."""
RENEWED_AFTER = 20
"""The interval of renewals in pages, from the 60th page on; before it is a third of the pages seen, and from the 400th
on a twentieth, so that the work for each page does not grow.
"""
MOST_BETWEEN = 1_000
"""Links whose priority rises between renewals because their site no longer has more than its share: as many as can be
requested until the next renewal, so that those of a very large site are not all written each time.
"""
STEP = 10
"""Thousandths by which a priority must change to be reported."""
ENOUGH = 4
"""Links that do not wait, as long as so many may lead to the topic; more if the crawl would end otherwise."""
REMEMBERED = 200_000
"""Addresses of fetched pages that are remembered, for links that are shown again."""
MOST_BEGUN = 250
"""Stored pages that a new topic is learned from: those most like it, and as many others."""
WEIGHED_AFTER = 25
"""So many of these pages later, words are weighed again."""


class TopicFocus:
    """What one worker knows about its topic and the queued links."""

    def __init__(
        self,
        topic: Topic,
        manner: FocusOptions | None = None,
        seat: int = 1,
        similar: SimilarWords = NONE_SIMILAR,
        languages: Collection[str] = (),
        on_topic: float = ON_TOPIC,
    ) -> None:
        self.topic = topic
        self.manner = manner or FocusOptions()
        self.seat = seat
        self.similar = similar
        """Words of similar meaning as those of the topic."""
        self.keywords = Keywords(dict(topic.words), similar, languages)
        self.vocabulary = Vocabulary(STOP_WORDS, self.keywords.stems.folded)
        self.reader = LinkReader(self.vocabulary, topic.prefer)
        self.translations = Translations()
        self.aims = Aims(self.translations)
        self.subject = self.aims.first
        self.trails = PageCredits()
        self.apprentice = Apprentice()
        self.waiting = WaitingLinks()
        self.texts = Apprentice(features=PLACES)
        """Learns how relevant the pages are whose texts have a word."""
        self.calibration = Calibration()
        self.choice = Prioritizer(self.manner, seat)
        self.scorer = Scorer(self.aims, self.trails, self.apprentice, self.texts, self.manner.learning)
        self.chances = LinkChances()
        self._floor = 0.0
        """The least score with a chance of `min_chance`."""
        self._least_promising = self._least_to_others = 0.0
        """The least scores of promising links to good sites, and to others."""
        self._least_of_good = 0.0
        """The least score of links to good sites that do not wait."""
        self._good_sites: list[int] = []
        self._enough = ENOUGH
        """How many links do not wait, as long as so many may lead to the topic."""
        self._on_topic = on_topic
        """The relevance from which a page is on the topic."""
        self._examples: set[int] = set()
        self._numbers: LruDict[str, int] = LruDict(REMEMBERED)
        self._explored: dict[str, float] = {}
        self._let_go_at: dict[str, int] = {}
        self._since = self._sampled = 0
        self._is_stale = True
        self._words = tuple(self._topic_words())
        for text in topic.examples:
            self.example(text)
        for text in topic.against:
            self.example(text, good=False)

    def example(self, text: str, good: bool = True) -> None:
        """Learn a text that is about the topic, or one that is not."""
        self._examples.add(hash(text[:MOST_TEXT]))
        (self.subject.examples if good else self.subject.against).append(self._vector("", text))
        self._is_stale = True

    def label(self, labels: Iterable[tuple[str, str, bool]]) -> None:
        """Learn from all pages that people labelled, in place of those before: title, text, and whether it is on the
        topic.
        """
        self.subject.labelled = [
            (KnownPage(self._vector(title, text), named=self._named(title, text)), good) for title, text, good in labels
        ]
        self._is_stale = True

    def relevance(self, title: str, text: str, url: str = "", language: str = "") -> float:
        """The relevance of a text, from 0 to 1, by what is known now; its address may have known translations."""
        return self._judge(self._page(url, title, text, language))[0]

    def name_translations(self, url: str, named: NamedTranslations) -> None:
        """Record which addresses a page, or a sitemap, names as the page in other languages."""
        self.translations.name(url, named)

    def fetched(self, url: str, title: str, text: str, language: str = "") -> float:
        """Learn from a page; returns its relevance. `language` is its code, empty if it is unknown."""
        page = self._page(url, title, text, language)
        self.vocabulary.see(page.vector.places)
        relevance, promise = self._judge(page)
        self.texts.learn(page.vector.places, promise)
        number = self.trails.add(promise)
        self._remember(url, number)
        self.translations.judge(page.address, language, promise)
        if self.aims.add(replace(page, number=number)):
            self._is_stale = True
        self.choice.fetched(site_number(address_of(url).host))
        row = self._let_go(url)
        if row is not None:
            shown = self.waiting.shown[row]
            link = JudgedLink(float(self.waiting.all().table[SCORE, row]), number, relevance >= self._on_topic)
            self.chances.add(link, site_number(address_of(url).host), shown[0] if shown else None)
            self.trails.lead(shown, promise)
            self.apprentice.learn(self.waiting.features[row], promise)
        self._since += 1
        return relevance

    def begin_with(self, pages: Iterable[tuple[str, str, str, str]]) -> None:
        """Learn from pages that were stored before, by address, title, text and language: words from all, and the topic
        from those that are most like it, among others.
        """
        best = list[tuple[float, int, KnownPage]]()
        others = list[KnownPage]()
        chance = random.Random(self.seat)  # noqa: S311 - a sample of pages, no secret
        for at, (url, title, text, language) in enumerate(pages):
            page = self._page(url, title, text, language)
            self.vocabulary.see(page.vector.places)
            if at % WEIGHED_AFTER == 0:
                self.learn()
            _, promise = self._judge(page)
            (heappush if at < MOST_BEGUN else heappushpop)(best, (promise, at, page))
            if at < MOST_BEGUN:
                others.append(page)
            elif (place := chance.randrange(at + 1)) < MOST_BEGUN:
                others[place] = page
        self.aims.lend(self.seat, list(dict.fromkeys([*others, *(page for _, _, page in best)])))
        self._is_stale = True

    def stored(self, url: str, title: str, text: str, language: str = "") -> float:
        """The relevance of one of these pages, by which its links are scored."""
        relevance, promise = self._judge(self._page(url, title, text, language))
        self._remember(url, self.trails.add(promise))
        return relevance

    def seen_again(self, page_url: str, leads: Sequence[LinkContext]) -> None:
        """Count a page for links that were known before."""
        number = self._numbers.get(page_url)
        if number is None:
            return
        waiting = [lead for lead in leads if lead.url in self.waiting.rows]
        for lead, anchor in zip(waiting, self.reader.anchors(waiting), strict=True):
            self.waiting.again(self.waiting.rows[lead.url], number, anchor)
        for lead in leads:
            if lead.url not in self.waiting.rows and self._numbers.get(lead.url, number) != number:
                self.trails.leads_to(number, self._numbers[lead.url])

    def found(self, page_url: str, leads: Sequence[LinkContext]) -> list[int]:
        """The priorities of the new links of a page, which are queued; links that are already queued keep theirs."""
        self.seen_again(page_url, [lead for lead in leads if lead.url in self.waiting.rows])
        self._make_room()
        number = self._numbers.get(page_url)
        mark = self.waiting.mark()
        new = dict[str, LinkContext]()
        for lead in leads:
            if lead.url not in self.waiting.rows:
                new.setdefault(lead.url, lead)
        for url, seen in zip(new, self.reader.read(number, list(new.values())), strict=True):
            self.waiting.add(url, seen)
        links = self.waiting.since(mark)
        self._score(links)
        links.table[TOLD] = self._priorities(links)
        priorities = self.waiting.all().table[TOLD]
        return [int(priorities[self.waiting.rows[lead.url]]) for lead in leads]

    def adopt(self, links: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Queue links that others or an earlier run found, with their priorities; returns the new priorities of those
        that come later because their site has had its share.
        """
        known_urls = (self.waiting.rows, self._numbers)
        new = {url: price for url, price in links if not any(url in urls for urls in known_urls)}
        priced = ((url, score_of(price)) for url, price in new.items())
        scores = {url: score for url, score in priced if score is not None}
        if not scores:
            return {}
        self._make_room()
        mark = self.waiting.mark()
        read = self.reader.read(None, [LinkContext(url=url, anchor="") for url in scores])
        for (url, score), seen in zip(scores.items(), read, strict=True):
            self.waiting.add(url, replace(seen, kept=score))
        self.waiting.since(mark).table[TOLD] = [new[url] for url in scores]
        return self._told(0)

    def renewed(self) -> dict[str, int]:
        """The changed priorities of queued links: of all when enough pages were fetched; in between, of links to sites
        that have had their share, and the best of sites that no longer have.
        """
        pages = self.trails.pages
        if self._since < max(3, min(RENEWED_AFTER, pages // 3), pages // 20):
            is_due = self._since > 0 and self._since % RENEWED_AFTER == 0
            if self._runs_out() or is_due:
                return self._told(MOST_BETWEEN)
            return {}
        return self.renew()

    def renew(self) -> dict[str, int]:
        """The changed priorities of all queued links, by what is known now."""
        self._since = 0
        self.learn()
        self._make_room()
        links = self.waiting.all()
        urls = self.waiting.urls
        self._score(links)
        self._let_through(links)
        for row in self.choice.tries(self._priorities(links), links.waits):
            self._explored[urls[row] or ""] = float(links.table[SCORE, row])
        return self._told(links.count)

    def _told(self, most: int) -> dict[str, int]:
        """The changed priorities of queued links, given their scores; of those that rise, at most so many."""
        links = self.waiting.all()
        urls = self.waiting.urls
        priorities = self._priorities(links)
        told_priorities = links.table[TOLD]
        priorities[[self.waiting.rows[url] for url in self._explored if url in self.waiting.rows]] = HIGHEST
        risen = np.flatnonzero(links.waits & (priorities >= told_priorities + STEP))
        fallen = np.flatnonzero(links.waits & (priorities <= told_priorities - STEP))
        changed = np.concatenate([risen[np.argsort(-priorities[risen], kind="stable")[:most]], fallen])
        told_priorities[changed] = priorities[changed]
        let_go = self._let_go_at
        self._let_go_at = {}
        return let_go | {urls[row] or "": int(priorities[row]) for row in changed.tolist()}

    def let_through(self) -> dict[str, int]:
        """The new priorities of links that wait no longer, as the crawl has no others left."""
        self._enough *= 2
        self._floor = self.chances.least_possible(self.manner.min_chance)
        if self._runs_out():
            return self._told(MOST_BETWEEN)
        return {}

    def _runs_out(self) -> bool:
        """Whether links must be let through that waited, as few others are left."""
        if not self.manner.min_chance or self._least_of_good <= self._floor:
            return False
        before = self._least_of_good
        self._let_through(self.waiting.all())
        return self._least_of_good < before

    def _let_through(self, links: LinkTable) -> None:
        """Choose the least score of links to good sites, so that some do not wait as long as their chance suffices."""
        scores = links.table[SCORE]
        may_be_requested = links.waits & (self._is_to_good_site(links) | (scores >= self._least_to_others))
        scores = scores[may_be_requested]
        enough = self._enough
        best_left = float(np.partition(scores, -enough)[-enough]) if len(scores) >= enough else 0.0
        self._least_of_good = max(self._floor, min(self._least_promising, best_left))

    def _is_to_good_site(self, links: LinkTable) -> NDArray[np.bool_]:
        return np.isin(links.table[SITE], self._good_sites)

    def _least_scores(self, links: LinkTable) -> Values:
        """For each link, the least score with which it does not wait."""
        if not self.manner.min_chance:
            return np.zeros(links.count)
        return np.where(self._is_to_good_site(links), self._least_of_good, self._least_to_others)

    def _score(self, links: LinkTable) -> None:
        links.table[SCORE] = np.where(links.table[KEPT] > 0, links.table[SCORE], self.scorer.scores(links))

    def _make_room(self) -> None:
        """Drop links if too many are queued; the priority of those of a site with more than its share falls
        for good.
        """
        let_go = self.waiting.make_room()
        sites = self.waiting.sites
        most = self.manner.site_share * len(self.waiting.rows)
        crowds = {site for site, count in sites.items() if count > most} if let_go else set()
        if len(crowds) < len(sites):
            for url, site, score in let_go:
                if site in crowds:
                    last = UNLIKELY if score < self._floor else 0
                    self._let_go_at[url] = round(SCALE * SITE_FACTOR * score) + last

    def learn(self) -> None:
        """Compute the aim again, and judge the remembered pages by it."""
        self._is_stale = False
        for subject, judged in self.aims.learn(self.vocabulary.weights(), self._words):
            if judged:
                likeness = np.array([likeness for _, likeness in judged])
                named = np.array([subject.named(page) for page, _ in judged])
                self.trails.judge([page.number for page, _ in judged], subject.promise(likeness, named))
        self.calibration = self._calibrated()
        if self.manner.min_chance:
            self._floor = self.chances.least_possible(self.manner.min_chance)
            self._least_promising = max(self._floor, self.chances.least_promising())
            self._least_to_others = max(self._floor, self.chances.least_to_others())
            self._good_sites = self.chances.good_sites()

    def _calibrated(self) -> Calibration:
        """The correction by what people labelled."""
        labelled = self.subject.labelled
        if not labelled:
            return Calibration()
        uncorrected = np.array([self._uncorrected(page)[0] for page, _ in labelled])
        return Calibration.fitted(uncorrected, [is_on for _, is_on in labelled])

    def asked(self, url: str) -> float | None:
        """The score of a queued link; None if it is not known here."""
        row = self.waiting.rows.get(url)
        if row is None:
            return None
        if url in self._explored:
            return self._explored[url]
        return score_of(int(self.waiting.all().table[TOLD, row]))

    def forget(self, urls: Iterable[str]) -> None:
        """Drop links that are no longer queued."""
        for url in urls:
            self._let_go(url)

    def waiting_sample(self, most: int) -> list[str]:
        """Some of the links that should be queued, others each time until all were returned."""
        urls = list(self.waiting.rows)
        first = self._sampled if self._sampled < len(urls) > most else 0
        self._sampled = first + most
        return urls[first : first + most]

    def record(self) -> str:
        """What was learned, for `take_in`."""
        vocabulary = self.vocabulary
        known_pages = [page for subject in self.aims.all() for page in self._told_pages(subject)]
        translated, translations = self.translations.shared()
        learned = Learned(
            seat=self.seat,
            topic=self._mark,
            pages=vocabulary.pages,
            words=vocabulary.told(),
            known=known_pages,
            features=self.apprentice.told(),
            translated=translated,
            translations=translations,
        )
        return written(learned, vocabulary)

    def _told_pages(self, subject: Subject) -> list[KnownPage]:
        """The pages that are most like an aim and least like it, for others to learn from."""
        earlier = subject.lent.get(self.seat, [])
        remembered_pages = dict.fromkeys(
            [*subject.like, *subject.unlike[-(MOST_PAGES - len(subject.like)) :], *earlier]
        )
        return [page for page in remembered_pages if page.number >= 0 or page in earlier][:MOST_PAGES]

    def take_in(self, record: str) -> bool:
        """Learn from a record of an earlier run or another worker; returns whether it could be read."""
        learned = read(record, self.vocabulary)
        if learned is None:
            return False
        of_topic = learned.topic == self._mark
        if of_topic:
            self.aims.lend(learned.seat, learned.known)
            self.translations.hear(learned.translated, learned.translations)
        if learned.seat == self.seat:
            self.vocabulary.go_on(learned.pages, learned.words)
            if of_topic:
                self.apprentice.go_on(learned.features)
        else:
            self.vocabulary.hear(learned.seat, learned.pages, learned.words)
            if of_topic:
                self.apprentice.hear(learned.seat, learned.features)
        self._is_stale = True
        return True

    def summary(self) -> dict[str, Any]:
        """The words of the topic, and of links that led to it or away from it, with their weights; and how many links
        are not scored any more because too many are queued.
        """
        learned_words = summary(self.vocabulary, self.aims.all(), self.apprentice)
        return learned_words | {"let_go": self.waiting.let_go}

    def _priorities(self, links: LinkTable) -> NDArray[np.int32]:
        least = self._least_scores(links)
        return self.choice.priorities(links.table[SCORE], links.table[SITE], self.waiting.sites, least)

    def _vector(self, title: str, text: str) -> Vector:
        return self.vocabulary.vector([*terms(title[:MOST_TITLE]), *page_terms(text[:MOST_TEXT])])

    def _page(self, url: str, title: str, text: str, language: str) -> KnownPage:
        return KnownPage(
            self._vector(title, text),
            named=self._named(title, text),
            is_example=hash(text[:MOST_TEXT]) in self._examples,
            language=language,
            address=address_key(url) if url else NO_ADDRESS,
        )

    def _named(self, title: str, text: str) -> float:
        if self.keywords:
            return self.keywords.named(title[:MOST_TITLE], text[:MOST_TEXT])
        return 0.0

    def _judge(self, page: KnownPage) -> tuple[float, float]:
        """The relevance of a page, corrected by labels, and what links to it are taught."""
        if self._is_stale:
            self.learn()
        relevance, promise = self._uncorrected(page)
        return float(self.calibration.corrected(relevance)), promise

    def _uncorrected(self, page: KnownPage) -> tuple[float, float]:
        """The relevance of a page by the aim that it is nearest to, and what links to it are taught."""
        of_translation = self.aims.of_translation(page) if self.aims.is_foreign(page.language) else None
        if of_translation is not None:
            return of_translation, of_translation
        own = self.aims.of(page.language)
        relevance = promise = self.aims.of_folder(page)
        for subject in self.aims.judges(page.language):
            named = subject.named(page) if subject is own else page.named
            likeness = subject.likeness(page.vector)
            relevance = max(relevance, float(subject.judged(likeness, named, self.vocabulary.all_pages)))
            promise = max(promise, float(subject.promise(likeness, named)))
        return relevance, promise

    def _topic_words(self) -> Iterator[TopicWord]:
        """The words in which the topic was given, after those of similar meaning."""
        for word, weight in self.topic.words:
            for similar, cosine in self.similar.get(word, ()):
                yield self._topic_word(word, similar, weight * cosine)
        for word, weight in self.topic.words:
            yield self._topic_word(word, word, weight)

    def _topic_word(self, word: str, name: str, weight: float) -> TopicWord:
        spellings = forms(name)
        places = self.vocabulary.places(spellings or terms(name) or (name,))
        return TopicWord(
            word=word,
            weight=weight,
            place=self.vocabulary.place(name),
            places=tuple(places),
            has_forms=bool(spellings),
            is_given=name == word,
        )

    def _remember(self, url: str, number: int) -> None:
        self._numbers.set(url, number)

    def _let_go(self, url: str) -> int | None:
        self._explored.pop(url, None)
        return self.waiting.remove(url)

    @property
    def _mark(self) -> str:
        """Identifies this topic."""
        return blake2b(repr(self.topic).encode("utf-8", "replace"), digest_size=8).hexdigest()
