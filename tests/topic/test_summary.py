import numpy as np

from crawler.topic.link_scores import PRIOR_LINKS, Apprentice
from crawler.topic.relevance import Subject
from crawler.topic.shared_model import MOST_LINK_WORDS, MOST_TOPIC_WORDS, summary
from crawler.topic.word_statistics import ADDRESS, ANCHOR, HOST, NEAR, PLACES, Vocabulary


def test_nothing_learned() -> None:
    assert summary(Vocabulary(), [Subject()], Apprentice()) == {"pages": 0, "topic": [], "good": [], "bad": []}


def test_the_words_of_the_topic_by_their_shares() -> None:
    vocabulary, subject = Vocabulary(), Subject()
    subject.aim[vocabulary.places(["wax", "蜜蜂", "bees"])] = 0.3336, 0.5, 0.8
    subject.aim[PLACES - 1] = 0.9  # whose word nobody knows
    subject.aim[vocabulary.places(["the", "2026", "unmet"])] = 0.7
    vocabulary.counts[vocabulary.places(["wax", "蜜蜂", "bees", "the", "2026"])] = 1
    assert summary(vocabulary, [subject], Apprentice())["topic"] == [["bees", 0.8], ["蜜蜂", 0.5], ["wax", 0.334]]
    words = [f"word{n}" for n in range(MOST_TOPIC_WORDS + 1)]
    subject.aim[:] = 0
    subject.aim[vocabulary.places(words)] = np.linspace(1, 0.5, len(words))
    vocabulary.counts[vocabulary.places(words)] = 1
    assert [word for word, _ in summary(vocabulary, [subject], Apprentice())["topic"]] == words[:-1]


def test_the_features_of_links() -> None:
    vocabulary, apprentice = Vocabulary(), Apprentice()
    good, bad, host, rare, the = vocabulary.places(["bees", "cars", "a.example", "rare", "the"])
    for _ in range(3):
        apprentice.learn([ANCHOR * PLACES + good, ADDRESS * PLACES + good, the, PLACES - 1], 1.0)
        apprentice.learn([NEAR * PLACES + bad, HOST * PLACES + host], 0.0)
    apprentice.learn([ANCHOR * PLACES + rare], 1.0)
    apprentice.learn([ANCHOR * PLACES + rare], 0.0)
    vocabulary.resume(8, {})
    found = summary(vocabulary, [Subject()], apprentice)
    assert found["pages"] == 8
    gain = round((3 + PRIOR_LINKS / 2) / (3 + PRIOR_LINKS) - 0.5, 3)
    assert found["good"] == [["bees", gain, ""], ["bees", gain, "address"]]
    assert found["bad"] == [["a.example", -gain, "host"], ["cars", -gain, "near"]]


def test_no_more_features_than_people_read() -> None:
    vocabulary, apprentice = Vocabulary(), Apprentice()
    for n in range(MOST_LINK_WORDS + 1):
        for _ in range(3):
            apprentice.learn([vocabulary.place(f"good{n}")], 1.0)
            apprentice.learn([vocabulary.place(f"bad{n}")], 0.0)
    found = summary(vocabulary, [Subject()], apprentice)
    assert [len(found["good"]), len(found["bad"])] == [MOST_LINK_WORDS, MOST_LINK_WORDS]
    assert all(name.startswith("good") and gain > 0 for name, gain, _ in found["good"])
    assert all(name.startswith("bad") and gain < 0 for name, gain, _ in found["bad"])
