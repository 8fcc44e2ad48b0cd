"""Learns from each fetched page, and sets the priorities of the queued links.

A page passes through four methods of `TopicFocus`:

    learn_page     counts its words and compares it with the topic; the scores of links learn from its relevance
    see_again      queued links that the page shows, too, gain it as evidence
    queue_links    its new links get scores by their words and by the pages that show them
    renew_if_due   every few pages the aim is computed again, pages are judged again, and all queued links are scored
                   again

The aim is a vector of words to which pages are similar if they are on the topic. A page has two kinds of relevance: its
relevance, which the crawl reports, and its training relevance, from which the scores of links learn. All three are
computed in crawler/topic/relevance.py.

With the option `min_chance`, unlikely links get such a low priority that they are requested last
(crawler/topic/priorities.py). All other links are let through. A link to a good site is unlikely if its score is below
`_least_of_good`, a link to another site if it is below `_least_to_others`. If fewer than `_enough_links` queued links
are let through, `_least_of_good` falls, but not below `_floor`: by what was learned, links with lower scores lead to
the topic with less than the chance `min_chance` (crawler/topic/link_chances.py).
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
from crawler.topic.keywords import NONE_SIMILAR, Keywords, spellings
from crawler.topic.label_correction import Calibration
from crawler.topic.link_chances import JudgedLink, LinkChances
from crawler.topic.link_scores import SITE_FACTOR, Apprentice, FocusOptions, PageCredits, Prioritizer, Scorer
from crawler.topic.link_table import (
    KEPT,
    REPORTED,
    SCORE,
    SITE,
    LinkContext,
    LinkReader,
    LinkTable,
    WaitingLinks,
    site_number,
)
from crawler.topic.page_translations import NO_ADDRESS, NamedTranslations, Translations, address_key
from crawler.topic.priorities import HIGHEST, SCALE, UNLIKELY, score_of
from crawler.topic.relevance import Subject
from crawler.topic.shared_model import MOST_PAGES, Learned, from_line, summary, to_line
from crawler.topic.stop_rule import ON_TOPIC
from crawler.topic.topic import STOP_WORDS, SimilarWords, Topic
from crawler.topic.word_statistics import PLACES, KnownPage, Values, Vector, Vocabulary
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict

MOST_TEXT = 20_000
"""How many characters of a page's text are read."""
MOST_TITLE = 500
"""How many characters of a page's title are read."""
RENEWED_AFTER = 20
"""The interval of renewals in pages, from the 60th page to the 400th. Before, it is a third of the pages seen, at least
3; afterwards a twentieth, so that the work for each page does not grow. It is also the interval at which the shares of
sites are checked between two renewals.
"""
MOST_BETWEEN = 1_000
"""At most this many priorities rise between two renewals. When a site no longer exceeds its share, the scores of all
its links rise. But the next renewal comes before more of them are requested, and writing all would take long.
"""
STEP = 10
"""The least change of a priority, in thousandths of a score, that is reported to the database."""
ENOUGH = 4
"""The first value of `_enough_links`, which `let_unlikely_through` doubles when the crawl would end otherwise."""
REMEMBERED = 200_000
"""How many addresses of fetched pages are remembered, for links to them that later pages show."""
MOST_STORED = 250
"""A new topic is learned from this many stored pages that are most like it, and from a random sample of as many."""
WEIGHED_AFTER = 25
"""The interval, in stored pages, at which `begin_with` computes the weights of words again."""


