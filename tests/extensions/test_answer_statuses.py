"""What a worker's samples count."""

from collections import Counter

from crawler.extensions.chart_samples import FAILURES, REFUSALS, RESPONSES, Sampler, answers_by_status
from crawler.frontier.batch import WorkerSample
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.outcomes import Code, Outcome
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.store.batch.addresses import AddressKeys
from crawler.topic.stop_rule import Harvest
from crawler.urls.canonical import Canonical


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


def test_a_sample_has_what_happened_since_the_last_one() -> None:
    frontier = Frontier(AddressKeys(1, Canonical(())), LimitSettings())
    harvest = Harvest()
    statistics = Counter[str]()
    counts = OutcomeCounts(lambda name, by: statistics.update({name: by}))
    sampler = Sampler(frontier, harvest, counts, lambda: statistics)

    def read_pages() -> None:
        frontier.pages += 3
        harvest.count(0.9)
        harvest.count(0.1)
        counts.count(Outcome(Code.HTTP_STATUS, "404"))
        counts.count(Outcome(Code.NOFOLLOW))
        # Three images, and two pages behind images.
        statistics.update({"image_noise/skipped": 5, "image_noise/links": 2, "images": 1, "images/bytes": 40})
        statistics.update({"downloader/request_count": 7, "downloader/response_bytes": 900, f"{RESPONSES}200": 6})

    expected = WorkerSample(
        0.0,
        pages=3,
        read=2,
        on_topic=1,
        requests=7,
        failed=1,
        bytes=900,
        images=1,
        image_bytes=40,
        skipped=3,
        statuses={"200": 6, "none": 0},
    )
    read_pages()
    before = sampler.total()
    assert before == expected
    read_pages()
    read_pages()
    assert sampler.total().since(before) == WorkerSample(0.0, 6, 4, 2, 14, 2, 1_800, 2, 80, 6, statuses={"200": 12})
