/** The page of a link that decides: the evidence, what can run, and a form without scripts. */
import type { ServerResponse } from "node:http";
import type { DecisionPreview } from "./preview.ts";
import { approvalBlocks, approvalTitle } from "../../core/approval-document.ts";
import { escapeHtml, plainBlocksHtml } from "../../core/mail/html.ts";
import { paragraph } from "../../core/mail/document.ts";
import { sendPlainPage } from "../web/plain-page.ts";
import { type FlatField, formFields } from "./form.ts";

const STYLE = `body { background: light-dark(#fff, #17191c); color: light-dark(#1a1a1a, #e6e6e6) }
main { max-width: 44rem; margin: 2rem auto }
h1 { overflow-wrap: anywhere }
p, dd { overflow-wrap: anywhere; white-space: pre-line }
.soft { color: light-dark(#555, #b3b8bf); font-size: .9rem }
.scroll { overflow-x: auto; margin: 0 0 1rem }
table { border-collapse: collapse; margin: 0 0 .5rem }
caption { text-align: left; font-weight: 600; padding: 0 0 .4rem }
.cell { border-bottom: 1px solid light-dark(#d5d9de, #454a52); padding: .4rem .7rem; text-align: left; vertical-align: top }
.number { text-align: right }
dl { margin: 0 0 1rem } dt { margin: 0 } dd { margin: 0 0 .5rem }
.box { background: light-dark(#f4f5f7, #24272c); border-radius: .4rem; padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere }
form { border-top: 1px solid light-dark(#d5d9de, #454a52); margin: 1.5rem 0 0; padding: 1rem 0 0 }
label { display: block; font-weight: 600 }
input, textarea, select { box-sizing: border-box; font: inherit; margin: .3rem 0 1rem; padding: .5rem; width: 100% }
input[type=checkbox] { margin: 0 .5rem 1rem 0; width: auto } .check { display: inline }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem }
button { border: 1px solid light-dark(#1a6b3c, #7fd6a3); border-radius: .4rem; cursor: pointer; font: inherit; font-weight: 600; min-height: 2.75rem; padding: .5rem 1.5rem }
.approve { background: #1a6b3c; color: #fff } .decline { background: transparent; border-color: light-dark(#a61b1b, #ff9d9d); color: light-dark(#a61b1b, #ff9d9d) }
[role=alert] { border-left: .25rem solid #b26a00; padding: 0 0 0 .8rem }`;

/** The page with which somebody decides. @param error what was wrong with the form that was sent */
export function sendDecisionPage(
  res: ServerResponse,
  preview: DecisionPreview,
  {
    recipient,
    pageUrl,
    mask,
    error,
  }: { recipient: string; pageUrl: string; mask: (text: string) => string; error?: string },
): void {
  const { approval, remaining } = preview;
  const { fields, unsupported } = formFields(approval.form);
  const blocks = approvalBlocks(preview, mask).map((block) =>
    block.kind === "table"
      ? `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(block.title ?? "Table")}">${plainBlocksHtml([block])}</div>`
      : plainBlocksHtml([block]),
  );
  const alert = error === undefined ? "" : `<p role="alert">${escapeHtml(error)}</p>`;
  const signIn = `<p class="soft">You decide as ${escapeHtml(recipient)}, to whom the link was sent. It works once. The decision is recorded with the address and browser that it comes from. Not you? Close the page. <a href="${escapeHtml(pageUrl)}">Sign in instead</a></p>`;
  const approve =
    unsupported.length === 0
      ? `<button class="approve" name="decision" value="approve">Approve</button>`
      : "";
  const note =
    unsupported.length === 0
      ? ""
      : `<p>Approving needs ${escapeHtml(unsupported.join(", "))}, which this page can't ask for: sign in to approve.</p>`;
  const form = `<form method="post">
<input type="hidden" name="plan_digest" value="${escapeHtml(remaining.digest)}">
${fields.map(fieldHtml).join("\n")}
<label for="comment">Comment (optional)</label>
<textarea id="comment" name="comment" rows="3" maxlength="2000"></textarea>
${note}<div class="buttons">${approve}<button class="decline" name="decision" value="decline" formnovalidate>Decline</button></div>
</form>`;
  send(
    res,
    200,
    `Approval for ${approvalTitle(approval)}`,
    `${alert}${blocks.join("\n")}\n${form}\n${signIn}`,
  );
}

/** A page that says what has happened, or why nothing did. */
export const sendNotice = (
  res: ServerResponse,
  status: number,
  title: string,
  text: string,
  url?: string,
): void =>
  send(
    res,
    status,
    title,
    plainBlocksHtml([paragraph(text)]) +
      (url === undefined ? "" : `<p><a href="${escapeHtml(url)}">Open the approval in Millrace</a></p>`),
  );

function send(res: ServerResponse, status: number, title: string, body: string): void {
  res.setHeader("Cache-Control", "no-store");
  res.setHeader("X-Robots-Tag", "noindex");
  sendPlainPage(res, status, escapeHtml(title), body, { style: STYLE, formAction: "'self'" });
}

function fieldHtml({
  name,
  label,
  description,
  type,
  required,
  choices,
  value,
  attributes,
}: FlatField): string {
  const id = escapeHtml(`form_${name}`);
  const hint = description === undefined ? "" : `<span class="soft"> ${escapeHtml(description)}</span>`;
  const text = `${escapeHtml(label)}${required ? "" : " (optional)"}`;
  const need = required ? " required" : "";
  if (type === "boolean")
    return `<input type="checkbox" id="${id}" name="${id}" value="true"${value === "true" ? " checked" : ""}><label class="check" for="${id}">${escapeHtml(label)}</label>${hint}<br>`;
  if (choices !== undefined) {
    const options = choices.map(
      (choice) => `<option${choice === value ? " selected" : ""}>${escapeHtml(choice)}</option>`,
    );
    const empty = `<option value="">${required ? "Choose…" : "None"}</option>`;
    return `<label for="${id}">${text}</label>${hint}<select id="${id}" name="${id}"${need}>${empty}${options.join("")}</select>`;
  }
  const kind = type === "string" ? "text" : "number";
  const more = Object.entries(attributes).map(([key, limit]) => ` ${key}="${escapeHtml(String(limit))}"`);
  return `<label for="${id}">${text}</label>${hint}<input type="${kind}" id="${id}" name="${id}" value="${escapeHtml(value)}"${more.join("")}${need}>`;
}