class TopicFocus:
    """The knowledge of one worker about its topic and the queued links."""

    def __init__(
        self,
        topic: Topic,
        options: FocusOptions | None = None,
        worker_number: int = 1,
        similar: SimilarWords = NONE_SIMILAR,
        languages: Collection[str] = (),
        on_topic: float = ON_TOPIC,
    ) -> None:
        self.topic = topic
        self.options = options or FocusOptions()
        self.worker_number = worker_number
        self.similar = similar
        """The words similar in meaning to each word of the topic."""
        self.keywords = Keywords(dict(topic.words), similar, languages)
        self.vocabulary = Vocabulary(STOP_WORDS, self.keywords.stems.folded)
        self.reader = LinkReader(self.vocabulary, topic.prefer)
        self.translations = Translations()
        self.aims = Aims(self.translations)
        self.subject = self.aims.first
        """The aim of the first language, to which examples and labels belong."""

        self.page_credits = PageCredits()
        self.apprentice = Apprentice()
        """Learns for each feature of links how relevant the pages are that they lead to."""
        self.waiting = WaitingLinks()
        self.texts = Apprentice(features=PLACES)
        """Learns for each word how relevant the pages are whose texts contain it: its features are words."""
        self.calibration = Calibration()
        self.prioritizer = Prioritizer(self.options, worker_number)
        self.scorer = Scorer(self.aims, self.page_credits, self.apprentice, self.texts, self.options.learning)
        self.chances = LinkChances()

        self._floor = 0.0
        """The lower limit of `_least_of_good`, see `LinkChances.least_possible`."""
        self._least_promising = 0.0
        """The upper limit of `_least_of_good`, see `LinkChances.least_promising`."""
        self._least_of_good = 0.0
        """The least score with which a link to a good site is let through."""
        self._least_to_others = 0.0
        """The least score with which a link to any other site is let through."""
        self._good_sites: list[int] = []
        """The sites with the highest shares of pages on the topic, see `LinkChances.good_sites`."""
        self._enough_links = ENOUGH
        """At least this many queued links are let through, unless fewer are above `_floor`."""
        self._on_topic = on_topic
        """The relevance from which on a page is on the topic."""
        self._examples: set[int] = set()
        """Hashes of the texts of examples and counterexamples, by which fetched pages with these texts are known."""
        self._page_numbers: LruDict[str, int] = LruDict(REMEMBERED)
        """The numbers of fetched pages, by address."""
        self._explored: dict[str, float] = {}
        """The queued links that exploration has chosen, with their scores when they were chosen."""
        self._dropped_priorities: dict[str, int] = {}
        """The lowered priorities of links that are no longer scored (`_make_room`), until they are reported."""
        self._pages_since_renewal = 0
        self._next_sample = 0
        """The position at which the next sample of queued links begins."""
        self._is_stale = True
        """Whether the aims must be computed again before a page is judged."""
        self._words = tuple(self._topic_words())
        """The words of the topic and those of similar meaning."""

        for text in topic.examples:
            self.learn_example(text)
        for text in topic.against:
            self.learn_example(text, is_on_topic=False)

    def learn_example(self, text: str, is_on_topic: bool = True) -> None:
        """Learn from a text that is about the topic, or from one that is not."""
        self._examples.add(hash(text[:MOST_TEXT]))
        texts = self.subject.examples if is_on_topic else self.subject.against
        texts.append(self._vector("", text))
        self._is_stale = True

    def label(self, labels: Iterable[tuple[str, str, bool]]) -> None:
        """Learn from all pages that people labelled, each given as title, text, and whether it is on the topic. They
        replace the pages of the last call.
        """
        self.subject.labelled = [
            (KnownPage(self._vector(title, text), word_score=self._word_score(title, text)), is_on_topic)
            for title, text, is_on_topic in labels
        ]
        self._is_stale = True

    def relevance(self, title: str, text: str, url: str = "", language: str = "") -> float:
        """The relevance of a text, from 0 to 1, by what is known now; `url` is needed to find its translations."""
        return self._judge(self._page(url, title, text, language))[0]

    def name_translations(self, url: str, named: NamedTranslations) -> None:
        """Record the addresses that a page or a sitemap names as the page in other languages."""
        self.translations.record_named(url, named)

    def learn_page(self, url: str, title: str, text: str, language: str = "") -> float:
        """Learn from a fetched page; returns its relevance. `language` is its code, empty if it is unknown."""
        # The page itself.
        page = self._page(url, title, text, language)
        self.vocabulary.see(page.vector.places)
        relevance, training_relevance = self._judge(page)
        self.texts.learn(page.vector.places, training_relevance)
        number = self.page_credits.add(training_relevance)
        self._page_numbers.set(url, number)
        self.translations.set_relevance(page.address, language, training_relevance)
        if self.aims.add(replace(page, number=number)):
            self._is_stale = True
        self.prioritizer.count_page(site_number(address_of(url).host))

        # The link that led to it: after its removal, its row can be read until `_make_room`.
        row = self._remove(url)
        if row is not None:
            pages_with_link = self.waiting.shown[row]
            score = float(self.waiting.all().table[SCORE, row])
            link = JudgedLink(score=score, page=number, is_on_topic=relevance >= self._on_topic)
            first_seen_on = pages_with_link[0] if pages_with_link else None
            self.chances.add(link, site_number(address_of(url).host), first_seen_on)
            self.page_credits.record_target(pages_with_link, training_relevance)
            self.apprentice.learn(self.waiting.features[row], training_relevance)
        self._pages_since_renewal += 1
        return relevance

    def begin_with(self, pages: Iterable[tuple[str, str, str, str]]) -> None:
        """Learn a new topic from stored pages, each given as address, title, text and language. All pages count for the
        weights of words; the aims learn from the pages most like the topic and a random sample.
        """
        best = list[
            tuple[float, int, KnownPage]
        ]()  # a heap by training relevance; the index decides between equal ones
        sample = list[KnownPage]()
        random_numbers = random.Random(self.worker_number)  # noqa: S311 - a sample of pages, no secret
        for at, (url, title, text, language) in enumerate(pages):
            page = self._page(url, title, text, language)
            self.vocabulary.see(page.vector.places)
            if at % WEIGHED_AFTER == 0:
                self.learn()
            _, training_relevance = self._judge(page)
            if at < MOST_STORED:
                heappush(best, (training_relevance, at, page))
                sample.append(page)
                continue
            heappushpop(best, (training_relevance, at, page))
            # Reservoir sampling: each page seen so far is in the sample with the same probability.
            replaced = random_numbers.randrange(at + 1)
            if replaced < MOST_STORED:
                sample[replaced] = page

        # The pages count as those of an earlier run, because they have no numbers in this one. Some are in both lists.
        self.aims.lend(self.worker_number, list(dict.fromkeys([*sample, *(page for _, _, page in best)])))
        self._is_stale = True

    def judge_stored(self, url: str, title: str, text: str, language: str = "") -> float:
        """Judge a stored page, so that its relevance counts for the scores of its links; returns its relevance."""
        relevance, training_relevance = self._judge(self._page(url, title, text, language))
        self._page_numbers.set(url, self.page_credits.add(training_relevance))
        return relevance

    def see_again(self, page_url: str, contexts: Sequence[LinkContext]) -> None:
        """Record that a page shows these links, if they are queued or lead to fetched pages. New links are ignored, as
        `queue_links` records them.
        """
        number = self._page_numbers.get(page_url)
        if number is None:
            return
        for context in contexts:
            row = self.waiting.rows.get(context.url)
            if row is not None:
                self.waiting.show_again(row, number, self.reader.places(context.anchor))
                continue
            target_number = self._page_numbers.get(context.url)
            if target_number is not None and target_number != number:  # a page is not credited for a link to itself
                self.page_credits.record_known_target(number, target_number)

    def queue_links(self, page_url: str, contexts: Sequence[LinkContext]) -> list[int]:
        """Queue the new links of a page; returns the priorities of all its links. Links that are queued already keep
        their priorities.
        """
        self.see_again(page_url, [context for context in contexts if context.url in self.waiting.rows])
        self._make_room()  # before `mark`, as it may renumber the rows
        number = self._page_numbers.get(page_url)
        mark = self.waiting.mark()
        new_links = dict[str, LinkContext]()
        for context in contexts:
            if context.url not in self.waiting.rows:
                new_links.setdefault(context.url, context)
        for url, link in zip(new_links, self.reader.read(number, list(new_links.values())), strict=True):
            self.waiting.add(url, link)
        links = self.waiting.since(mark)
        self._score(links)
        links.table[REPORTED] = self._priorities(links)
        priorities = self.waiting.all().table[REPORTED]
        return [int(priorities[self.waiting.rows[context.url]]) for context in contexts]

    def adopt(self, links: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Queue links that other workers or an earlier run found, each with its priority; returns the priorities that
        fall because a site has had its share. Links whose priority tells no score are ignored.
        """
        new_priorities = {
            url: priority for url, priority in links if url not in self.waiting.rows and url not in self._page_numbers
        }
        all_scores = ((url, score_of(priority)) for url, priority in new_priorities.items())
        scores = {url: score for url, score in all_scores if score is not None}
        if not scores:
            return {}
        self._make_room()
        mark = self.waiting.mark()
        link_numbers = self.reader.read(None, [LinkContext(url=url, anchor="") for url in scores])
        for (url, score), link in zip(scores.items(), link_numbers, strict=True):
            self.waiting.add(url, replace(link, fixed_score=score))
        self.waiting.since(mark).table[REPORTED] = [new_priorities[url] for url in scores]
        return self._changed_priorities(most_risen=0)

    def renew_if_due(self) -> dict[str, int]:
        """Renew the priorities of queued links; returns the priorities that changed.

        All are renewed when enough pages were fetched since the last renewal. In between, every RENEWED_AFTER pages,
        links to sites that have had their share fall, and the best links to sites that no longer exceed it rise.
        """
        pages = self.page_credits.pages
        if self._pages_since_renewal >= max(3, min(RENEWED_AFTER, pages // 3), pages // 20):
            return self.renew()
        shares_are_due = self._pages_since_renewal > 0 and self._pages_since_renewal % RENEWED_AFTER == 0
        if self._lower_bar_if_few() or shares_are_due:
            return self._changed_priorities(MOST_BETWEEN)
        return {}

    def renew(self) -> dict[str, int]:
        """Learn, score all queued links again and choose links to explore; returns the priorities that changed."""
        self._pages_since_renewal = 0
        self.learn()
        self._make_room()
        links = self.waiting.all()
        urls = self.waiting.urls
        self._score(links)
        self._set_least_of_good(links)
        for row in self.prioritizer.choose_explored(self._present_priorities(links), links.waits):
            self._explored[urls[row]] = float(links.table[SCORE, row])
        return self._changed_priorities(links.count)

    def _changed_priorities(self, most_risen: int) -> dict[str, int]:
        """Compute the priorities of queued links from their present scores; returns the priorities that changed since
        they were last reported, and the lowered priorities of dropped links. From now on, these count as reported.

        Of the priorities that have risen, only the `most_risen` highest are returned.
        """
        links = self.waiting.all()
        urls = self.waiting.urls
        priorities = self._present_priorities(links)
        reported_priorities = links.table[REPORTED]

        # The rows of the links whose priorities changed.
        risen = np.flatnonzero(links.waits & (priorities >= reported_priorities + STEP))
        fallen = np.flatnonzero(links.waits & (priorities <= reported_priorities - STEP))
        highest_risen = risen[np.argsort(-priorities[risen], kind="stable")[:most_risen]]
        changed = np.concatenate([highest_risen, fallen])

        reported_priorities[changed] = priorities[changed]
        dropped_priorities = self._dropped_priorities
        self._dropped_priorities = {}
        return dropped_priorities | {urls[row]: int(priorities[row]) for row in changed.tolist()}

    def let_unlikely_through(self) -> dict[str, int]:
        """Let some unlikely links through because no other links are left; returns the priorities that changed."""
        self._enough_links *= 2
        self._floor = self.chances.least_possible(self.options.min_chance)
        if self._lower_bar_if_few():
            return self._changed_priorities(MOST_BETWEEN)
        return {}

    def _lower_bar_if_few(self) -> bool:
        """Lower `_least_of_good` if fewer than `_enough_links` queued links reach it; returns whether it fell."""
        if not self.options.min_chance or self._least_of_good <= self._floor:
            return False
        before = self._least_of_good
        self._set_least_of_good(self.waiting.all())
        return self._least_of_good < before

    def _set_least_of_good(self, links: LinkTable) -> None:
        """Set `_least_of_good`: to `_least_promising`, or to a lower score so that enough links are let through."""
        scores = links.table[SCORE]
        may_be_requested = links.waits & (self._is_to_good_site(links) | (scores >= self._least_to_others))
        scores = scores[may_be_requested]
        enough = self._enough_links
        least_of_enough = float(np.partition(scores, -enough)[-enough]) if len(scores) >= enough else 0.0
        self._least_of_good = max(self._floor, min(self._least_promising, least_of_enough))

    def _is_to_good_site(self, links: LinkTable) -> NDArray[np.bool_]:
        """Whether each link leads to a good site."""
        return np.isin(links.table[SITE], self._good_sites)

    def _least_scores(self, links: LinkTable) -> Values:
        """For each link, the least score with which it is let through."""
        if not self.options.min_chance:
            return np.zeros(links.count)
        return np.where(self._is_to_good_site(links), self._least_of_good, self._least_to_others)

    def _score(self, links: LinkTable) -> None:
        """Compute the scores of links again, except fixed scores."""
        links.table[SCORE] = np.where(links.table[KEPT] > 0, links.table[SCORE], self.scorer.scores(links))

    def _make_room(self) -> None:
        """Drop links, which are then no longer scored, if too many are queued.

        The priorities of dropped links can no longer fall when their site has had its share of the pages. So they fall
        now if the site has more than this share of the queued links, and other sites have queued links, too.
        """
        dropped = self.waiting.make_room()
        if not dropped:
            return
        sites = self.waiting.sites
        most_links = self.options.site_share * len(self.waiting.rows)
        crowding_sites = {site for site, count in sites.items() if count > most_links}
        if len(crowding_sites) < len(sites):
            for url, site, score in dropped:
                if site in crowding_sites:
                    offset = UNLIKELY if score < self._floor else 0
                    self._dropped_priorities[url] = round(SCALE * SITE_FACTOR * score) + offset

    def learn(self) -> None:
        """Compute the aims again, and judge the remembered pages by them."""
        self._is_stale = False
        for subject, judged in self.aims.learn(self.vocabulary.weights(), self._words):
            if judged:
                numbers = [page.number for page, _ in judged]
                likeness = np.array([likeness for _, likeness in judged])
                word_scores = np.array([subject.word_score(page) for page, _ in judged])
                self.page_credits.set_relevance(numbers, subject.training_relevance(likeness, word_scores))
        self.calibration = self._calibrated()
        if self.options.min_chance:
            self._floor = self.chances.least_possible(self.options.min_chance)
            self._least_promising = max(self._floor, self.chances.least_promising())
            self._least_to_others = max(self._floor, self.chances.least_to_others())
            self._good_sites = self.chances.good_sites()

    def _calibrated(self) -> Calibration:
        """The correction of relevance by the pages that people labelled."""
        labelled = self.subject.labelled
        if not labelled:
            return Calibration()
        uncorrected = [relevance for relevance, _ in (self._uncorrected(page) for page, _ in labelled)]
        return Calibration.fitted(np.array(uncorrected), [is_on_topic for _, is_on_topic in labelled])

    def queued_score(self, url: str) -> float | None:
        """The score of a queued link; None if this worker does not know it."""
        row = self.waiting.rows.get(url)
        if row is None:
            return None
        if url in self._explored:
            return self._explored[url]
        return score_of(int(self.waiting.all().table[REPORTED, row]))

    def forget(self, urls: Iterable[str]) -> None:
        """Remove links that are no longer queued."""
        for url in urls:
            self._remove(url)

    def waiting_sample(self, most: int) -> list[str]:
        """The next links, at most `most`, that this worker believes to be queued; after the last, the first follow."""
        urls = list(self.waiting.rows)
        first = self._next_sample
        if first >= len(urls) or len(urls) <= most:
            first = 0
        self._next_sample = first + most
        return urls[first : first + most]

    def record(self) -> str:
        """What was learned, as a text for `take_in`."""
        vocabulary = self.vocabulary
        known_pages = [page for subject in self.aims.all() for page in self._shared_pages(subject)]
        translated, translations = self.translations.shared()
        learned = Learned(
            worker_number=self.worker_number,
            topic=self._topic_digest,
            pages=vocabulary.pages,
            words=vocabulary.shared(),
            known=known_pages,
            features=self.apprentice.shared(),
            translated=translated,
            translations=translations,
        )
        return to_line(learned, vocabulary)

    def _shared_pages(self, subject: Subject) -> list[KnownPage]:
        """The pages most like an aim and least like it, for other workers to learn from."""
        earlier_pages = subject.lent.get(self.worker_number, [])
        least_like = subject.unlike[-(MOST_PAGES - len(subject.like)) :]
        candidates = dict.fromkeys([*subject.like, *least_like, *earlier_pages])
        # Without a number, a page is from an earlier run of this worker, or from another worker. Other workers share
        # their pages themselves.
        return [page for page in candidates if page.number >= 0 or page in earlier_pages][:MOST_PAGES]

    def take_in(self, record: str) -> bool:
        """Learn from a record of an earlier run or another worker; returns whether it could be read."""
        learned = from_line(record, self.vocabulary)
        if learned is None:
            return False
        has_same_topic = learned.topic == self._topic_digest
        if has_same_topic:
            self.aims.lend(learned.worker_number, learned.known)
            self.translations.take_over(learned.translated, learned.translations)
        if learned.worker_number == self.worker_number:
            self.vocabulary.resume(learned.pages, learned.words)
            if has_same_topic:
                self.apprentice.resume(learned.features)
        else:
            self.vocabulary.take_over(learned.worker_number, learned.pages, learned.words)
            if has_same_topic:
                self.apprentice.take_over(learned.worker_number, learned.features)
        self._is_stale = True
        return True

    def summary(self) -> dict[str, Any]:
        """The words of the topic and of links that led to it or away from it, with their weights; and as `let_go`, how
        many links were dropped because too many are queued.
        """
        learned_words = summary(self.vocabulary, self.aims.all(), self.apprentice)
        return learned_words | {"let_go": self.waiting.dropped}

    def _present_priorities(self, links: LinkTable) -> NDArray[np.int32]:
        """The priorities of queued links by their scores, and HIGHEST for those that exploration has chosen."""
        priorities = self._priorities(links)
        priorities[[self.waiting.rows[url] for url in self._explored if url in self.waiting.rows]] = HIGHEST
        return priorities

    def _priorities(self, links: LinkTable) -> NDArray[np.int32]:
        least = self._least_scores(links)
        return self.prioritizer.priorities(links.table[SCORE], links.table[SITE], self.waiting.sites, least)

    def _vector(self, title: str, text: str) -> Vector:
        return self.vocabulary.vector([*terms(title[:MOST_TITLE]), *page_terms(text[:MOST_TEXT])])

    def _page(self, url: str, title: str, text: str, language: str) -> KnownPage:
        return KnownPage(
            self._vector(title, text),
            word_score=self._word_score(title, text),
            is_example=hash(text[:MOST_TEXT]) in self._examples,
            language=language,
            address=address_key(url) if url else NO_ADDRESS,
        )

    def _word_score(self, title: str, text: str) -> float:
        if self.keywords:
            return self.keywords.score(title[:MOST_TITLE], text[:MOST_TEXT])
        return 0.0

    def _judge(self, page: KnownPage) -> tuple[float, float]:
        """The relevance of a page, corrected by labels, and its training relevance."""
        if self._is_stale:
            self.learn()
        relevance, training_relevance = self._uncorrected(page)
        return float(self.calibration.corrected(relevance)), training_relevance

    def _uncorrected(self, page: KnownPage) -> tuple[float, float]:
        """The relevance of a page without the correction by labels, and its training relevance."""
        if self.aims.is_foreign(page.language):
            of_translation = self.aims.of_translation(page)
            if of_translation is not None:
                return of_translation, of_translation

        # The highest of the relevance of pages in other languages in the page's folder, and the relevance by each aim.
        # The word score by the aim of the page's own language may count words that were learned in that language.
        own = self.aims.of(page.language)
        relevance = training_relevance = self.aims.of_folder(page)
        for subject in self.aims.compared_with(page.language):
            word_score = subject.word_score(page) if subject is own else page.word_score
            likeness = subject.likeness(page.vector)
            relevance = max(relevance, float(subject.page_relevance(likeness, word_score, self.vocabulary.all_pages)))
            training_relevance = max(training_relevance, float(subject.training_relevance(likeness, word_score)))
        return relevance, training_relevance

    def _topic_words(self) -> Iterator[TopicWord]:
        """The words of similar meaning, and then the words in which the topic was given: if two words share a place,
        `word_vector` uses the weight of the later one.
        """
        for word, weight in self.topic.words:
            for similar, cosine in self.similar.get(word, ()):
                yield self._topic_word(word, similar, weight * cosine)
        for word, weight in self.topic.words:
            yield self._topic_word(word, word, weight)

    def _topic_word(self, topic_word: str, word: str, weight: float) -> TopicWord:
        """The TopicWord of a word that is `topic_word` itself or similar to it."""
        spellings_of_word = spellings(word)
        places = self.vocabulary.places(spellings_of_word or terms(word) or (word,))
        return TopicWord(
            topic_word=topic_word,
            weight=weight,
            place=self.vocabulary.place(word),
            places=tuple(places),
            has_spellings=bool(spellings_of_word),
            is_given=word == topic_word,
        )

    def _remove(self, url: str) -> int | None:
        """Remove a link that is no longer queued; returns its row, or None if the link was not known."""
        self._explored.pop(url, None)
        return self.waiting.remove(url)

    @property
    def _topic_digest(self) -> str:
        """Identifies this topic, its domains included."""
        return blake2b(repr(self.topic).encode("utf-8", "replace"), digest_size=8).hexdigest()
