"""Addresses as people read them, and what in them stays encoded."""

from crawler.urls.parsing import readable


def test_letters_are_read() -> None:
    rows = [
        ("http://a.example/%e8%9c%9c%E8%9C%82?q=caf%C3%A9", "http://a.example/蜜蜂?q=café"),
        ("http://a.example/%D0%BF%D1%87%D1%91%D0%BB%D1%8B", "http://a.example/пчёлы"),
        ("http://a.example/%E0%A4%B9%E0%A4%BF%E0%A4%A8%E0%A5%8D%E0%A4%A6%E0%A5%80", "http://a.example/हिन्दी"),
        ("http://a.example/%F0%A0%AE%B7", "http://a.example/𠮷"),
        ("http://a.example/蜜蜂", "http://a.example/蜜蜂"),
        ("http://a.example/%E8%9C%9C%E8", "http://a.example/蜜%E8"),
        ("https://a.example?q=%E8%9C%9C#%E8%9C%82", "https://a.example?q=蜜#蜂"),
        ("http://a.example/%E0%B8%99%E0%B9%89%E0%B8%B3", "http://a.example/น้ำ"),
    ]
    for url, said in rows:
        assert readable(url) == said


def test_all_else_stays() -> None:
    rows = [
        "%2F%3F%23%20%25%41%00%0A%3Cb%3E",  # a sign that would mean something, and what is one letter already
        "%25E8%259C%259C",
        "%E2%80%AE%E2%81%A6%E2%80%8F",  # turns what follows it around
        "%D7%93%D8%A8",  # letters that run from right to left
        "%C2%AD%E2%80%8B%EF%BB%BF",  # nobody sees it
        "%E3%85%A4%EF%BE%A0%CD%8F%EF%B8%8F%F3%A0%84%80",
        "%EF%BC%8F%E2%88%95%EF%BC%9F%E2%80%A4",  # looks as if it meant something
        "%C2%A0%E3%80%80%E2%80%A8%C2%85",
        "%EE%80%80%F4%8F%BF%BF%CD%B8",  # has no meaning, or not yet
        "%E8%9C/%E9/%9C",  # not of UTF-8
        "%C0%AF%ED%A0%80%FF%F5%80%80%80",
        "%CC%B8x",  # a mark that stands on what is no letter here
        "%65%CC%81",
        "%E2%83%9D%D2%88",
        "%E2%92%88%F0%9F%84%81%E3%88%A0",  # digits with a dot, a comma, brackets
        "%CB%90%EA%9E%8C%C7%80%C7%83%E3%80%B3%EA%93%B8%E1%90%A7",  # letters like : ' | ! / .
        "%E2%B5%BF%F0%91%81%BF%F0%96%BF%A4",
        "%E8%9",
        "%",
    ]
    for piece in rows:
        assert readable(f"http://a.example/{piece}") == f"http://a.example/{piece}"


def test_where_an_address_leads_is_shown_as_it_is() -> None:
    rows = [
        "http://%D0%B0pple.example/",
        "http://a.example%E3%83%8Ex.b.example",
        "http://a.example%E3%83%8E@b.example/%E8%9C%9C",
        "http:%E8%9C%9C",
        "javascript:%E8%9C%9C",
        "%E8%9C%9C",
    ]
    for url in rows:
        assert readable(url) == url


def test_so_many_marks_stand_on_a_letter() -> None:
    assert readable("http://a.example/%C3%A9" + 5 * "%CC%81") == "http://a.example/é" + 3 * "\u0301" + 2 * "%CC%81"


def test_what_stays_keeps_its_place_among_letters() -> None:
    assert readable("a://b/%E8%9C%9C%E2%80%AE%C2%AD%e8%9c%82%2f") == "a://b/蜜%E2%80%AE%C2%AD蜂%2f"
