"""A cache of files: each is fetched once, and again when it is outdated or was dropped."""

import asyncio
from collections.abc import Sequence

import pytest

from crawler.urls.file_cache import OVERHEAD_BYTES, Fetched, FileCache


class Server:
    """Numbers its answers, and has a clock."""

    def __init__(self, max_weight: int = 100_000) -> None:
        self.now = 0.0
        self.cache: FileCache[str, str] = FileCache(max_weight, clock=lambda: self.now)
        self.fetched: list[str] = []

    async def get(self, key: str, size: int = 0, seconds: float = 10.0) -> str:
        async def fetch() -> Fetched[str]:
            self.fetched.append(key)
            answer = f"{key}{self.fetched.count(key)}"
            await asyncio.sleep(0)
            return Fetched(answer, size, self.now + seconds)

        return await self.cache.get(key, fetch)


@pytest.mark.parametrize(
    ("max_weight", "sizes", "left"),
    [
        (1_000 + 3 * OVERHEAD_BYTES, (300, 300, 400), "abc"),
        (999 + 3 * OVERHEAD_BYTES, (300, 300, 400), "bc"),
        (1_000 + 3 * OVERHEAD_BYTES, (300, 300, 901), "c"),
        (10, (11,), "a"),
        (3 * OVERHEAD_BYTES, (0, 0, 0, 0), "bcd"),
    ],
    ids=["all", "one too many", "a large one", "larger than all", "empty ones"],
)
def test_as_many_files_are_kept_as_there_is_room_for(max_weight: int, sizes: Sequence[int], left: str) -> None:
    async def fill() -> None:
        server = Server(max_weight)
        for key, size in zip("abcd", sizes, strict=False):
            await server.get(key, size)
        assert "".join(key for key in "abcd" if server.cache.last(key)) == left
        assert server.cache.entries.weight == sum(sizes["abcd".index(key)] + OVERHEAD_BYTES for key in left)

    asyncio.run(fill())


def test_what_was_used_last_is_kept() -> None:
    async def use() -> None:
        server = Server(2 * OVERHEAD_BYTES)
        for key in "abac":
            await server.get(key)
        assert [server.cache.last(key) for key in "abc"] == ["a1", None, "c1"]

    asyncio.run(use())


def test_an_outdated_file_is_fetched_again() -> None:
    async def use() -> None:
        server = Server()
        assert await server.get("a", 50) == "a1"
        server.now = 9.9
        assert await server.get("a", 50) == "a1"
        server.now = 10.0
        assert server.cache.last("a") == "a1"
        assert await server.get("a", 70) == "a2"
        assert server.cache.entries.weight == 70 + OVERHEAD_BYTES

    asyncio.run(use())


def test_those_that_wait_for_one_file_get_the_same() -> None:
    async def use() -> None:
        server = Server()
        tasks = [asyncio.ensure_future(server.get("a")) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        assert await asyncio.gather(*tasks[1:]) == ["a1", "a1"]
        assert server.fetched == ["a"]

    asyncio.run(use())


def test_a_file_that_nobody_waits_for_is_not_fetched_to_the_end() -> None:
    async def use() -> None:
        server = Server()
        tasks = [asyncio.ensure_future(server.get("a")) for _ in range(2)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert await server.get("a") == "a2"
        assert server.fetched == ["a", "a"]

    asyncio.run(use())


def test_an_answer_that_is_outdated_at_once_is_not_kept() -> None:
    async def use() -> None:
        server = Server()
        assert await server.get("a", size=50, seconds=0.0) == "a1"
        assert (server.cache.last("a"), server.cache.entries.weight) == (None, 0)

    asyncio.run(use())


def test_an_error_is_not_kept() -> None:
    async def use() -> None:
        server = Server()

        async def fail() -> Fetched[str]:
            raise LookupError

        with pytest.raises(LookupError):
            await server.cache.get("a", fail)
        assert await server.get("a") == "a1"

    asyncio.run(use())
