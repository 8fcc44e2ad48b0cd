"""Applications that make their pages in the browser: docsify, and small ones of Vue, React and Angular."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree

from strangers_sites.site import Programs, Site, Workshop
from strangers_sites.sources import MORE, Document, documents_of, posts

DOCSIFY = Programs(name="docsify", npm=("docsify", "fastify", "pino", "undici"))
DOCSIFY_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <title>Fastify manual</title>
  <meta name="viewport" content="width=device-width, initial-scale=1.0">
  <link rel="stylesheet" href="/docsify/themes/{theme}">
</head>
<body>
  <div id="app">Please wait...</div>
  <script>
    window.$docsify = {{
      name: "Fastify manual",
      routerMode: "{mode}",
      relativePath: true,
      loadSidebar: true,
      alias: {{ "/.*/_sidebar.md": "/_sidebar.md" }},
      subMaxLevel: 2,
    }};
  </script>
  <script src="/docsify/docsify.min.js"></script>
</body>
</html>
"""


def fastify_manual(workshop: Workshop) -> Path:
    return workshop.node_modules / "fastify/docs"


def fastify_documents(workshop: Workshop) -> Sequence[Document]:
    return documents_of(fastify_manual(workshop), "Fastify")


def docsify(mode: str, address: str) -> Site:
    """Fastify's manual under docsify, whose routes are paths (`history`) or fragments (`hash`)."""

    def build(workshop: Workshop) -> None:
        copytree(fastify_manual(workshop), workshop.folder / "site")
        lines = [f"- [{document.title}](/{document.slug}.md)" for document in workshop.documents]
        workshop.write("site/_sidebar.md", "\n".join(lines) + "\n")
        workshop.write("site/README.md", (workshop.folder / "site/index.md").read_text(encoding="utf-8"))
        package = workshop.node_modules / "docsify"
        copytree(package / "dist", workshop.folder / "site/docsify")
        theme = sorted(path.name for path in (package / "dist/themes").glob("*.min.css"))[0]
        workshop.write("site/index.html", DOCSIFY_PAGE.format(mode=mode, theme=theme))
        workshop.write("site/.nojekyll", "")

    return Site(
        name=f"docsify-{mode}",
        kind="application",
        address=address,
        programs=DOCSIFY,
        build=build,
        documents=fastify_documents,
        output="site",
        fallback="index.html" if mode == "history" else "",
    )


VITE = Programs(
    name="vite",
    npm=(
        "vite@6",
        "marked",
        *("vue@3", "vue-router@4", "@vitejs/plugin-vue@5"),
        *("react@19", "react-dom@19", "react-router-dom@7", "@vitejs/plugin-react@4"),
    ),
)
VITE_PAGE = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1.0" />
    <title>The Lamplit Bench</title>
  </head>
  <body>
    <div id="root"></div>
    <script type="module" src="/src/main.jsx"></script>
  </body>
</html>
"""
VUE_MAIN = """\
import { createApp } from "vue";
import { createRouter, createWebHistory, createWebHashHistory } from "vue-router";
import App from "./App.vue";
import List from "./List.vue";
import Post from "./Post.vue";

const routes = [
  { path: "/", component: List },
  { path: "/post/:slug", component: Post },
];
createApp(App).use(createRouter({ history: HISTORY(), routes })).mount("#root");
"""
VUE_COMPONENTS = {
    "App": """\
<template>
  <header><router-link to="/">The Lamplit Bench</router-link></header>
  <main><router-view :key="$route.fullPath" /></main>
  <footer>Made with Vue</footer>
</template>
""",
    "List": """\
<script setup>
import { ref } from "vue";
const posts = ref([]);
fetch("/data/index.json").then((answer) => answer.json()).then((list) => (posts.value = list));
</script>
<template>
  <ul class="posts">
    <li v-for="post in posts" :key="post.slug">
      <time>{{ post.published }}</time> <router-link :to="'/post/' + post.slug">{{ post.title }}</router-link>
    </li>
  </ul>
</template>
""",
    "Post": """\
<script setup>
import { ref } from "vue";
import { useRoute } from "vue-router";
import { marked } from "marked";
const post = ref(null);
fetch(`/data/${useRoute().params.slug}.json`)
  .then((answer) => answer.json())
  .then((loaded) => {
    post.value = loaded;
    document.title = loaded.title;
  });
