/** Pages of the server itself, outside of the web interface: a title and a few sentences. */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";

const STYLE = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem }
a { color: light-dark(#0b7285, #66d9e8) }`;

/**
 * Sends a page that loads no other resource.
 * @param title HTML, as `body`: texts of others go through `escapeHtml` of core/mail/html.ts
 * @param options.style rules after those of every page
 * @param options.formAction where its forms may send
 */
export function sendPlainPage(
  res: ServerResponse,
  status: number,
  title: string,
  body: string,
  { style = "", formAction = "'none'" }: { style?: string; formAction?: "'none'" | "'self'" } = {},
): void {
  const nonce = randomBytes(16).toString("base64");
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style nonce="${nonce}">${STYLE}${style}</style>`;
  res.statusCode = status;
  res.setHeader("Content-Type", "text/html; charset=utf-8");
  res.setHeader(
    "Content-Security-Policy",
    `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'; base-uri 'none'; form-action ${formAction}`,
  );
  res.end(
    `<!doctype html><html lang="en"><head>${head}</head><body><main><h1>${title}</h1>${body}</main></body></html>`,
  );
}
