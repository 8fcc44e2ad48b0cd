"""Images are known by their bytes, whatever these are."""

import random
import struct

from crawler.demo.site import gif, png
from crawler.page.image_file import (
    AVIF,
    BMP,
    GIF,
    ICO,
    JPEG,
    PNG,
    WEBP,
    NonImage,
    looks_like_content,
    non_image_type,
    size,
    type_of,
)


def jpeg(width: int, height: int, marker: int = 0xC2) -> bytes:
    """The beginning of a JPEG: a table, a table of codes that is no frame, and the frame."""
    frame = struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + b"\xff\xe0\x00\x04ab" + b"\xff\xc4\x00\x0aabcdefgh" + bytes((0xFF, marker)) + frame


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + body


LOSSY = webp(b"VP8 ", bytes(6) + struct.pack("<HH", 640, 480))
LOSSLESS = webp(b"VP8L", b"\x2f" + (639 | 479 << 14).to_bytes(4, "little"))
EXTENDED = webp(b"VP8X", bytes(4) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"))
AVIF_BODY = b"\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1avifmiaf" + bytes(40)
BMP_BODY = b"BM" + (60).to_bytes(4, "little") + bytes(12) + struct.pack("<ii", 640, -480) + bytes(34)
ICO_BODY = b"\x00\x00\x01\x00\x01\x00\x20\x10" + bytes(20)


def test_types_and_sizes() -> None:
    rows = [
        (png("a", 640, 480), PNG, (640, 480)),
        (gif("a", 88, 31), GIF, (88, 31)),
        (b"GIF87a" + gif("a", 88, 31)[6:], GIF, (88, 31)),
        (jpeg(640, 480), JPEG, (640, 480)),
        (jpeg(640, 480, 0xC0), JPEG, (640, 480)),
        (LOSSY, WEBP, (640, 480)),
        (LOSSLESS, WEBP, (640, 480)),
        (EXTENDED, WEBP, (640, 480)),
        (AVIF_BODY, AVIF, None),
        (AVIF_BODY.replace(b"ftypmif1", b"ftypavif"), AVIF, None),
        (BMP_BODY, BMP, (640, 480)),
        (ICO_BODY, ICO, (32, 16)),
    ]
    for body, kind, pixels in rows:
        assert (type_of(body), size(body), non_image_type(body)) == (kind, pixels, None)


def test_what_is_none() -> None:
    rows = [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a", NonImage.UNKNOWN),
        (b"BM is how this text begins, which is no bitmap for that", NonImage.UNKNOWN),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", NonImage.UNKNOWN),
        (b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", NonImage.UNKNOWN),
        (b"%PDF-1.7", NonImage.UNKNOWN),
        (b"<!DOCTYPE html><svg></svg>", NonImage.HTML),
        (b"<html><body>", NonImage.HTML),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", NonImage.SVG),
        (b"\xef\xbb\xbf\n<?xml version='1.0'?><!-- a --><SVG>", NonImage.SVG),
        (b"<?xml version='1.0'?><rss>", NonImage.UNKNOWN),
    ]
    for body, why in rows:
        assert (type_of(body), size(body), non_image_type(body)) == (None, None, why)


def test_images_cut_anywhere_do_no_harm() -> None:
    chance = random.Random(1)
    for body in (png("a", 9, 9), gif("a", 9, 9), jpeg(9, 9), LOSSY, LOSSLESS, EXTENDED, AVIF_BODY, BMP_BODY, ICO_BODY):
        for end in range(len(body)):
            size(body[:end])
            non_image_type(body[:end])
            size(body[:end] + chance.randbytes(len(body) - end))


def test_what_looks_like_content() -> None:
    rows = [
        (200, 150, True),
        (199, 150, False),
        (200, 149, False),
        (600, 200, True),
        (601, 200, False),
        (300, 900, True),
        (300, 901, False),
        (728, 90, False),
    ]
    for width, height, expected in rows:
        assert looks_like_content(jpeg(width, height)) is expected


def test_what_has_no_size_looks_like_nothing() -> None:
    assert looks_like_content(AVIF_BODY) is None
