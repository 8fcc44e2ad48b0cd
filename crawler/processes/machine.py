"""What processes that clean pages need to know of the machine."""

import os

# New objects after which Python collects cyclic garbage: a page makes thousands, few of them in cycles, and Python's
# own 700 costs a crawl a tenth of its time.
GARBAGE_THRESHOLD = 50_000


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
