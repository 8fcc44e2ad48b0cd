"""The type and size of an image, determined by its bytes: its address and its server are not trusted.

The package imagesize does not replace `size`: it also opens addresses, parses SVG with the standard library's XML
parser, which hostile files exhaust, and does not detect files that are not images.
"""

import struct
from dataclasses import dataclass
from enum import StrEnum

# An image of at least this width and height, in pixels, whose longer side is at most CONTENT_RATIO times the shorter
# one, is rarely an ornament.
CONTENT_WIDTH = 200
CONTENT_HEIGHT = 150
CONTENT_RATIO = 3.0
SVG_START = 1_000  # bytes at the beginning of an SVG file that contain its `<svg`
NOT_FRAMES = frozenset((0xC4, 0xC8, 0xCC))  # JPEG markers from 0xC0 to 0xCF that do not start a frame


@dataclass(frozen=True, slots=True)
class ImageType:
    """A type of image: its name for headers and lists, and the ending of its files."""

    media_type: str
    ending: str


class NonImage(StrEnum):
    """The types of content that are not stored as images."""

    SVG = "svg"
    """An image that may contain scripts."""
    HTML = "html"
    UNKNOWN = "unknown"
    EMPTY = "empty"


PNG = ImageType(media_type="image/png", ending=".png")
JPEG = ImageType(media_type="image/jpeg", ending=".jpg")
GIF = ImageType(media_type="image/gif", ending=".gif")
WEBP = ImageType(media_type="image/webp", ending=".webp")
AVIF = ImageType(media_type="image/avif", ending=".avif")
BMP = ImageType(media_type="image/bmp", ending=".bmp")
ICO = ImageType(media_type="image/x-icon", ending=".ico")
SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": PNG,
    b"\xff\xd8\xff": JPEG,
    b"GIF87a": GIF,
    b"GIF89a": GIF,
    b"\x00\x00\x01\x00": ICO,
}


def type_of(body: bytes) -> ImageType | None:
    """The type that the first bytes show; None if the image is not of a type that is stored.

    >>> type_of(b"GIF89a..."), type_of(b"<html>")
    (ImageType(media_type='image/gif', ending='.gif'), None)
    """
    for signature, image_type in SIGNATURES.items():
        if body.startswith(signature):
            return image_type
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return WEBP
    if body[4:8] == b"ftyp" and b"avif" in (body[8:12], *_brands(body)):
        return AVIF
    # A text may begin with these two letters, too. A bitmap also states the size of its file, or 0.
    if body[:2] == b"BM" and len(body) >= 26 and int.from_bytes(body[2:6], "little") in (0, len(body)):
        return BMP
    return None


def _brands(body: bytes) -> list[bytes]:
    """The compatible brands that the first box of a file lists."""
    end = min(int.from_bytes(body[:4], "big"), 256, len(body))
    return [body[at : at + 4] for at in range(16, end, 4)]


def non_image_type(body: bytes) -> NonImage | None:
    """The type of content that is not stored as an image; None if it is an image that is stored."""
    if type_of(body) is not None:
        return None
    start = body[:SVG_START].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<svg", b"<?xml", b"<!--", b"<!doctype svg")) and b"<svg" in start:
        return NonImage.SVG
    if start.startswith((b"<!doctype html", b"<html")):
        return NonImage.HTML
    return NonImage.UNKNOWN if body else NonImage.EMPTY


def size(body: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, or None if the first bytes do not contain them.

    >>> size(b"GIF89a" + bytes((200, 0, 60, 0)) + bytes(20))
    (200, 60)
    """
    image_type = type_of(body)
    try:
        if image_type is PNG:
            return struct.unpack(">II", body[16:24])
        if image_type is GIF:
            return struct.unpack("<HH", body[6:10])
        if image_type is BMP:
            width, height = struct.unpack("<ii", body[18:26])
            return width, abs(height)  # negative if the rows go from top to bottom
        if image_type is ICO:
            return body[6] or 256, body[7] or 256  # 0 stands for 256
        if image_type is WEBP:
            return _size_of_webp(body)
        if image_type is JPEG:
            return _size_of_jpeg(body)
        return None
    except (struct.error, IndexError):
        return None


def _size_of_webp(body: bytes) -> tuple[int, int] | None:
    """The size in an extended, lossless or simple WebP file
    (https://developers.google.com/speed/webp/docs/riff_container).
    """
    if body[12:16] == b"VP8X":
        return 1 + int.from_bytes(body[24:27], "little"), 1 + int.from_bytes(body[27:30], "little")
    if body[12:16] == b"VP8L":
        bits = int.from_bytes(body[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", body[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _size_of_jpeg(body: bytes) -> tuple[int, int] | None:
    """The size in the header of the first frame; the segments before it are skipped."""
    at = 2
    while at + 9 < len(body) and body[at] == 0xFF:
        marker = body[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in NOT_FRAMES:
            height, width = struct.unpack(">HH", body[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(body[at + 2 : at + 4], "big")
    return None


def looks_like_content(body: bytes) -> bool | None:
    """Whether an image is as large as content images are; None if its size is not known."""
    image_size = size(body)
    if image_size is None:
        return None
    width, height = image_size
    is_slim = max(width, height) > CONTENT_RATIO * min(width, height)
    return width >= CONTENT_WIDTH and height >= CONTENT_HEIGHT and not is_slim
