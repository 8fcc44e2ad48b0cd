"""Personal data in the forms of China, the US and the EU, and what looks like it."""

from time import process_time

from crawler.contrib.corpus.quality.personal_data import FORMS, masked, plain

EVERY = list(FORMS)


def test_what_is_masked() -> None:
    rows = [
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
    ]
    for text, expected in rows:
        assert masked(text, EVERY)[0] == (text if expected is None else expected)


ADDRESSES = {
    "EMAIL": (
        *("x@example.org", "ann.lee+bees@mail.example.co.uk", "o'brien@example.ie", "a_1@qq.com"),
        *("_x@example.org", "jörg@bücher.example", "a@xn--e1afmkfd.xn--p1ai", "10086@139.com"),
    ),
}
NUMBERS = {
    "PHONE": (
        *("13800138000", "138 0013 8000", "138-0013-8000", "138.0013.8000", "8613800138000", "86-13800138000"),
        *("+8613800138000", "+86 138 0013 8000", "+86-10-6275-1234", "+81 3 1234 5678", "+852 2345 6789"),
        *("+44 20 7946 0958", "+49 (0)30 1234567", "+7 912 345-67-89", "0033 1 23 45 67 89", "(212) 555-0123"),
        *("010-62751234", "0571-88888888", "0571 88888888", "010\u201462751234", "010-6275-1234", "(021)62751234"),
    ),
    "ID": (
        *("110101199003070011", "11010519491231002X", "11010519491231002x", "110105 19491231 002X", "123-45-6789"),
        *("44051401359", "12345678Z", "811218-9876"),
    ),
    "CARD": (
        *("4111111111111111", "4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005", "6222021234567890128"),
        *("DE89370400440532013000", "de89370400440532013000", "DE89 3704 0044 0532 0130 00", "gb82west12345698765432"),
        *("BE68 5390 0754 7034", "NO9386011117947", "fr14 2004 1010 0505 0001 3m02 606", "CH93-0076-2011-6238-5295-7"),
        "MT84MALT011000012345MTLCAST001S",
    ),
    "IP": ("8.8.8.8", "114.114.114.114"),
}
WAYS_OF_ADDRESSES = (
    *("{}", "Mail: {}.", "mailto:{}?subject=x", "邮箱{}，谢谢", "电子邮箱：{}。", "（{}）"),
    *("<{}>", "'{}'", "...{}", "-{}", "a/{};b", "https://www.example.org/?to={}&x=1"),
)
WAYS_OF_NUMBERS = (
    *("{}", "Tel.{}", "No.{}", "No. {}", "Tel{}", "TEL:{}", "ID-{}", "[{}]", "call.{}.", "{}/{}", "1) {};"),
    *("电话：{}", "手机号{}", "请记下{}谢谢", "联系人张三{}。", "（{}）", "{}，{}"),
    "https://example.org/?a=1&tel={}&b=2",
)
IN_FULL_WIDTH = {
    **{number: number + 0xFEE0 for number in range(0x21, 0x7F) if chr(number) not in ":,;?<>"},
    ord(" "): 0x3000,
}


def test_each_form_in_each_way_of_writing_it() -> None:
    """Of all kinds, plain and in full width, in Chinese text and after a word."""
    rows = [
        (way, value, kind)
        for ways, values_of_kinds in ((WAYS_OF_ADDRESSES, ADDRESSES), (WAYS_OF_NUMBERS, NUMBERS))
        for kind, values in values_of_kinds.items()
        for value in values
        for way in ways
    ]
    assert len(rows) > 140
    for way, value, kind in rows:
        mask = f"[{kind}]"
        for written in (value, value.translate(IN_FULL_WIDTH)):
            text = way.replace("{}", written)
            assert masked(text, EVERY)[0] == way.replace("{}", mask), text


