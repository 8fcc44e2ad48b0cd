"""A team at the dashboard, behind the reverse proxies of the documentation, in a real browser."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import browser
import dashboards
import missing
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from postgres import free_port
from signer import Signer
from sites import Site, serving

from crawler.contrib.dashboard.users import EDITOR, FILE, READER, User, Users, hashed

SECRET = "honey and bees"
GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "dashboard.md"
PATIENCE = 20.0
EVIL = """<!doctype html><form method="post" action="{where}/schedule/add" target="there">
<input name="name" value="evil"><input name="cron" value="@daily"><input name="seeds" value="demo"></form>
<form id="login" method="post" action="{where}/login" target="there"><input name="name" value="eve">
<input name="password" value="honey and bees"></form>
<iframe name="there" src="{where}/pages"></iframe><img src="{where}/images/1/image">
<script src="{where}/api/crawls"></script>
"""
FETCH = "where => fetch(where, {credentials: 'include'}).then(() => 'read', () => 'refused')"


def block(kind: str) -> str:
    """A proxy's configuration, as the documentation has it."""
    found = re.search(rf"```{kind}\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def nginx(folder: Path, port: int, upstream: str) -> list[str]:
    server = block("nginx").replace("listen 443", f"listen 127.0.0.1:{port}").replace("crawls.example", "localhost")
    server = server.replace("127.0.0.1:6080", upstream).replace("/etc/ssl/", f"{folder}/")
    paths = "".join(
        f"{name}_temp_path {folder}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root; " if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off; pid {folder}/pid; events {{}} http {{ access_log off; {paths} {server} }}"
    )
    return ["nginx", "-p", str(folder), "-e", f"{folder}/error.log", "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, upstream: str) -> list[str]:
    site = block("caddy").replace(
        "crawls.example {", f"https://localhost:{port} {{\n  tls {folder}/crawls.pem {folder}/crawls.key"
    )
    options = "{\n  admin off\n  auto_https off\n}\n"
    (folder / "Caddyfile").write_text(options + site.replace("127.0.0.1:6080", upstream))
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES: dict[str, Callable[[Path, int, str], list[str]]] = {"nginx": nginx, "caddy": caddy}


def certify(folder: Path) -> None:
    key, signer = ec.generate_private_key(ec.SECP256R1()), Signer()
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "crawls.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    (folder / "crawls.pem").write_bytes(signer.sign(key.public_key(), signer.name))


@contextmanager
def running(line: list[str], folder: Path, port: int) -> Iterator[None]:
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(line, stdout=log, stderr=log, env=environment)
    try:
        until = time.monotonic() + PATIENCE
        while subprocess.run(["bash", "-c", f"</dev/tcp/127.0.0.1/{port}"], capture_output=True).returncode:
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def proxied(request: pytest.FixtureRequest, crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard with two users behind a proxy."""
    if shutil.which(request.param) is None:
        missing.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    output = dashboards.copy(crawled, folder / "output")
    for name, role in (("ann", EDITOR), ("bob", READER)):
        Users(output / FILE).put(User(name, role, hashed(SECRET)))
    certify(folder)
    port = free_port()
    with dashboards.dashboard(output, "-s", "DASHBOARD_PATH=/winnow") as direct:
        line = PROXIES[request.param](folder, port, urlsplit(direct).netloc)
        with running(line, folder, port):
            yield f"https://localhost:{port}/winnow"


@pytest.fixture
def visit(chromium: Any, proxied: str, problems: list[str]) -> Iterator[Callable[[str], Any]]:
    """Log in under a name; returns the visitor's page."""
    with browser.watched(chromium, proxied, problems, ignore_https_errors=True) as page:

        def log_in(name: str, password: str = SECRET) -> Any:
            page.goto(f"{proxied}/pages?q=bees")
            page.fill("[name=name]", name)
            page.fill("[name=password]", password)
            page.click("main button")
            return page

        yield log_in


@pytest.mark.parametrize("proxied", ["caddy"], indirect=True)
def test_an_editor_works_as_on_the_own_machine(visit: Any, proxied: str, problems: list[str]) -> None:
    page = visit("ann", "wrong password")
    assert page.locator("main .note").is_visible()
    page.fill("[name=name]", "ann")
    page.fill("[name=password]", SECRET)
    page.click("main button")
    assert page.url == f"{proxied}/pages?q=bees"
    cookie = next(one for one in page.context.cookies() if one["name"] == "winnow-login")
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, True, "Lax", "/winnow/")
    for key in "3456":
        page.keyboard.press(key)
        page.wait_for_load_state()
        assert page.url.startswith(f"{proxied}/")
    page.goto(f"{proxied}/pages")
    page.locator("button[name=value][value=on_topic]").first.click()
    browser.until(page, "document.querySelector('button[aria-pressed=true]') !== null")
    page.goto(f"{proxied}/schedule")
    page.fill("#f-cron", "0 3 * * *")
    browser.until(page, "document.getElementById('cron-words').textContent.includes('03:00')")
    page.goto(f"{proxied}/edits")
    assert re.search(r"ann\s.*on topic http", page.inner_text("main"))
    page.goto(proxied + "/crawls/1")
    browser.until(page, "document.querySelector('figure.chart canvas') !== null")
    page.click("text=Log out")
    page.goto(f"{proxied}/pages")
    assert page.title() == "Log in · Winnow"
    problems[:] = [one for one in problems if "status of 401" not in one]


@pytest.mark.parametrize("proxied", ["nginx"], indirect=True)
def test_a_reader_reads(visit: Any, proxied: str, problems: list[str]) -> None:
    page = visit("bob")
    for path in ("/pages", "/images", "/labels", "/schedule", "/crawls/1", "/pages/1", "/labels/pages/1"):
        page.goto(proxied + path)
        forms = page.locator("main form[method=post]:not(#sheet)")
        assert forms.count() == 0
    problems[:] = [one for one in problems if "status of 401" not in one]


@pytest.mark.parametrize("proxied", ["nginx"], indirect=True)
def test_another_page_changes_and_reads_nothing(visit: Any, proxied: str, problems: list[str], tmp_path: Path) -> None:
    page, where = visit("ann"), proxied
    tls = Signer().server(tmp_path, "localhost")  # of the same site: the browser sends the cookie
    with serving(Site({"/": EVIL.format(where=where)}), tls=tls) as evil:
        attacking = page.context.new_page()
        attacking.context.unroute_all()
        attacking.goto(evil.url.replace("127.0.0.1", "localhost"))
        for form in ("form", "#login"):
            with attacking.expect_response(lambda found: found.request.method == "POST") as found:
                attacking.evaluate("form => document.querySelector(form).submit()", form)
            assert found.value.status == 403
        assert attacking.evaluate(FETCH, f"{where}/api/crawls") == "refused"
        assert attacking.evaluate("frames[0].length === 0 && !document.images[0].naturalWidth")
    page.goto(f"{where}/edits")
    assert "Nothing was changed." in page.inner_text("main")
    assert "ann" in page.inner_text("header")
    page.goto(f"{where}/schedule")
    assert "evil" not in page.inner_text("main")
    problems.clear()  # the browser complains of all that
