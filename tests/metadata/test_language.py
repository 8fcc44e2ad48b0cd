import tempfile
from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from crawler.metadata import language as module
from crawler.metadata.language import (
    ALIASES,
    CJK_SHARE,
    CODES,
    KANA_SHARE,
    MIN_LETTERS,
    _by_script,
    language,
    normalise,
)

WORDS = "der Hund und die Katze"  # 18 letters


def test_codes_are_those_of_the_model() -> None:
    labels = LanguageIdentifier.from_model_file(MODEL_FILE).labels
    assert {code for code in map(normalise, labels) if code} == CODES
    assert {label for label in labels if len(label) == 2} <= CODES
    assert set(ALIASES.values()) <= CODES


def test_normalise() -> None:
    rows = [
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zh_Hant_TW", "zh"),
        ("EN", "en"),
        (" en_US ", "en"),
        ("cn", "zh"),
        ("jp", "ja"),
        ("nb-NO", "no"),
        ("yue", "zh"),
        ("", None),
        ("chinese", None),
        ("xx", None),
        ("zxx", None),
        ("中文", None),
    ]
    for code, expected in rows:
        assert normalise(code) == expected


def test_language_of_sentences() -> None:
    rows = [
        ("The river was high after three days of rain, and nobody crossed the bridge.", "en"),
        ("Der Fluss stand nach drei Tagen Regen hoch, und niemand ging über die Brücke.", "de"),
        ("Le fleuve était haut après trois jours de pluie et personne ne passait le pont.", "fr"),
        ("После трёх дней дождя река поднялась, и никто не ходил по мосту.", "ru"),
        ("下了三天雨，河水很高，没有人过桥。", "zh"),
        ("下了三天雨，河水很高，沒有人過橋。", "zh"),
        ("三日間雨が降って川の水が高くなり、だれも橋を渡らなかった。", "ja"),
        ("사흘 동안 비가 와서 강물이 높아졌고 아무도 다리를 건너지 않았다.", "ko"),
        ("ฝนตกสามวันแม่น้ำสูงขึ้นและไม่มีใครข้ามสะพาน", "th"),
        ("هطل المطر ثلاثة أيام وارتفع النهر ولم يعبر أحد الجسر", "ar"),
    ]
    for text, expected in rows:
        assert language(text) == expected
        assert language(text, declared="sv") == expected


def test_language_of_short_and_mixed_texts() -> None:
    rows = [
        ("", "", None),
        ("", "fr", "fr"),
        ("2012-03-04 10:20", "de-AT", "de"),
        (WORDS, "sv", "sv"),
        (WORDS + " j", "sv", "sv"),  # one letter under the limit
        (WORDS + " ja", "sv", "de"),
        (WORDS, "klingon", None),
        ("首页", "en", "zh"),
        ("東京都知事選挙", "ja", "ja"),
        ("東京都知事選挙", "ko", "zh"),
        ("北京市人民政府办公厅今天发布关于公园开放时间的通知", "ja", "zh"),
        ("뉴스", "en", "ko"),
        ("使用 asyncio 编写网络爬虫的方法与实例", "en", "zh"),
        ("The name of the park in the north of the city is 天坛 and it is open every day.", "", "en"),
    ]
    for text, declared, expected in rows:
        assert language(text, declared) == expected


CODE = "#define SQLITE_MUTEX_FAST 0\n#define SQLITE_MUTEX_RECURSIVE 1\nmutex_notheld | mutex_held | unlikely()\n" * 8
CELLS = "Ra | 10\nNa | 20\nKo | 30\n" * 30
SENTENCES = {
    "en": "The river was high after three days of rain, and nobody crossed the bridge.",
    "ro": "După trei zile de ploaie râul era înalt și nimeni nu trecea peste pod.",
    "zh": "下了三天雨，河水很高，没有人过桥，我们在岸边等了很久。",
    "ko": "사흘 동안 비가 와서 강물이 높아졌고 아무도 다리를 건너지 않았다.",
}


def test_sentences_tell_the_language_not_code_or_tables() -> None:
    for before in ["", CODE, CELLS]:
        for code in SENTENCES:
            assert language(f"{before}{SENTENCES[code]}") == code
            assert language(f"{before}{SENTENCES[code]}", declared="sv") == code


def test_the_declared_language_decides_between_likely_ones() -> None:
    rows = [
        ("More vectorization module", "en-US", "en"),
        (CODE, "en-US", "en"),
        ("Fluss und Hund gehen weiter", "en", "de"),  # template of another language
        ("The bees of the valley dem go carry pollen", "", "en"),
    ]
    for text, declared, expected in rows:
        assert language(text, declared) == expected


LATIN_LEAD = "Arma virumque cano, Troiae qui primus ab oris Italiam fato profugus venit litora multum ille. " * 5
ENGLISH = "The river crosses the town in three places, and each of the bridges there has a name of its own. " * 10


def test_a_lead_in_another_language_than_the_declared_one_gets_a_second_look() -> None:
    for declared, expected in [("en", "en"), ("la", "la"), ("", "la"), ("de", "en")]:
        assert language(f"{LATIN_LEAD}\n{ENGLISH}", declared) == expected


def test_scripts_on_each_side_of_their_shares() -> None:
    rows = [
        ("字" * 10 + "a" * 20, "zh"),
        ("字" * 9 + "a" * 20, None),
        ("字" * 27 + "の" * 3, "zh"),
        ("字" * 26 + "の" * 4, "ja"),
        ("字字가가", "zh"),
        ("字字가가가", "ko"),
        ("abc", None),
        ("", None),
    ]
    for sample, expected in rows:
        assert (CJK_SHARE, KANA_SHARE) == (1 / 3, 1 / 10)
        assert _by_script(sample, len(sample), None) == expected


@pytest.mark.parametrize(("letters", "expected"), [(MIN_LETTERS - 1, "ja"), (MIN_LETTERS, "zh")])
def test_declared_japanese_without_kana(letters: int, expected: str) -> None:
    assert language("漢" * letters, declared="ja") == expected


def test_english_is_known_by_its_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load_model", lambda: pytest.fail("the model was loaded"))
    prose = "It was the first of the lakes that they had seen from the hill, and it is there to this day."
    assert language(prose) == language(prose, declared="en-GB") == "en"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In nicht mehr ganz zwei Wochen ist in Berlin das Treffen an der Spree, an dem alle in der Stadt sind.", "de"),
        ("The text of the licence is on the page: 许可证的正文在本页上，请您仔细阅读全部条款后再继续安装。", "zh"),
        ("It is said of the man that he has it all: он был на горе и видел озеро, и оно там до сих пор.", "ru"),
    ],
)
def test_a_few_english_words_make_no_english(text: str, expected: str) -> None:
    assert language(text) == expected


def test_the_declared_language_holds_where_the_model_cannot_be_unpacked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    module.load_model.cache_clear()
    text = "Der Fluss stand nach drei Tagen Regen hoch, und niemand ging über die Brücke."
    assert language(text, declared="de") == "de"
    assert language(text) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
