// Returns what is wrong with the page, as sentences.
const wrong = [];
const expect = (holds, what) => { if (!holds) wrong.push(what); };
const all = (selector) => [...document.querySelectorAll(selector)];

expect(document.documentElement.lang === "en", "the page names no language");
expect(all("h1").length === 1, "there is not exactly one h1");
for (const landmark of ["header", "nav", "main", "footer"]) {
  expect(all(landmark).length === 1, `there is not exactly one ${landmark}`);
}
let level = 0;
for (const heading of all("h1, h2, h3, h4, h5, h6")) {
  const own = Number(heading.tagName[1]);
  expect(own <= level + 1, `the heading "${heading.textContent.slice(0, 40)}" skips a level`);
  level = own;
}
for (const field of all("input, select, textarea")) {
  expect(field.labels.length > 0, `a field has no label: ${field.outerHTML.slice(0, 80)}`);
}
for (const named of all("button, a, summary, legend, th")) {
  expect(named.textContent.trim() !== "", `nothing to read in ${named.outerHTML.slice(0, 80)}`);
}
const ids = all("[id]").map((element) => element.id);
expect(new Set(ids).size === ids.length, "an id stands twice");
for (const link of all('a[href^="#"]')) {
  const goal = document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
  expect(goal !== null, `a link leads nowhere: ${link.getAttribute("href")}`);
}
expect(all("img, iframe, object, embed, base, form[action]").length === 0, "the page holds an element that it never makes");
const loaded = performance.getEntriesByType("resource").map((one) => new URL(one.name).pathname);
if (document.body.matches(".site")) {
  expect(all("script").length === 0, "there is a script");
  expect(loaded.join() === "/style.css", `the page loads ${loaded.join()}`);
  expect(innerWidth > 700 || all(".wide").every((one) => one.scrollWidth <= one.clientWidth), "a table has to be moved aside on a phone");
} else {
  expect(all("[role=status][aria-live=polite]").length === 1, "the count is not announced");
  expect(all("script").length === 1, "there is another script");
  expect(loaded.length === 0, "the page loads something");
}

const width = document.documentElement.clientWidth;
expect(document.documentElement.scrollWidth <= width, `the page is wider than its window: ${document.documentElement.scrollWidth} of ${width}`);
// What a reader sees: nothing inside of what is closed, which is most of a page.
const rendered = [];
const gather = (element) => {
  if (element.matches("svg, .skip, script") || element.hidden) return;
  rendered.push(element);
  const closed = element.matches("details:not([open])");
  for (const child of element.children) if (!closed || child.matches("summary")) gather(child);
};
gather(document.body);
for (const element of rendered) {
  const box = element.getBoundingClientRect();
  const hidden = element.closest("thead, .target, .chip input, .wide");
  if (box.width > 0 && hidden === null && box.right > width + 1) {
    wrong.push(`${element.tagName} ${element.className} sticks out to ${Math.round(box.right)} of ${width}`);
    break;
  }
}

// The contrast of text and what lies behind it, as WCAG 2 computes it.
const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
const light = (color) => {
  const [r, g, b] = parse(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let at = element; at !== null; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (parse(color)[3] !== 0) return color;
  }
  return "rgb(255, 255, 255)";
};
const seen = new Set();
for (const element of rendered) {
  if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
  const style = getComputedStyle(element);
  const pair = `${style.color} on ${behind(element)}`;
  if (seen.has(pair) || element.getClientRects().length === 0) continue;
  seen.add(pair);
  const [front, back] = [light(style.color), light(behind(element))];
  const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  expect(ratio >= 4.5, `contrast ${ratio.toFixed(2)} of ${element.tagName} ${element.className}: ${pair}`);
}
return wrong;
