"""What a page may read of other origins: what a browser lets it read, and nothing else."""

from collections.abc import Iterator, Mapping

import pytest
from rendered_pages import HTML, Rendering, rendering_in_browser

from crawler.contrib.browser.page_load import PageSource
from crawler.contrib.browser.parts import PartAnswer

PAGE, SISTER = "http://www.bees.org/", "http://api.bees.org/"
OTHER = "http://b.example/"
TEXT, SCRIPT = {"content-type": "text/plain"}, {"content-type": "text/javascript"}
FOR_ALL = {"access-control-allow-origin": "*"}
FOR_PAGE = {"access-control-allow-origin": "http://www.bees.org", "access-control-allow-credentials": "true"}
ALLOWED = {"access-control-allow-headers": "x-key, content-type", "access-control-allow-methods": "GET, POST"}
WITH_KEY = "{headers: {'x-key': '1'}}"
JSON_POST = "{method: 'POST', body: '1', headers: {'content-type': 'application/json'}}"


def moved(url: str) -> PartAnswer:
    return PartAnswer(302, {"location": url}, b"")


ANSWERS = {
    f"{OTHER}closed": PartAnswer(200, TEXT, b"secret"),
    f"{OTHER}open": PartAnswer(200, TEXT | FOR_ALL, b"shared"),
    f"{OTHER}named": PartAnswer(200, TEXT | FOR_PAGE, b"shared"),
    f"{OTHER}missing": PartAnswer(404, TEXT | FOR_ALL, b"not here"),
    f"{OTHER}keyed": PartAnswer(200, TEXT | FOR_ALL, b"shared"),
    f"OPTIONS {OTHER}keyed": PartAnswer(204, FOR_ALL | ALLOWED, b""),
    f"OPTIONS {OTHER}open": PartAnswer(204, FOR_ALL, b""),
    f"{OTHER}a.js": PartAnswer(200, SCRIPT, b"show('ran')"),
    f"{OTHER}open.js": PartAnswer(200, SCRIPT | FOR_ALL, b"show('ran')"),
    f"{OTHER}policy.js": PartAnswer(200, SCRIPT | {"cross-origin-resource-policy": "same-origin"}, b"show('ran')"),
    f"{SISTER}closed": PartAnswer(200, TEXT, b"secret"),
    f"{SISTER}json": PartAnswer(200, TEXT | FOR_PAGE, b"shared"),
    f"OPTIONS {SISTER}json": PartAnswer(204, FOR_PAGE | ALLOWED, b""),
    f"{SISTER}unasked": PartAnswer(200, TEXT | FOR_PAGE, b"shared"),
    f"{PAGE}own": PartAnswer(200, TEXT, b"own"),
    f"{PAGE}to-own": moved("/own"),
    f"{PAGE}to-closed": moved(f"{OTHER}closed"),
    f"{PAGE}to-open": moved(f"{OTHER}open"),
    f"{PAGE}to-named": moved(f"{OTHER}named"),
    f"{PAGE}to-script": moved(f"{OTHER}a.js"),
    f"{PAGE}round": moved("/round"),
}
HELPERS = """
const show = (text) => document.body.append(text);
const text = (answer) => answer.type === "opaque" ? "opaque" : answer.text();
const read = (url, options) => fetch(url, options).then(text).then(show, () => show("refused"));
const request = (url, prepare = () => 0) => {
  const request = new XMLHttpRequest();
  request.open("GET", url);
  prepare(request);
  request.onload = () => show(request.responseText);
  request.onerror = () => show("refused");
  request.send();
};
const load = (properties) => document.body.append(
  Object.assign(document.createElement("script"), { onerror: () => show("refused") }, properties));
"""
IN_WORKER = """
const source = `fetch("{url}").then((answer) => answer.text()).then(postMessage, () => postMessage("refused"))`;
new Worker(URL.createObjectURL(new Blob([source]))).onmessage = (event) => show(event.data);
"""
IN_FRAME = """
onmessage = (event) => show(event.data);
const frame = document.createElement("iframe");
frame.srcdoc = `<script>fetch("{url}").then((answer) => answer.text())
  .then((text) => parent.postMessage(text, "*"), () => parent.postMessage("refused", "*"))</` + `script>`;
frame.sandbox = "{sandbox}";
document.body.append(frame);
"""
READ = {
    f"read('{OTHER}closed')": "refused",
    f"read('{OTHER}open')": "shared",
    f"read('{OTHER}named')": "shared",
    f"read('{OTHER}missing')": "not here",
    f"read('{OTHER}closed', {{mode: 'no-cors'}})": "opaque",
    f"read('{OTHER}closed', {{mode: 'same-origin'}})": "refused",
    f"read('{OTHER}open', {{credentials: 'include'}})": "refused",
    f"read('{OTHER}named', {{credentials: 'include'}})": "shared",
    f"read('{OTHER}keyed', {WITH_KEY})": "shared",
    f"read('{OTHER}open', {WITH_KEY})": "refused",
    f"read('{OTHER}closed', {WITH_KEY})": "refused",
    f"read('{SISTER}closed')": "refused",
    f"read('{SISTER}json', {JSON_POST})": "shared",
    f"read('{SISTER}unasked', {JSON_POST})": "refused",
    "read('/own')": "own",
    "read('/to-own')": "own",
    "read('/to-closed')": "refused",
    "read('/to-open')": "shared",
    "read('/to-named')": "shared",
    "read('/to-named', {credentials: 'include'})": "shared",
    "read('/to-open', {mode: 'no-cors'})": "opaque",
    "read('/to-open', {redirect: 'manual'})": "",
    "read('/round')": "refused",
    f"request('{OTHER}closed')": "refused",
    f"request('{OTHER}open')": "shared",
    f"request('{OTHER}open', (request) => request.withCredentials = true)": "refused",
    f"request('{OTHER}open', (request) => request.setRequestHeader('x-key', '1'))": "refused",
    f"load({{src: '{OTHER}a.js'}})": "ran",
    "load({src: '/to-script'})": "ran",
    f"load({{src: '{OTHER}a.js', crossOrigin: 'anonymous'}})": "refused",
    f"load({{src: '{OTHER}open.js', crossOrigin: 'anonymous'}})": "ran",
    f"load({{src: '{OTHER}open.js', crossOrigin: 'use-credentials'}})": "refused",
    f"import('{OTHER}a.js').catch(() => show('refused'))": "refused",
    f"globalThis.show = show; import('{OTHER}open.js').catch(() => show('refused'))": "ran",
    IN_WORKER.replace("{url}", f"{OTHER}closed"): "refused",
    IN_WORKER.replace("{url}", f"{OTHER}open"): "shared",
    IN_FRAME.replace("{url}", f"{OTHER}closed").replace("{sandbox}", "allow-scripts allow-same-origin"): "refused",
    IN_FRAME.replace("{url}", f"{OTHER}open").replace("{sandbox}", "allow-scripts allow-same-origin"): "shared",
    IN_FRAME.replace("{url}", f"{PAGE}own").replace("{sandbox}", "allow-scripts allow-same-origin"): "own",
    f"new EventSource('{OTHER}open').onerror = () => show('refused')": "refused",
    IN_FRAME.replace("{url}", f"{OTHER}closed").replace("{sandbox}", "allow-scripts"): "refused",
    IN_FRAME.replace("{url}", f"{PAGE}own").replace("{sandbox}", "allow-scripts"): "refused",
    IN_FRAME.replace("{url}", f"{OTHER}open").replace("{sandbox}", "allow-scripts"): "shared",
    "new WebSocket('ws://b.example/open').onerror = () => show('refused')": "refused",
}  # fmt: skip


