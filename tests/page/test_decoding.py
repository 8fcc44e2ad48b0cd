"""Sentences in each encoding, declared or not, rightly or wrongly, and bytes that are no text."""

import codecs
import random
import time

import pytest

from crawler.page.decoding import decode, lenient_text

SIMPLIFIED = "春天来了，公园里的花都开了，孩子们在草地上跑来跑去，老人坐在树下说话。我们也想去看一看。"
TRADITIONAL = "春天來了，公園裡的花都開了，孩子們在草地上跑來跑去，老人坐在樹下說話。我們也想去看一看。"
JAPANESE = "春になりました。公園の花が咲いて、子どもたちは芝生の上を走り回り、お年寄りは木の下で話しています。"
KOREAN = "봄이 왔습니다. 공원에는 꽃이 피었고 아이들은 잔디밭에서 뛰어놀며 어른들은 나무 아래에서 이야기를 합니다."
RUSSIAN = "Пришла весна. В парке распустились цветы, дети бегают по траве, а старики сидят под деревьями и беседуют."
GREEK = "Ήρθε η άνοιξη. Στο πάρκο άνθισαν τα λουλούδια και τα παιδιά τρέχουν πάνω στο γρασίδι κάτω από τα δέντρα."
FRENCH = "L’été dernier, près du château, les élèves ont mangé des crêpes à la crème « fraîche » où ça leur plaisait."
GERMAN = "Die schönen Mädchen aßen süße Äpfel über den Dächern, während die Vögel für größere Körner kämpften."
SPANISH = "¿Mañana irá el niño a la montaña con su compañera? Sí, después del colegio comerán piñones y plátanos."
ENGLISH = "It’s a warm day — the children’s ball rolled under a “quiet” bench, and nobody’s looking for it…"
THAI = "ฤดูใบไม้ผลิมาถึงแล้ว ดอกไม้ในสวนบานสะพรั่ง เด็กๆ วิ่งเล่นบนสนามหญ้า ผู้ใหญ่นั่งคุยกันใต้ต้นไม้"
POLISH = "Zażółć gęślą jaźń: wiosną dzieci biegają po trawie, a starsi ludzie siedzą pod drzewami i rozmawiają."

