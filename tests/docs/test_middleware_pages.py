"""The middlewares of the how-to pages do what the pages say, against real sites."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import fork_server
import pytest
from how_to_files import FILE, HOW_TO
from sites import Answer, Asked, Crawl, Site, page, serving

SETTINGS = {
    "ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8",
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "False",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
}
SECRET = "session=0123"
LOGIN = '<form action="/login">Log in to read what the bees do.</form>'


def written(name: str, folder: Path, site: str) -> None:
    """Write the files of a page, with the address of a site in place of example.org."""
    for file, text in FILE.findall((HOW_TO / name).read_text(encoding="utf-8")):
        (folder / file).write_text(dedent(text).replace("https://example.org/", site), encoding="utf-8")


def crawled(folder: Path, seeds: str, **env: str) -> Crawl:
    """A crawl with the settings of the folder."""
    arguments = {"seeds": seeds, "scope": "any", "images": "no", "max_depth": "3"}
    env = {"SCRAPY_SETTINGS_MODULE": "my_settings", "PYTHONPATH": f"{folder}{os.pathsep}{fork_server.ROOT}"} | env
    # Not by a fork, which knows no modules of the folder.
    line = [sys.executable, "-m", "scrapy", "crawl", "topic"]
    line += [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    line += [word for name, value in SETTINGS.items() for word in ("-s", f"{name}={value}")]
    variables = fork_server.environment() | env
    run = subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    return Crawl(run.returncode, run.stdout, run.stderr, folder)


def members_only(asked: Asked) -> Answer:
    """The page of a member, or the login form."""
    if asked.headers.get("Cookie") != SECRET:
        return Answer(LOGIN)
    return Answer(page("Bees tell members where the clover is, and nobody else of all the guests."))


@pytest.mark.long
def test_a_login_reaches_one_site_and_no_other(tmp_path: Path) -> None:
    other, port = Site({"/": page("Another host."), "/moved": page("Moved here.")}), Site({"/": page("Another port.")})
    with serving(other, "127.0.0.2"), serving(port):
        links = {"/members": "members", "/away": "away", other.url: "other", port.url: "port"}
        routes = {"/": page("Come in.", links=links), "/members": members_only}
        site = Site(routes | {"/away": Answer("", 302, headers={"Location": f"{other.url}moved"})})
        with serving(site):
            written("login.md", tmp_path, site.url)
            ended = crawled(tmp_path, site.url, SITE_COOKIE=SECRET)
    texts = {one["url"]: one["text"] for one in ended.items()}
    assert "where the clover is" in texts[f"{site.url}members"]
    assert {asked.headers.get("Cookie") for asked in site.asked} == {SECRET}
    assert {"/", "/moved"} <= set(other.paths())
    assert "/" in port.paths()
    assert [asked for asked in (*other.asked, *port.asked) if "Cookie" in asked.headers] == []


@pytest.mark.long
def test_a_cookie_that_changes_is_kept(tmp_path: Path) -> None:
    block = (HOW_TO / "login.md").read_text(encoding="utf-8").split("```python\n")[1].partition("```")[0]
    seen: list[str] = []

    def changing(asked: Asked) -> Answer:
        seen.append(asked.headers.get("Cookie", ""))
        return Answer(page("Bees."), headers={"Set-Cookie": f"session={len(seen)}; Path=/"})

    links = {f"/{number}": f"bee {number}" for number in range(3)}
    other = Site({"/": page("Another host.")})
    with serving(other, "127.0.0.2"):
        links[other.url] = "other"
        front = Answer(page("Come in.", links=links))
        site = Site({f"/{number}": changing for number in range(3)} | {"/": front})
        with serving(site):
            written("login.md", tmp_path, site.url)
            (tmp_path / "my_login.py").write_text(f'import os\n\nSITE = "{site.url}"\n{block}', encoding="utf-8")
            with (tmp_path / "my_settings.py").open("a") as file:
                file.write("COOKIES_ENABLED = True\n")
            crawled(tmp_path, site.url, SITE_SESSION="0")
    assert seen == ["session=0", "session=1", "session=2"]
    assert "/" in other.paths()
    assert [asked for asked in other.asked if "Cookie" in asked.headers] == []


@pytest.mark.long
def test_a_middleware_leaves_out_marks_and_counts(tmp_path: Path) -> None:
    with serving(Site({"/": page("Bees.", links={"/?print=1": "print", "/more": "more"}), "/more": "More."})) as site:
        written("own-middleware.md", tmp_path, site.url)
        ended = crawled(tmp_path, site.url)
    assert sorted(set(site.paths("/robots.txt"))) == ["/", "/more"]
    assert {asked.headers.get("X-Purpose") for asked in site.asked} == {"a corpus of honey"}
    assert "printed version" in ended.closing()
    assert "Failed" in ended.closing()


ANSWERING = """
from scrapy.http import HtmlResponse

class Purpose:
    def process_request(self, request):
        if request.url.endswith("/kept"):
            headers = {"Content-Type": "text/html"}
            return HtmlResponse(request.url, headers=headers, body=b"<p>From a store.</p>")

    def process_response(self, request, response):
        if response.status == 202 and not request.meta.get("again"):
            return request.replace(meta=request.meta | {"again": True}, dont_filter=True)
        return response
"""


@pytest.mark.long
def test_a_middleware_may_answer_and_ask_again(tmp_path: Path) -> None:
    def slow(asked: Asked) -> Answer:
        return Answer("<p>At last the bees.</p>", 200 if asked.times else 202)

    with serving(Site({"/": page("Bees.", links={"/kept": "kept", "/slow": "slow"}), "/slow": slow})) as site:
        written("own-middleware.md", tmp_path, site.url)
        (tmp_path / "my_middleware.py").write_text(ANSWERING, encoding="utf-8")
        texts = {one["url"]: one["text"] for one in crawled(tmp_path, site.url).items()}
    assert "/kept" not in site.paths()
    assert texts[f"{site.url}kept"] == "From a store."
    assert site.paths().count("/slow") == 2
    assert texts[f"{site.url}slow"] == "At last the bees."
