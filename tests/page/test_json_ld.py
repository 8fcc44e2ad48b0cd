import time

from crawler.page.json_ld import MAX_REPAIRED, json_documents


def test_only_stray_backslashes_are_doubled() -> None:
    rows = [
        (r"\user", r"\user"),
        (r"\u12", r"\u12"),
        (r"\x \'", r"\x \'"),
        (r"\u00e9 \/ \" \n", 'é / " \n'),
        (r"c:\\user", r"c:\user"),
        (r"c:\\server", r"c:\server"),
        (r"\\\user", r"\\user"),
        (r"\\\\user", r"\\user"),
    ]
    for written, text in rows:
        assert json_documents(f'{{"a": "{written}",}}') == [{"a": text}], written


def test_many_backslashes_take_no_time() -> None:
    started = time.process_time()
    json_documents("\\" * MAX_REPAIRED)
    assert time.process_time() - started < 1
