"""Patterns of addresses, and the names that a site's addresses teach."""

import pickle

import pytest

from crawler.urls.patterns import (
    LEAST_ADDRESSES,
    LEAST_SHARE,
    MOST_DEPTH,
    MOST_LABEL,
    MOST_LENGTH,
    MOST_NAMES,
    MOST_PARTS,
    Patterns,
    labels_of,
    names_of,
)

SITE = "http://a.example"
KNOWN = ["/tag/*", "/*/comment-page-#", "/Talk:*", "/index.php?action=edit&title=*"]


def words(count: int) -> list[str]:
    """Words that differ in letters."""
    return ["".join(chr(97 + int(digit)) for digit in f"{number:04}") for number in range(count)]


def test_the_pattern_of_an_address() -> None:
    rows = [
        (SITE, "/"),
        (f"{SITE}/", "/"),
        (f"{SITE}/bees", "/*"),
        (f"{SITE}/bees/", "/*"),
        (f"{SITE}/tag/bees", "/tag/*"),
        (f"{SITE}/2024/05/", "/#/#"),
        (f"{SITE}/2-6-0", "/*"),
        (f"{SITE}/bees/comment-page-12", "/*/comment-page-#"),
        (f"{SITE}/bees/page-12", "/*/*"),
        (f"{SITE}/Talk:Bee", "/Talk:*"),
        (f"{SITE}/User:Ann", "/*"),
        (f"{SITE}/index.php?title=Bee&action=edit", "/index.php?action=edit&title=*"),
        (f"{SITE}/index.php?title=Bee&action=move", "/index.php?action=*&title=*"),
        (f"{SITE}/index.php?title=7", "/index.php?title=*"),
        (f"{SITE}/?a&&b=", "/?a=*&b=*"),
        (f"{SITE}/" + "x/" * 20, "/*" * MOST_DEPTH),
        (f"{SITE}/?" + "&".join(f"{letter}=1" for letter in "abcdefghijklm"), "/?a=*&b=*&c=*&d=*&e=*&f=*&g=*&h=*"),
        (f"{SITE}/?{'n' * 99}=1", f"/?{'n' * MOST_LENGTH}=*"),
    ]
    for url, pattern in rows:
        patterns = Patterns(KNOWN)
        assert patterns.of(url) == pattern
        assert Patterns([pattern]).of(SITE + pattern) == pattern


def test_a_part_of_many_addresses_is_a_name() -> None:
    for part in ["/tag/{}", "/{}/comment-page-2", "/Talk:{}", "/a.php?title={}&action=edit"]:
        patterns = Patterns()
        seen = [patterns.see(SITE + part.format(word)) for word in words(LEAST_ADDRESSES)]
        assert seen == [False] * (LEAST_ADDRESSES - 1) + [True]
        assert patterns.of(SITE + part.format("new")) == names_and(part)


def names_and(part: str) -> str:
    known = {"/a.php?title={}&action=edit": "/a.php?action=edit&title=*"}
    return known.get(part, part.format("*").replace("2", "#"))


@pytest.mark.parametrize(
    ("addresses", "others", "is_name"),
    [(LEAST_ADDRESSES, 0, True), (LEAST_ADDRESSES, 588, True), (LEAST_ADDRESSES, 589, False)],
)
def test_a_name_is_in_a_share_of_the_addresses(addresses: int, others: int, is_name: bool) -> None:
    assert LEAST_ADDRESSES / LEAST_SHARE == 600
    patterns = Patterns()
    for number in range(others):
        patterns.see(f"{SITE}/{number}")
    for word in words(addresses):
        patterns.see(f"{SITE}/tag/{word}")
    assert ("tag" in patterns.names) is is_name


def test_of_digits_only_the_number_right_after_a_part_makes_it_a_name() -> None:
    rows = [
        ("/topic/{}", "/topic/#"),
        ("/topic/{}/", "/topic/#"),
        ("/topic/{}?sort=new", "/topic/#?sort=*"),
        ("/bees/page/{}", "/*/page/#"),
        ("/bees/page-{}", "/*/*"),
        ("/bees?page={}", "/*?page=*"),
        ("/bees/{}x", "/*/*"),
    ]
    for path, pattern in rows:
        patterns = Patterns()
        for number in range(5 * LEAST_ADDRESSES):
            patterns.see(SITE + path.format(number))
        assert patterns.of(SITE + path.format(7)) == pattern


def test_a_hostile_site_fills_no_memory() -> None:
    patterns = Patterns()
    for number in range(MOST_NAMES + 10):
        for word in words(LEAST_ADDRESSES):
            patterns.see(f"{SITE}/{'abcdefghij'[number % 10]}{'abcdefghij'[number // 10]}x{'y' * 999}/{word}")
    for word in words(3 * MOST_PARTS):
        patterns.see(f"{SITE}/{word}z")
    assert len(patterns.names) <= MOST_NAMES
    assert len(pickle.dumps(patterns)) < 100 * MOST_PARTS * LEAST_ADDRESSES
    assert max(map(len, patterns.names)) <= MOST_LENGTH
    patterns.learn(f"/{word}q/*" for word in words(100))
    assert len(patterns.names) == MOST_NAMES


def test_what_patterns_may_share() -> None:
    rows = [
        ("/", set()),
        ("/*/#", set()),
        ("/tag/*", {"tag"}),
        ("/Talk:*", {"Talk:"}),
        ("/*?a=*&b=edit", {"a=", "b=", "b=edit"}),
    ]
    for pattern, names in rows:
        assert names_of(pattern) == names


def test_a_label_of_links_to_many_addresses_is_a_name() -> None:
    patterns = Patterns()
    for number in range(LEAST_ADDRESSES):
        assert patterns.label('"reply"\n.tool') == ""
        assert patterns.see(f"{SITE}/{number}", '"reply"\n.tool') is False
    assert patterns.label('"other"\n.tool') == ".tool"
    assert patterns.label('"reply"\n.tool') == '"reply"'


def test_a_label_of_links_to_one_address_is_no_name() -> None:
    patterns = Patterns()
    for _ in range(2 * LEAST_ADDRESSES):
        patterns.see(f"{SITE}/about", '"about us"')
    assert patterns.label('"about us"') == ""


def test_labels_are_learned_from_known_patterns() -> None:
    patterns = Patterns(['/x/* "quote this"'])
    assert (patterns.label('"quote this"'), patterns.of(f"{SITE}/x/y")) == ('"quote this"', "/x/*")
    assert names_of('/x/* "quote this"') == {"x"}


def test_the_labels_of_a_link() -> None:
    rows = [
        ("Reply", "", '"reply"'),
        ("3 replies", "c-12", '"# replies"\n.c-#'),
        ("w" * MOST_LABEL, "", f'"{"w" * MOST_LABEL}"'),
        ("w" * (MOST_LABEL + 1), "tool", ".tool"),
        ("回复", "", '"回复"'),
        ("»", "#", ""),
        ("a\ud800", "b\x00", ""),
        ("", "n" * 99, f".{'n' * MOST_LABEL}"),
    ]
    for text, its_class, labels in rows:
        assert labels_of(text, its_class) == labels


def test_labels_take_no_room_from_names() -> None:
    patterns, labels = Patterns(), "\n".join(f".{word}" for word in words(MOST_NAMES + 5))
    for word in words(LEAST_ADDRESSES):
        patterns.see(f"{SITE}/{word}", labels)
    assert len(patterns.labels) == MOST_NAMES
    assert any(patterns.see(f"{SITE}/tag/{word}") for word in words(LEAST_ADDRESSES))
