"""Usage preferences of the IETF's AI Preferences group: `Content-Usage` as a header and as rules of robots.txt.

They are read as in draft-ietf-aipref-attach and draft-ietf-aipref-vocab of August 2025: a dictionary of structured
fields (RFC 9651) whose members train-ai, ai-use and search are the tokens y or n. Any other value says nothing. A field
that is not a dictionary makes all uses malformed.
"""

from crawler.rights.statement import ALL_MALFORMED, State, Use, Uses
from crawler.rights.structured_fields import FieldError, tokens

HEADER = "Content-Usage"
LABELS = {"train-ai": Use.AI_TRAIN, "ai-use": Use.AI_INPUT, "search": Use.SEARCH}
VALUES = {"y": State.ALLOWED, "n": State.DISALLOWED}


def preferences(text: str) -> Uses:
    """What a preference expression says about each use.

    >>> {str(use): str(state) for use, state in preferences("train-ai=n, search=y, other=n").items()}
    {'ai-train': 'disallowed', 'search': 'allowed'}
    """
    try:
        value_of_label = tokens(text)
    except FieldError:
        return ALL_MALFORMED
    return {
        LABELS[label]: VALUES[value] for label, value in value_of_label.items() if label in LABELS and value in VALUES
    }
