"""Scripts of pages that fill memory outside the process of their page, and a watch on the peak of all processes."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from crawler.contrib.browser.processes import memory_of, process_tree

FLOODS: Mapping[str, str] = {
    "blobs": """
        const kept = [], part = new Uint8Array(2e7).fill(7);
        setInterval(() => document.body.append(kept.push(new Blob([part, Math.random()]))), 5);""",
    "messages to the console": """
        const text = "y".repeat(1e6);
        setInterval(() => {
          document.body.append("x");
          for (let at = 0; at < 20; at++) console.log(text + at);
        }, 5);""",
    "objects in the console": """
        setInterval(() => {
          document.body.append("x");
          for (let at = 0; at < 20; at++) console.log({ kept: new Array(1e5).fill(at) });
        }, 5);""",
    "bodies of requests": """
        const body = new Uint8Array(1e8).fill(65);
        setInterval(() => document.body.append(fetch("/x", { method: "POST", body }).catch(() => 0)), 100);""",
    "frames in other processes": """
        setInterval(() => {
          const frame = document.createElement("iframe");
          frame.sandbox = "allow-scripts";
          frame.srcdoc = "<script>globalThis.kept = new Uint8Array(5e7).fill(7)</" + "script>";
          document.body.append(frame);
        }, 20);""",
    "workers": """
        const source = URL.createObjectURL(new Blob(["self.kept = new Uint8Array(5e7).fill(7)"]));
        setInterval(() => document.body.append(new Worker(source)), 20);""",
}
STORES: Mapping[str, str] = {
    "caches": """
        const text = "x".repeat(2e6);
        caches.open("a").then(async (cache) => {
          for (let at = 0; at < 200; at++, document.body.append(".")) await cache.put("/" + at, new Response(text));
        }).catch((error) => document.body.append(error.name));""",
    "databases": """
        const part = new Uint8Array(2e6), opening = indexedDB.open("a", 1);
        for (let at = 0; at < 2e6; at += 5e4) crypto.getRandomValues(part.subarray(at, at + 5e4));
        opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
        opening.onsuccess = async () => {
          for (let at = 0, error = null; at < 200 && !error; at++) {
            const writing = opening.result.transaction("kept", "readwrite");
            writing.objectStore("kept").put(part, at);
            await new Promise((end) => { writing.oncomplete = writing.onabort = end; });
            document.body.append((error = writing.error)?.name ?? ".");
          }
        };""",
    "files": """
        const part = new Uint8Array(2e6);
        navigator.storage.getDirectory().then(async (folder) => {
          for (let at = 0; at < 200; at++, document.body.append(".")) {
            const writing = await (await folder.getFileHandle("a" + at, { create: true })).createWritable();
            await writing.write(part);
            await writing.close();
          }
        }).catch((error) => document.body.append(error.name));""",
}
SAMPLE_SECONDS = 0.03


@dataclass
class Peak:
    """The largest sum of memory so far, in bytes."""

    size: int = 0

    async def follow(self) -> None:
        while True:
            below = process_tree(os.getpid())[1:]
            self.size = max(self.size, sum(map(memory_of, below)))
            await asyncio.sleep(SAMPLE_SECONDS)


@asynccontextmanager
async def peak_of_memory() -> AsyncIterator[Peak]:
    """The peak of all processes below this one while the block runs."""
    peak = Peak()
    following = asyncio.ensure_future(peak.follow())
    try:
        yield peak
    finally:
        following.cancel()
