// Functions that are evaluated in a rendered page, in an isolated world that the scripts of the page cannot reach.
globalThis.winnow = (() => {
  // A form has its named elements as properties, which may hide those of the node: so prototypes' getters are used.
  const getter = (prototype, name) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name).get;
    return (node) => get.call(node);
  };
  const childNodes = getter(Node.prototype, "childNodes");
  const nodeType = getter(Node.prototype, "nodeType");
  const parentNode = getter(Node.prototype, "parentNode");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const attributes = getter(Element.prototype, "attributes");
  const localName = getter(Element.prototype, "localName");
  const textContent = getter(Node.prototype, "textContent");
  const getAttribute = (node, name) => Element.prototype.getAttribute.call(node, name);
  const root = getter(Document.prototype, "documentElement");
  const readyState = getter(Document.prototype, "readyState");
  const baseURI = getter(Node.prototype, "baseURI");
  // All elements in a document or a shadow tree that match a selector.
  const all = (node, selector) =>
    (nodeType(node) === Node.DOCUMENT_NODE ? Document : DocumentFragment).prototype.querySelectorAll.call(node, selector);
  const words = (text) => new Set(text.split(" "));
  const VOID = words("area base br col embed frame hr img input link meta source track wbr");
  const LEFT_OUT = words("style noscript template object canvas audio video");
  // The types of scripts that are data (JSON-LD); other scripts are left out.
  const DATA = /^application\/(ld\+json|json-ld)/i;
  // The labels of buttons that show more of a list or a text.
  const MORE = new RegExp(
    "^(load|show|view|see|read)( \\w+)? more\\b|^more (posts|results|articles|news|stories|items)|^(weiterlesen|mehr (laden|anzeigen))" +
      "|^(voir|afficher|charger) plus|^(cargar|ver|mostrar) más|^(加载|查看|显示|展开|点击加载|載入|顯示)(更多|全文|全部)|^(阅读|展开)全文|^更多$|^もっと(見る|読む)|^показать ещ",
    "i",
  );
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const quote = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");

  // The visible content of a node: its shadow tree instead of its children, and for a slot the nodes assigned to it.
  const children = (node) => {
    const shadow = shadowRoot(node);
    if (shadow) return childNodes(shadow);
    if (localName(node) === "slot") {
      const assigned = node.assignedNodes();
      if (assigned.length) return assigned;
    }
    return childNodes(node);
  };

  const isLeftOut = (node) =>
    LEFT_OUT.has(localName(node)) || (localName(node) === "script" && !DATA.test(getAttribute(node, "type") || ""));

  const opening = (node) => {
    let tag = "<" + localName(node);
    for (const { name, value } of attributes(node)) {
      if (!name.startsWith("on") && /^[\w:.@-]+$/.test(name)) tag += ` ${name}="${quote(value)}"`;
    }
    return tag + ">";
  };

  // The page as HTML without its scripts, of at most this many characters. A stack holds the nodes and end tags that are
  // still to be written, the next on top: recursion would overflow on deep trees.
  const serialize = (most) => {
    const pieces = ["<!DOCTYPE html>"];
    const stack = [root(document)];
    let left = most;
    // Adds a text unless it is too long; returns whether it was added. Later texts are left out, but not end tags.
    const put = (text) => {
      left -= text.length;
      if (left >= 0) pieces.push(text);
      return left >= 0;
    };
    while (stack.length) {
      const node = stack.pop();
      if (typeof node === "string") {
        pieces.push(node);
        continue;
      }
      if (left < 0) continue;
      if (nodeType(node) === Node.TEXT_NODE) {
        const above = parentNode(node);
        const isData = above && nodeType(above) === Node.ELEMENT_NODE && localName(above) === "script";
        put(isData ? node.data.replace(/<\//g, "<\\/") : escape(node.data)); // </script> would end the script
        continue;
      }
      if (nodeType(node) !== Node.ELEMENT_NODE || isLeftOut(node)) continue;
      const name = localName(node);
      const isShown = name !== "slot";
      if (isShown && !put(opening(node))) continue;
      if (name === "head" && !all(document, "base[href]").length) {
        put(`<base href="${quote(baseURI(document))}">`); // scripts may have changed the address
      }
      if (VOID.has(name)) continue;
      if (isShown) {
        const closing = `</${name}>`;
        left -= closing.length;
        stack.push(closing);
      }
      if (name === "iframe") continue; // its page is fetched like that of a link
      const inner = children(node);
      for (let at = inner.length - 1; at >= 0; at--) stack.push(inner[at]);
    }
    return pieces.join("");
  };

  // A number that changes when the page does, and whether its source has been read to the end. A character counts as
  // much as seven elements: so the number also changes when an element takes the place of a character.
  const measure = () => {
    let size = 0;
    const trees = [document];
    while (trees.length) {
      const tree = trees.pop();
      for (const node of all(tree, "*")) {
        size += 1;
        const shadow = shadowRoot(node);
        if (shadow) trees.push(shadow);
      }
      const top = tree === document ? root(document) : tree;
      size += 7 * ((top && textContent(top)) || "").length;
    }
    return [size, readyState(document) !== "loading"];
  };

  const scroll = () => {
    window.scrollTo(0, root(document).scrollHeight);
    return true;
  };

  const clickMore = () => {
    for (const node of all(document, "button, [role=button], a:not([href]), a[href^='#']")) {
      const label = (textContent(node) || "").trim();
      if (label.length <= 40 && MORE.test(label)) {
        node.click();
        return true;
      }
    }
    return false;
  };

  return { serialize, measure, scroll, clickMore };
})();
