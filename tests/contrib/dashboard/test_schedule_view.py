"""The view of jobs: what it shows of them, what it lets be done, and what no job may be given from there."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dashboards
import pytest
from attacks import acting
from dashboard_client import Answer, Request, answer
from receivers import receiving
from scrapy.settings import Settings
from sqlalchemy import insert, update
from sqlalchemy.engine import URL, make_url

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.schedule import job_process as tails
from crawler.contrib.schedule.job_process import MOST_BYTES, MOST_LINES, lock_of, log_of, log_tail
from crawler.contrib.schedule.job_store import Job, Jobs, find_job
from crawler.contrib.schedule.views import schedule
from crawler.processes.held_lock import take_lock
from crawler.store.crawl_tables import crawl, version
from crawler.store.crawl_tables import job as job_table
from crawler.store.crawl_tables import run as run_table
from crawler.store.database import open_database
from crawler.store.schema_version import newest_version

PATIENCE = 60.0
EVIL = [
    "<script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "javascript:alert(1)",
    "\u202egnp.exe",
    "\x1b[2J\x00",
    "x" * 10_000,
]
BEES = {"name": "bees", "cron": "0 3 * * *", "timezone": "Asia/Shanghai", "seeds": "demo", "topic": "honey bees"}


class Visitor:
    """Somebody at the dashboard."""

    def __init__(self, url: URL, output: Path) -> None:
        settings = Settings()
        settings.setmodule("crawler.settings", priority="project")
        told = {"OUTPUT_DIR": str(output), "STATE_URL": url.render_as_string(hide_password=False)}
        settings.setdict(told, priority="cmdline")
        self.url, self.output = url, output
        self.desk = DashboardContext(url, output, settings, AccessControl())

    def get(self, path: str, **query: str) -> Answer:
        return answer(self.desk, Request("GET", path, query, {}, {"host": "localhost"}))

    def post(self, path: str, form: Mapping[str, str] | None = None) -> Answer:
        sent = {"token": self.desk.access.token, **(form or {})}
        return answer(self.desk, Request("POST", path, {}, sent, {"host": "localhost"}))

    def json(self, path: str, **query: str) -> Any:
        found = self.get(path, **query)
        assert found.status == 200, found.body
        return json.loads(found.body)

    def job(self, name: str = "bees") -> Job:
        engine = open_database(self.url)
        try:
            return find_job(Jobs(engine).all()[0], name)
        finally:
            engine.dispose()

    def write(self, *statements: Any) -> None:
        engine = open_database(self.url)
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(statement)
        engine.dispose()


@pytest.fixture
def here(tmp_path: Path) -> Visitor:
    """At a new SQLite database."""
    return Visitor(make_url(f"sqlite:///{tmp_path / 'output' / 'crawl.db'}"), tmp_path / "output")


def until(true: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def where(found: Answer) -> str:
    assert found.status == 303, found.body.decode()[:2_000]
    return dict(found.headers)["Location"]


def test_a_job_is_added_paused_resumed_and_removed(here: Visitor) -> None:
    assert here.json("/api/jobs")["jobs"] == []
    assert where(here.post("/schedule/add", BEES)) == "/schedule?said=added"
    job = here.job()
    assert json.loads(job.arguments) == {"name": "bees", "seeds": "demo", "topic": "honey bees"}
    assert (job.cron, job.timezone, job.crawl, json.loads(job.settings)) == ("0 3 * * *", "Asia/Shanghai", "bees", {})
    (said,) = here.json("/api/jobs")["jobs"]
    assert (said["words"], said["next_at"], said["paused"]) == ("every day at 03:00", job.next_at, False)
    page = f"/schedule/{job.id}"
    assert where(here.post(f"{page}/pause")) == "/schedule?said=paused"
    assert here.job().paused
    assert where(here.post(f"{page}/resume", {"from": "job"})) == f"{page}?said=resumed"
    assert not here.job().paused
    assert "Remove this job?" in here.get(page, ask="remove").body.decode()
    assert where(here.post(f"{page}/stop")) == "/schedule?said=idle"
    assert where(here.post(f"{page}/remove")) == "/schedule?said=removed"
    assert here.json("/api/jobs")["jobs"] == []
    assert here.post(f"{page}/pause").status == here.get(page).status == 404


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no standing of their own")
def test_runs_do_not_step_back_with_the_dashboard(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    with dashboards.running(tmp_path / "output") as there:
        threads = [int(task.name) for task in Path(f"/proc/{there.pid}/task").iterdir()]
        found = {number: os.getpriority(os.PRIO_PROCESS, number) for number in threads}
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert found.pop(there.pid) == min(19, own + 10)
    assert own in found.values()  # that of the thread that starts them


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"name": ""}, "name", "a job needs a name"),
        ({"name": "../bees"}, "name", "cannot be a file name"),
        ({"cron": "61 * * * *"}, "cron", "its minute is invalid"),
        ({"cron": ""}, "cron", "a job needs a time"),
        ({"timezone": "Mars"}, "timezone", "is not known"),
        ({"timezone": "../../etc/passwd"}, "timezone", "is not known"),
        ({"seeds": ""}, "seeds", "a crawl needs seeds"),
        ({"seeds": "/etc/passwd"}, "seeds", "is neither an http://"),
        ({"seeds": "file:///etc/passwd"}, "seeds", "is neither an http://"),
        ({"seeds": "seeds.txt"}, "seeds", "is neither an http://"),
        ({"seeds": "https://a.example/ /etc/passwd"}, "seeds", "&#x27;/etc/passwd&#x27; is neither an http://"),
        ({"seeds": "https://a.example/\nftp://b.example/"}, "seeds", "is neither an http://"),
        ({"seeds": "demo, https://a.example/"}, "seeds", "seed &#x27;demo&#x27; cannot be combined"),
        ({"seeds": "https://a.example/ demo"}, "seeds", "seed &#x27;demo&#x27; cannot be combined"),
        ({"topic": "/etc/topic.toml"}, "topic", "looks like a file name"),
        ({"topic": "TOPIC.TOML"}, "topic", "looks like a file name"),
        ({"topic": "/etc/.toml"}, "topic", "looks like a file name"),
        ({"topic": ".toml"}, "topic", "looks like a file name"),
        ({"topic": "README.md"}, "topic", "looks like a file name"),
        ({"topic": "nothing-there.md"}, "topic", "looks like a file name"),
        ({"topic": "..\\secret.txt"}, "topic", "looks like a file name"),
        ({"topic": "!"}, "topic", "has no word in it"),
        ({"max_pages": "0"}, "max_pages", "allowed are whole numbers from 1 on"),
        ({"max_depth": "x"}, "max_depth", "is wrong"),
        ({"min_relevance": "2"}, "min_relevance", "allowed are numbers from 0 to 1"),
        ({"stop_when": "soon"}, "stop_when", "is wrong"),
        ({"lang": "klingon"}, "lang", "is not known"),
        ({"CONTACT": "a\x1b[2Jb"}, "CONTACT", "cannot be displayed"),
    ],
)
def test_what_is_wrong_stands_beside_the_field(here: Visitor, changed: dict[str, str], field: str, said: str) -> None:
    found = here.post("/schedule/add", {**BEES, **changed})
    text = found.body.decode()
    assert found.status == 422
    assert said in text.partition(f'id="e-{field}"')[2].partition("</strong>")[0]
    assert 'value="Asia/Shanghai"' in text or field == "timezone"
    assert "honey bees" in text or field == "topic"
    assert not (here.output / "crawl.db").exists()


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"scope": "everything"}, 400),
        ({"images": "maybe"}, 400),
        ({"name": "b\0ees"}, 400),
        ({"seeds": "https://a.example/" * 2_000}, 400),
        ({"ALLOWED_PRIVATE_HOSTS": "127.0.0.1", "ROBOTSTXT_OBEY": "False", "LOG_FILE": "/tmp/x"}, 303),
        ({"SCHEDULE_NOTIFY_COMMAND": "touch /tmp/x"}, 303),
        ({"IMAGE_NOISE_WEIGHTS": "/etc/passwd", "allow": "(", "fresh": "yes", "extractor": "x"}, 303),
        ({"seeds": "https://a.example/ , https://b.example/x,y"}, 303),
        ({"topic": "TCP/IP"}, 303),
        ({"topic": "Node.js"}, 303),
    ],
)
def test_no_more_may_be_given_than_the_form_has(here: Visitor, changed: dict[str, str], status: int) -> None:
    assert here.post("/schedule/add", {**BEES, **changed}).status == status
    if status == 303:
        job = here.job()
        assert json.loads(job.settings) == {}
        assert set(json.loads(job.arguments)) == {"name", "seeds", "topic"}


def test_settings_of_the_form_come_with_the_job(here: Visitor) -> None:
    here.post("/schedule/add", {**BEES, "CONTACT": "ops@example.org", "KEEP_RESPONSES": "0"})
    assert json.loads(here.job().settings) == {"CONTACT": "ops@example.org", "KEEP_RESPONSES": "0"}


def test_a_webhook_comes_with_the_job_and_its_secret_is_not_shown(here: Visitor) -> None:
    here.post("/schedule/add", {**BEES, "notify": "https://hooks.example/T0/secret"})
    assert here.job().notify == "https://hooks.example/T0/secret"
    (job,) = here.json("/api/jobs")["jobs"]
    assert job["notify"] == "https://hooks.example/…"
    text = here.get(f"/schedule/{job['id']}").body.decode()
    assert ("https://hooks.example/…" in text, "secret" in text) == (True, False)


def test_a_job_runs_now_and_tells_its_webhook_unless_its_address_is_private(here: Visitor) -> None:
    with receiving() as receiver:
        here.post("/schedule/add", {**BEES, "max_pages": "2", "images": "no", "notify": f"{receiver.url}/hook"})
        number = here.job().id
        page = f"/schedule/{number}"
        here.desk.settings.set("ALLOWED_PRIVATE_HOSTS", "127.0.0.1", priority="cmdline")
        assert where(here.post(f"{page}/run")) == "/schedule?said=started"
        assert where(here.post(f"{page}/run")) == "/schedule?said=busy"
        assert "still running" in here.post(f"{page}/remove").body.decode()
        until(lambda: (here.job().last and here.job().last.notice) == "sent")
        here.desk.settings.set("ALLOWED_PRIVATE_HOSTS", "", priority="cmdline")
        here.post(f"{page}/run")
        assert where(here.post(f"{page}/stop")) == "/schedule?said=told"
        until(lambda: here.job().last.notice == "private")
        ((path, sent),) = receiver.got
    assert (path, sent["event"], sent["job"], sent["run"], sent["exit"]) == ("/hook", "ended", "bees", 1, 0)
    assert sent["pages"] == sent["read"] == 2
    shown = here.get(page).body.decode()
    assert "done" in shown
    last, first = here.json(f"/api/jobs/{number}/runs")
    assert (last["notice"], first["notice"]) == ("private", "sent")
    assert (first["number"], first["how"], first["status"], first["exit"], first["pages"]) == (1, "now", "done", 0, 2)
    assert first["harvest"] == pytest.approx(sent["harvest"], abs=1e-4)
    assert last["status"] in ("stopped", "failed", "done")
    assert here.job().now is None
    log = here.get(f"{page}/runs/{first['id']}").body.decode()
    assert "2 pages crawled in" in log
    assert "sent" in log
    assert here.get(f"{page}/runs/{last['id'] + 1}").status == 404


@pytest.mark.parametrize("wrong", ["hooks.example", "file:///etc/passwd", "/bin/sh -c id", "javascript:alert(1)"])
def test_a_webhook_is_an_address(here: Visitor, wrong: str) -> None:
    found = here.post("/schedule/add", {**BEES, "notify": wrong})
    assert (found.status, 'id="e-notify"' in found.body.decode()) == (422, True)


def test_a_second_job_of_the_name_is_refused_with_what_was_typed(here: Visitor) -> None:
    here.post("/schedule/add", BEES)
    found = here.post("/schedule/add", {**BEES, "topic": "wasps"})
    assert (found.status, b"there is already a job" in found.body, b"wasps" in found.body) == (422, True, True)


@pytest.mark.parametrize("path", ["add", "1/pause", "1/resume", "1/remove", "1/run", "1/stop"])
def test_nothing_changes_without_the_token(here: Visitor, path: str) -> None:
    here.post("/schedule/add", BEES)
    assert here.post(f"/schedule/{path}", {**BEES, "name": "wasps", "token": "x"}).status == 403
    assert here.get(f"/schedule/{path}").status == (200 if path == "add" else 405)
    job = here.job()
    assert (job.paused, job.runs, here.json("/api/jobs")["jobs"][0]["name"]) == (False, 0, "bees")


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_what_is_in_the_database_is_text(here: Visitor, evil: str) -> None:
    here.post("/schedule/add", BEES)
    given = json.dumps({"seeds": evil, evil: "x"})
    values = {"name": evil, "cron": evil, "timezone": evil, "crawl": evil, "arguments": given, "settings": given}
    values["notify"] = f"https://{evil}"
    run = {"job_id": 1, "number": 1, "how": "cron", "status": "failed", "started_at": 1e9, "beat": 1e9, "ended_at": 1e9}
    here.write(
        update(job_table).values(**values),
        insert(run_table).values(**run, place=evil, host=evil, exit=-9, notice=f"status:{evil}"),
    )
    for path in ("/schedule", "/schedule/1", "/schedule/1/runs/1"):
        found = here.get(path)
        text = found.body.decode()
        assert found.status == 200, text
        assert acting(text) == []
        assert len(text) < 60_000
    assert here.json("/api/jobs")["jobs"][0]["name"] == evil


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_what_is_typed_is_text(here: Visitor, evil: str) -> None:
    found = here.post("/schedule/add", dict.fromkeys(BEES, evil))
    assert found.status in (400, 422)
    assert acting(found.body.decode()) == []
    said = here.get("/api/cron", cron=evil[:400], timezone=evil[:400])
    assert said.status in (200, 400)


def test_the_words_of_a_line(here: Visitor) -> None:
    said = here.json("/api/cron", cron="0 3 * * *", timezone="UTC")
    assert (said["words"], len(said["next"]), said["error"]) == ("every day at 03:00", 3, "")
    assert "is wrong" in here.json("/api/cron", cron="x")["error"]


def later_jobs(here: Visitor, query: Mapping[str, str]) -> Mapping[str, str] | None:
    """What is asked of the schedule for the jobs that follow."""
    found = re.search(r'href="/schedule\?after=(\d+)">More jobs: (\d+)', here.get("/schedule", **query).body.decode())
    return {"after": found[1], "left": found[2]} if found else None


def test_many_jobs_come_a_part_at_a_time(here: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "AT_ONCE", 2)
    for name in "dbaec":
        where(here.post("/schedule/add", BEES | {"name": name}))
    names, query, left = "", {}, []
    while True:
        said = here.json("/api/jobs", **query)
        names += "".join(one["name"] for one in said["jobs"])
        left.append(said["more"])
        link = later_jobs(here, query)
        if said["next"] is None:
            break
        query = {"after": str(said["next"])}
        assert link == query | {"left": str(said["more"])}
    assert (names, left, link) == ("abcde", [3, 1, 0], None)
    assert [one["name"] for one in here.json("/api/jobs", after="999")["jobs"]] == ["a", "b"]


def test_a_button_leads_back_to_the_part_that_it_stands_in(here: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "AT_ONCE", 2)
    for name in "abc":
        where(here.post("/schedule/add", BEES | {"name": name}))
    said = here.json("/api/jobs")
    after = str(said["next"])
    shown = here.get("/schedule", after=after).body.decode()
    assert f'<input type="hidden" name="after" value="{after}">' in shown
    assert 'name="after"' not in here.get("/schedule").body.decode()
    job = here.json("/api/jobs", after=after)["jobs"][0]["id"]
    fields = {"from": "list", "after": after}
    assert where(here.post(f"/schedule/{job}/pause", fields)) == f"/schedule?said=paused&after={after}"
    assert here.post(f"/schedule/{job}/pause", fields | {"after": "//evil.example"}).status == 400


@pytest.mark.parametrize("path", ["/schedule/add", "/schedule/1/pause", "/schedule/1/run", "/schedule/1/remove"])
def test_a_database_of_a_newer_release_is_left_as_it_is(here: Visitor, path: str) -> None:
    where(here.post("/schedule/add", BEES))
    here.write(update(version).values(version=newest_version() + 1))
    file = Path(str(here.url.database))
    before = file.read_bytes()
    found = here.post(path, BEES | {"name": "more", "topic": "bees"})
    assert found.status == 503
    assert "newer release" in found.body.decode()
    assert "较新版本" in here.get("/schedule", lang="zh").body.decode()
    assert file.read_bytes() == before


def test_whether_a_scheduler_is_at_work(here: Visitor) -> None:
    here.post("/schedule/add", BEES)
    assert here.json("/api/jobs")["scheduler"] is False
    assert b"winnow schedule run" in here.get("/schedule").body
    lock = take_lock(lock_of(here.output))
    assert here.json("/api/jobs")["scheduler"] is True
    lock.release()
    assert here.json("/api/jobs")["scheduler"] is False


@pytest.mark.parametrize(
    ("name", "value", "english", "chinese"),
    [
        ("name", "", "a job needs a name", "请填写任务名称"),
        ("cron", "", "a job needs a time", "请填写时间"),
        ("seeds", "demo ftp://x/", "cannot be combined", "只能单独使用"),
        ("name", "a/b", "cannot be a file name", "不能用作文件名"),
        ("cron", "1 2 3", "it does not have five fields", "字段数不是五个"),
        ("cron", "61 * * * *", "its minute is invalid", "“分”字段无效"),
        ("timezone", "Bees", "time zone", "时区"),
        ("seeds", "", "a crawl needs seeds", "请填写种子"),
        ("seeds", "/etc/passwd", "is neither an http://", "不是以 http://"),
        ("topic", "a/b.toml", "looks like a file", "像是文件名"),
        ("max_pages", "0", "allowed are whole numbers from 1 on", "应为不小于 1 的整数"),
        ("min_relevance", "2", "allowed are numbers from 0 to 1", "应为 0 到 1 之间的数"),
        ("stop_when", "x", "allowed is harvest&lt;NUMBER", "应为 harvest&lt;数值，"),
        ("lang", "xx", "is not known; allowed are codes", "不是已知的语言"),
        ("CONTACT", "\x01", "it contains characters that cannot be displayed", "含有无法显示的字符"),
    ],
)
def test_what_is_wrong_is_said_in_the_language_of_the_page(
    here: Visitor, name: str, value: str, english: str, chinese: str
) -> None:
    form = {"token": here.desk.access.token, **BEES, name: value}
    for cookie, said in (("", english), ("lang=zh", chinese)):
        headers = {"host": "localhost", "cookie": cookie}
        found = answer(here.desk, Request("POST", "/schedule/add", {}, form, headers))
        text = found.body.decode().replace("&#34;", '"')
        assert found.status == 422
        assert said in text.partition('<strong class="wrong"')[2].partition("</strong>")[0]
        assert f"{name}=" not in text.partition('<strong class="wrong"')[2].partition("</strong>")[0]


def test_a_job_leads_to_its_crawl_once_there_is_one(here: Visitor) -> None:
    here.post("/schedule/add", BEES)
    assert b'href="/crawls/' not in here.get("/schedule/1").body
    here.write(insert(crawl).values(id=7, name="bees", seeds="[]", started_at=0.0))
    assert b'<a href="/crawls/7"><bdi>bees</bdi></a>' in here.get("/schedule/1").body


def test_when_a_job_comes_is_said_in_the_language_of_the_page(here: Visitor) -> None:
    here.post("/schedule/add", BEES)
    assert "every day at 03:00" in here.get("/schedule").body.decode()
    assert "每天 03:00" in here.get("/schedule", lang="zh").body.decode()
    assert here.json("/api/cron", cron="0 3 * * *", lang="zh")["words"] == "每天 03:00"
    assert "字段数不是五个" in here.json("/api/cron", cron="x", lang="zh")["error"]


def test_what_is_not_there_is_said_to_be_not_found(here: Visitor) -> None:
    assert "<h1>Nothing here yet</h1>" in here.get("/pages").body.decode()
    here.post("/schedule/add", BEES)
    assert "<h1>Not found</h1>" in here.get("/none").body.decode()
    assert "<h1>未找到</h1>" in here.get("/none", lang="zh").body.decode()


def test_the_end_of_a_log(tmp_path: Path) -> None:
    log = log_of(tmp_path, "bees", 1)
    assert log_tail(tmp_path, "bees", 1) is None
    log.parent.mkdir(parents=True)
    log.write_text("")
    assert log_tail(tmp_path, "bees", 1) == ("", 0, 0, False)
    log.write_text("".join(f"{n}\n" for n in range(MOST_LINES)))
    assert log_tail(tmp_path, "bees", 1)[1:] == (MOST_LINES, log.stat().st_size, False)
    log.write_text("".join(f"{n}\n" for n in range(MOST_LINES + 1)))
    text, lines, _, is_cut = log_tail(tmp_path, "bees", 1)
    assert (text.splitlines()[0], lines, is_cut) == ("1", MOST_LINES, True)
    log.write_text("é" * MOST_BYTES + "\nlast")
    assert log_tail(tmp_path, "bees", 1) == ("last", 1, 2 * MOST_BYTES + 5, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files here")
def test_no_other_file_is_a_log(tmp_path: Path) -> None:
    output, secret = tmp_path / "output", tmp_path / "secret"
    secret.mkdir()
    (secret / "1.log").write_text("secret")
    (output / "logs").mkdir(parents=True)
    (output / "logs" / "ants").symlink_to(secret)
    (output / "logs" / "bees").mkdir()
    (output / "logs" / "bees" / "1.log").symlink_to(secret / "1.log")
    (output / "logs" / "bees" / "2.log").symlink_to(output / "logs" / "bees" / "2.log")
    os.mkfifo(output / "logs" / "bees" / "3.log")
    (output / "logs" / "bees" / "4.log").mkdir()
    asked = [("ants", 1), *(("bees", number) for number in (1, 2, 3, 4)), ("../../secret", 1), ("/etc", 1), ("", 1)]
    assert [tails.log_tail(output, *one) for one in asked] == [None] * len(asked)
    (tmp_path / "link").symlink_to(output)  # as an operator may have it
    (output / "logs" / "bees" / "5.log").write_text("fine")
    assert log_tail(tmp_path / "link", "bees", 5) == ("fine", 1, 4, False)
