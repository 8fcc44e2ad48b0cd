"""How often pages may request other sites."""

from crawler.contrib.browser.foreign_requests import MOST_HOSTS, MOST_OF_SITE, ForeignRequests
from crawler.contrib.browser.parts import PagePart

PAGE = "http://www.bees.org/"


def admitted(urls: list[str], requests: ForeignRequests, page: str = PAGE) -> int:
    """How many requests of one page are admitted."""
    hosts: set[str] = set()
    return sum(requests.admit(PagePart(url, page, "fetch", foreign_hosts=hosts)) for url in urls)


OF_HOSTS = [f"http://{number}.example/" for number in range(MOST_HOSTS)]


def test_requests_of_one_page() -> None:
    rows = [
        (OF_HOSTS, MOST_HOSTS),
        ([*OF_HOSTS, "http://next.example/"], MOST_HOSTS),
        ([*OF_HOSTS, "http://next.example/", f"{OF_HOSTS[0]}b", f"{OF_HOSTS[0]}c"], MOST_HOSTS + 2),
        ([*OF_HOSTS, PAGE, "http://api.bees.org/", "https://bees.org/"], MOST_HOSTS + 3),
        ([OF_HOSTS[0]] * MOST_OF_SITE, MOST_OF_SITE),
        ([OF_HOSTS[0]] * (MOST_OF_SITE + 1), MOST_OF_SITE),
        ([*[OF_HOSTS[0]] * (MOST_OF_SITE + 1), PAGE], MOST_OF_SITE + 1),
    ]
    for urls, expected in rows:
        assert admitted(urls, ForeignRequests()) == expected


def test_each_page_has_hosts_of_its_own_and_each_site_a_budget() -> None:
    requests = ForeignRequests()
    pages = [admitted([f"http://{page}-{number}.example/" for number in range(100)], requests) for page in range(100)]
    assert pages == [MOST_HOSTS] * (MOST_OF_SITE // MOST_HOSTS) + [0] * (100 - MOST_OF_SITE // MOST_HOSTS)
    assert admitted(OF_HOSTS, requests, "http://api.bees.org/") == 0
    assert admitted(OF_HOSTS, requests, "http://www.ants.org/") == MOST_HOSTS
