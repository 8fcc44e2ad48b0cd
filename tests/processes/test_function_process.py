"""A function that is called in a child: a death, a limit and the end of either process cost one call."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from child_functions import misbehaving
from fork_server import environment
from process_tree import left_after

from crawler.processes.function_process import ChildDiedError, ChildLimits, FunctionProcess

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="these limits are not on Windows")


@pytest.fixture
def process() -> Iterator[FunctionProcess[str]]:
    # Linux counts the peak of the process that started the child.
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 200_000_000
    limits = ChildLimits(memory_bytes=memory, answer_bytes=2_000)
    process = FunctionProcess[str](misbehaving, limits, stderr=subprocess.DEVNULL)
    yield process
    process.close()


@pytest.mark.parametrize(("act", "answer"), [("nothing", b"done"), ("print", b"done"), ("read standard input", b"")])
def test_answers(process: FunctionProcess[str], act: str, answer: bytes) -> None:
    assert process.call(act) == answer
    process.send(act)
    process.send(act)
    assert [process.receive(), process.receive()] == [answer] * 2


@on_posix
@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ("exit", "died with status 7"),
        ("fail", "died with status 1"),
        ("fill memory", "died with status 3"),
        ("large answer", "died with status -9"),
    ],
)
def test_a_death_costs_one_call(process: FunctionProcess[str], act: str, reason: str) -> None:
    with pytest.raises(ChildDiedError) as caught:
        process.call(act)
    assert (str(caught.value), caught.value.is_ready) == (reason, True)
    assert process.call("nothing") == b"done"


@on_posix
def test_a_call_over_its_cpu_time_is_ended() -> None:
    process = FunctionProcess[str](misbehaving, ChildLimits(cpu_seconds=1), stderr=subprocess.DEVNULL)
    with pytest.raises(ChildDiedError, match=f"^died with status -{int(signal.SIGPROF)}$"):
        process.call("burn")
    assert process.call("nothing") == b"done"
    process.close()


def test_a_call_that_takes_too_long_is_ended(process: FunctionProcess[str]) -> None:
    process.call("nothing")
    with pytest.raises(ChildDiedError, match=r"^no answer in 0\.1 s$"):
        process.call("sleep", 0.1)
    assert process.call("nothing", 60) == b"done"


@on_posix
def test_what_a_child_has_started_ends_with_it(process: FunctionProcess[str]) -> None:
    other = int(process.call("start another process"))
    process.close()
    assert left_after({other}) == set()


PARENT = """
from crawler.processes.function_process import FunctionProcess
from child_functions import misbehaving
process = FunctionProcess(misbehaving)
process.call("nothing")
print(process.child.popen.pid, flush=True)
process.call("sleep")
"""


@on_posix
def test_a_child_at_work_ends_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], env=environment(), stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    assert left_after({child}) == set()


def test_a_script_without_a_guard_is_not_run_again(tmp_path: object) -> None:
    """A child of multiprocessing imports the script that starts it."""
    script = f"{tmp_path}/script.py"
    with open(script, "w") as file:  # noqa: PTH123 - a name
        file.write(PARENT.replace('process.call("sleep")', "process.close()"))
    ended = subprocess.run([sys.executable, script], env=environment(), capture_output=True, text=True, check=False)
    assert (ended.returncode, len(ended.stdout.splitlines()), ended.stderr) == (0, 1, "")
