"""Whether a page has the words that are searched for, in whatever script and case."""

from collections.abc import Sequence
from urllib.parse import unquote


def has_all(words: Sequence[str], *texts: str) -> bool:
    """Whether each of the case-folded words is in one of the texts; the first ones should be the short ones.

    >>> has_all(["äpfel", "蜜蜂"], "ÄPFEL", "关于蜜蜂"), has_all(["strasse"], "Straße"), has_all(["bees"], "be")
    (True, True, False)
    """
    missing = list(words)
    for text in texts:
        folded = ""
        for word in list(missing):
            if word not in text:  # as it mostly is where it has no case, and folding takes time
                folded = folded or text.casefold()
                if word not in folded:
                    continue
            missing.remove(word)
        if not missing:
            return True
    return not missing


def address(url: str) -> str:
    """An address as it is searched: as people write it.

    >>> address("http://a.example/%E8%9C%9C%E8%9C%82")
    'http://a.example/蜜蜂'
    """
    return unquote(url) if "%" in url else url
