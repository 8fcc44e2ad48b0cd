"""Images of a window as PNGs of 256 colours, a third as large: a page shows few, and the eye sees no difference."""

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 256
FINE = 3
"""Bits of each colour that are left out, so that few enough are told apart."""
DOTS = """async text => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + text)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const dots = context.getImageData(0, 0, image.width, image.height).data;
    let said = "";
    for (let at = 0; at < dots.length; at += 8192) said += String.fromCharCode(...dots.subarray(at, at + 8192));
    return [image.width, image.height, btoa(said)];
}"""
"""Width, height and the dots of an image, by the browser, which can read PNGs."""


def smaller(blank: Any, png: bytes) -> bytes:
    """The same image in few colours; `blank` is an empty page of the browser."""
    width, height, said = blank.evaluate(DOTS, base64.b64encode(png).decode())
    dots = np.frombuffer(base64.b64decode(said), np.uint8).reshape(-1, 4)[:, :3]
    palette, places = _few(dots)
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with its filter, which is none
    rows[:, 1:] = places.reshape(height, width)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(name, data)
        for name, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", palette.tobytes()),
            (b"IDAT", zlib.compress(rows.tobytes(), 9)),
            (b"IEND", b""),
        )
    )


def _few(dots: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The colours that are there most often, and for each dot the place of the nearest of them."""
    coarse = (dots >> FINE).astype(np.int64) @ (1 << 16, 1 << 8, 1)
    _, kinds, counts = np.unique(coarse, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(kinds, dots[:, one]) for one in range(3)], 1) / counts[:, None]
    palette = means[np.argsort(-counts, kind="stable")[:MOST]]
    nearest = ((means[:, None] - palette[None]) ** 2).sum(2).argmin(1)
    return palette.round().astype(np.uint8), nearest[kinds].astype(np.uint8)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
