"""The links of a page: which are worth following, and which of them first."""

from dataclasses import dataclass

from crawler.page import Page
from crawler.scope import Scope
from crawler.spiders.pictures import Pictures
from crawler.spiders.reasons import Reasons
from crawler.state.entries import Candidate
from crawler.state.frontier import Frontier
from crawler.topic import Topic

# Links that are only a picture are mostly adverts: they wait until nothing better is left.
PICTURE_PRIORITY = -1_000


@dataclass(frozen=True)
class Links:
    """What tells which links to follow."""

    scope: Scope
    topic: Topic
    pictures: Pictures
    reasons: Reasons

    def new(self, page: Page, depth: int, relevance: float, frontier: Frontier) -> list[Candidate]:
        """The page's links that are new, those first whose page and words are about the topic."""
        found: list[Candidate] = []
        for link in page.links:
            if link.url in frontier or hash(link.url) in self.reasons.left_out:
                continue
            alone = link.pictured and not link.text
            if alone and (frontier.met(link.url, "picture") or self.pictures.is_picture(link.url)):
                continue
            if link.nofollow:
                self.reasons.mark_nofollow(link.url)
            elif refusal := self.scope.refusal(link.url):
                self.reasons.leave_out(link.url, refusal)
            elif alone:
                sight = self.pictures.sight(page, link.url)
                found.append(Candidate(link.url, PICTURE_PRIORITY, depth, page.url, sight=sight))
            else:
                mentioned = self.topic.mentioned(f"{link.text} {link.title}")
                priority = round(600 * relevance + 400 * mentioned)
                found.append(Candidate(link.url, priority, depth, page.url))
        return found