</script>
<template>
  <article v-if="post">
    <h1>{{ post.title }}</h1>
    <p class="meta"><span class="author">{{ post.author }}</span> <time>{{ post.published }}</time></p>
    <div class="content" v-html="marked(post.markdown)"></div>
  </article>
</template>
""",
}
REACT_MAIN = """\
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter, Link, Route, Routes, useParams } from "react-router-dom";
import { marked } from "marked";

function useJson(path) {
  const [value, setValue] = useState(null);
  useEffect(() => {
    fetch(path).then((answer) => answer.json()).then(setValue);
  }, [path]);
  return value;
}

function List() {
  const posts = useJson("/data/index.json") ?? [];
  return (
    <section>
      {posts.map((post) => (
        <div className="entry" key={post.slug}>
          <Link to={`/post/${post.slug}`}>{post.title}</Link>
          <small>{post.published}</small>
        </div>
      ))}
    </section>
  );
}

function Post() {
  const post = useJson(`/data/${useParams().slug}.json`);
  useEffect(() => {
    if (post) document.title = `${post.title} | The Lamplit Bench`;
  }, [post]);
  if (!post) return <p>Loading...</p>;
  return (
    <div className="post">
      <h1>{post.title}</h1>
      <div className="byline">By {post.author}, {post.published}</div>
      <div dangerouslySetInnerHTML={{ __html: marked(post.markdown) }} />
    </div>
  );
}

createRoot(document.getElementById("root")).render(
  <BrowserRouter>
    <nav><Link to="/">The Lamplit Bench</Link></nav>
    <Routes>
      <Route path="/" element={<List />} />
      <Route path="/post/:slug" element={<Post />} />
    </Routes>
  </BrowserRouter>
);
"""


ANGULAR = Programs(
    name="angular",
    npm=(
        *(f"@angular/{name}@19" for name in ("cli", "build", "core", "common", "compiler", "compiler-cli")),
        *(f"@angular/{name}@19" for name in ("platform-browser", "router")),
        *("rxjs@7", "zone.js@0.15", "tslib", "typescript@5.7", "marked"),
    ),
)
ANGULAR_PAGE = """\
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>The Lamplit Bench</title>
  <base href="/">
  <meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body>
  <app-root></app-root>
</body>
</html>
"""
ANGULAR_MAIN = """\
import { Component, inject, signal } from "@angular/core";
import { bootstrapApplication, Title } from "@angular/platform-browser";
import { ActivatedRoute, provideRouter, RouterLink, RouterOutlet } from "@angular/router";
import { marked } from "marked";

interface Post { slug: string; title: string; author: string; published: string; markdown: string }

async function load<T>(path: string): Promise<T> {
  return (await fetch(path)).json();
}

@Component({
  selector: "app-list",
  imports: [RouterLink],
  template: `
    @for (post of posts(); track post.slug) {
      <p><a [routerLink]="['/post', post.slug]">{{ post.title }}</a> <span>{{ post.published }}</span></p>
    }
  `,
})
class List {
  posts = signal<Post[]>([]);
  constructor() {
    load<Post[]>("/data/index.json").then((posts) => this.posts.set(posts));
  }
}

@Component({
  selector: "app-post",
  template: `
    @if (post(); as post) {
      <h1>{{ post.title }}</h1>
      <p class="info">{{ post.author }} &middot; {{ post.published }}</p>
      <section [innerHTML]="html()"></section>
    }
  `,
})
class PostPage {
  post = signal<Post | null>(null);
  html = signal("");
  constructor() {
    const title = inject(Title);
    const slug = inject(ActivatedRoute).snapshot.params["slug"];
    load<Post>(`/data/${slug}.json`).then((post) => {
      this.post.set(post);
      this.html.set(marked.parse(post.markdown, { async: false }));
      title.setTitle(post.title);
    });
  }
}

@Component({
  selector: "app-root",
  imports: [RouterOutlet, RouterLink],
  template: `<a routerLink="/">The Lamplit Bench</a><router-outlet />`,
})
class App {}

