"""What a worker's samples count."""

from crawler.extensions.chart_samples import FAILURES, REFUSALS, RESPONSES, answers_by_status


def test_statuses_that_no_server_should_send_are_counted_together() -> None:
    rows = [
        (("200", "404"), {"200": 1, "404": 1}),
        (("100", "599"), {"100": 1, "599": 1}),
        (("99", "600", "0", "-1", "999999999999"), {"other": 5}),
        (("200", *map(str, range(600, 1_600))), {"200": 1, "other": 1_000}),
    ]
    for sent, counted in rows:
        assert answers_by_status({f"{RESPONSES}{status}": 1 for status in sent}) == counted | {"none": 0}


def test_requests_without_an_answer_are_counted_but_for_our_own_refusals() -> None:
    assert answers_by_status({f"{FAILURES}x.TimeoutError": 2, REFUSALS: 3}) == {"none": 2}
