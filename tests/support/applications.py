"""Six small applications in the ways real ones are made, each with the text that a reader sees: nothing of it is in the
source of a page that a crawler reads as text.
"""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sites import Answer, Route

from crawler.demo.article import Article, articles

BEES = [one for one in articles() if one.topic == "bees"]
SHELL = """<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="/style.css">{head}</head><body>{body}</body></html>"""
NOTICE = "<noscript>You need to enable JavaScript to run this app.</noscript>"
MENU = "<nav><a href='/'>Home</a> <a href='/about'>About us</a> <a href='/contact'>Contact</a></nav>"
FOOTER = "<footer><p>All rights reserved.</p></footer>"


@dataclass(frozen=True)
class Application:
    """An application and what its readers see."""

    routes: Mapping[str, Route]
    gold: Mapping[str, str]
    """The main text of each page, by path, a paragraph a line."""


def gold(article: Article) -> str:
    return "\n".join((article.title, *article.paragraphs))


def script(source: str) -> Answer:
    return Answer(source, content_type="text/javascript; charset=utf-8")


def data(value: object) -> Answer:
    return Answer(json.dumps(value), content_type="application/json")


def record(article: Article, path: str) -> dict[str, object]:
    return {"path": path, "headline": article.title, "parts": list(article.paragraphs)}


def shell(article: Article | None = None, body: str = "", head: str = "", title: str = "Bees") -> str:
    return SHELL.format(language=article.language if article else "en", title=title, head=head, body=body)


def client_routing() -> Application:
    """One shell for all addresses; a router reads the address, fetches a chunk of the program and the data."""
    shown = BEES[:3]
    main = """
const root = document.getElementById("root");
const element = (name, props, ...inner) => {
  const made = document.createElement(name);
  Object.assign(made, props);
  made.append(...inner);
  return made;
};
async function show(path) {
  const { article, list } = await import("/assets/views.js");
  const view = path === "/" ? list(element, await (await fetch("/api/articles")).json())
                            : article(element, await (await fetch("/api" + path)).json());
  root.replaceChildren(element("header", {}, element("a", { href: "/" }, "Bee news")), view);
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link) return;
  event.preventDefault();
  history.pushState({}, "", link.href);
  show(location.pathname);
});
addEventListener("popstate", () => show(location.pathname));
show(location.pathname);
"""
    views = """
export const article = (element, data) =>
  element("article", {}, element("h1", {}, data.headline), ...data.parts.map((part) => element("p", {}, part)));
export const list = (element, items) =>
  element("ul", {}, ...items.map((one) => element("li", {}, element("a", { href: one.path }, one.headline))));
"""
    page = shell(body=f"{NOTICE}<div id='root'></div>", head="<script type='module' src='/assets/main.js'></script>")
    paths = {f"/story/{number}": article for number, article in enumerate(shown, 1)}
    routes: dict[str, Route] = {"/": page, "/assets/main.js": script(main), "/assets/views.js": script(views)}
    routes["/api/articles"] = data([record(article, path) | {"parts": []} for path, article in paths.items()])
    for path, article in paths.items():
        routes |= {path: page, f"/api{path}": data(record(article, path))}
    return Application(routes, {path: gold(article) for path, article in paths.items()})


def hydration() -> Application:
    """A frame from the server around a skeleton; the program finds its state, packed, in the page."""
    article = next(one for one in BEES if one.language == "zh")
    state = base64.b64encode(json.dumps(record(article, "/")).encode()).decode()
    skeleton = "<div class='skeleton'><div class='bar'></div><div class='bar'></div></div>"
    head = f"<script>window.__STATE__ = '{state}'</script><script defer src='/hydrate.js'></script>"
    program = """
const bytes = Uint8Array.from(atob(window.__STATE__), (one) => one.charCodeAt(0));
const state = JSON.parse(new TextDecoder().decode(bytes));
const main = document.querySelector("#app main");
main.innerHTML = `<article><h1></h1></article>`;
main.querySelector("h1").textContent = state.headline;
for (const part of state.parts) {
  const made = document.createElement("p");
  made.textContent = part;
  main.firstChild.append(made);
}
"""
    body = f"<div id='app' data-server-rendered='true'>{MENU}<main>{skeleton}</main>{FOOTER}</div>"
    return Application({"/": shell(article, body, head), "/hydrate.js": script(program)}, {"/": gold(article)})


