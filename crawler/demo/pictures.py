"""Small pictures, and a PDF, made in code: two colours or one line of text, the same bytes on every run."""

import colorsys
import struct
import zlib

RUN = 120  # pixels between two clear codes: short enough that GIF codes stay 8 bits wide and need no compression
CLEAR, END = 128, 129


def colours(name: str) -> tuple[bytes, bytes]:
    """A dark and a light colour as RGB bytes, chosen by the picture's name."""
    hue = zlib.crc32(name.encode()) % 360 / 360

    def shade(light: float) -> bytes:
        return bytes(round(255 * part) for part in colorsys.hls_to_rgb(hue, light, 0.6))

    return shade(0.35), shade(0.8)


def png(name: str, width: int, height: int) -> bytes:
    """A PNG of the given size, striped in the colours of its name."""
    row = bytes((width + 7) // 8)
    stripe = bytes(byte ^ 0xF0 for byte in row)
    rows = b"".join(b"\0" + (stripe if y // 8 % 2 else row) for y in range(height))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0)),
        (b"PLTE", b"".join(colours(name))),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in chunks)


def chunk(kind: bytes, data: bytes) -> bytes:
    """One part of a PNG file: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def gif(name: str, width: int, height: int) -> bytes:
    """A GIF of the given size, striped in the colours of its name."""
    pixels = b"".join(bytes([y // 8 % 2]) * width for y in range(height))
    runs = (pixels[start : start + RUN] for start in range(0, len(pixels), RUN))
    codes = b"".join(bytes([CLEAR]) + run for run in runs) + bytes([END])
    blocks = (codes[start : start + 255] for start in range(0, len(codes), 255))
    table = b"".join(colours(name)).ljust(3 * CLEAR, b"\0")
    screen = struct.pack("<HHBBB", width, height, 0xF6, 0, 0)
    image = struct.pack("<cHHHHBB", b",", 0, 0, width, height, 0, 7)
    return b"GIF89a" + screen + table + image + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0;"


def pdf(line: str) -> bytes:
    """A PDF of one page with one line of ASCII text."""
    text = f"BT /F1 18 Tf 60 500 Td ({line}) Tj ET".encode("ascii")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 842 595] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    )
    body, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(body)
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    trailer = b"trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(body)
    return body + b"xref\n0 7\n" + table + trailer
