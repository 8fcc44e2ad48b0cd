"""Limits on HTTP responses, both downloaded and read from archives."""

MOST_CODINGS = 2
"""The most content codings of a body, applied one after another; some servers compress twice by mistake."""
MOST_CHUNKS = 64_000
"""The most chunks of a body; each takes some microseconds, even a chunk of one byte."""
