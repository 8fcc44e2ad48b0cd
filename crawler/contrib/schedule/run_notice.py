"""Sends notices about runs that have ended: one JSON object, posted to the job's webhook and passed to a command.

The webhook belongs to the job, and everybody who may add jobs may choose it. So it is restricted like a crawl: it must
have a public address, or one that `ALLOWED_PRIVATE_HOSTS` allows. Redirects are not followed, and only the status of
the response is read. The command is in the settings of the machine and never in the database, so that nobody who can
write there can run code.
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

# The events of a run that has ended.
ENDED = "ended"
RUN_FAILED = "failed"
HARVEST_FELL = "harvest_fell"

# The harvest of a run is the share of pages on topic among the pages that it read.
FALLEN = 0.5
"""A harvest has fallen if it is below this share of the usual harvest."""
USUAL_RUNS = 5
"""The usual harvest is the mean harvest of at most this many earlier runs."""
EARLIER_RUNS = 20
"""How many earlier runs are searched for the USUAL_RUNS: some have failed, or have read too few pages."""
LEAST_READ = 20
"""The fewest pages that a run must have read for its harvest to count."""
# Time limits of a webhook and of the command.
POST_SECONDS = 10.0
COMMAND_SECONDS = 30.0
MAX_ADDRESS = 2_000  # characters of a webhook's address

# The results of a notice, as stored; `status` and `exit` are followed by a colon and a number, as in `status:500`.
SENT = "sent"
PRIVATE = "private"
TIMEOUT = "timeout"
UNREACHABLE = "unreachable"
STATUS = "status"
EXIT = "exit"
NOT_STARTED = "not_started"
SENTENCES = {
    PRIVATE: N_("the address of the webhook is not public"),
    TIMEOUT: N_("the notification timed out"),
    UNREACHABLE: N_("the webhook cannot be reached"),
    STATUS: N_("the webhook answered with status {n}"),
    EXIT: N_("the command of notices ended with exit status {n}"),
    NOT_STARTED: N_("the command of notices cannot be started"),
}


@dataclass(frozen=True)
class NoticeSettings:
    """The command that gets notices, and the private hosts on which webhooks are allowed."""

    command: tuple[str, ...] = ()
    allowed: AllowList = AllowList(())  # noqa: RUF009 - it is not changed


def notice_settings(settings: BaseSettings) -> NoticeSettings:
    """The settings of notices; raises an ArgumentError if the command is wrong."""
    command_line = settings["SCHEDULE_NOTIFY_COMMAND"] or ""
    try:
        if isinstance(command_line, str):
            command = tuple(shlex.split(command_line))
        else:
            command = tuple(map(str, command_line))
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
    """The address of a webhook; raises an ArgumentError if a webhook cannot have it."""
    try:
        parts = urlsplit(address)
        is_allowed = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.username
    except ValueError:
        is_allowed = False
    if (
        not is_allowed
        or len(address) > MAX_ADDRESS
        or not address.isascii()
        or not address.isprintable()
        or " " in address
    ):
        raise ArgumentError(
            "a webhook is an address with https:// or http://, without a user name; {given} is none",
            given=repr(address[:100]),
        )
    return address


def webhook_host(address: str) -> str:
    """The part of a webhook's address that may be shown: the part after the host is often a secret.

    >>> webhook_host("https://hooks.example/services/T0/secret"), webhook_host("")
    ('https://hooks.example/…', '')
    """
    host = address.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    if address:
        return f"{address.partition(':')[0]}://{host}/…"
    return ""


def usual_harvest(earlier: Sequence[Run]) -> float | None:
    """The mean harvest of the last USUAL_RUNS runs that did not fail and read enough pages; None if there are none.

    `earlier` are the runs before a run, newest first.
    """
    harvests = [run.harvest for run in earlier if run.status != RunStatus.FAILED and (run.read or 0) >= LEAST_READ]
    usual_harvests = [harvest for harvest in harvests[:USUAL_RUNS] if harvest is not None]
    if not usual_harvests:
        return None
    return sum(usual_harvests) / len(usual_harvests)


def event_of(run: Run, usual: float | None) -> str:
    """The event of a run that has ended, where `usual` is the usual harvest."""
    if run.status == RunStatus.FAILED:
        return RUN_FAILED
    if usual is None or run.harvest is None or (run.read or 0) < LEAST_READ:
        return ENDED
    if run.harvest < FALLEN * usual:
        return HARVEST_FELL
    return ENDED


def notice(job: Job, run: Run, earlier: Sequence[Run]) -> dict[str, object]:
    """The notice about a run that has ended; `earlier` are the runs before it, newest first."""
    usual = usual_harvest(earlier)
    return {
        "event": event_of(run, usual),
        "job": job.name,
        "crawl": job.crawl,
        "run": run.number,
        "status": run.status,
        "exit": run.exit,
        "started_at": _moment(run.started_at),
        "ended_at": _moment(run.ended_at or run.beat),
        "pages": run.pages,
        "new": run.new,
        "changed": run.changed,
        "gone": run.gone,
        "read": run.read,
        "on_topic": run.on_topic,
        "harvest": _rounded(run.harvest),
        "usual_harvest": _rounded(usual),
    }


def _rounded(harvest: float | None) -> float | None:
    if harvest is None:
        return None
    return round(harvest, 4)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def post(address: str, body: bytes, allowed: AllowList) -> str:
    """The result of posting a notice to a webhook."""
    try:
        parts = urlsplit(webhook_address(address))
        target = parts.path or "/"
        if parts.query:
            target += f"?{parts.query}"
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
    """The result of a function, or TIMEOUT if it takes longer.

    The time limit of a connection is not enough: it applies to each read, and a server may send its status a byte at a
    time.
    """
    results: list[str] = []
    thread = Thread(target=lambda: results.append(get()), name="webhook", daemon=True)
    thread.start()
    thread.join(seconds)
    return next(iter(results), TIMEOUT)


class NoticeSender:
    """Sends the notice of each run once, even if several processes record that it has ended."""

    def __init__(self, jobs: Jobs, settings: NoticeSettings) -> None:
        self.jobs = jobs
        self.settings = settings
        self.threads: list[Thread] = []

    def send_once(self, job: Job, run: Run) -> None:
        """Send the notice of a run in a thread, if there is a webhook or a command, and it was not sent yet."""
        if run.notice is None and (job.notify or self.settings.command) and self.jobs.claim_notice(run.id):
            thread = Thread(target=self._send, args=(job, run), name="notice")
            self.threads = [*filter(Thread.is_alive, self.threads), thread]
            thread.start()

    def wait(self) -> None:
        """Wait until all notices are sent, or have failed."""
        for thread in self.threads:
            thread.join()

    def _send(self, job: Job, run: Run) -> None:
        """Send the notice of a run, and record the result."""
        try:
            earlier = self.jobs.earlier(run, EARLIER_RUNS)
            body = json.dumps(notice(job, run, earlier), ensure_ascii=False).encode()
            results = []
            if self.settings.command:
                results.append(run_command(self.settings.command, body))
            address = job.notify
            if address:
                results.append(within(POST_SECONDS, lambda: post(address, body, self.settings.allowed)))
            failures = [notice_result for notice_result in results if notice_result != SENT]
            # Two failures, of the command and of the webhook, are separated by a space.
            self.jobs.write_notice(run.id, " ".join(failures) or SENT)
        except StateError as error:
            logger.warning("The result of a notice could not be recorded: %s", error)
            return
        for failure in failures:
            logger.warning("%s", printable(f"{job.name}: run {run.number}: {failure_words(failure)}"))


def failure_words(stored_result: str) -> Message | None:
    """Why a notice was not sent; None if it was sent. Only the first of two failures is described.

    >>> str(failure_words("status:500")), failure_words("sent")
    ('the webhook answered with status 500', None)
    """
    code, _, number = stored_result.partition(" ")[0].partition(":")
    if code in SENTENCES:
        return Message(SENTENCES[code], {"n": number})
    return None
