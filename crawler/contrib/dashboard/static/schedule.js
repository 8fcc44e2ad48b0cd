// Explains a cron line while it is typed.

const [line, zone, said] = ["f-cron", "f-timezone", "cron-words"].map((id) => document.getElementById(id));
const language = document.documentElement.lang;
let timer = 0;
let requests = 0; // how often an explanation was requested

async function tell() {
  const number = ++requests;
  if (!line.value.trim()) { said.textContent = ""; return; }
  const fields = new URLSearchParams({ cron: line.value, timezone: zone.value || "UTC", lang: language });
  try {
    const answer = await fetch(`${said.dataset.from}?${fields}`);
    const found = await answer.json();
    if (number !== requests) return; // the line was changed meanwhile
    const times = (found.next || []).map((at) => new Date(1000 * at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }));
    said.classList.toggle("bad", Boolean(found.error));
    said.textContent = found.error || [found.words, times.join(" · ")].filter(Boolean).join(": ");
  } catch { /* the dashboard was ended: it may come back */ }
}

for (const field of [line, zone]) {
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(tell, 250); });
}
if (!line.hasAttribute("aria-invalid")) tell();
