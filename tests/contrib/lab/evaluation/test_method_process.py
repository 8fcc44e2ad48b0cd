"""Methods run in processes of their own; the peers here are tiny modules that stand first on the path."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.contrib.lab.evaluation.gold import GoldPage
from crawler.contrib.lab.evaluation.method_process import WITH_SITE, MethodOutput, MethodProcess, run
from crawler.contrib.lab.evaluation.peers import PEERS, Peer

PAGES = [
    GoldPage(str(number), f"http://{host}.example/", "en", "", f"<p>Page {number}.", "")
    for number, host in enumerate("bab")
]
Fake = Callable[[str], None]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes the peer html-text be this code."""

    def write(code: str) -> None:
        (tmp_path / "html_text.py").write_text(code)

    monkeypatch.syspath_prepend(tmp_path)
    return write


def outputs(name: str, limit: float = 20) -> list[MethodOutput]:
    done: list[int] = []
    found = run(MethodProcess(name, limit), PAGES, done.append)
    assert (found.absent, done) == ("", [1, 2, 3])
    return found.outputs


def test_our_own_methods_work_there_as_here() -> None:
    found = outputs("leaf-tags")
    assert [output.text for output in found] == ["Page 0.", "Page 1.", "Page 2."]  # in order, though hosts are not
    assert all(0 < output.seconds < 5 and not output.failure for output in found)


@pytest.mark.parametrize("name", sorted(WITH_SITE))
def test_a_library_is_learned_from_each_host(name: str) -> None:
    weather = "rains snows pours hails freezes thaws blows clears dawns shines".split()
    html = "<div><p>It {0} here, {0} there, {0} and {0} and {0}.</p><p>All this the valley says.</p></div>"
    pages = [GoldPage("", url, "", "", html.format(word), "") for url in ("http://a.example/", "") for word in weather]
    found = [output.text for output in run(MethodProcess(name, 20), pages, lambda done: None).outputs]
    assert [word in text for word, text in zip(weather, found, strict=False)] == [True] * 10
    assert ["the valley says" in text for text in found] == [False] * 10 + [True] * 10  # no host, no library


def test_a_peer_that_is_there(fake: Fake) -> None:
    fake("def extract_text(html):\n    print('noise')\n    return html.upper()")
    assert [output.text for output in outputs("html-text")] == ["<P>PAGE 0.", "<P>PAGE 1.", "<P>PAGE 2."]


def test_no_text_is_an_empty_text(fake: Fake) -> None:
    fake("def extract_text(html): return None")
    assert [(output.text, output.failure) for output in outputs("html-text")] == [("", "")] * 3


def test_a_peer_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PEERS, "nobody", Peer("nobody-here", "nobody_here.at_all", lambda peer, page: ""))
    assert run(MethodProcess("nobody", 20), PAGES, lambda done: None) == ("", [], "not installed")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nobody_here", "cannot be imported: ModuleNotFoundError: No module named 'nobody_here'"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("import os; os._exit(3)", "died with status 3"),
    ],
)
def test_a_peer_that_is_broken_is_absent_too(fake: Fake, code: str, why: str) -> None:
    fake(code)
    assert run(MethodProcess("html-text", 20), PAGES, lambda done: None).absent == why


@pytest.mark.parametrize(
    ("does", "failure"),
    [
        ("raise ValueError('a\\n b')", "ValueError: a b"),
        ("import os; os._exit(3)", "died with status 3"),
        ("raise SystemExit", "died with status 0"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "PermissionError: no network here: socket."),
        (
            "import socket; socket.socket().connect(('127.0.0.1', 9))",
            "PermissionError: no network here: socket.connect",
        ),
        ("import urllib.request as r; r.urlopen('http://127.0.0.1:9')", "no network here"),
    ],
)
def test_a_failure_costs_one_page(fake: Fake, does: str, failure: str) -> None:
    fake(f"def extract_text(html):\n    if '1' in html:\n        {does}\n    return 'text'")
    first, second, third = outputs("html-text")
    assert (first.text, first.failure, third.text, third.failure) == ("text", "", "text", "")
    assert second.text == ""
    assert failure in second.failure


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1])
def test_a_hang_is_ended_and_costs_one_page(fake: Fake, number: int) -> None:
    fake(f"import time\ndef extract_text(html):\n    if '{number}' in html:\n        time.sleep(60)\n    return 'text'")
    start = time.monotonic()
    found = outputs("html-text", 0.5)
    assert time.monotonic() - start < 20
    late = found.pop(number)
    assert late.text == ""
    assert 0.5 <= late.seconds < 10
    assert late.failure == f"no answer in {1 if number else 0.5} s"  # page 1 comes first, and so twice
    assert [(output.text, output.failure) for output in found] == [("text", "")] * 2


@pytest.mark.parametrize("dies", [False, True])
def test_the_first_page_of_a_process_is_counted_warm(fake: Fake, dies: bool) -> None:
    death = f"import os\n    if {dies} and '1' in html: os._exit(1)\n"
    burn = "    end = time.process_time() + 0.3\n    while not warm and time.process_time() < end: pass\n"
    fake(f"import time\nwarm = []\ndef extract_text(html):\n    {death}{burn}    warm.append(1)\n    return html")
    assert all(output.seconds < 0.2 for output in outputs("html-text") if not output.failure)


def test_a_surrogate_is_no_obstacle(fake: Fake) -> None:
    fake("def extract_text(html): return html")
    page = replace(PAGES[0], html="\ud800\u2028\x00")
    assert run(MethodProcess("html-text", 20), [page], lambda done: None).outputs[0].text == page.html
