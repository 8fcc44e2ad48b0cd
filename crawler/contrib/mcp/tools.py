"""The tools. Agents see the docstring of each as its description."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from crawler.arguments import parse
from crawler.contrib.dashboard.views.page_query import Place
from crawler.contrib.index.chunk_size import estimated_tokens
from crawler.contrib.mcp.answers import (
    FRAME_TOKENS,
    LEAST_TOKENS,
    LONGEST_ADDRESS,
    MOST_TOKENS,
    USUAL_TOKENS,
    end_within,
    fitting,
    marked,
    one_line,
    visible,
)
from crawler.contrib.mcp.command import LARGEST_MAX_PAGES
from crawler.contrib.mcp.page_fetch import PageFetch
from crawler.contrib.mcp.sections import section_named, sections
from crawler.contrib.mcp.started_crawls import StartedCrawls
from crawler.contrib.mcp.stored_crawls import StoredCrawls
from crawler.errors import ArgumentError
from crawler.reports.crawls import CrawlSummary
from crawler.store.page_changes import OFFSET

MOST_WORDS = 10
"""The most words of a search."""
FACTS = ("title", "author", "language", "published", "fetched_at", "gone_at")
"""The fields of a page that an answer shows if they have values."""
LONGEST_SNIPPET = 200
"""The most characters of a page's text that a search shows."""
CONTROLS = r"\u0000-\u001f\u007f-\u009f"
NAME = rf"^[^/\\\s{CONTROLS}]+$"  # not \w, which matches only ASCII in some clients
ADDRESS = rf"^[hH][tT][tT][pP][sS]?://[^\s{CONTROLS}]+$"
LINE = f"^[^{CONTROLS}]*$"
PLACE = r"^([0-9](\.[0-9]{1,20})?(e-[0-9]{1,2})?_[0-9]{1,18})?$"
"""A position in the results of a search: the relevance and the id of the last page that was shown."""

EXPECTED = {
    NAME: "a name has no slashes and no spaces",
    ADDRESS: "it must be an address that begins with http:// or https://",
    LINE: "it must be one line without control characters",
    PLACE: "give the value that an earlier answer names",
    f"^{OFFSET.pattern}$": "give 0, or the value that an earlier answer names",
}
"""The sentence for error messages about arguments that do not match a pattern, by pattern."""

# The types of arguments.
CrawlName = Annotated[str, Field(max_length=200, pattern=NAME, description="the name of a crawl")]
Address = Annotated[str, Field(max_length=LONGEST_ADDRESS, pattern=ADDRESS)]
Seeds = Annotated[list[Address], Field(min_length=1, max_length=20, description="addresses to begin at")]
Line = Annotated[str, Field(max_length=500, pattern=LINE)]
MaxPages = Annotated[int, Field(ge=1, le=LARGEST_MAX_PAGES, description="the most pages that it may store")]
MaxTokens = Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS, description="the most tokens of the answer")]
Position = Annotated[int, Field(ge=0, le=10**9, description="where to begin, from an earlier answer")]
Before = Annotated[int, Field(ge=0, le=2**62, description="where to begin, from an earlier answer")]
SearchPlace = Annotated[str, Field(pattern=PLACE, description="where to begin, from an earlier answer")]
ChangeOffset = Annotated[
    str, Field(pattern=f"^{OFFSET.pattern}$", description="the offset of the last change you know")
]


