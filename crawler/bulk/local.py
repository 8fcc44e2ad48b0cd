"""Files cleaned by processes of this machine."""

from collections.abc import Callable, Iterator, Sequence

from crawler.bulk.one_file import FileResult, Work
from crawler.bulk.pairs import Pair
from crawler.parallel import as_done

DIES = "the processes that clean it die"


def by_processes(work: Work, todo: Sequence[Pair], jobs: int, died: Callable[[], None]) -> Iterator[FileResult]:
    """The result of each file, as it is done; a file that kills two processes is given up."""
    yield from as_done(work, todo, jobs, lost, died)


def lost(pair: Pair) -> FileResult:
    """A file whose cleaning kills."""
    return FileResult(pair, failed=f"{pair.shown!r}: {DIES}")
