"""Content signals (contentsignals.org): `Content-Signal` as a rule of robots.txt and as a header.

They are read as in the policy text of September 2025: `search`, `ai-input` and `ai-train`, each yes or no; a use that
is not named is neither granted nor restricted. Other names, such as `use`, are ignored. If a part cannot be parsed, for
example because signals are not separated by commas, each use that no other part names is malformed.
"""

import re

from crawler.rights.statement import State, Use, Uses

HEADER = "Content-Signal"
NAMES: dict[str, Use] = {use.value: use for use in Use}
VALUES = {"yes": State.ALLOWED, "no": State.DISALLOWED}
MAX_SIGNALS = 100
"""Signals that are read; a text with more cannot be parsed."""
_SIGNAL = re.compile(r"[\w-]{0,100}\s*(?:=\s*[^\s;:=]{0,1000})?")


def signals(text: str) -> Uses:
    """What the signals say about each use. If a use is named twice, a `no` counts, otherwise the last value.

    >>> {str(use): str(state) for use, state in signals("search=yes, ai-train=no, use=reference").items()}
    {'search': 'allowed', 'ai-train': 'disallowed'}
    """
    state_of_use: dict[Use, State] = {}
    parts = [part.strip() for part in text.split(",", MAX_SIGNALS)]
    is_well_formed = len(parts) <= MAX_SIGNALS
    for part in parts[:MAX_SIGNALS]:
        name, _, value = part.partition("=")
        use = NAMES.get(name.strip().lower())
        is_well_formed = is_well_formed and _SIGNAL.fullmatch(part) is not None
        if use is not None and state_of_use.get(use) is not State.DISALLOWED:
            state_of_use[use] = VALUES.get(value.strip().lower(), State.MALFORMED)
    if is_well_formed:
        return state_of_use
    # The part that cannot be parsed may be about any use that is not named.
    return {**dict.fromkeys(Use, State.MALFORMED), **state_of_use}
