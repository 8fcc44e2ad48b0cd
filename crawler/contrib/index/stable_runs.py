"""Decides which neighbouring parts of a text share a chunk.

A chunk may end wherever it is more than half full. Of these places, it ends before the part with the smallest checksum;
a place after a colon is chosen only if there is no other. So its end depends on the parts around it: a part that is
added or removed moves the ends near it, and most ends further on stay.

This is content-defined chunking (Muthitacharoen et al. 2001, A Low-Bandwidth Network File System, 3.1), by the smallest
value in a window (Bjørner et al. 2010, Content-Dependent Chunking for Differential Compression, the Local Maximum
Approach). The last chunk has the remaining parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32


@dataclass(frozen=True, slots=True, kw_only=True)
class TextUnit:
    """A part of a text that stays whole."""

    text: str
    """The characters of the unit, with the line ends or blanks before the next one."""
    tokens: float
    introduces: bool = False
    """Whether it ends with a colon and so introduces the next unit: a chunk should not end after it."""


def stable_runs(units: Sequence[TextUnit], limit: float) -> Iterator[Sequence[TextUnit]]:
    """The units in runs of at most `limit` tokens; a larger unit is a separate run.

    >>> [len(run) for run in stable_runs([TextUnit(text=name, tokens=4) for name in "abcde"], 10)]
    [2, 2, 1]
    """
    start = 0
    while start < len(units):
        end = _end_of_run(units, start, limit)
        yield units[start:end]
        start = end


def _end_of_run(units: Sequence[TextUnit], start: int, limit: float) -> int:
    """The index after the last unit of the run that begins with this one."""
    tokens = 0.0
    best_end = 0  # none yet
    best_rank = (True, 1 << 32)  # above every rank: a CRC has 32 bits
    end = start
    while end < len(units):
        if tokens > limit / 2:
            rank = (units[end - 1].introduces, crc32(units[end].text.encode("utf-8", "surrogatepass")))
            if rank < best_rank:
                best_end = end
                best_rank = rank
        if end > start and tokens + units[end].tokens > limit:
            return best_end or end
        tokens += units[end].tokens
        end += 1
    return end
