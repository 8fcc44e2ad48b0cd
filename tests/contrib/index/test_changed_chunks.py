"""The chunks of pages that changed, for readers with any old offset."""

from collections.abc import Sequence

import pytest
from index_pages import SITE, ChangingCrawl

from crawler.contrib.index.changes import changes
from crawler.contrib.index.chunk_size import ChunkSizeError
from crawler.contrib.index.chunks import Chunk

DANCE = "Bees dance in the dark of the hive."
HONEY = "Honey is made of nectar."
WAX = "Wax is chewed until it is soft."


def page(*texts: str) -> str:
    """Markdown with a section for each text."""
    return "\n\n".join(f"## Section {text[:5]}\n\n{text}" for text in texts)


class ChunkIndex:
    """An index of chunks by page."""

    def __init__(self) -> None:
        self.pages: dict[str, dict[str, Chunk]] = {}
        self.offset = "0"
        self.added: list[str] = []
        self.deleted_count = 0

    def update(self, crawl: ChangingCrawl) -> None:
        self.added = []
        self.deleted_count = 0
        for change in changes("bees", after=self.offset, chunks=True, folder=crawl.folder):
            chunks = self.pages.setdefault(change.page_id, {})
            found = change.chunk_changes(chunks)
            for chunk_id in found.delete:
                del chunks[chunk_id]
            chunks |= {chunk.id: chunk for chunk in found.add}
            self.added += [chunk.text for chunk in found.add]
            self.deleted_count += len(found.delete)
            self.offset = change.offset

    def texts(self) -> list[list[str]]:
        return [[chunk.text for chunk in chunks.values()] for chunks in self.pages.values()]


def test_only_what_changed_is_added_and_deleted(changing_crawl: ChangingCrawl) -> None:
    index = ChunkIndex()
    for markdown, added, deleted_count in (
        (page(DANCE, HONEY), [DANCE, HONEY], 0),
        (page(DANCE, HONEY), [], 0),
        (page(DANCE, HONEY, WAX), [WAX], 0),
        (page(DANCE, WAX), [], 1),
        (page(WAX), [], 1),
        ("", [], 1),
        (page(HONEY), [HONEY], 0),
    ):
        changing_crawl.store("/a", markdown)
        index.update(changing_crawl)
        assert (index.added, index.deleted_count) == (added, deleted_count), markdown
    changing_crawl.remove("/a")
    index.update(changing_crawl)
    assert (index.added, index.deleted_count, index.texts()) == ([], 1, [[]])


def test_readers_with_old_offsets_do_not_disturb_each_other(changing_crawl: ChangingCrawl) -> None:
    readers: list[ChunkIndex] = []
    versions: Sequence[str] = (page(DANCE), page(DANCE, HONEY), page(HONEY), page(WAX, HONEY))
    for version in versions:
        changing_crawl.store("/a", version)
        changing_crawl.store(f"/{len(readers)}", page(DANCE))
        readers.append(ChunkIndex())
        readers[-1].update(changing_crawl)
    changing_crawl.remove("/1")
    for reader in readers:
        reader.update(changing_crawl)
    pages = [{key: sorted(chunks) for key, chunks in reader.pages.items() if chunks} for reader in readers]
    assert pages == [pages[0]] * len(readers)
    assert sorted(map(len, pages[0].values())) == [1, 1, 1, 2]


def test_chunks_have_the_size_and_the_address_of_the_page(changing_crawl: ChangingCrawl) -> None:
    page_id = changing_crawl.store("/a", page(DANCE * 40), title="On bees")
    [whole] = changes(folder=changing_crawl.folder, chunks=True, tokens=4_000)
    [small] = changes(folder=changing_crawl.folder, chunks=True, tokens=40)
    [counted] = changes(folder=changing_crawl.folder, chunks=True, tokens=200, count=len)
    assert whole.chunks is not None
    assert small.chunks is not None
    assert counted.chunks is not None
    assert [chunk.headings for chunk in whole.chunks] == [("On bees", "Section Bees")]
    assert {(chunk.page_id, chunk.url, chunk.language) for chunk in small.chunks} == {(page_id, f"{SITE}/a", "en")}
    assert max(chunk.tokens for chunk in small.chunks) <= 40
    assert max(len(chunk.text) for chunk in counted.chunks) <= 200


def test_chunks_have_the_anchors_of_stored_responses(changing_crawl: ChangingCrawl) -> None:
    html = f"<h2 id=dance>Section Bees </h2><p>{DANCE}</p><h2 id=nectar>Section Honey</h2><p>{HONEY}</p>"
    changing_crawl.store("/a", page(DANCE, HONEY), html=html)
    changing_crawl.store("/b", page(DANCE, HONEY))
    with_response, without = changes(folder=changing_crawl.folder, chunks=True)
    assert [chunk.url for chunk in with_response.chunks or ()] == [f"{SITE}/a#dance", f"{SITE}/a#nectar"]
    assert {chunk.url for chunk in without.chunks or ()} == {f"{SITE}/b"}


def test_chunks_that_were_not_requested_are_no_empty_ones(changing_crawl: ChangingCrawl) -> None:
    changing_crawl.store("/a", page(DANCE))
    [change] = changes(folder=changing_crawl.folder)
    assert change.chunks is None
    with pytest.raises(ValueError, match="chunks=True"):
        change.chunk_changes([])
    with pytest.raises(ChunkSizeError):
        list(changes(folder=changing_crawl.folder, chunks=True, tokens=1))
