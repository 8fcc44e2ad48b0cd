"""How large a chunk may be, in tokens, and how many a text has.

Each model counts its own tokens. Without a counter they are estimated: a character of a script without spaces, such as
Chinese or Thai, is a token, and so is an emoji; of other text each word is 1.3 tokens, or its letters and signs are,
3.5 of them to a token, whichever is more. Prose has longer words than that, and code and addresses more signs. Every 40
characters are at least one token, so that blanks are not free.
"""

import re
from collections.abc import Callable

from crawler.errors import WrongUseError

TOKENS = 400
"""The size of a chunk if none is given."""
LEAST_TOKENS = 20
MOST_TOKENS = 8_000
TOKENS_OF_WORD = 1.3
LETTERS_OF_TOKEN = 3.5
"""tests/bench/chunks.py compares the estimate with the tokens of o200k_base and cl100k_base."""
CHARACTERS_OF_TOKEN = 40
"""The most characters of a token, blanks among them."""
_WIDE = re.compile(
    "[\u2e80-\u2fdf\u3001-\u30ff\u31c0-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef"
    "\u0e01-\u0efe\u1000-\u109f\u1780-\u17ff\U0001f000-\U000323af]"
)

CountTokens = Callable[[str], float]
"""A function from a text to the number of its tokens."""


class ChunkSizeError(WrongUseError):
    """A chunk cannot have this size."""


def checked_size(tokens: int) -> int:
    """The size if a chunk can have it; raises a ChunkSizeError otherwise."""
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise ChunkSizeError(
            "{value} is wrong; allowed are whole numbers from {least} to {most}",
            value=repr(tokens)[:100],
            least=f"{LEAST_TOKENS:,}",
            most=f"{MOST_TOKENS:,}",
        )
    return tokens


def estimated_tokens(text: str) -> float:
    """About how many tokens a text has, whatever the model.

    >>> estimated_tokens("Bees dance in the dark."), estimated_tokens("蜜蜂跳舞。"), estimated_tokens("")
    (6.5, 5.0, 0.0)
    """
    least = len(text) / CHARACTERS_OF_TOKEN
    wide = 0
    if not text.isascii():
        text, wide = _WIDE.subn(" ", text)
    words = text.split()
    return max(least, wide + max(TOKENS_OF_WORD * len(words), sum(map(len, words)) / LETTERS_OF_TOKEN))
