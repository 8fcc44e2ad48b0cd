"""The two pages of Figure 2 of Yan and Wang 2020, rebuilt so that the numbers of their tables come out."""

from crawler.page.page import Page

MENU = "".join(f"<a href=/{number}>{word}</a>" for number, word in enumerate("中国 国际 军事 观点 专题".split()))
NOTICE = "本文系转载，不代表参考消息网的观点，参考消息".ljust(83, "…")
LICENCE = "国新网备2012001互联网出版许可证".ljust(65, "…")
FOOT = f"<div><p>{LICENCE}</p></div>"
FIRST = Page.from_html(
    f"<body><div>{MENU}</div><div>{NOTICE}</div><div><span>来源：新华社</span><p>责任编辑：张越</p></div>"
    f"<div><p>正文部分A</p><img src=x.png><p>正文部分B</p><p>正文部分C</p></div>{FOOT}"
    "<a href=/a>广告A</a><a href=/b>广告B</a></body>",
    "http://example.com/1",
)
SECOND = Page.from_html(
    f"<body><div>{MENU}</div><div><span>来源：新华社</span></div><div>有消息称…</div>{FOOT}"
    "<span>责任编辑：王兵</span></body>",
    "http://example.com/2",
)
