"""Files cleaned by processes of this machine."""

from collections.abc import Callable, Iterator, Sequence

from crawler.bulk.one_file import Outcome, Work
from crawler.bulk.pairs import Pair
from crawler.parallel import as_done

DIES = "the processes that clean it die"


def by_processes(work: Work, todo: Sequence[Pair], jobs: int, died: Callable[[], None]) -> Iterator[Outcome]:
    """What becomes of each file, as it is done; one that kills two processes is given up."""
    yield from as_done(work, todo, jobs, lost, died)


def lost(pair: Pair) -> Outcome:
    """A file whose cleaning kills."""
    return Outcome(pair, failed=f"{pair.shown!r}: {DIES}")