const routes = [{ path: "", component: List }, { path: "post/:slug", component: PostPage }];
bootstrapApplication(App, { providers: [provideRouter(routes)] });
"""


def build_angular(workshop: Workshop) -> None:
    """The application of Angular, with the settings that `ng new` writes and no budgets."""
    options = {
        "outputPath": "dist",
        "index": "src/index.html",
        "browser": "src/main.ts",
        "polyfills": ["zone.js"],
        "tsConfig": "tsconfig.json",
        "preserveSymlinks": True,
        "assets": [{"glob": "**/*", "input": "public"}],
    }
    target = {"builder": "@angular/build:application", "options": options}
    project = {"projectType": "application", "root": "", "sourceRoot": "src", "architect": {"build": target}}
    compiler = {"strict": True, "target": "ES2022", "module": "ES2022", "moduleResolution": "bundler"}
    compiler |= {"experimentalDecorators": True, "importHelpers": True, "preserveSymlinks": True, "skipLibCheck": True}
    workshop.write_json("angular.json", {"version": 1, "projects": {"application": project}})
    workshop.write_json("tsconfig.json", {"compilerOptions": compiler, "files": ["src/main.ts"]})
    workshop.write_json("package.json", {"name": "application", "private": True})
    workshop.link_node_modules()
    workshop.write("src/index.html", ANGULAR_PAGE)
    workshop.write("src/main.ts", ANGULAR_MAIN)
    write_posts(workshop, "public")
    workshop.run("ng", "build", NG_CLI_ANALYTICS="false", CI="1")


def write_posts(workshop: Workshop, folder: str) -> None:
    """Write the posts as JSON, and a list of them."""
    workshop.write_images(f"{folder}/images")
    rows = [
        {"slug": post.slug, "title": post.title, "author": post.author, "published": post.published}
        for post in workshop.documents
    ]
    workshop.write_json(f"{folder}/data/index.json", rows)
    for row, post in zip(rows, workshop.documents, strict=True):
        markdown = post.markdown.replace(MORE, "")
        workshop.write_json(f"{folder}/data/{post.slug}.json", {**row, "markdown": markdown})


def vite(name: str, address: str, plugin: str, sources: Mapping[str, str], has_paths: bool = True) -> Site:
    """An application that loads posts as JSON; its routes are paths or fragments."""

    def build(workshop: Workshop) -> None:
        lines = [f'import plugin from "{plugin}";', "export default { plugins: [plugin()] };"]
        workshop.write("vite.config.mjs", "\n".join(lines) + "\n")
        workshop.write_json("package.json", {"name": "application", "type": "module"})
        workshop.link_node_modules()
        workshop.write("index.html", VITE_PAGE)
        for path, source in sources.items():
            workshop.write(f"src/{path}", source)
        write_posts(workshop, "public")
        workshop.run("vite", "build")

    return Site(
        name=name,
        kind="application",
        address=address,
        programs=VITE,
        build=build,
        documents=lambda _: posts(count=APPLICATION_POSTS),
        output="dist",
        fallback="index.html" if has_paths else "",
    )


APPLICATION_POSTS = 24
VUE_FILES = {f"{name}.vue": source for name, source in VUE_COMPONENTS.items()}
APPLICATIONS = (
    docsify("history", "127.0.43.1"),
    docsify("hash", "127.0.43.2"),
    vite(
        name="vue-history",
        address="127.0.43.11",
        plugin="@vitejs/plugin-vue",
        sources={**VUE_FILES, "main.jsx": VUE_MAIN.replace("HISTORY", "createWebHistory")},
    ),
    vite(
        name="vue-hash",
        address="127.0.43.12",
        plugin="@vitejs/plugin-vue",
        sources={**VUE_FILES, "main.jsx": VUE_MAIN.replace("HISTORY", "createWebHashHistory")},
        has_paths=False,
    ),
    vite(
        name="react",
        address="127.0.43.21",
        plugin="@vitejs/plugin-react",
        sources={"main.jsx": REACT_MAIN},
    ),
    Site(
        name="angular",
        kind="application",
        address="127.0.43.31",
        programs=ANGULAR,
        build=build_angular,
        documents=lambda _: posts(count=APPLICATION_POSTS),
        output="dist/browser",
        fallback="index.html",
    ),
)
