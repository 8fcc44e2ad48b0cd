"""The size of chunks in tokens, and an estimate of the number of tokens of a text.

Each model has its own tokens. If the caller gives no function that counts them, their number is estimated. Each
character of a script without spaces, such as Chinese or Thai, is a token, and so is each emoji. For all other text, the
larger of two estimates is used: 1.3 tokens per word, and one token per 3.5 characters that are not blank. The second is
larger for long words, code and addresses. A text has at least one token per 40 characters, so that blanks are counted,
too.
"""

import re
from collections.abc import Callable

from crawler.errors import WrongUseError

TOKENS = 400
"""The size of a chunk if none is given."""
LEAST_TOKENS = 20
MOST_TOKENS = 8_000
"""The limits of the size of a chunk that a user can choose."""
TOKENS_OF_WORD = 1.3
VISIBLE_CHARACTERS_OF_TOKEN = 3.5
"""The numbers of the estimate, which tests/bench/chunks.py compares with the tokens of o200k_base and cl100k_base."""
CHARACTERS_OF_TOKEN = 40
"""The most characters of a token, including blanks."""
_WIDE = re.compile(
    "[\u2e80-\u2fdf\u3001-\u30ff\u31c0-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef"
    "\u0e01-\u0efe\u1000-\u109f\u1780-\u17ff\U0001f000-\U000323af]"
)
"""A character that is a token: Chinese, Japanese and Korean, Thai and Lao, Burmese, Khmer, and emojis."""

CountTokens = Callable[[str], float]
"""Returns the number of tokens of a text."""


class ChunkSizeError(WrongUseError):
    """A chunk cannot have this size."""


def checked_size(tokens: int) -> int:
    """Check the size of a chunk, and return it; raises a ChunkSizeError."""
    is_whole = isinstance(tokens, int) and not isinstance(tokens, bool)
    if not is_whole or not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise ChunkSizeError(
            "{value} is wrong; allowed are whole numbers from {least} to {most}",
            value=repr(tokens)[:100],
            least=f"{LEAST_TOKENS:,}",
            most=f"{MOST_TOKENS:,}",
        )
    return tokens


def estimated_tokens(text: str) -> float:
    """An estimate of the number of tokens of a text for any model.

    >>> estimated_tokens("Bees dance in the dark."), estimated_tokens("蜜蜂跳舞。"), estimated_tokens("")
    (6.5, 5.0, 0.0)
    """
    least_tokens = len(text) / CHARACTERS_OF_TOKEN
    wide_characters = 0
    if not text.isascii():
        text, wide_characters = _WIDE.subn(" ", text)
    words = text.split()
    tokens_of_words = max(TOKENS_OF_WORD * len(words), sum(map(len, words)) / VISIBLE_CHARACTERS_OF_TOKEN)
    return max(least_tokens, wide_characters + tokens_of_words)
