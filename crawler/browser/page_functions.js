// What is asked of a rendered page, in a world of its own that the scripts of the page do not reach.
globalThis.winnow = (() => {
  const words = (text) => new Set(text.split(" "));
  const VOID = words("area base br col embed hr img input link meta source track wbr");
  const LEFT_OUT = words("style noscript template object canvas iframe frame audio video");
  const DATA = /^application\/(ld\+json|json-ld)/i;
  const MORE = new RegExp(
    "^(load|show|view|see|read)( \\w+)? more\\b|^more (posts|results|articles|news|stories|items)|^(weiterlesen|mehr (laden|anzeigen))" +
      "|^(voir|afficher|charger) plus|^(cargar|ver|mostrar) más|^(加载|查看|显示|展开|点击加载|載入|顯示)(更多|全文|全部)|^(阅读|展开)全文|^更多$|^もっと(見る|読む)|^показать ещ",
    "i",
  );
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const quote = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");

  // What a reader sees as the content of a node: a shadow tree in place of the children, in a slot what is put into it.
  const children = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.localName === "slot") {
      const assigned = node.assignedNodes();
      if (assigned.length) return assigned;
    }
    return node.childNodes;
  };

  const isLeftOut = (node) =>
    LEFT_OUT.has(node.localName) || (node.localName === "script" && !DATA.test(node.getAttribute("type") || ""));

  const opening = (node) => {
    let tag = "<" + node.localName;
    for (const { name, value } of node.attributes) {
      if (!name.startsWith("on") && /^[\w:.@-]+$/.test(name)) tag += ` ${name}="${quote(value)}"`;
    }
    return tag + ">";
  };

  // The page as HTML without its scripts, of at most so many characters; deep trees need a stack of our own.
  const serialize = (most) => {
    const pieces = ["<!DOCTYPE html>"];
    const stack = [document.documentElement];
    let left = most;
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
      if (node.nodeType === Node.TEXT_NODE) {
        const isData = node.parentNode && node.parentNode.localName === "script";
        put(isData ? node.data.replace(/<\//g, "<\\/") : escape(node.data));
        continue;
      }
      if (node.nodeType !== Node.ELEMENT_NODE || isLeftOut(node)) continue;
      const isShown = node.localName !== "slot";
      if (isShown && !put(opening(node))) continue;
      if (node.localName === "head" && !document.querySelector("base[href]")) {
        put(`<base href="${quote(document.baseURI)}">`); // scripts may have changed the address
      }
      if (VOID.has(node.localName)) continue;
      if (isShown) {
        const closing = `</${node.localName}>`;
        left -= closing.length;
        stack.push(closing);
      }
      const inner = children(node);
      for (let at = inner.length - 1; at >= 0; at--) stack.push(inner[at]);
    }
    return pieces.join("");
  };

  // A number that changes when the page does, and whether its source has been read to the end.
  const measure = () => {
    let size = 0;
    const roots = [document];
    while (roots.length) {
      const root = roots.pop();
      for (const node of root.querySelectorAll("*")) {
        size += 1;
        if (node.shadowRoot) roots.push(node.shadowRoot);
      }
      size += 7 * ((root.documentElement || root).textContent || "").length;
    }
    return [size, document.readyState !== "loading"];
  };

  const scroll = () => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return true;
  };

  const clickMore = () => {
    for (const node of document.querySelectorAll("button, [role=button], a:not([href]), a[href^='#']")) {
      const label = (node.textContent || "").trim();
      if (label.length <= 40 && MORE.test(label)) {
        node.click();
        return true;
      }
    }
    return false;
  };

  return { serialize, measure, scroll, clickMore };
})();
