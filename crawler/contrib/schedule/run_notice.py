"""Tells somebody how a run ended: one JSON object, posted to the job's webhook and given to the machine's command.

The webhook belongs to the job, and whoever may add jobs may name it. So it gets what a crawl gets: only addresses that
are public or that `ALLOWED_PRIVATE_HOSTS` opens are connected to. Redirects are not followed, and of the response only
the status is read. The command belongs to the settings of the machine and is never in the database: who can write there
cannot run code.
"""

import json
import logging
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from threading import Thread
from urllib.parse import urlsplit

from scrapy.settings import BaseSettings

from crawler.command_line.terminal import printable
from crawler.contrib.schedule.job_store import Job, Jobs, Run, RunStatus
from crawler.errors import ArgumentError, StateError
from crawler.translation.message import N_, Message
from crawler.urls.guarded_connection import GuardedConnection, NotAllowedError
from crawler.urls.public_hosts import AllowList

logger = logging.getLogger(__name__)

ENDED, RUN_FAILED, HARVEST_FELL = "ended", "failed", "harvest_fell"
"""The events; a run that ends is one of them."""
FALLEN = 0.5  # the share of the usual harvest below which a harvest has fallen
USUAL_RUNS = 5  # earlier runs whose mean is the usual harvest
LEAST_READ = 20  # pages of a run from which its harvest says something
POST_SECONDS = 10.0
COMMAND_SECONDS = 30.0
LONGEST = 2_000  # characters of a webhook's address
SENT, PRIVATE, TIMEOUT, UNREACHABLE, STATUS, EXIT, NOT_STARTED = (
    *("sent", "private", "timeout", "unreachable", "status", "exit", "not_started"),
)
"""Results; `status` and `exit` are followed by a colon and a number."""
SENTENCES = {
    PRIVATE: N_("the address of the webhook is not public"),
    TIMEOUT: N_("whoever was notified did not answer in time"),
    UNREACHABLE: N_("the webhook cannot be reached"),
    STATUS: N_("the webhook answered with status {n}"),
    EXIT: N_("the command of notices ended with exit status {n}"),
    NOT_STARTED: N_("the command of notices cannot be started"),
}


@dataclass(frozen=True)
class NoticeSettings:
    """Who is notified beside a job's webhook, and where webhooks may be."""

    command: tuple[str, ...] = ()
    allowed: AllowList = AllowList(())  # noqa: RUF009 - it is not changed


def notice_settings(settings: BaseSettings) -> NoticeSettings:
    """The settings of notices; raises an ArgumentError if the command is wrong."""
    command_line = settings["SCHEDULE_NOTIFY_COMMAND"] or ""
    try:
        command = tuple(shlex.split(command_line) if isinstance(command_line, str) else map(str, command_line))
    except ValueError as error:
        raise ArgumentError("setting {name} is wrong: {why}", name="SCHEDULE_NOTIFY_COMMAND", why=str(error)) from None
    if command and shutil.which(command[0]) is None:
        raise ArgumentError(
            "setting {name}: the program {program} is not found",
            name="SCHEDULE_NOTIFY_COMMAND",
            program=repr(command[0]),
        )
    return NoticeSettings(command, AllowList(settings.getlist("ALLOWED_PRIVATE_HOSTS")))


def webhook_address(address: str) -> str:
    """The address of a webhook as it is stored; raises an ArgumentError if it is none."""
    try:
        parts = urlsplit(address)
        is_right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.username
    except ValueError:
        is_right = False
    if not is_right or len(address) > LONGEST or not address.isascii() or not address.isprintable() or " " in address:
        raise ArgumentError(
            "a webhook is an address with https:// or http://, without a user name; {given} is none",
            given=repr(address[:100]),
        )
    return address


def webhook_host(address: str) -> str:
    """The part of a webhook's address that may be shown: what follows the host is often a secret.

    >>> webhook_host("https://hooks.example/services/T0/secret"), webhook_host("")
    ('https://hooks.example/…', '')
    """
    host = address.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    if address:
        return f"{address.partition(':')[0]}://{host}/…"
    return ""


def usual_harvest(earlier: Sequence[Run]) -> float | None:
    """The mean harvest of the last runs before one that did not fail; None if none read enough pages."""
    harvests = [run.harvest for run in earlier if run.status != RunStatus.FAILED and (run.read or 0) >= LEAST_READ]
    last = [harvest for harvest in harvests[:USUAL_RUNS] if harvest is not None]
    return sum(last) / len(last) if last else None


