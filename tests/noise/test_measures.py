import pytest

from crawler.noise.measures import Measures, measures

SKIPPED_NOISE, SKIPPED_CONTENT, MISSED_NOISE, KEPT_CONTENT = (True, True), (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        ([], Measures(0, None, None, None)),
        ([SKIPPED_NOISE], Measures(1, 1.0, 1.0, None)),
        ([SKIPPED_CONTENT], Measures(1, 0.0, None, 0.0)),
        ([MISSED_NOISE], Measures(1, None, 0.0, None)),
        ([KEPT_CONTENT], Measures(1, None, None, 1.0)),
        (
            [SKIPPED_NOISE] * 3 + [SKIPPED_CONTENT] + [MISSED_NOISE] * 9 + [KEPT_CONTENT] * 7,
            Measures(20, 0.75, 0.25, 0.875),
        ),
    ],
)
def test_measures(judged: list[tuple[bool, bool]], expected: Measures) -> None:
    assert measures(judged) == expected
