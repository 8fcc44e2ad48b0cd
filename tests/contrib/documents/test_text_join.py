"""Which lines of a paragraph are joined with a space, and which words keep a hyphen at the end of a line."""

from crawler.contrib.documents.text_join import joined


def test_lines_are_joined_with_a_space_where_their_script_has_one() -> None:
    rows = [
        ("Bees dance", "in the dark.", " "),
        ("Bees dance", "“in the dark”.", " "),
        ("蜜蜂在", "黑暗的蜂巢", ""),
        ("蜜蜂说", "“你好”", ""),
        ("“你好”", "蜜蜂说", ""),
        ("ミツバチが", "巣で", ""),
        ("使用", "Python", " "),
        ("벌은 어두운", "벌집에서", " "),
        ("벌이 말했다", "“안녕”", " "),
        ("‘안녕’", "벌이 말했다", " "),
        ("벌이 읽는", "《벌집》", " "),
        ("벌은 웃는다 ㅋ", "ㅋㅋ", " "),
        ("벌과", "Python", " "),
        ("서울·", "부산", ""),
        ("서울ㆍ", "부산", ""),
    ]
    for first, second, space in rows:
        assert joined([first, second]) == f"{first}{space}{second}"


def test_hyphens_of_divided_words_are_removed() -> None:
    rows = [
        ("a beekeep-", "er", "a beekeeper"),
        ("a beekeep\u00ad", "er", "a beekeeper"),
        ("a well-", "known bee", "a well-known bee"),
        ("Jean-", "Paul", "Jean-Paul"),
        ("pages 3-", "4", "pages 3- 4"),
        (f"{'a' * 60}-", "b", f"{'a' * 60}b"),
    ]
    for first, second, text in rows:
        assert joined([first, second], {"well-known"}) == text
