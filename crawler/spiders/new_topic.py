"""Gives a crawl another topic: its stored pages and queued links are scored again.

Each stored page gets its relevance for the new topic. A queued link gets a priority by the words of its address and by
the page on which it was found, as the words of the link itself are not stored. The topic is saved at the end: if the
process is killed before, the same command starts over.
"""

from __future__ import annotations

import json
from collections import defaultdict

from crawler.arguments import Arguments
from crawler.spiders.named_lists import words_of
from crawler.spiders.topic_tracker import DIGITS
from crawler.store.batch.priority_updates import NewTopic
from crawler.store.worker_session import WorkerSession
from crawler.topic.focus import MOST_TEXT, TopicFocus
from crawler.topic.keywords import NONE_SIMILAR
from crawler.topic.link_table import LinkContext
from crawler.topic.topic import SimilarWords


def score_again(session: WorkerSession, arguments: Arguments, similar: SimilarWords = NONE_SIMILAR) -> int:
    """Give the crawl the topic of these arguments; returns how many pages were scored."""
    topic = arguments.topic
    committer = session.committer
    new_topic = NewTopic(committer.in_transaction, committer.claimant)
    focus = TopicFocus(topic, worker_number=session.number, similar=similar, languages=arguments.lang)

    # The topic learns from the stored pages, which are then scored by what it has learned.
    stored_rows = (row for rows in new_topic.pages(MOST_TEXT) for row in rows)
    focus.begin_with((row.requested_url, row.title, row.text, row.language or "") for row in stored_rows)
    scored_pages = 0
    for rows in new_topic.pages(MOST_TEXT):
        relevance_by_id = {
            row.id: round(focus.judge_stored(row.requested_url, row.title, row.text, row.language or ""), DIGITS)
            for row in rows
        }
        new_topic.save_relevance(relevance_by_id)
        scored_pages += len(relevance_by_id)

    # The queued links are scored page by page.
    for rows in new_topic.links():
        rows_by_parent = defaultdict(list)
        for row in rows:
            rows_by_parent[row.parent or ""].append(row)
        priorities: dict[int, int] = {}
        for parent, links in rows_by_parent.items():
            contexts = [LinkContext(url=row.url, anchor=words_of(row.url)) for row in links]
            priorities.update(zip((row.id for row in links), focus.queue_links(parent, contexts), strict=True))
        new_topic.save_priorities(priorities, {row.host_id for row in rows})

    new_topic.finish(topic.text, topic.digest, (json.dumps(focus.summary(), ensure_ascii=False), focus.record()))
    return scored_pages
