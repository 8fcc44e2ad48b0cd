"""The language of a text: determined by script or by common English words, otherwise by py3langid's naive Bayes model.

Only the sentences of a text are read, since code and tables are in no language. The language that the page declares
decides if the text is too short, or if the declared language is about as likely as the likeliest. It does not decide
more, as templates declare English whatever the content.
"""

import logging
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imports numpy, which is delayed until the first text
    from py3langid.langid import LanguageIdentifier  # type: ignore[import-untyped]

logger = logging.getLogger(__name__)

SAMPLE = 400  # characters examined: more take time and gain nothing on news and web pages
SECOND_SAMPLE = 2_000  # characters examined of a text that seems to be in another language than its page declares
MIN_LETTERS = 20  # fewer letters: the declared language decides, as the model is wrong for one text in ten with 16
# How far the score of the declared language, a logarithm, may be below the highest score. In texts of 12 words, the
# scores of two languages differ by 30 and more.
PRIOR = 15
MIN_WORDS = 6  # words of a line that is a sentence
MIN_EASTERN = 10  # Chinese, Japanese or Korean characters of a line that is a sentence
LETTERS_OF_PROSE = 0.9  # the share of letters and spaces in a line that is a sentence
CJK_SHARE = 1 / 3  # of the letters: a Han character has about as much information as three Latin letters
# English is recognised by its commonest words: the model takes ten times as long, and .5 s and 78 MB to load. Of 6,351
# texts in 35 languages that declare English or nothing, none in another language is taken for English; 86 % of the
# English texts are recognised by their first sample.
ENGLISH_WORDS = frozenset(
    "a about all an and are as at be been but by can for from had has have he her his how if in into is it its more not"
    " of on one or our said she some than that the their there these they this to was we were what when which who will"
    " with would you your".split()
)
ENGLISH_SHARE = 1 / 4  # of the words of a sample
# The share and the sample if the page declares English. Texts in other languages have at most 1/6; of 1,500 English
# articles, many of which begin with a table of names, all but three have more than 1/5.
DECLARED_ENGLISH_SHARE = 1 / 5
DECLARED_ENGLISH_SAMPLE = 4_000  # characters examined
MIN_ENGLISH = 10  # words of a sample
MAX_FOREIGN_LETTERS = 1 / 20  # bytes of other letters and signs, per character of the sample
KANA_SHARE = 1 / 10  # of kana among Han and kana: half in Japanese, next to none in Chinese that quotes a Japanese name

_ISO_639_1 = (
    "af am an ar as az ba be bg bn br bs ca cs cy da de dz el en eo es et eu fa ff fi fo fr fy ga gd gl gn gu ha he hi"
    " hr ht hu hy id ig is it ja jv ka ki kk km kn ko ku ky la lb lg ln lo lt lv mg mk ml mn mr ms mt my ne nl nn no oc"
    " om or pa pl ps pt qu ro ru rw sa se si sk sl sn so sq sr st sv sw ta te tg th tk tl tr tt ug uk ur uz vi vo wa xh"
    " yo zh zu"
)
CODES = frozenset(_ISO_639_1.split())
# Other codes of pages and of the model, with the two-letter codes of their languages.
ALIASES = {
    **dict.fromkeys(["cmn", "yue", "wuu", "zho", "chi", "cn"], "zh"),
    **{"eng": "en", "jpn": "ja", "jp": "ja", "kor": "ko", "arz": "ar", "nb": "no", "iw": "he", "hbo": "he", "in": "id"},
    **{"fil": "tl", "sh": "sr", "mo": "ro", "grc": "el", "sdh": "ku", "ckb": "ku", "uzs": "uz", "ltg": "lv"},
    **{"kik": "ki", "gug": "gn", "fuv": "ff"},
}

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_EASTERN = re.compile(f"{_HAN.pattern}|{_KANA.pattern}|{_HANGUL.pattern}")


def normalise(code: str) -> str | None:
    """Return the two-letter code of a language tag, or None if it is not one of `CODES`.

    >>> normalise("zh-CN"), normalise("en_US"), normalise("chinese")
    ('zh', 'en', None)
    """
    primary = re.split("[-_]", code.strip().lower(), maxsplit=1)[0]
    primary = ALIASES.get(primary, primary)
    if primary in CODES:
        return primary
    return None