@pytest.fixture(scope="module")
def opened() -> Iterator[Rendering]:
    with rendering_in_browser() as rendering:
        rendering.answers |= ANSWERS
        yield rendering


@pytest.fixture(scope="module")
def shown(opened: Rendering) -> Mapping[str, str]:
    """What the pages with these scripts show."""
    pages = {
        script: PageSource(PAGE, f"<body><script>{HELPERS}\n{script}\n</script></body>".encode(), HTML)
        for script in READ
    }
    return opened.together(pages)


@pytest.mark.parametrize(("script", "text"), READ.items())
def test_what_a_page_reads(shown: Mapping[str, str], script: str, text: str) -> None:
    body = shown[script].partition("<body>")[2].partition("</body>")[0]
    assert body.rpartition(">")[2] == text


def test_no_header_that_needs_a_preflight_is_sent_without_one(opened: Rendering) -> None:
    opened.asked.clear()
    script = f"read('{OTHER}keyed', {WITH_KEY}); read('{OTHER}closed', {WITH_KEY})"
    source = PageSource(PAGE, f"<body><script>{HELPERS}\n{script}</script>".encode(), HTML)
    opened.do(opened.renderer().render(source))
    assert sorted((part.method, part.url) for part in opened.asked) == [
        ("GET", f"{OTHER}keyed"),
        ("OPTIONS", f"{OTHER}closed"),
        ("OPTIONS", f"{OTHER}keyed"),
    ]
    preflight = next(part for part in opened.asked if part.method == "OPTIONS")
    assert preflight.sent_headers["access-control-request-headers"] == "x-key"
