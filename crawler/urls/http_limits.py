"""Limits on HTTP responses, for downloads and for archives alike."""

MOST_CODINGS = 2
"""Content codings of a body, one around the other; some servers compress twice by mistake."""
MOST_CHUNKS = 64_000
"""Chunks of a body; each takes some microseconds, even if it is one byte."""
