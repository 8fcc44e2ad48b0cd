"""MediaWiki, WordPress and DokuWiki from Debian's packages, filled with articles and served on loopback.

    apt-get install --no-install-recommends mediawiki wordpress wordpress-theme-twentytwentyone dokuwiki \
        php-cli php-sqlite3 php-mysql php-mbstring php-xml php-intl mariadb-server-core mariadb-client-core

Each system is copied to a folder of its own, so that nothing of the machine's configuration is read or written.
"""

import json
import lzma
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, create_connection, socket
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.sax.saxutils import escape

from webs import SHARED

HERE = Path(__file__).resolve().parent / "content_systems"
CATEGORIES = {
    "Science.Biology.Birds": ("Birds", 90),
    "Geography.Natural_Disasters": ("Disasters", 30),
    "Design_and_Technology.Railway_transport": ("Railways", 40),
    "Music.Musical_genres_styles_eras_and_events": ("Music", 41),
}
MOST_TEXT = 6_000  # characters of an article
MOST_LINKS = 12
EDITS = 3  # of an article of MediaWiki
START_SECONDS = 60.0
WORKERS = "4"  # processes of `php -S`


def slug(title: str) -> str:
    """A title as a part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


class Article(NamedTuple):
    """An article with the names that its system knows it by."""

    title: str
    category: str
    paragraphs: Sequence[str]
    links: Sequence[str]
    """Titles of other articles."""

    @property
    def slug(self) -> str:
        return slug(self.title)

    @property
    def id(self) -> str:
        """Its name in DokuWiki."""
        return f"{self.category.lower()}:{self.slug.replace('-', '_')}"


class Served(NamedTuple):
    """A system that is served: its front page, and what the requests of its log are read from."""

    url: str
    log: Path


def articles(share: float = 1.0) -> list[Article]:
    """A share of the articles of all categories, with the links among them."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    left = {name: round(share * count) for name, (_, count) in CATEGORIES.items()}
    with lzma.open(SHARED / "data/wiki/articles.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            name = next((one for one in row["categories"] if left.get(one)), None)
            if name is not None and row["title"].isascii():
                left[name] -= 1
                found[row["name"]] = row, CATEGORIES[name][0]
    made = []
    for row, category in found.values():
        links = [found[unquote(link)][0]["title"] for link in row["links"] if unquote(link) in found]
        made.append(Article(row["title"], category, _paragraphs(row["text"]), links[:MOST_LINKS]))
    return made


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of an article after its head, up to a length."""
    parts = [" ".join(part.split()) for part in text[:MOST_TEXT].split("\n\n")[2:]]
    return [part for part in parts if len(part) > 80]


def rows(of: Sequence[Article], pages: Mapping[str, str]) -> list[dict[str, Any]]:
    """The articles as the scripts in PHP read them; `pages` are the addresses of titles in WordPress."""
    by_title = {one.title: one for one in of}
    made = []
    for one in of:
        anchors = "".join(f'<li><a href="{pages[link]}">{escape(link)}</a></li>' for link in one.links)
        html = "".join(f"<p>{escape(part)}</p>" for part in one.paragraphs) + f"<h2>See also</h2><ul>{anchors}</ul>"
        wiki = "\n".join(f"  * [[{by_title[link].id}|{link}]]" for link in one.links)
        body = "\n\n".join(one.paragraphs)
        made.append(
            one._asdict()
            | {"slug": one.slug, "id": one.id, "html": html, "tags": _tags(one)}
            | {"remarks": [part[-160:] for part in (list(one.paragraphs) * 8)[:8]] or ["Well said."] * 8}
            | {"dokuwiki": f"====== {one.title} ======\n\n{body}\n\n===== See also =====\n\n{wiki}\n"}
        )
    return made


def _tags(article: Article) -> list[str]:
    """Some of the long words of an article that others have, too."""
    words = ("species", "island", "century", "europe", "station", "pacific", "popular", "western", "northern")
    text = " ".join(article.paragraphs).lower()
    return [word for word in words if word in text][:4]


def _copy(package: str, folder: Path) -> Path:
    """The files of a package, links replaced by what they lead to, as far as that exists."""
    target = folder / package
    shutil.copytree(f"/usr/share/{package}", target, ignore_dangling_symlinks=True)
    return target


def _run(*line: str | Path, cwd: Path | None = None, given: str = "") -> None:
    """Run a program to its end; show what it said if it failed."""
    ended = subprocess.run(list(map(str, line)), cwd=cwd, input=given, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{' '.join(map(str, line))}\n{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}")


def free_port() -> int:
    with socket(AF_INET, SOCK_STREAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def _served(root: Path, port: int, router: Path | None = None) -> Iterator[Served]:
    """A folder of PHP, served until the end."""
    log = root.parent / f"{root.name}.log"
    line = ["php", "-d", "memory_limit=512M", "-d", "display_errors=0", "-S", f"127.0.0.1:{port}", "-t", str(root)]
    environment = os.environ | {"PHP_CLI_SERVER_WORKERS": WORKERS}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*line, *([str(router)] if router else [])], stdout=out, stderr=out, env=environment, start_new_session=True
        )
        try:
            _wait_for(lambda: create_connection(("127.0.0.1", port), 1).close())
            yield Served(f"http://127.0.0.1:{port}/", log)
        finally:
            os.killpg(process.pid, 15)
            process.wait()


def _wait_for(attempt: Any) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return attempt()
        except (OSError, subprocess.CalledProcessError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


@contextmanager
def mediawiki(folder: Path, of: Sequence[Article]) -> Iterator[Served]:
    """MediaWiki on SQLite, each article in three edits, with category pages and some talk pages."""
    root, port = _copy("mediawiki", folder), free_port()
    (root / "LocalSettings.php").unlink(missing_ok=True)
    shutil.rmtree(root / "images", ignore_errors=True)
    (root / "images").mkdir()
    install = ["--dbtype=sqlite", f"--dbpath={folder}", f"--server=http://127.0.0.1:{port}", "--scriptpath="]
    install += ["--pass=a-password-of-the-bench", "--skins=Vector", "--with-extensions=", "Nature", "Editor"]
    _run("php", root / "maintenance/install.php", *install, cwd=root)
    with (root / "LocalSettings.php").open("a", encoding="utf-8") as settings:
        settings.write("\n$wgJobRunRate = 0;\n$wgMainCacheType = CACHE_DB;\n$wgShowExceptionDetails = true;\n")
    dump = folder / "dump.xml"
    dump.write_text(_dump(of), encoding="utf-8")
    _run("php", root / "maintenance/importDump.php", dump, cwd=root)
    front = "".join(f"* [[:Category:{name}]]\n" for name in sorted({one.category for one in of}))
    front += "".join(f"* [[{one.title}]]\n" for one in of[::20])
    _run("php", root / "maintenance/edit.php", "Main_Page", cwd=root, given=f"Nature, railways and music.\n\n{front}")
    for script in ("rebuildrecentchanges.php", "initSiteStats.php", "runJobs.php"):
        _run("php", root / "maintenance" / script, *(["--update"] if "Stats" in script else []), cwd=root)
    with _served(root, port) as served:
        yield served._replace(url=f"{served.url}index.php/Main_Page")


def _dump(of: Sequence[Article]) -> str:
    """The pages of MediaWiki as its own export format."""
    pages: dict[str, list[str]] = {}
    for number, one in enumerate(of):
        links = "\n".join(f"* [[{link}]]" for link in one.links)
        red = f"[[{one.title} in art]]" if number % 4 == 0 else ""
        whole = "\n\n".join([*one.paragraphs, red, "== See also ==", links, f"[[Category:{one.category}]]"])
        pages[one.title] = [whole.replace(one.paragraphs[0], f"Draft {n}.", 1) for n in range(EDITS - 1)] + [whole]
        if number % 6 == 0:
            pages[f"Talk:{one.title}"] = [f"== Sources ==\n\n{one.paragraphs[-1]} Which source says so? [[User:Ann]]"]
    names = {one.category for one in of}
    for name in names:
        pages[f"Category:{name}"] = [f"Articles about {name.lower()}."]
    body = "".join(
        f"<page><title>{escape(title)}</title>" + "".join(map(_revision, range(len(edits)), edits)) + "</page>"
        for title, edits in pages.items()
    )
    return f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11">{body}</mediawiki>'


def _revision(number: int, text: str) -> str:
    contributor = f"<contributor><username>{('Ann', 'Bert', 'Cleo')[number]}</username></contributor>"
    model = "<model>wikitext</model><format>text/x-wiki</format>"
    return (
        f"<revision><timestamp>2025-0{number + 1}-01T10:00:00Z</timestamp>{contributor}<comment>edit</comment>"
        f'{model}<text xml:space="preserve">{escape(text)}</text></revision>'
    )


@contextmanager
def dokuwiki(folder: Path, of: Sequence[Article]) -> Iterator[Served]:
    """DokuWiki with a namespace for each category, each page in two revisions."""
    root, port = _copy("dokuwiki", folder), free_port()
    shutil.copytree("/var/lib/dokuwiki/data", folder / "data")
    configuration = folder / "conf"
    shutil.copytree("/etc/dokuwiki", configuration, ignore=shutil.ignore_patterns("local.php", "*.auth.php"))
    settings = {"title": "Nature", "savedir": str(folder / "data"), "useacl": 0, "updatecheck": 0, "indexdelay": 0}
    lines = [f"$conf[{name!r}] = {value!r};" for name, value in settings.items()]
    (configuration / "local.php").write_text("\n".join(["<?php", *lines]), encoding="utf-8")
    (root / "inc/preload.php").unlink(missing_ok=True)
    (root / "inc/preload.php").write_text(f"<?php define('DOKU_CONF', '{configuration}/');", encoding="utf-8")
    lists: dict[str, list[str]] = {}
    for one in of:
        lists.setdefault(one.category, []).append(f"  * [[{one.id}|{one.title}]]\n")
    lists["start"] = [f"  * [[{name.lower()}:start|{name}]]\n" for name in lists]
    pages = {f"{name.lower()}:start": f"====== {name} ======\n\n" + "".join(lines) for name, lines in lists.items()}
    pages["start"] = pages.pop("start:start")
    made = [*rows(of, {one.title: "" for one in of}), *({"id": at, "dokuwiki": text} for at, text in pages.items())]
    (folder / "articles.json").write_text(json.dumps(made), encoding="utf-8")
    _run("php", HERE / "dokuwiki.php", root, folder / "articles.json", cwd=root)
    with _served(root, port) as served:
        yield served._replace(url=f"{served.url}doku.php")


@contextmanager
def wordpress(folder: Path, of: Sequence[Article]) -> Iterator[Served]:
    """WordPress on a MariaDB of its own, with authors, tags, dates over eleven years, and comments on every post."""
    root, port = _copy("wordpress", folder), free_port()
    url, data, at = f"http://127.0.0.1:{port}", folder / "mysql", folder / "mysql.sock"
    _run("mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db")
    line = ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={at}", "--skip-networking", "--user=root"]
    with (folder / "mysql.log").open("wb") as out:
        database = subprocess.Popen(line, stdout=out, stderr=out)
        try:
            create = ["mariadb", "--no-defaults", f"--socket={at}", "-uroot", "-e", "CREATE DATABASE wordpress"]
            _wait_for(lambda: subprocess.run(create, check=True, capture_output=True))
            constants = {"DB_NAME": "wordpress", "DB_USER": "root", "DB_PASSWORD": "", "DB_HOST": f"localhost:{at}"}
            constants |= {"WP_HOME": url, "WP_SITEURL": url, "DISABLE_WP_CRON": True, "WP_HTTP_BLOCK_EXTERNAL": True}
            constants |= {"DB_CHARSET": "utf8mb4", "DB_COLLATE": ""}
            lines = [f"define({name!r}, {json.dumps(value)});" for name, value in constants.items()]
            lines += ["$table_prefix = 'wp_';", "require ABSPATH . 'wp-settings.php';"]
            (root / "wp-config.php").write_text("\n".join(["<?php", *lines]), encoding="utf-8")
            pages = {one.title: f"{url}/?name={one.slug}" for one in of}
            (folder / "articles.json").write_text(json.dumps(rows(of, pages)), encoding="utf-8")
            _run("php", HERE / "wordpress.php", root, folder / "articles.json", url, cwd=root)
            with _served(root, port, HERE / "router.php") as served:
                yield served
        finally:
            database.terminate()
            database.wait()


SYSTEMS = {"mediawiki": mediawiki, "wordpress": wordpress, "dokuwiki": dokuwiki}
