"""Which addresses are translations of each other, and what is known of their relevance."""

import pytest

from crawler.page.page import Page
from crawler.topic import page_translations
from crawler.topic.page_translations import (
    NamedTranslations,
    Translations,
    address_key,
    named_translations,
    without_language,
)

EN, ZH, DE = "https://a.example/bees/", "https://a.example/zh/bees/", "https://a.example/imkerei/"
HEAD = f"""<html lang=en><head><link rel=alternate hreflang=zh href={ZH}><link rel=alternate hreflang=de href={DE}>
<link rel=alternate hreflang=en href={EN}><link rel=alternate media=print hreflang=fr href=/print></head>"""


def test_addresses_that_differ_in_the_language() -> None:
    rows = [
        (EN, ZH, True),
        (EN, "https://a.example/en/bees/", True),
        ("https://a.example/zh-CN/bees/", "https://a.example/en_US/bees/", True),
        ("https://a.example/zh-hans/x", "https://a.example/x", True),
        ("https://a.example/", "https://a.example/zh/", True),
        ("https://a.example/", "https://a.example/zh", True),
        ("https://zh.a.example/bees", "https://www.a.example/bees", True),
        ("https://a.example/bees.zh.html", "https://a.example/bees.en.html", True),
        ("https://a.example/x?id=1&lang=zh", "https://a.example/x?lang=en&id=1", True),
        (EN, DE, False),
        ("https://a.example/in-depth/bees", "https://a.example/bees", False),
        ("https://a.example/xx/bees", "https://a.example/bees", False),
        ("https://zh.example/bees", "https://example/bees", False),
        ("https://a.example/x?id=1", "https://a.example/x?id=2", False),
        ("http://a.example/bees", "https://b.example/bees", False),
    ]
    for url, other, are_one in rows:
        assert (without_language(url) == without_language(other)) is are_one
        assert (address_key(url) == address_key(other)) is are_one


def test_pages_of_one_folder() -> None:
    assert address_key(f"{EN}queen").folder == address_key(f"{ZH}dance").folder == address_key(EN).folder
    assert address_key("https://a.example/rail/queen").folder != address_key(f"{EN}queen").folder


def test_what_a_page_names() -> None:
    rows = [
        (HEAD, (ZH, DE), ()),
        (f"<a href={ZH}>中文</a> <a href=/x>Bees</a> <a href={DE}>Deutsch</a>", (), (ZH, DE)),
        (f"<a href={ZH}>EN</a> <a href={ZH}>English</a>", (), (ZH,)),
        (f"<a href={ZH}>The Chinese pages</a>", (), ()),
        (f"<a href={ZH} hreflang=zh>The Chinese pages</a> <a href=/x hreflang>Bees</a>", (), (ZH,)),
    ]
    for html, declared, linked in rows:
        assert named_translations(Page.from_html(html, EN)) == NamedTranslations(declared=declared, linked=linked)


def test_pages_that_name_each_other() -> None:
    rows = [
        ([], None),
        ([(EN, NamedTranslations(declared=(DE,)))], 0.8),
        ([(DE, NamedTranslations(declared=(EN,)))], 0.8),
        ([(EN, NamedTranslations(linked=(DE,)))], None),
        ([(EN, NamedTranslations(linked=(DE,))), (DE, NamedTranslations(linked=(EN,)))], 0.8),
    ]
    for named, relevance in rows:
        pages = Translations()
        pages.set_relevance(address_key(EN), "en", 0.8)
        for url, others in named:
            pages.record_named(url, others)
        assert pages.relevance(address_key(DE), {"en"}) == relevance
        assert pages.relevance(address_key(DE), {"zh"}) is None


OTHER = "https://b.example/bienen/"


def test_pages_of_two_sites_have_to_name_each_other() -> None:
    rows = [
        ([(OTHER, NamedTranslations(declared=(EN,)))], None),
        ([(EN, NamedTranslations(declared=(OTHER,)))], None),
        ([(OTHER, NamedTranslations(declared=(EN,))), (EN, NamedTranslations(declared=(OTHER,)))], 0.8),
        ([(OTHER, NamedTranslations(declared=(EN,))), (EN, NamedTranslations(linked=(OTHER,)))], 0.8),
    ]
    for named, relevance in rows:
        pages = Translations()
        pages.set_relevance(address_key(EN), "en", 0.8)
        for url, others in named:
            pages.record_named(url, others)
        assert pages.relevance(address_key(OTHER), {"en"}) == relevance


def test_the_relevance_of_a_translation_is_that_said_last() -> None:
    pages = Translations()
    for relevance in (0.2, 0.6):
        pages.set_relevance(address_key(ZH), "zh", relevance)
    assert pages.relevance(address_key(EN), {"zh", "de"}) == 0.6
    assert pages.of_folder(address_key(f"{EN}queen"), {"zh"}) == pytest.approx(0.6 / 2)
    pages.set_relevance(address_key(f"{ZH}queen"), "zh", 0.9)
    assert pages.of_folder(address_key(f"{EN}dance"), {"zh"}) == pytest.approx(1.5 / 3)
    assert pages.of_folder(address_key(f"{EN}dance"), {"en"}) == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_PAGES", "MOST_NAMED", "MOST_NAMES"):
        monkeypatch.setattr(page_translations, name, 5)
    pages = Translations()
    urls = [f"https://a.example/{number}/" for number in range(8)]
    for url in urls:
        pages.set_relevance(address_key(url), "en", 0.5)
        pages.record_named(url, NamedTranslations(linked=tuple(f"{url}{number}" for number in range(9))))
    assert [pages.relevance(address_key(url), {"en"}) for url in urls] == [None] * 3 + [0.5] * 5
    assert [pages.of_folder(address_key(url), {"en"}) for url in urls] == [0] * 3 + [0.25] * 5
    judged, pairs = pages.shared()
    assert (len(judged), len(pairs)) == (5, 25)


def test_another_worker_knows_the_same() -> None:
    first, second = Translations(), Translations()
    first.set_relevance(address_key(EN), "en", 0.8)
    first.record_named(EN, NamedTranslations(declared=(DE,)))
    second.take_over(*first.shared())
    assert second.relevance(address_key(DE), {"en"}) == 0.8
    assert second.of_folder(address_key(f"{ZH}queen"), {"en"}) == 0.4
    second.set_relevance(address_key(EN), "en", 0.1)
    second.take_over(*first.shared())
    assert second.relevance(address_key(DE), {"en"}) == 0.1
