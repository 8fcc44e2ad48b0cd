"""The images and the PDF of the demo site, taken apart by hand."""

import struct
import zlib

from crawler.demo import resources
from crawler.demo import site as special

SITE = resources("http://demo.test/")


def test_a_png_is_whole() -> None:
    for path in [path for path, r in SITE.items() if r.content_type == "image/png"]:
        body = SITE[path].body
        assert body.startswith(b"\x89PNG\r\n\x1a\n")
        kinds, pixels, rest = [], b"", body[8:]
        while rest:
            (length,), kind, data = struct.unpack(">I", rest[:4]), rest[4:8], rest[8:]
            assert struct.pack(">I", zlib.crc32(kind + data[:length])) == data[length : length + 4]
            kinds.append(kind)
            pixels += zlib.decompress(data[:length]) if kind == b"IDAT" else b""
            rest = data[length + 4 :]
        width, height = struct.unpack(">II", body[16:24])
        assert kinds == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
        assert len(pixels) == height * (1 + (width + 7) // 8)


def test_a_gif_is_whole() -> None:
    for path in [path for path, r in SITE.items() if r.content_type == "image/gif"]:
        body = SITE[path].body
        width, height, flags = struct.unpack("<HHB", body[6:11])
        assert (body[:6], body[-2:]) == (b"GIF89a", b"\0;")
        data = body[13 + 3 * 2 ** (flags % 8 + 1) + 11 : -2]
        codes = b""
        while data:
            codes, data = codes + data[1 : data[0] + 1], data[data[0] + 1 :]
        assert codes.count(129) == 1
        assert max(map(len, codes.split(b"\x80"))) <= 126  # the codes would grow to 9 bits after that
        assert sum(code < 128 for code in codes) == width * height


def test_images_differ_in_colour():
    colours = {r.body[41:47] for r in SITE.values() if r.content_type == "image/png"}
    assert len(colours) > 50


def test_the_pdf_table_points_at_its_objects():
    body = SITE[special.PDF].body
    start = int(body.split()[-2])
    assert body[start:].startswith(b"xref")
    offsets = [int(line[:10]) for line in body[start:].splitlines() if line.endswith(b" n ")]
    assert [body[offset:].split()[0] for offset in offsets] == [b"1", b"2", b"3", b"4", b"5", b"6"]