# The sentence, the name pages declare, and the name it is read by.
SENTENCES = [
    (SIMPLIFIED, "utf-8", "utf-8"),
    (SIMPLIFIED, "gb2312", "gb18030"),
    (SIMPLIFIED, "gbk", "gb18030"),
    (SIMPLIFIED, "gb18030", "gb18030"),
    (TRADITIONAL, "gbk", "gb18030"),
    (TRADITIONAL, "big5", "big5hkscs"),
    (JAPANESE, "shift_jis", "cp932"),
    (JAPANESE, "euc-jp", "euc_jp"),
    (KOREAN, "euc-kr", "cp949"),
    (RUSSIAN, "windows-1251", "cp1251"),
    (RUSSIAN, "koi8-r", "koi8-r"),
    (GREEK, "windows-1253", "cp1253"),
    (FRENCH, "windows-1252", "cp1252"),
    (GERMAN, "windows-1252", "cp1252"),
    (SPANISH, "windows-1252", "cp1252"),
    (ENGLISH, "windows-1252", "cp1252"),
]
LEGACY = [case for case in SENTENCES if case[2] != "utf-8"]
MULTI_BYTE = [case for case in LEGACY if case[2] in ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")]
# What declares only one byte a character, or nothing Python knows, stands in the way of none of these.
WRONG = ["utf-8", "iso-8859-1", "us-ascii", "foo", "", '"', "utf-16", "base64", "idna", "unicode_escape", "undefined"]


def page(text: str, charset: str = "") -> str:
    """A page that declares an encoding, or none."""
    meta = f'<meta charset="{charset}">' if charset else ""
    return f"<html><head>{meta}<title>{text[:12]}</title></head><body><p>{text}</p></body></html>"


def test_reads_a_page_that_declares_nothing() -> None:
    for text, charset, name in SENTENCES:
        assert decode(page(text).encode(charset)) == (page(text), name)


def test_reads_a_page_declared_in_the_header() -> None:
    for text, charset, name in SENTENCES:
        assert decode(page(text).encode(charset), f"text/html; charset={charset}") == (page(text), name)


def test_reads_a_page_declared_in_itself() -> None:
    for text, charset, name in SENTENCES:
        assert decode(page(text, charset).encode(charset), "text/html") == (page(text, charset), name)


def test_a_wrong_declaration_is_not_believed() -> None:
    for wrong in WRONG:
        for text, charset, name in SENTENCES:
            assert decode(page(text).encode(charset), f"text/html; charset={wrong}") == (page(text), name)
            assert decode(page(text, wrong).encode(charset)) == (page(text, wrong), name)


def test_another_script_s_declaration_is_not_believed() -> None:
    for wrong in ["gb2312", "big5", "shift_jis", "euc-jp", "euc-kr", "koi8-r", "windows-1253"]:
        for text, charset, name in [case for case in SENTENCES if case[2] != "cp1252"]:
            text *= 5
            assert decode(page(text).encode(charset), f"text/html; charset={wrong}") == (page(text), name)


def test_accents_are_not_hanzi_even_where_that_is_declared() -> None:
    for wrong in ["gb2312", "big5", "euc-jp", "euc-kr", "utf-8", "shift_jis"]:
        for text in [FRENCH, GERMAN, SPANISH]:
            assert decode(page(text).encode("cp1252"), f"text/html; charset={wrong}") == (page(text), "cp1252")


def test_hanzi_are_not_letters_of_one_byte() -> None:
    for wrong in ["iso-8859-2", "windows-1250", "iso-8859-15", "windows-1254", "mac-cyrillic"]:
        for text, charset, name in MULTI_BYTE:
            assert decode(page(text).encode(charset), f"text/html; charset={wrong}") == (page(text), name)


def test_a_declaration_that_breaks_letters_is_not_believed() -> None:
    assert "ü".encode("cp1252").decode("cp1255", "replace") == "\ufffd"
    assert decode(page(GERMAN).encode("cp1252"), "text/html; charset=windows-1255") == (page(GERMAN), "cp1252")


def test_the_header_comes_before_the_page() -> None:
    for text, charset, name in LEGACY:
        assert decode(page(text, "utf-8").encode(charset), f"text/html; charset={charset}") == (
            page(text, "utf-8"),
            name,
        )
        assert decode(page(text, charset).encode(charset), "text/html; charset=utf-8") == (page(text, charset), name)


def test_an_encoding_that_cannot_be_told_is_believed() -> None:
    rows = [
        (THAI, "tis-620", "cp874"),
        (THAI, "windows-874", "cp874"),
        (POLISH, "iso-8859-2", "iso8859-2"),
        (POLISH, "windows-1250", "cp1250"),
        (RUSSIAN, "cp866", "cp866"),
        (RUSSIAN, "iso-8859-5", "iso8859-5"),
        (GREEK, "iso-8859-7", "iso8859-7"),
    ]
    for text, charset, name in rows:
        codec = "cp874" if name == "cp874" else charset
        assert decode(page(text).encode(codec), f"text/html; charset={charset}") == (page(text), name)


def test_names_of_the_web() -> None:
    rows = [
        ("x-gbk", "gbk", "gb18030"),
        ("X-GBK", "gbk", "gb18030"),
        ("gb_2312", "gbk", "gb18030"),
        ("gb_2312-80", "gbk", "gb18030"),
        ("GB-2312", "gbk", "gb18030"),
        ("windows-936", "gbk", "gb18030"),
        ("cp936", "gbk", "gb18030"),
        ("x-sjis", "cp932", "cp932"),
        ("windows-31j", "cp932", "cp932"),
        ("x-euc-jp", "euc_jp", "euc_jp"),
        ("utf8mb4", "utf-8", "utf-8"),
        ("utf-8-sig", "utf-8", "utf-8"),
    ]
    for declared, charset, name in rows:
        # Two rare characters, which tell nothing by themselves.
        body = f"<p>{'龜' if charset != 'gbk' else '龟'}亞</p>".encode(charset)
        assert decode(body, f"text/html; charset={declared}")[1] == name
        assert decode(f"<meta charset='{declared}'>".encode() + body)[1] == name


def test_reads_a_title_alone() -> None:
    rows = [
        ("中国人民银行公告", "gbk", "gb18030"),
        ("戴维斯杯网球赛", "gbk", "gb18030"),
        ("中華民國的歷史", "big5", "big5hkscs"),
        ("珍珠奶茶", "big5", "big5hkscs"),
        ("日本の歴史について", "shift_jis", "cp932"),
        ("日本の歴史について", "euc-jp", "euc_jp"),
        ("대한민국의 역사", "euc-kr", "cp949"),
        ("История России", "windows-1251", "cp1251"),
        ("Café", "cp1252", "cp1252"),
        ("Été à Orléans", "cp1252", "cp1252"),
        ("Größenwahn", "cp1252", "cp1252"),
        ("São Paulo, ação", "cp1252", "cp1252"),
        ("© 2024", "cp1252", "cp1252"),
        ("«\xa0Voilà\xa0»", "cp1252", "cp1252"),
    ]
    for text, charset, name in rows:
        body = f"<title>{text}</title>"
        assert decode(body.encode(charset)) == (body, name)


def test_a_name_alone_is_read_as_declared() -> None:
    rows = [
        ("衆議院議員選挙", "euc-jp", "euc_jp"),
        ("山田太郎", "euc-jp", "euc_jp"),
        ("쪽빛 섬", "euc-kr", "cp949"),
        ("纳米涂层", "gb2312", "gb18030"),
    ]
    for text, charset, name in rows:
        assert decode(text.encode(charset), f"text/plain; charset={charset}") == (text, name)


def test_finds_the_words_wherever_they_are() -> None:
    for ascii_before in [0, 5_000, 300_000]:
        for text, charset, name in SENTENCES:
            body = "<i>x</i>" * (ascii_before // 8) + text
            assert decode(body.encode(charset)) == (body, name)


def test_a_byte_order_mark_comes_first() -> None:
    rows = [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF8 * 2, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    ]
    for mark, charset, name in rows:
        assert decode(mark + page(SIMPLIFIED).encode(charset), "text/html; charset=gbk") == (page(SIMPLIFIED), name)


def test_utf16_shows_by_its_nuls() -> None:
    for order in ["le", "be"]:
        for declared in ["", "utf-16", "utf-16le", "utf-16be", "gbk"]:
            body = page(SIMPLIFIED).encode(f"utf-16-{order}")
            assert decode(body, f"text/html; charset={declared}") == (page(SIMPLIFIED), f"utf-16-{order}")


@pytest.mark.parametrize(("declared", "order"), [("utf-16", "le"), ("utf-16le", "le"), ("utf-16be", "be")])
def test_utf16_without_nuls_is_declared(declared: str, order: str) -> None:
    assert decode(SIMPLIFIED.encode(f"utf-16-{order}"), f"text/plain; charset={declared}")[0] == SIMPLIFIED


def test_seven_bits_are_what_they_are_declared_as_if_they_use_it() -> None:
    rows = [
        ("iso-2022-jp", JAPANESE, "iso2022_jp"),
        ("hz-gb-2312", SIMPLIFIED, "hz"),
        ("iso-2022-kr", KOREAN, "iso2022_kr"),
        ("iso-2022-jp", "plain", "utf-8"),
        ("hz-gb-2312", "a ~~ b", "utf-8"),
        ("utf-16", "plain", "utf-8"),
        ("gbk", "plain", "utf-8"),
        ("iso-8859-1", "plain", "utf-8"),
    ]
    for charset, text, name in rows:
        body = page(text, charset).encode("ascii" if text.isascii() else charset)
        assert decode(body) == (page(text, charset), name)
        assert decode(body, f"text/html; charset={charset}") == (page(text, charset), name)


def test_a_page_cut_inside_its_last_character() -> None:
    for declared in ["", "right"]:
        for text, charset, name in [*MULTI_BYTE, (SIMPLIFIED, "utf-8", "utf-8")]:
            text = text.rstrip("。.")
            for last in range(len(text) - 5, len(text)):
                whole, longer = text[:last].encode(charset), text[: last + 1].encode(charset)
                for cut in range(len(whole), len(longer)):
                    header = f"text/html; charset={charset}" if declared else ""
                    assert decode(longer[:cut], header) == (text[:last], name)


def test_one_byte_at_the_end_is_no_sign_of_utf8() -> None:
    assert decode(b"caf\xe9") == ("café", "cp1252")
    assert decode(b"caf\xe9", "text/html; charset=iso-8859-1") == ("café", "cp1252")


def test_a_few_broken_bytes() -> None:
    for declared in ["", "right", "iso-8859-1"]:
        for text, charset, name in [*MULTI_BYTE, (SIMPLIFIED, "utf-8", "utf-8")]:
            body = (page(text * 10) + "\n").encode(charset) + b"\xff \xff \xff <p>" + text.encode(charset)
            header = f"text/html; charset={charset if declared == 'right' else declared}"
            read, encoding = decode(body, header)
            assert encoding == name
            assert read.startswith(page(text * 10))
            assert read.endswith(f"<p>{text}")
            assert read.count("\ufffd") + read.count("\uf8f3") == 3  # cp932 has a private character there


def test_utf8_may_have_a_few_broken_characters_and_no_more() -> None:
    for broken, name in [(1, "utf-8"), (11, "utf-8"), (12, "cp1252"), (99, "cp1252")]:
        assert decode(("é " * 100).encode() + b"\xe9 " * broken)[1] == name


def test_replacement_characters_of_the_page_itself_are_not_broken() -> None:
    body = ("été " * 5 + "\ufffd " * 50).encode()
    assert decode(body + b"\xff ") == (body.decode() + "\ufffd ", "utf-8")


@pytest.mark.parametrize(("broken", "name"), [(1, "gb18030"), (2, "gb18030"), (3, "cp1252")])
def test_a_handful_of_broken_bytes_leaves_a_declaration_believed(broken: int, name: str) -> None:
    body = "龟甕齒籲龍驤".encode("gbk") * 4 + b"\xff " * broken  # characters that tell nothing by themselves
    assert decode(body, "text/html; charset=gbk")[1] == name


def test_utf8_wins_over_every_declaration() -> None:
    body = page(SIMPLIFIED, "gb2312").encode()
    assert decode(body, "text/html; charset=iso-8859-1") == (page(SIMPLIFIED, "gb2312"), "utf-8")


def test_big5_signs_are_read_as_browsers_do() -> None:
    text = "瑪麗‧居禮在一九〇三年～一九一一年的研究，香港的茶餐廳和人們的生活。碁銹"
    assert decode(text.encode("cp950", "ignore"), "text/html; charset=big5")[0] == text.replace("〇", "")
    assert decode("香港人食嘢嘅時候，喺茶餐廳傾偈。".encode("big5hkscs"))[1] == "big5hkscs"


def test_what_xml_forbids_does_not_survive() -> None:
    for charset in ["utf-8", "gb18030", "big5hkscs", "cp932", "cp1252", "utf-16-le", "utf-32-le"]:
        marks = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-32-le": codecs.BOM_UTF32_LE}
        text = "<p>a\0b\x01c\x0bd\x1be\ff\tg\r\nh</p>" * 9
        body = marks.get(charset, b"") + text.encode(charset)
        assert decode(body)[0] == "<p>abcde f\tg\r\nh</p>" * 9


def test_no_surrogates_and_no_noncharacters() -> None:
    rows = [
        "中文\ufffe\uffff的".encode(),
        b"\xed\xa0\x80" + "中文的一是不了".encode() * 50,
        "中\uffff文".encode("gb18030"),
        codecs.BOM_UTF16_LE + b"a\0\x00\xd8b\0",
    ]
    for body in rows:
        text = decode(body)[0]
        assert text
        assert not any("\ud800" <= char <= "\udfff" or char in "\ufffe\uffff" for char in text)


CODES = ["", "utf-8", "gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "koi8-r", "hz", "iso-2022-jp", "utf-16", "johab"]


def test_random_bytes_never_raise() -> None:
    for charset in CODES:
        chance = random.Random(charset)
        for size in range(0, 300, 7):
            for high in (0, 0x80):
                body = bytes(byte | high for byte in chance.randbytes(size))
                text, encoding = decode(body, f"text/html; charset={charset}")
                assert not set(text) & set("\0\x01\x0b\x1f\ufffe\uffff")
                codecs.lookup(encoding)


def test_almost_nothing() -> None:
    rows = [(b"", "", "utf-8"), (b" ", " ", "utf-8"), (b"\xef\xbb\xbf", "", "utf-8"), (b"\0" * 100_000, "", "utf-8")]
    for body, text, name in rows:
        assert decode(body) == (text, name)


def test_ten_megabytes_take_a_moment() -> None:
    body_rows = [
        b"\xff" * 10_000_000,
        b"\0" * 10_000_000,
        b"\xff\x01" * 5_000_000,
        b"<" * 10_000_000,
        b"a" * 10_000_000 + b"\xe9 ",
        SIMPLIFIED.encode("gbk") * 40 + b"\xff " * 5_000_000,
        SIMPLIFIED.encode() * 40 + b"\xff " * 5_000_000,
    ]
    for body in body_rows:
        for charset in ["", "gbk", "utf-8", "utf-16", "iso-2022-jp"]:
            start = time.process_time()
            decode(body, f"text/html; charset={charset}")
            assert time.process_time() - start < 2  # a tenth of that here: the limit tells linear from not


def test_all_bytes_of_one_byte_a_character_are_read_as_python_reads_them() -> None:
    for encoding in ["cp1252", "koi8-r", "iso8859-8", "cp874", "mac-greek", "tis-620"]:
        assert lenient_text(bytes(range(256)) * 2, encoding) == (bytes(range(256)) * 2).decode(encoding, "replace")


def test_bytes_without_a_character_cost_little() -> None:
    start = time.process_time()
    assert lenient_text(b"\x81" * 5_000_000, "cp1252") == "\ufffd" * 5_000_000
    assert time.process_time() - start < 1
