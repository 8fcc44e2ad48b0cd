"""`python -m crawler.demo` serves the demo site until Ctrl-C."""

from contextlib import suppress
from time import sleep

from crawler.demo.server import serving

with serving() as address, suppress(KeyboardInterrupt):
    print(f"The demo site is at {address} (Ctrl-C ends it).", flush=True)
    while True:
        sleep(3600)
