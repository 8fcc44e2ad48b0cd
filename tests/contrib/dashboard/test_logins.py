"""Who may see and change what, and for how long."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
from dashboard_client import CHANGES, Answer, Request, answer

from crawler.contrib.dashboard import logins, users
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.logins import MOST_SESSIONS, NETWORK_TRIES, USER_TRIES, Logins
from crawler.contrib.dashboard.users import EDITOR, READER, User, Users, hashed

SECRET = "honey and bees: ä"
HOST = {"host": "localhost"}
PAGE = {**HOST, "accept": "text/html"}


def basic(name: str, password: str = SECRET) -> Mapping[str, str]:
    return {**HOST, "authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


class Team:
    """A dashboard with an editor and a reader."""

    def __init__(self, context: DashboardContext) -> None:
        self.users = Users(context.output / "users.json")
        for name, role in (("ann", EDITOR), ("bob", READER)):
            self.users.put(User(name, role, hashed(SECRET)))
        self.context = replace(context, logins=Logins(self.users))

    def get(
        self, path: str = "/", headers: Mapping[str, str] = PAGE, client: str = "192.0.2.7", **query: str
    ) -> Answer:
        return answer(self.context, Request("GET", path, query, headers=headers, client=client))

    def post(self, path: str, form: Mapping[str, str], headers: Mapping[str, str] = PAGE, client: str = "x") -> Answer:
        return answer(self.context, Request("POST", path, form=form, headers=headers, client=client))

    def log_in(self, name: str = "ann", password: str = SECRET, client: str = "192.0.2.7", **form: str) -> Answer:
        return self.post("/login", {"name": name, "password": password} | form, client=client)

    def visitor(self, name: str) -> dict[str, str]:
        """The headers of a visitor who has logged in."""
        return {**PAGE, "cookie": header(self.log_in(name), "Set-Cookie").partition(";")[0]}

    def token(self, visitor: Mapping[str, str]) -> str:
        return re.search(r'name="token" value="([^"]+)"', self.get(headers=visitor).body.decode())[1]


def header(found: Answer, name: str) -> str:
    return dict(found.headers).get(name, "")


@pytest.fixture
def team(desk: DashboardContext, monkeypatch: pytest.MonkeyPatch) -> Team:
    monkeypatch.setattr(users, "COST", 2)  # or each password would take 0.1 s
    return Team(desk)


def test_without_users_nobody_logs_in(desk: DashboardContext) -> None:
    assert answer(desk, Request("GET", "/", headers=PAGE)).status == 200


@pytest.mark.parametrize(
    ("path", "headers", "status", "has_form", "challenge"),
    [
        ("/", PAGE, 401, True, "Basic"),
        ("/pages", {**HOST, "sec-fetch-mode": "navigate"}, 401, True, "Form"),
        ("/pages", {**HOST, "sec-fetch-mode": "cors", "accept": "text/html"}, 401, False, "Form"),
        ("/pages", {**PAGE, "accept-language": "en"}, 401, True, "Form"),
        ("/api/crawls", HOST, 401, False, "Basic"),
        ("/metrics", HOST, 401, False, "Basic"),
        ("/nothing", PAGE, 401, True, "Basic"),
        ("/static/nothing.css", PAGE, 404, False, ""),
        ("/login", PAGE, 200, True, ""),
    ],
)
def test_without_a_login(
    team: Team, path: str, headers: Mapping[str, str], status: int, has_form: bool, challenge: str
) -> None:
    found = team.get(path, headers)
    assert found.status == status
    assert (b'type="password"' in found.body) is has_form
    assert header(found, "Www-Authenticate").partition(" ")[0] == challenge
    assert b'name="token"' not in found.body


def test_a_login_leads_where_the_visitor_wanted(team: Team) -> None:
    asked = team.get("/pages", q='bees"<&', crawl="bees").body.decode()
    assert 'name="to" value="/pages?q=bees%22%3C%26&amp;crawl=bees"' in asked
    found = team.log_in(to="/pages?q=bees%22")
    assert (found.status, header(found, "Location")) == (303, "/pages?q=bees%22")
    assert re.fullmatch(
        r"winnow-login=[\w-]{43}; HttpOnly; Max-Age=43200; Path=/; SameSite=lax", header(found, "Set-Cookie")
    )


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "pages"])
def test_a_login_leads_nowhere_else(team: Team, to: str) -> None:
    assert header(team.log_in(to=to), "Location") == "/"


@pytest.mark.parametrize(
    ("name", "password"), [("ann", "x"), ("ann", ""), ("eve", SECRET), ("", SECRET), ("Ann", SECRET)]
)
def test_a_wrong_login(team: Team, name: str, password: str) -> None:
    found = team.log_in(name, password, to="/labels")
    assert found.status == 401
    assert b"The name or the password is wrong." in found.body
    assert b'value="/labels"' in found.body
    assert header(found, "Set-Cookie") == ""


def test_a_form_of_another_site_logs_nobody_in(team: Team) -> None:
    form = {"name": "ann", "password": SECRET}
    assert team.post("/login", form, {**PAGE, "origin": "http://evil.example"}).status == 403
    assert team.post("/login", form, {**PAGE, "sec-fetch-site": "cross-site"}).status == 403


@pytest.mark.parametrize(("seconds", "status"), [(12 * 3_600 - 1, 200), (12 * 3_600 + 1, 401)])
def test_a_login_expires(team: Team, seconds: float, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(logins, "time", SimpleNamespace(monotonic=lambda: now))
    visitor = team.visitor("bob")
    now += seconds
    assert team.get(headers=visitor).status == status


def test_a_login_ends_with_the_logout(team: Team) -> None:
    visitor, other = team.visitor("ann"), team.visitor("ann")
    found = team.post("/logout", {"token": team.token(visitor)}, visitor)
    assert (found.status, header(found, "Location")) == (303, "/")
    assert [team.get(headers=one).status for one in (visitor, other)] == [401, 200]


def test_a_login_ends_when_the_user_changes(team: Team) -> None:
    visitor, other = team.visitor("ann"), team.visitor("bob")
    team.users.put(User("ann", EDITOR, hashed("another one")))
    assert [team.get(headers=one).status for one in (visitor, other)] == [401, 200]
    team.users.remove("bob")
    team.users.remove("ann")
    assert [team.get(headers=one).status for one in (visitor, other, PAGE)] == [401, 401, 401]


def test_a_dashboard_asks_for_logins_as_soon_as_there_is_a_user(team: Team) -> None:
    for name in ("ann", "bob"):
        team.users.remove(name)
    context = replace(team.context, logins=Logins(team.users))
    assert answer(context, Request("GET", "/", headers=PAGE)).status == 200
    team.users.put(User("ann", EDITOR, hashed(SECRET)))
    assert answer(context, Request("GET", "/", headers=PAGE)).status == 401
    team.users.remove("ann")
    assert answer(context, Request("GET", "/", headers=PAGE)).status == 401


@pytest.mark.parametrize("path", sorted(CHANGES))
def test_a_reader_changes_nothing(team: Team, path: str) -> None:
    reader = team.visitor("bob")
    found = team.post(re.sub(r"\{\w+\}", "1", path), {"token": team.token(reader)}, reader)
    is_own = path in ("/login", "/logout", "/labels/pages/{page}/preview")
    assert (b"You may only read" in found.body) is not is_own
    assert (found.status == 403) is not is_own


@pytest.mark.parametrize("path", ["/", "/pages", "/schedule", "/labels"])
def test_a_reader_sees_no_form_for_changes(team: Team, path: str) -> None:
    found = team.get(path, team.visitor("bob")).body.decode()
    assert re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', found) == ["/logout"]
    assert "bob (may only read)" in found


def test_a_change_needs_the_token_of_its_login(team: Team) -> None:
    editor, other = team.visitor("ann"), team.visitor("bob")
    for token in (team.token(other), team.context.access.token, "", "x"):
        assert team.post("/schedule/1/pause", {"token": token}, editor).status == 403
    assert team.post("/schedule/1/pause", {"token": team.token(editor)}, editor).status == 404  # there is no job


def test_programs_send_their_password_with_each_request(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    assert team.get("/metrics", basic("bob")).status == 200
    monkeypatch.setattr(logins, "is_password", None)  # it is checked once
    assert team.get("/metrics", basic("bob")).status == 200


@pytest.mark.parametrize(
    "said", ["Basic", "Basic !!!", "Basic /w==", basic("bob", "x")["authorization"], f"Bearer {SECRET}", "Basic Ym9i"]
)
def test_wrong_passwords_of_programs(team: Team, said: str) -> None:
    assert team.get("/metrics", {**HOST, "authorization": said}).status == 401


def test_who_guesses_waits_and_nobody_else(team: Team) -> None:
    visitor = team.visitor("ann")
    assert [team.log_in(password="x").status for _ in range(NETWORK_TRIES)] == [401] * NETWORK_TRIES
    assert team.log_in(password="x").status == 429
    assert team.log_in().status == 429  # or guessing would go on
    assert team.get("/metrics", basic("ann")).status == 429
    assert team.log_in(client="192.0.2.8").status == 303
    assert team.get(headers=visitor).status == 200


@pytest.mark.parametrize(("seconds", "status"), [(59.0, 429), (61.0, 303)])
def test_who_guessed_waits_a_minute(team: Team, seconds: float, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(logins, "time", SimpleNamespace(monotonic=lambda: now))
    for _ in range(NETWORK_TRIES):
        team.log_in(password="x")
    now += seconds
    assert team.log_in().status == status


@pytest.fixture
def three_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many are remembered; used before `team`."""
    monkeypatch.setattr(logins, "MOST_REMEMBERED", 3)


