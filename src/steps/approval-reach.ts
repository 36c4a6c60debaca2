/** The fields of an approval that say how it reaches people: its evidence, links that decide, and chats. */
import { z } from "zod";
import { text } from "../../schemas/text.ts";
import type { Chats } from "../core/chat-port.ts";
import type { Mailer, PartialIssue } from "../core/connections.ts";
import { formatPath } from "../core/issues.ts";
import { exceedsJsonSize } from "../core/json-schema/json-size.ts";
import { StepError } from "../core/step-errors.ts";
import type { StepCheckContext, UnresolvedStep } from "../core/step-type.ts";
import { writtenAssignees } from "../core/written-assignees.ts";

/** Maximum size of the evidence, in characters of JSON. */
const MAX_EVIDENCE = 256 * 1024;

export const evidenceField = z
  .record(text(80, 1), z.unknown())
  .refine((values) => Object.keys(values).length <= 20, { error: "must have at most 20 values" })
  .optional()
  .meta({
    description:
      "The values to decide on, by name: shown in the mail, on the page of the approval, and in chats. Rows become a table.",
    example: { amount: "${{ inputs.amount }}", invoices: "${{ steps.open.rows }}" },
  });

export const chatField = z
  .array(text(200, 1))
  .max(5)
  .default([])
  .meta({
    description:
      "Names of chats of the configuration that the question is posted to. In Slack it has buttons: who presses one must be allowed to decide, as everywhere.",
    example: ["finance"],
  });

export const decideByLinkField = z
  .boolean()
  .default(false)
  .meta({
    description:
      "Whether each assignee gets a link by mail that decides once, without signing in. Addresses without an account get one only " +
      "where the definition names them itself, not through an expression. Anyone who has the mail can use it: see the security model.",
    example: true,
  });

/** The chats that a definition names. */
export const chatsOf = ({ chat }: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Array.isArray(chat) ? (chat as unknown[]) : [];

/** What the description of an approval says of its chats. */
export const chatWords = (chats: readonly string[]): string =>
  chats.length === 0
    ? ""
    : `; posts the question to the chat${chats.length === 1 ? "" : "s"} ${chats.join(", ")}, where people may decide`;

/** @throws StepError input_invalid */
export function assertEvidence(evidence: unknown): void {
  if (evidence === undefined || !exceedsJsonSize(evidence, MAX_EVIDENCE)) return;
  throw new StepError("input_invalid", "The evidence is larger than 256 KiB.", {
    fix: "Name only the values that the decision rests on; the interface shows all outputs of the run.",
  });
}

/** Finds chats that do not exist, and links that reach nobody. */
export const reachIssues = (
  step: UnresolvedStep,
  { connections, hasConnections }: Pick<StepCheckContext, "connections" | "hasConnections">,
): PartialIssue[] => [
  ...(hasConnections ? chatIssues(step, connections.chats) : []),
  ...linkIssues(step, hasConnections ? connections.mailer : null),
];

function chatIssues(step: UnresolvedStep, chats: Pick<Chats, "list">): PartialIssue[] {
  const known = chats.list();
  return chatsOf(step).flatMap((name, index): PartialIssue[] => {
    const path = ["chat", index];
    const found = known.find((entry) => entry.name === name);
    if (found === undefined)
      return [
        {
          path,
          code: "unknown_chat",
          message: `is not a chat of the configuration, got ${JSON.stringify(name)}`,
          allowed: known.map((entry) => entry.name),
          fix: "Use one of these, or ask the operator to add it to chats in the configuration.",
        },
      ];
    const { unavailableReason: reason } = found;
    return reason === null
      ? []
      : [{ path, code: "unusable", severity: "warning", message: `is not posted: ${reason}` }];
  });
}

/** A link that decides reaches nobody without a mail. */
function linkIssues(step: UnresolvedStep, mailer: Mailer | null): PartialIssue[] {
  if (step["decide_by_link"] !== true) return [];
  const { assignees } = step;
  const path = ["decide_by_link"];
  if (assignees === undefined || (Array.isArray(assignees) && assignees.length === 0))
    return [
      {
        path,
        code: "missing",
        message: "needs assignees, because the link is sent to each of them",
        fix: "Add assignees with the mail addresses of those who decide, or leave decide_by_link out.",
      },
    ];
  const reason = mailer?.unavailableReason() ?? null;
  if (reason !== null)
    return [{ path, code: "unusable", severity: "warning", message: `sends no link: ${reason}` }];
  const [computed] = writtenAssignees(step).computed;
  return computed === undefined
    ? []
    : [
        {
          path,
          code: "needs_account",
          severity: "warning",
          message: `sends links that decide to addresses of ${formatPath(computed.path)} only if they have an account, because an expression gives them`,
          fix: "Write the addresses of people without an account as they are, or invite those people (POST /users).",
        },
      ];
}