def lazy_list() -> Application:
    """A list that grows when its end comes into view; the articles in it are plain pages."""
    shown = {f"/read/{number}": article for number, article in enumerate(BEES[3:9], 1)}
    program = """
let page = 0;
const list = document.querySelector(".feed");
const end = document.querySelector(".end");
new IntersectionObserver(async ([entry], observer) => {
  if (!entry.isIntersecting) return;
  observer.unobserve(end);
  const items = await (await fetch(`/feed?page=${++page}`)).json();
  for (const { path, headline } of items) {
    list.insertAdjacentHTML("beforeend", `<div class="card"><h3><a href="${path}">${headline}</a></h3></div>`);
  }
  if (items.length) observer.observe(end);
}).observe(end);
"""
    body = f"<div class='feed'></div><div class='end'>Loading</div><script>{program}</script>"
    paths = [*shown]
    routes: dict[str, Route] = {"/": shell(body=body)}
    for number in range(4):
        items = [record(shown[path], path) for path in paths[2 * number : 2 * number + 2]]
        routes[f"/feed?page={number + 1}"] = data([one | {"parts": []} for one in items])
    for path, article in shown.items():
        parts = "".join(f"<p>{part}</p>" for part in article.paragraphs)
        text = f"{MENU}<main><h1>{article.title}</h1>{parts}</main>{FOOTER}"
        routes[path] = shell(article, text, title=article.title)
    return Application(routes, {path: gold(article) for path, article in shown.items()})


def shadow_dom() -> Application:
    """Custom elements with shadow trees; the headline is put into a slot."""
    article = BEES[4]
    program = """
customElements.define("story-page", class extends HTMLElement {
  async connectedCallback() {
    const story = await (await fetch(this.getAttribute("src"))).json();
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = "<style>p { margin: 1em }</style><article><slot name='title'></slot></article>";
    this.innerHTML = "<h1 slot='title'></h1>";
    this.firstChild.textContent = story.headline;
    for (const part of story.parts) {
      const made = document.createElement("story-paragraph");
      made.text = part;
      root.querySelector("article").append(made);
    }
  }
});
customElements.define("story-paragraph", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: "open" }).append(Object.assign(document.createElement("p"), { textContent: this.text }));
  }
});
"""
    body = "<story-page src='/story.json'></story-page><script type='module' src='/elements.js'></script>"
    routes: dict[str, Route] = {"/": shell(body=body), "/elements.js": script(program)}
    return Application(routes | {"/story.json": data(record(article, "/"))}, {"/": gold(article)})


def fetched_content() -> Application:
    """A page with a spinner, whose content comes from an endpoint some time later, as HTML in JSON."""
    article = BEES[-1]
    program = """
setTimeout(async () => {
  const settings = await (await fetch("/wp-json/settings")).json();
  const answer = await (await fetch("/wp-json/posts/" + settings.first)).json();
  document.querySelector(".title").textContent = answer.title.rendered;
  document.querySelector(".entry-content").innerHTML = answer.content.rendered;
  document.querySelector(".spinner").remove();
}, 300);
"""
    content = "".join(f"<p>{part}</p>" for part in article.paragraphs)
    post = {"title": {"rendered": article.title}, "content": {"rendered": content}}
    inner = "<h1 class='title'></h1><div class='spinner'>Loading…</div><div class='entry-content'></div>"
    body = f"{MENU}<article>{inner}</article>{FOOTER}<script src='/app.js'></script>"
    routes: dict[str, Route] = {"/": shell(article, body), "/app.js": script(program)}
    routes |= {"/wp-json/settings": data({"first": 7}), "/wp-json/posts/7": data(post)}
    return Application(routes, {"/": gold(article)})


def consent_wall() -> Application:
    """A question about cookies over the page; the article is loaded all the same, and hidden until it is answered."""
    article = BEES[1]
    words = (
        "We and our 842 partners store and access personal data on your device, such as browsing data and identifiers. "
        "Selecting Accept all enables tracking technologies to support the purposes shown below. You can change your "
        "choices or withdraw your consent at any time by clicking on the link at the bottom of the page."
    )
    program = f"""
const wall = document.createElement("div");
wall.className = "cmp-overlay";
wall.setAttribute("role", "dialog");
wall.setAttribute("aria-modal", "true");
wall.innerHTML = `<h2>We value your privacy</h2><p>{words}</p><p>{words}</p><button>Accept all</button>`;
document.body.append(wall);
wall.querySelector("button").onclick = () => wall.remove();
fetch("/data.json").then((answer) => answer.json()).then((story) => {{
  const parts = story.parts.map((part) => `<p>${{part}}</p>`).join("");
  document.getElementById("app").innerHTML = `<article><h1>${{story.headline}}</h1>${{parts}}</article>`;
}});
"""
    body = f"<div id='app' aria-hidden='true'></div><script>{program}</script>"
    return Application({"/": shell(article, body), "/data.json": data(record(article, "/"))}, {"/": gold(article)})


MADE: tuple[Callable[[], Application], ...] = (
    client_routing,
    hydration,
    lazy_list,
    shadow_dom,
    fetched_content,
    consent_wall,
)
APPLICATIONS: Mapping[str, Application] = {make.__name__: make() for make in MADE}
