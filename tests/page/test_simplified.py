"""Traditional and simplified characters are the same where pages are compared with a topic, and nowhere else."""

from crawler.page.simplified import simplified, spelled_either_way
from crawler.page.text import fingerprint, page_words, terms
from crawler.topic.word_statistics import Vocabulary


def test_traditional_characters_become_simplified() -> None:
    rows = [
        ("", ""),
        ("Honey bees", "Honey bees"),
        ("養蜂場", "养蜂场"),
        ("养蜂场", "养蜂场"),
        ("鐵路、機車 and ミツバチ", "铁路、机车 and ミツバチ"),
        ("薴", "苎"),
    ]
    for text, plain in rows:
        assert simplified(text) == plain == simplified(plain)


def test_words_are_found_in_either() -> None:
    rows = [
        ("养蜂", "養蜂,养蜂,養,蜂", 2),
        ("養蜂", "养蜂", 1),
        ("发", "髮發发", 3),
        ("c++", "c++ cc", 1),
        ("[養]", "[养]", 1),
    ]
    for word, text, count in rows:
        assert len(spelled_either_way(word).findall(text)) == count


def test_terms_and_places_are_the_same() -> None:
    assert terms("蜂農養蜂") == terms("蜂农养蜂")
    assert Vocabulary().place("養蜂") == Vocabulary().place("养蜂")


def test_what_is_stored_and_compared_stays() -> None:
    assert fingerprint("養蜂") != fingerprint("养蜂")
    assert page_words("養蜂") != page_words("养蜂")