@cache
def load_model() -> "LanguageIdentifier":
    """Return the model, loaded at the first call because that takes half a second.

    Raises an OSError if its file cannot be unpacked in the folder of temporary files.
    """
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _by_script(sample: str, letters: int, declared: str | None) -> str | None:
    """Return Chinese, Japanese or Korean if their characters prevail, else None."""
    han, kana, hangul = (len(script.findall(sample)) for script in (_HAN, _KANA, _HANGUL))
    if not han + kana + hangul or han + kana + hangul < CJK_SHARE * letters:
        return None
    if hangul > han + kana:
        return "ko"
    # A short Japanese text may be in Han characters only.
    if kana > KANA_SHARE * (han + kana) or (declared == "ja" and letters < MIN_LETTERS):
        return "ja"
    return "zh"


def _sample(text: str, length: int = SAMPLE) -> str:
    """The first lines of a text that are sentences, or its start if none is."""
    lines = []
    left = length
    for line in text.split("\n"):
        if left <= 0:
            break
        if _is_sentence(line[:SAMPLE]):
            lines.append(line[:left])
            left -= len(line)
    return "\n".join(lines) or text[:length]


def _is_sentence(line: str) -> bool:
    if not line.isascii() and len(_EASTERN.findall(line)) >= MIN_EASTERN:
        return True
    if line.count(" ") < MIN_WORDS - 1:
        return False
    return sum(map(str.isalpha, line)) + line.count(" ") >= LETTERS_OF_PROSE * len(line)


def _is_english(sample: str, least_share: float = ENGLISH_SHARE) -> bool:
    """Whether the commonest English words make up as much of a sample as they do of English.

    >>> _is_english("The bees of the hive are known for the dance in which they tell where there is food.")
    True
    """
    words = sample.lower().split()
    if len(words) < MIN_ENGLISH or len(sample.encode("utf-8", "replace")) > (1 + MAX_FOREIGN_LETTERS) * len(sample):
        return False
    return sum(word in ENGLISH_WORDS for word in words) >= least_share * len(words)


@cache
def _warn(why: str) -> None:
    """Log once that languages are not recognised."""
    logger.warning(
        "The language model cannot be unpacked in a temporary file (%s): pages have declared languages.", why
    )


def _likeliest(sample: str, declared: str | None) -> str | None:
    """The language in `CODES` with the highest score of the model, or the declared language if its score is at most
    PRIOR lower.
    """
    try:
        model = load_model()
    except OSError as error:
        _warn(error.strerror)
        return declared
    best = None
    best_score = 0.0
    for label, score in model.rank(sample):  # the likeliest first
        code = normalise(label)
        if code is None:
            continue
        if best is None:
            best = code
            best_score = score
        if score < best_score - PRIOR:
            break
        if code == declared:
            return code
    return best


@lru_cache(maxsize=1)
def language(text: str, declared: str = "") -> str | None:
    """Return the two-letter code of the text's language, or None if it cannot be determined.

    The result is cached until the next text, because two fields of a page's record need it.

    >>> language("这是一个关于天气的句子。"), language("Menu", declared="fr-CA"), language("42")
    ('zh', 'fr', None)
    """
    sample = _sample(text)
    letters = sum(map(str.isalpha, sample))
    fallback = normalise(declared)

    # By script.
    if not sample.isascii():
        language_of_script = _by_script(sample, letters, fallback)
        if language_of_script:
            return language_of_script
    if letters < MIN_LETTERS:
        return fallback

    # By words.
    if fallback in (None, "en") and _is_english(sample):
        return "en"
    if fallback == "en" and _is_english(_sample(text, DECLARED_ENGLISH_SAMPLE), DECLARED_ENGLISH_SHARE):
        return "en"

    # By the model, from a longer sample if it disagrees with the page: a lead may contain many foreign names.
    likeliest = _likeliest(sample, fallback)
    if likeliest == fallback or fallback is None or len(text) <= SAMPLE:
        return likeliest
    return _likeliest(_sample(text, SECOND_SAMPLE), fallback)