def event_of(run: Run, usual: float | None) -> str:
    """What a run that has ended is to its user, given the usual harvest."""
    if run.status == RunStatus.FAILED:
        return RUN_FAILED
    if usual is not None and run.harvest is not None and (run.read or 0) >= LEAST_READ:
        if run.harvest < FALLEN * usual:
            return HARVEST_FELL
        return ENDED
    return ENDED


def notice(job: Job, run: Run, earlier: Sequence[Run]) -> dict[str, object]:
    """What is sent about a run that has ended; `earlier` are the runs before it, newest first."""
    usual = usual_harvest(earlier)
    harvests = {"harvest": run.harvest, "usual_harvest": usual}
    return {
        "event": event_of(run, usual),
        **{"job": job.name, "crawl": job.crawl, "run": run.number, "status": run.status, "exit": run.exit},
        **{"started_at": _moment(run.started_at), "ended_at": _moment(run.ended_at or run.beat)},
        **{"pages": run.pages, "new": run.new, "changed": run.changed, "gone": run.gone},
        **{"read": run.read, "on_topic": run.on_topic},
        **{name: None if value is None else round(value, 4) for name, value in harvests.items()},
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def post(address: str, body: bytes, allowed: AllowList) -> str:
    """The result of posting a notice to a webhook."""
    try:
        parts = urlsplit(webhook_address(address))
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        with GuardedConnection(parts, allowed.may_connect, POST_SECONDS) as connection:
            connection.request("POST", target, body, {"Content-Type": "application/json", "User-Agent": "Winnow"})
            status = connection.getresponse().status
    except NotAllowedError:
        return PRIVATE
    except TimeoutError:
        return TIMEOUT
    except (OSError, HTTPException, ValueError, ArgumentError):
        return UNREACHABLE
    if 200 <= status < 300:
        return SENT
    return f"{STATUS}:{status}"


def run_command(words: Sequence[str], body: bytes) -> str:
    """The result of running the command of notices, which reads the notice from its standard input."""
    try:
        done = subprocess.run(  # noqa: S603 - the words are the operator's, and no shell reads them
            words, input=body, stdout=subprocess.DEVNULL, timeout=COMMAND_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return TIMEOUT
    except OSError:
        return NOT_STARTED
    if done.returncode:
        return f"{EXIT}:{done.returncode}"
    return SENT


def within(seconds: float, get: Callable[[], str]) -> str:
    """The result of a function, or TIMEOUT: a server may send its status a byte at a time, for ever."""
    results: list[str] = []
    thread = Thread(target=lambda: results.append(get()), name="webhook", daemon=True)
    thread.start()
    thread.join(seconds)
    return next(iter(results), TIMEOUT)


class NoticeSender:
    """Sends the notice of each run that has ended once, whoever notices its end."""

    def __init__(self, jobs: Jobs, by: NoticeSettings) -> None:
        self.jobs = jobs
        self.by = by
        self.threads: list[Thread] = []

    def tell(self, job: Job, run: Run) -> None:
        """Send the notice of a run in a thread, if anybody wants it and it was not sent yet."""
        if run.notice is None and (job.notify or self.by.command) and self.jobs.claim_notice(run.id):
            thread = Thread(target=self._send, args=(job, run), name="notice")
            self.threads = [waiting_thread for waiting_thread in self.threads if waiting_thread.is_alive()] + [thread]
            thread.start()

    def wait(self) -> None:
        """Wait until all notices are sent, or have failed."""
        for thread in self.threads:
            thread.join()

    def _send(self, job: Job, run: Run) -> None:
        try:
            earlier = self.jobs.earlier(run, USUAL_RUNS * 4)
            body = json.dumps(notice(job, run, earlier), ensure_ascii=False).encode()
            results = [run_command(self.by.command, body)] if self.by.command else []
            address = job.notify
            if address:
                results.append(within(POST_SECONDS, lambda: post(address, body, self.by.allowed)))
            failures = [notice_result for notice_result in results if notice_result != SENT]
            self.jobs.write_notice(run.id, " ".join(failures) or SENT)
        except StateError as error:
            logger.warning("The result of a notice could not be recorded: %s", error)
            return
        for failure in failures:
            logger.warning("%s", printable(f"{job.name}: run {run.number}: {failure_words(failure)}"))


def failure_words(notice: str) -> Message | None:
    """Why somebody was not notified, by the stored result; None if all went well.

    >>> str(failure_words("status:500")), failure_words("sent")
    ('the webhook answered with status 500', None)
    """
    code, _, number = notice.partition(" ")[0].partition(":")
    if code in SENTENCES:
        return Message(SENTENCES[code], {"n": number})
    return None
