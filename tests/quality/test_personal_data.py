"""Personal data in the forms of China, the US and the EU, and what looks like it."""

from time import process_time

import pytest

from crawler.quality.personal_data import FORMS, masked

EVERY = list(FORMS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to Ann.Lee+bees@mail.example.co.uk.", "Write to [EMAIL]."),
        ("邮箱abc_1@qq.com，谢谢", "邮箱[EMAIL]，谢谢"),
        ("<a@b.example>", "<[EMAIL]>"),
        ("a@b and @ann and a @ b.com and x@y.1", "a@b and @ann and a @ b.com and x@y.1"),
        ("from 8.8.8.8, 114.114.114.114:53", "from [IP], [IP]:53"),
        ("127.0.0.1 192.168.1.1 256.1.1.1 1.2.3 8.8.8.8.8", "127.0.0.1 192.168.1.1 256.1.1.1 1.2.3 8.8.8.8.8"),
        ("2001:4860:4860::8888 and fe80::1 and 12:30:45", "[IP] and fe80::1 and 12:30:45"),
        ("身份证11010519491231002X。", "身份证[ID]。"),
        ("110105194912310021 110105194913310024", "110105194912310021 110105194913310024"),  # check digit, month
        ("110105491231002 110105491331002", "[ID] 110105491331002"),
        ("SSN 123-45-6789", "SSN [ID]"),
        ("000-45-6789 666-45-6789 900-45-6789 123-00-6789 123-45-0000", None),
        ("DNI 12345678Z, NIE X1234567L", "DNI [ID], NIE [ID]"),
        ("12345678A", None),
        ("RSSMRA85T10A562S RSSMRA85T10A562T", "[ID] RSSMRA85T10A562T"),
        ("2 55 08 14 168 025 38", "[ID]"),
        ("2 55 08 14 168 025 39", None),
        ("85.07.30-033.28 and 85.07.30-033.29", "[ID] and 85.07.30-033.29"),
        ("131052-308T and 131052-308U", "[ID] and 131052-308U"),
        ("811218-9876 and 811218-9875", "[ID] and 811218-9875"),
        ("PESEL 44051401359 and 44051401358", "PESEL [ID] and 44051401358"),
        ("4111 1111 1111 1111 and 4111-1111-1111-1111", "[CARD] and [CARD]"),
        ("4111 1111 1111 1112 and 4111 1111-1111 1111", None),
        ("378282246310005 and 3782 822463 10005", "[CARD] and [CARD]"),
        ("卡号6222021234567890128", "卡号[CARD]"),
        ("ISBN 9780306406157 and 1111111111111117", None),
        ("DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432", "[CARD] and [CARD]"),
        ("DE88370400440532013000", None),
        ("电话13800138000，138-0013-8000", "电话[PHONE]，[PHONE]"),
        ("12800138000 138001380001", None),
        ("010-62751234 and (021) 62751234", "[PHONE] and [PHONE]"),
        ("+86 138 0013 8000", "[PHONE]"),
        ("(212) 555-0123 and 1-212-555-0123 and 212.555.0123", "[PHONE] and [PHONE] and [PHONE]"),
        ("2125550123 and 112-555-0123 and 1990-2000", None),
        ("+49 30 1234567, 0033 1 23 45 67 89", "[PHONE], [PHONE]"),
        ("+49 12 and +99 30 1234567", None),
        ("2026-11-27 12:30, 1,000,000.00, v1.2.3, 20261127123000", None),
        ("", None),
    ],
)
def test_what_is_masked(text: str, expected: str | None) -> None:
    assert masked(text, EVERY)[0] == (text if expected is None else expected)


def test_only_the_kinds_that_are_wanted() -> None:
    text = "a@b.example 13800138000 b@b.example"
    assert masked(text, ["email"]) == ("[EMAIL] 13800138000 [EMAIL]", {"email": 2})
    assert masked(text, ["ip", "phone"]) == ("a@b.example [PHONE] b@b.example", {"ip": 0, "phone": 1})
    assert masked(text, []) == (text, {})


@pytest.mark.parametrize(
    "text",
    [
        *("1" * 400_000, "1-" * 200_000, "a@" * 200_000, "a.b@" * 100_000, "1.1." * 100_000, "a:" * 200_000),
        *("+49 " * 100_000, "A1" * 200_000, "a@" + "b." * 200_000, "a" * 400_000, "1 " * 200_000, "::" * 200_000),
    ],
    ids=range(12),
)
def test_hostile_texts_take_little_time(text: str) -> None:
    began = process_time()
    masked(text, EVERY)
    assert process_time() - began < 5