@pytest.mark.parametrize(("others", "status"), [(2, 429), (3, 401)])
def test_of_so_many_networks_it_is_known_who_guessed(
    three_networks: None, team: Team, others: int, status: int
) -> None:
    for _ in range(NETWORK_TRIES):
        team.log_in(password="x")
    for number in range(others):
        team.log_in(f"eve{number}", client=f"10.0.{number}.1")
    assert team.log_in("bob", password="x").status == status


class Clock:
    """The time that the logins see."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(logins, "time", clock)
    return clock


def guess_from_everywhere(team: Team, name: str, count: int) -> list[int]:
    """Guess a password of a user, each time from another network; returns the status of each answer."""
    return [team.log_in(name, "x", client=f"10.{number // 256}.{number % 256}.1").status for number in range(count)]


def test_who_guesses_from_many_networks_waits_longer_and_longer(team: Team, clock: Clock) -> None:
    assert guess_from_everywhere(team, "ann", USER_TRIES) == [401] * USER_TRIES
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        clock.now += seconds - 0.1
        assert team.log_in(client="192.0.2.8").status == 429
        assert team.get("/metrics", basic("ann"), client="192.0.2.8").status == 429
        clock.now += 0.2
        assert team.log_in(password="x", client="192.0.2.8").status == 401
    clock.now += 60.1
    assert team.log_in(client="192.0.2.8").status == 303


def test_guesses_hold_up_no_login_and_no_network_where_the_user_was(team: Team, clock: Clock) -> None:
    visitor = team.visitor("ann")
    guess_from_everywhere(team, "ann", USER_TRIES + 10)
    assert team.get(headers=visitor).status == 200
    assert team.log_in(client="192.0.2.8").status == 429
    assert team.log_in(client="192.0.2.7").status == 303
    assert team.log_in("bob", client="192.0.2.8").status == 303
    assert team.log_in("bob", client="192.0.2.7").status == 303


def test_names_of_nobody_are_answered_like_those_of_users(team: Team, clock: Clock) -> None:
    for name in ("ann", "eve", "no such name", ""):
        assert set(guess_from_everywhere(team, name, USER_TRIES)) == {401}
        assert set(guess_from_everywhere(team, name, 2)) == {429}
        clock.now += 3_601.0


@pytest.mark.parametrize(("seconds", "status"), [(3_599.0, 429), (3_601.0, 401)])
def test_guesses_are_forgotten_after_an_hour(team: Team, clock: Clock, seconds: float, status: int) -> None:
    guess_from_everywhere(team, "ann", USER_TRIES)
    clock.now += seconds
    assert team.log_in(password="x", client="192.0.2.8").status == 401
    assert team.log_in(password="x", client="192.0.2.8").status == status


def test_headers_without_a_password_guess_none(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "_scrypt", None)  # no password is checked
    for header in ("Bearer", "Bearer !!!", f"Bearer {SECRET}", "Bearer a.b.c", "Basic", "Basic !!!", "Basic Ym9i", "x"):
        for _ in range(NETWORK_TRIES + 1):
            assert team.get("/metrics", {**HOST, "authorization": header}).status == 401
    monkeypatch.undo()
    assert team.log_in().status == 303


def test_of_so_many_logins_of_a_user_the_oldest_ends(team: Team) -> None:
    bob, *ann = [team.visitor(name) for name in ("bob", *["ann"] * (MOST_SESSIONS + 1))]
    assert [team.get(headers=one).status for one in (bob, *ann[:2])] == [200, 401, 200]


def test_a_cookie_or_password_of_another_program_ends_no_login(team: Team) -> None:
    visitor = team.visitor("ann")
    for more in ({"cookie": f"{visitor['cookie']}; winnow-login=x"}, basic("proxy")):
        assert team.get(headers={**visitor, **more}).status == 200


@pytest.mark.parametrize(("most", "status"), [(1, 303), (0, 503)])
def test_so_many_logins_wait(team: Team, most: int, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "MOST_WAITING", most)
    assert team.log_in().status == status


def test_who_changed_what_is_recorded(team: Team) -> None:
    editor = team.visitor("ann")
    form = {"token": team.token(editor), "name": "<b>daily</b>", "cron": "@daily", "timezone": "UTC"}
    form |= {"seeds": "demo", "topic": "honey bees"}
    assert team.post("/schedule/add", form, editor).status == 422  # such a name is refused
    assert team.post("/schedule/add", form | {"name": "daily"}, editor).status == 303
    assert team.post("/schedule/1/pause", form, editor).status == 303
    assert team.post("/crawls/1/pause", form, editor).status == 303  # it does not run
    found = json.loads(team.get("/api/edits", editor).body)
    assert [(one["user_name"], one["action"], one["subject"]) for one in found["edits"]] == [
        ("ann", "job_paused", "daily"),
        ("ann", "job_added", "daily"),
    ]
    said = re.sub(r"<[^>]+>|\s+", " ", team.get("/edits", team.visitor("bob")).body.decode())
    assert re.search(r"ann\s+added the job\s+daily", said)


def test_a_password_is_in_no_link(team: Team) -> None:
    found = team.log_in("ann", "wrong-password").body.decode()
    assert "wrong-password" not in found


def test_under_a_path_all_addresses_begin_with_it(team: Team) -> None:
    team.context = replace(team.context, root="/winnow")
    login = team.post("/winnow/login", {"name": "ann", "password": SECRET, "to": "/pages"})
    assert header(login, "Location") == "/winnow/pages"
    assert "Path=/winnow/;" in header(login, "Set-Cookie")
    visitor = {**PAGE, "cookie": header(login, "Set-Cookie").partition(";")[0]}
    for path in ("/", "/pages", "/schedule", "/labels", "/images", "/evaluate", "/edits", "/api"):
        found = team.get(f"/winnow{path}", visitor)
        assert found.status == 200
        links = re.findall(r'\b(?:href|action|src|data-from)="(/[^"]*)"', found.body.decode())
        assert [one for one in links if not one.startswith("/winnow/")] == []
        assert links
    assert team.get("/winnow/api/openapi.json", visitor).body.count(b'"url":"/winnow"') == 1
    assert [team.get(path, visitor).status for path in ("/", "/pages", "/winnowx", "/winnow")] == [404] * 4