def test_digits_of_other_scripts_are_digits() -> None:
    for zero in "\u0660\u06f0\u0966\u0e50\U0001d7ce":
        number = "".join(chr(ord(zero) + int(digit)) for digit in "13800138000")
        assert masked(f"\U0001f41d{number}\U0001f41d", EVERY) == (
            "\U0001f41d[PHONE]\U0001f41d",
            {"email": 0, "ip": 0, "id": 0, "card": 0, "phone": 1},
        )


def test_a_number_is_found_behind_one_that_is_none() -> None:
    assert masked("2026 4111 1111 1111 1111", EVERY)[0] == "2026 [CARD]"
    assert masked("BE68 5390 0754 7034 is DE89 3704 0044 0532 0130 00 and", EVERY)[0] == "[CARD] is [CARD] and"
    assert masked("IP:2001:4860:4860::8888 IPv6:2001:4860:4860::8888", EVERY)[0] == "IP:[IP] IPv6:[IP]"


OTHERS = """
order 20261128123456789
ORD13800138000
SKU-13800138000
sku_13800138000
PO-2026-13800138000
20261128-13800138000
SF1380013800012
userid13800138000
userId110101199003070011
x13800138000
0x13800138000
13800138000n
13800138000L
13800138000e5
id_tag_13800138000
a3f9-13800138000abc
550e8400-e29b-41d4-a716-446655440000
com.example.13800138000
v1.13800138000
2.13800138000
0.13800138000
0.4111111111111111
13800138000.50
4111111111111111.5
3.14159265358979323846
2.718281828459045235360287
1.110101199003070011
https://example.org/item/13800138000.html
http://example.org/13800138000/4111111111111111?id=110101199003070011
www.example.org/item/13800138000
example.org/item/13800138000
ftp://example.org/13800138000
2026-11-28
2026-11-28 13:00:00
28.11.2026
20261128130000
1700000000000
1999-2026
ISBN 978-0-306-40615-7
ISBN 978-7-111-54742-6
ISBN 7-111-54742-X
ISSN 1234-5679
10.1000/182
1,380,013,800.00
¥1,380.00
１，３８０．００
$13.80
12:30:45
8.8.8.8.8
v8.8.8.8
114.0.5735
31.230416, 121.473701
12345-6789
138001380001
1380013800
12800138000
+13
+99 30 1234567
110101199003070012
DE88370400440532013000
de88370400440532013000
de893704004405320130001
xde89370400440532013000
4111111111111112
logo@2x.png
lodash@4.17.21
@ann
a@b
x @ example.org
aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99
00:1a:2b:3c:4d:5e
10\u00b2\u2079
"""


def test_other_numbers_and_signs_stay() -> None:
    texts = OTHERS.strip().splitlines()
    assert len(texts) > 40
    for text in texts:
        assert masked(text, EVERY)[0] == text
        assert masked(f"见{text}。", EVERY)[0] == f"见{text}。"


def test_the_plain_form_has_the_same_length() -> None:
    text = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x20000))))
    assert len(plain(text)) == len(text)


def test_only_the_kinds_that_are_wanted() -> None:
    text = "a@b.example 13800138000 b@b.example"
    assert masked(text, ["email"]) == ("[EMAIL] 13800138000 [EMAIL]", {"email": 2})
    assert masked(text, ["ip", "phone"]) == ("a@b.example [PHONE] b@b.example", {"ip": 0, "phone": 1})
    assert masked(text, []) == (text, {})


HOSTILE = (
    *("1", "1-", "a@", "a.b@", "1.1.", "a:", "+49 ", "A1", "a@b.", "a", "1 ", "::", "．", "1٠", "www.", "a.a/"),
    *("DE89 ", "0571-", "13800138000/", "8.8.8.8,", "4111 1111 1111 1112 ", "Tel.", "(010)", "?tel=", "https://"),
)


def test_hostile_texts_take_little_time() -> None:
    for part in HOSTILE:
        began = process_time()
        masked(part * (40_000 // len(part)), EVERY)
        assert process_time() - began < 5, part  # 0.05 s, and minutes if the time grew with the square of the length