class Tools:
    """The tools of one server."""

    def __init__(self, fetch: PageFetch, stored: StoredCrawls, started: StartedCrawls) -> None:
        self._fetch = fetch
        self._stored = stored
        self._started = started

    def clean_page(
        self, url: Address, as_markdown: bool = True, position: Position = 0, max_tokens: MaxTokens = USUAL_TOKENS
    ) -> str:
        """Fetch one page of the web, and return its title, language, date and main text without navigation and adverts.

        Public addresses only. robots.txt is not checked, as with a page that a person opens.
        """
        page = self._fetch.page(url, is_continued=position > 0)
        text = visible(page["markdown"] if as_markdown else page["text"])
        return _page_answer(page, text, position, len(text), max_tokens)

    def list_crawls(self, before: Before = 0, max_tokens: MaxTokens = USUAL_TOKENS) -> str:
        """List the crawls whose pages can be searched and read, the latest first: name, state, topic, pages, round."""
        summaries, following = self._stored.summaries(before)
        lines = fitting(map(_summary_line, summaries), max_tokens)
        if len(lines) < len(summaries):
            following = summaries[len(lines) - 1].id
        note = "These are all." if following is None else f"There are more; continue with before={following}."
        return marked("\n".join(lines), note)

    def crawl_state(self, crawl: CrawlName) -> str:
        """Report the state of a crawl.

        running, paused and stopping: it is at work. finished: nothing is left to request. full: it has reached its
        limit of pages. failed: no seed could be fetched. stopped and broken: the same call of start_crawl continues it.
        """
        summary, failed = self._stored.summary(crawl)
        seeds = [f"{one_line(seed.url, 300)} ({one_line(str(seed.outcome.message))})" for seed in failed.seeds]
        queued = summary.waiting + summary.unlikely
        note = f"{queued} addresses wait. {failed.number} seeds failed"
        note += ", of which the first are listed." if failed.number > len(seeds) else "."
        return marked("\n".join([_summary_line(summary), *seeds]), note)

    def search_pages(
        self, crawl: CrawlName, words: Line, after: SearchPlace = "", max_tokens: MaxTokens = USUAL_TOKENS
    ) -> str:
        """Find stored pages of a crawl that have all these words in title, text or address, the most relevant first.

        Words are separated by spaces, and also match parts of longer words. So Chinese words are found without spaces
        around them.
        """
        if not 0 < len(words.split()) <= MOST_WORDS:
            raise ToolError(f"Give from 1 to {MOST_WORDS} words.")
        place = None
        if after:
            relevance, _, number = after.partition("_")
            place = Place(id=int(number), relevance=float(relevance))
        hits, following = self._stored.search(crawl, words.split(), place)
        entries = fitting((_hit_entry(page, snippet) for page, snippet in hits), max_tokens)
        if len(entries) < len(hits):
            last, _ = hits[len(entries) - 1]
            following = Place(id=last["id"], relevance=last["relevance"])
        note = "No other page has all these words."
        if following is not None:
            note = f"There may be more; continue with after={following.relevance!r}_{following.id}."
        return marked("\n\n".join(entries), note)

    def outline_page(
        self, crawl: CrawlName, url: Address, position: Position = 0, max_tokens: MaxTokens = USUAL_TOKENS
    ) -> str:
        """List the headings of a stored page, with the size of the text below each, to choose what to read."""
        text = _text(self._stored.page(crawl, url))
        page_sections = [section for section in sections(text) if section.start >= position]
        lines = fitting(map(str, page_sections), max_tokens)
        listed = "These are all" if page_sections else f"There are no headings from position {position} on"
        note = f"{listed}; the page has about {estimated_tokens(text):.0f} tokens."
        if len(lines) < len(page_sections):
            note = f"There are more; continue with position={page_sections[len(lines)].start}."
        return marked("\n".join(lines), note)

    def read_page(
        self,
        crawl: CrawlName,
        url: Address,
        heading: Line = "",
        position: Position = 0,
        max_tokens: MaxTokens = USUAL_TOKENS,
    ) -> str:
        """Read a stored page from a position on, or only the text below a heading. Requests nothing from the web.

        If several headings are equal, give the position of one of them too.
        """
        page = self._stored.page(crawl, url)
        text = _text(page)
        if not heading:
            return _page_answer(page, text, position, len(text), max_tokens)
        section = section_named(sections(text), heading, position)
        if section is None:
            raise ToolError(f"No section with this heading ends after position {position}; outline_page lists all.")
        return _page_answer(page, text, max(section.start, position), section.end, max_tokens)

    def list_changes(self, crawl: CrawlName, after: ChangeOffset = "0", max_tokens: MaxTokens = USUAL_TOKENS) -> str:
        """List the pages of a crawl that became new, changed, gone, noindex or erased after an offset, in order.

        Without an offset it lists all pages. Of an erased page only an id is left.
        """
        read_offsets: list[str] = []

        def lines() -> Iterator[str]:
            """The lines about changes; `fitting` reads them up to the first one that does not fit."""
            for offset, change in self._stored.changes(crawl, after):
                read_offsets.append(offset)
                address = one_line(change["url"], LONGEST_ADDRESS) or change["page_id"]
                yield f"{change['change']} {address} ({one_line(change['title'])})"

        shown_lines = fitting(lines(), max_tokens)
        last = read_offsets[len(shown_lines) - 1] if shown_lines else after
        note = f"These are all; next time give after={last}."
        if len(shown_lines) < len(read_offsets):
            note = f"There are more; continue with after={last}."
        return marked("\n".join(shown_lines), note)

    def start_crawl(self, seeds: Seeds, max_pages: MaxPages, topic: Line = "") -> str:
        """Start a small crawl from the seeds, within their sites, the pages most relevant to the topic first.

        It obeys robots.txt, requests only public addresses, and runs until it has max_pages or the server ends;
        crawl_state reports its state. The same seeds and topic continue it, or look for changes.
        """
        if topic.strip().lower().endswith(".toml"):
            raise ToolError("The topic must be words or a sentence, not a file.")
        try:
            parse({"seeds": seeds, "topic": topic})
        except ArgumentError as error:
            raise ToolError(str(error)) from None
        name = self._started.start(seeds, topic, max_pages)
        return f"The crawl {name} has started; crawl_state reports its state."

    def stop_crawl(self, crawl: CrawlName) -> str:
        """Stop a crawl that this server started. Its pages stay; the same call of start_crawl continues it."""
        self._started.stop(crawl)
        return f"The crawl {crawl} has stopped."


def _summary_line(summary: CrawlSummary) -> str:
    topic = one_line(summary.topic) or "what its seeds are about"
    return f"{summary.name}: {summary.status}, {summary.pages} pages in round {summary.round}, topic: {topic}"


def _hit_entry(page: Mapping[Any, Any], snippet: str) -> str:
    facts = f"{one_line(page['title'])}, relevance {page['relevance']:.2f}"
    return "\n".join([one_line(page["url"], LONGEST_ADDRESS), facts, one_line(snippet, LONGEST_SNIPPET)])


def _text(page: Mapping[Any, Any]) -> str:
    """The text of a stored page, as Markdown if the crawl stored it."""
    return visible(page["markdown"] or page["text"])


def _page_answer(page: Mapping[Any, Any], text: str, start: int, end: int, max_tokens: int) -> str:
    """The answer about a page: its facts, its text from `start` to `end` as far as it fits, and where to continue."""
    if start > end:
        raise ToolError(f"The text ends at position {end}.")
    lines = [f"url: {one_line(page['url'], LONGEST_ADDRESS)}"]
    lines += [f"{fact}: {one_line(page[fact])}" for fact in FACTS if page.get(fact)]
    head = "\n".join(lines)
    until = end_within(text, start, end, max_tokens - FRAME_TOKENS - estimated_tokens(head))
    note = f"Nothing is left out from position {start} to {end}."
    if until < end:
        left_out = estimated_tokens(text[until:end])
        note = f"About {left_out:.0f} tokens are left out; continue with position={until}."
    return marked(f"{head}\n\n{text[start:until]}", note)
