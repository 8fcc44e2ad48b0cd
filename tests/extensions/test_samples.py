"""What a worker's samples count."""

from collections import Counter
from types import SimpleNamespace

import pytest

from crawler.extensions.samples import NO_ANSWERS, OUR_OWN, STATUSES, so_far


def statuses(**counts: int) -> dict[str, int]:
    """The statuses that are counted of a crawl's statistics."""
    harvest = SimpleNamespace(pages=0, on_topic=0)
    crawl = SimpleNamespace(
        frontier=SimpleNamespace(pages=0),
        topic=SimpleNamespace(harvest=harvest),
        counts=SimpleNamespace(of=lambda group: Counter()),
    )
    return dict(so_far(crawl, counts).statuses)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sent", "counted"),
    [
        (("200", "404"), {"200": 1, "404": 1}),
        (("100", "599"), {"100": 1, "599": 1}),
        (("99", "600", "0", "-1", "999999999999"), {"other": 5}),
        (("200", *map(str, range(600, 1_600))), {"200": 1, "other": 1_000}),
    ],
)
def test_statuses_that_no_server_should_send_are_counted_together(sent: tuple[str, ...], counted: object) -> None:
    assert statuses(**{f"{STATUSES}{status}": 1 for status in sent}) == counted | {"none": 0}  # type: ignore[operator]


def test_requests_without_an_answer_are_counted_but_for_our_own_refusals() -> None:
    assert statuses(**{f"{NO_ANSWERS}x.TimeoutError": 2, OUR_OWN: 3}) == {"none": 2}
