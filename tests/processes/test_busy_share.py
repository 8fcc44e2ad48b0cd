import sys
from time import process_time, sleep

import pytest

from crawler.processes.busy_share import BusyMeter


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the time that is waited for a processor does not count")
def test_a_process_that_computes_is_busy_however_many_others_do() -> None:
    meter = BusyMeter()
    until = process_time() + 0.1
    while process_time() < until:
        pass
    assert meter.share() > 0.8


def test_a_process_that_sleeps_is_not_busy() -> None:
    meter = BusyMeter()
    sleep(0.1)
    assert meter.share() < 0.5
