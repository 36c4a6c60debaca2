/**
 * Writes a mail as HTML. Everything from outside is escaped here and nowhere else. The page loads nothing: no image, font, style
 * sheet or script, so opening it tells nobody. Colours have a dark variant, because many mail programs invert others badly.
 */
import type { MailBlock, MailDocument, MailInline, MailTable } from "./document.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text as HTML, also inside an attribute with quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

const MONOSPACE = "font:14px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace";
const BUTTON =
  "display:inline-block;padding:12px 20px;border-radius:6px;background:#1f5fbf;color:#fff;text-decoration:none;font-weight:600";
const CELL = "padding:6px 10px;border-bottom:1px solid #d5d9de;vertical-align:top;overflow-wrap:anywhere";
const SOFT = "color:#555;font-size:14px";

/** Programs that keep no style sheet show the light colours, which are set on the elements themselves. */
const STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
body,.page{background:#17191c!important;color:#e6e6e6!important}
.soft{color:#b3b8bf!important}
.cell{border-color:#454a52!important}
.box{background:#24272c!important;color:#e6e6e6!important}
a.text{color:#8ab4f8!important}
}`;

/** Writes the attribute with the style of an element: mail programs ignore style sheets, a page with a strict policy this one. */
type StyleAttribute = (css: string) => string;

export function mailHtml({ subject, blocks }: MailDocument): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${STYLE}</style>
</head>
<body style="margin:0;padding:24px;background:#fff;color:#1a1a1a;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div class="page" style="max-width:640px;margin:0 auto">
${writer((css) => ` style="${css}"`)(blocks)}
</div>
</body>
</html>
`;
}

/** Writes blocks for a page that has a style sheet of its own: elements with the classes `soft`, `cell` and `box`. */
export const plainBlocksHtml = (blocks: readonly MailBlock[]): string => writer(() => "")(blocks);

function writer(style: StyleAttribute): (blocks: readonly MailBlock[]) => string {
  const writeAll = (blocks: readonly MailBlock[]): string => blocks.map(writeBlock).join("\n");
  const inline = (content: readonly MailInline[]): string =>
    content.map((part) => partHtml(part, style)).join("");

  function writeBlock(block: MailBlock): string {
    switch (block.kind) {
      case "paragraph":
        return `<p${style("margin:0 0 16px;overflow-wrap:anywhere")}>${inline(block.content)}</p>`;
      case "heading": {
        const size = { 1: 22, 2: 19, 3: 17 }[block.level];
        const css = `margin:24px 0 12px;font-size:${size}px;line-height:1.3`;
        return `<h${block.level}${style(css)}>${inline(block.content)}</h${block.level}>`;
      }
      case "button": {
        const url = escapeHtml(block.url);
        return (
          `<p${style("margin:28px 0 8px")}><a href="${url}"${style(BUTTON)}>${escapeHtml(block.label)}</a></p>\n` +
          `<p class="soft"${style(`margin:0 0 20px;overflow-wrap:anywhere;${SOFT}`)}>${url}</p>`
        );
      }
      case "list": {
        const items = block.items.map((item) => `<li${style("margin:0 0 6px")}>${writeItem(item)}</li>`);
        const start = block.ordered && block.start !== 1 ? ` start="${block.start}"` : "";
        const tag = block.ordered ? "ol" : "ul";
        return `<${tag}${start}${style("margin:0 0 16px;padding-left:24px")}>\n${items.join("\n")}\n</${tag}>`;
      }
      case "quote": {
        const css = "margin:0 0 16px;padding:0 0 0 14px;border-left:3px solid #d5d9de;color:#555";
        return `<blockquote class="soft cell"${style(css)}>${writeAll(block.content)}</blockquote>`;
      }
      case "lines": {
        const css = `margin:0 0 16px;padding:12px;border-radius:6px;background:#f4f5f7;white-space:pre-wrap;overflow-wrap:anywhere;${MONOSPACE}`;
        return `<pre class="box"${style(css)}>${escapeHtml(block.text)}</pre>`;
      }
      case "facts":
        return `<dl${style("margin:0 0 16px")}>\n${block.facts.map(writeFact).join("\n")}\n</dl>`;
      case "rule":
        return `<hr class="cell"${style("margin:24px 0;border:0;border-top:1px solid #d5d9de")}>`;
      case "table":
        return tableHtml(block, style);
    }
  }

  /** A list item of one paragraph has no margins of its own. */
  const writeItem = (blocks: readonly MailBlock[]): string =>
    blocks.length === 1 && blocks[0]!.kind === "paragraph" ? inline(blocks[0]!.content) : writeAll(blocks);

  const writeFact = ([name, value]: readonly [string, string]): string =>
    `<dt class="soft"${style(`margin:0;${SOFT}`)}>${escapeHtml(name)}</dt>` +
    `<dd${style("margin:0 0 8px;white-space:pre-line;overflow-wrap:anywhere")}>${escapeHtml(value)}</dd>`;

  return writeAll;
}

function tableHtml({ title, columns, rows, numeric = [], note }: MailTable, style: StyleAttribute): string {
  const css = (index: number): string =>
    style(`${CELL};text-align:${numeric[index] === true ? "right" : "left"}`);
  const type = (index: number): string => (numeric[index] === true ? "cell number" : "cell");
  const head = columns.map(
    (name, index) => `<th class="${type(index)}" scope="col"${css(index)}>${escapeHtml(name)}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.map(
      (cell, index) => `<td class="${type(index)}"${css(index)}>${escapeHtml(cell)}</td>`,
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  const caption =
    title === undefined
      ? ""
      : `<caption${style("padding:0 0 6px;text-align:left;font-weight:600")}>${escapeHtml(title)}</caption>`;
  const after =
    note === undefined ? "" : `\n<p class="soft"${style(`margin:0 0 16px;${SOFT}`)}>${escapeHtml(note)}</p>`;
  const margin = note === undefined ? 16 : 6;
  return `<table${style(`margin:0 0 ${margin}px;border-collapse:collapse;font-size:15px`)}>${caption}
<thead><tr>${head.join("")}</tr></thead>
<tbody>
${body.join("\n")}
</tbody>
</table>${after}`;
}

function partHtml(part: MailInline, style: StyleAttribute): string {
  if (typeof part === "string") return escapeHtml(part).replaceAll("\n", "<br>");
  const inline = (content: readonly MailInline[]): string =>
    content.map((inner) => partHtml(inner, style)).join("");
  switch (part.kind) {
    case "strong":
      return `<strong>${inline(part.content)}</strong>`;
    case "emphasis":
      return `<em>${inline(part.content)}</em>`;
    case "code": {
      const css = `padding:1px 4px;border-radius:4px;background:#f4f5f7;${MONOSPACE}`;
      return `<code class="box"${style(css)}>${escapeHtml(part.text)}</code>`;
    }
    case "break":
      return "<br>";
    case "link": {
      const url = escapeHtml(part.url);
      const link = `<a class="text" href="${url}"${style("color:#1f5fbf")}>${escapeHtml(part.label)}</a>`;
      return isShown(part) ? link : `${link} (${url})`;
    }
  }
}

/** Whether the label of a link shows its address already. */
export const isShown = ({ label, url }: { label: string; url: string }): boolean =>
  label === url || `mailto:${label}` === url;
