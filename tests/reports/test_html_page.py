from crawler.reports.html_page import escaped


def test_shown_is_escaped_once() -> None:
    assert escaped("a\r\n<&amp;>\x00") == "a\n&lt;&amp;amp;&gt;\ufffd"
