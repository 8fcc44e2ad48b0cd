from crawler.outcomes import CONTENTS, CUTS, NOTHING_GIVEN, Code, Group, Outcome, codes
from crawler.page.html_tree import Cut
from crawler.page.image_file import NonImage
from crawler.translation.message import catalogue_of

DETAILS = {
    "status": "404",
    "why": "http_status/503",
    "type": "image/png",
    "content": "svg",
    "language": "de",
    "at": "depth",
    "kind": "request",
    "model": "size",
    "message": "no",
}


def test_every_code_is_a_text_that_can_be_stored_and_read_again() -> None:
    for code in Code:
        outcome = Outcome(code, DETAILS.get(code.parameter, ""))
        assert Outcome.of(str(outcome)) == outcome
        assert outcome.key.startswith(f"{code.group}/{code}")


def test_every_code_has_words() -> None:
    for code in Code:
        detail = DETAILS.get(code.parameter, "")
        said = str(Outcome(code, detail).message)
        assert said
        assert "{" not in said
        if code.parameter in ("type", "kind", "language", "message"):
            assert detail in said


def test_a_parameter_may_be_empty() -> None:
    for code in NOTHING_GIVEN:
        assert NOTHING_GIVEN[code] in str(Outcome(code).message)


def test_no_code_is_in_two_groups() -> None:
    assert sorted(code for group in Group for code in codes(group)) == sorted(Code)


def test_every_cut_has_words() -> None:
    for cut in Cut:
        assert str(CUTS[cut])[:6] == "after "


def test_every_content_has_words() -> None:
    for content in NonImage:
        assert CONTENTS[content] in str(Outcome(Code.NOT_AN_IMAGE, content).message)


def test_outcomes_in_chinese() -> None:
    rows = [
        (Outcome(Code.ROBOTS_UNREADABLE, "timeout"), "无法读取 robots.txt：响应超时"),
        (Outcome(Code.NOT_HTML, "image/png"), "不是 HTML：image/png"),
        (Outcome(Code.NOT_HTML), "不是 HTML：未给出类型"),
        (Outcome(Code.HTTP_STATUS, "404"), "404 Not Found"),
        (Outcome(Code.NOT_HTML, "{type}"), "不是 HTML：{type}"),
    ]
    for outcome, chinese in rows:
        assert catalogue_of("zh").gettext(outcome.message) == chinese
