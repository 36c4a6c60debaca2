/** What people see of an approval in mails and on the page of a link: the question, its evidence, and what can run after it. */
import { cellText } from "../../schemas/csv.ts";
import { visibleText } from "../../schemas/hidden-characters.ts";
import type { RemainingWork } from "./engine-port.ts";
import { formatPlan } from "./format-plan.ts";
import type { MailBlock } from "./mail/document.ts";
import { paragraph } from "./mail/document.ts";
import { mailTable } from "./mail/table.ts";
import type { ApprovalRecord, RunRecord } from "./model.ts";

/** Maximum number of rows of a table of the evidence. */
const MAX_ROWS = 50;
/** Maximum length of a single value of the evidence, in characters. */
const MAX_VALUE = 4_000;

export interface ApprovalView {
  approval: ApprovalRecord;
  run: Pick<RunRecord, "id" | "workflowId" | "actor" | "project">;
  remaining: Pick<RemainingWork, "workflows">;
}

/** What an approval is about, in a few words. */
export const approvalTitle = ({ workflowId }: Pick<ApprovalRecord, "workflowId">): string =>
  workflowId ?? "a single step";

/** @param mask removes secrets from a text */
export function approvalBlocks(
  { approval, run, remaining }: ApprovalView,
  mask: (text: string) => string,
): MailBlock[] {
  const shown = (text: string): string => visibleText(mask(text));
  return [
    ...shown(approval.message)
      .split(/\n{2,}/)
      .map(paragraph),
    ...evidenceBlocks(approval.evidence, shown),
    {
      kind: "facts",
      facts: [
        ["Workflow", approvalTitle(approval)],
        ["Run", run.id],
        ["Step", approval.item === null ? approval.stepId : `${approval.stepId}, item ${approval.item}`],
        ["Started by", run.actor.owner],
        ["Asked", inUtc(approval.createdAt)],
        ["Expires", approval.expiresAt === null ? "Never" : inUtc(approval.expiresAt)],
      ],
    },
    { kind: "lines", text: shown(formatPlan(approval.id, remaining.workflows)) },
  ];
}

/** What a mail or a chat says of a form. */
export const formNote = ({ form }: Pick<ApprovalRecord, "form">): MailBlock[] =>
  form === null
    ? []
    : [paragraph("Approving needs a form to be filled in, which the page of the approval shows.")];

/** Rows as tables, everything else as facts, in the order in which they are written. */
function evidenceBlocks(evidence: ApprovalRecord["evidence"], shown: (text: string) => string): MailBlock[] {
  const blocks: MailBlock[] = [];
  let facts: [string, string][] = [];
  const endFacts = (): void => {
    if (facts.length > 0) blocks.push({ kind: "facts", facts });
    facts = [];
  };
  for (const [name, value] of Object.entries(evidence ?? {})) {
    if (isRows(value)) {
      endFacts();
      const table = mailTable(value, { title: shown(name), maxRows: MAX_ROWS });
      blocks.push({
        ...table,
        columns: table.columns.map(shown),
        rows: table.rows.map((row) => row.map(shown)),
      });
    } else facts.push([shown(name), shorten(shown(factText(value)))]);
  }
  endFacts();
  return blocks;
}

const isRows = (value: unknown): value is object[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((row) => typeof row === "object" && row !== null && !Array.isArray(row));

const factText = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : cellText(value) || "(empty)";

const shorten = (text: string): string =>
  text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}… (${text.length} characters)` : text;

/** `2026-06-15 09:30 UTC` */
const inUtc = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
