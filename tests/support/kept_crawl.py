"""The crawl whose database is kept for each release: of the demo site, at an address that stays the same."""

from pathlib import Path

from sites import OPEN, Answer, Crawl, Site, crawl, serving

from crawler.demo import Resource, resources

FOLDER = Path(__file__).resolve().parents[1] / "store" / "kept"
HOST, PORT = "127.93.4.1", 8460  # no other test uses this address
SEED = f"http://{HOST}:{PORT}/"
NAME, JOB = "bees", "daily"
PAGES = 8
"""The pages that a kept database has."""


def crawl_kept(folder: Path, **arguments: object) -> Crawl:
    """Begin or continue the crawl in a folder's `output/crawl.db`."""
    with serving(Site({path: _answer(one) for path, one in resources(SEED).items()}), HOST, port=PORT):
        given = {"seeds": SEED, "topic": "honey bees", "name": NAME, **arguments}
        return crawl(folder, given, OPEN | {"ALLOWED_PRIVATE_HOSTS": HOST})


def _answer(resource: Resource) -> Answer:
    headers = dict(resource.headers) | ({"Location": resource.location} if resource.location else {})
    return Answer(resource.body, resource.status, resource.content_type, headers)
