/** The fields of an `approval` step that say who decides, how many, and what happens while nobody does. */
import { z } from "zod";
import {
  ASSIGNED_ROLES,
  isAssignedRole,
  MAX_ASSIGNEES,
  MAX_ESCALATIONS,
  MAX_REMINDERS,
  MAX_REQUIRED,
} from "../../schemas/approval-rules.ts";
import { Duration } from "../../schemas/field-values.ts";
import { canonicalAddress, mailAddressIssue } from "../../schemas/mail-address.ts";
import { text } from "../../schemas/text.ts";
import type { ApprovalRules } from "../core/approval-rules.ts";
import { MINUTE } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { StepError } from "../core/step-errors.ts";

/** The shortest time until a reminder, and between two of them. */
const MIN_REMINDER = "1m";

/** An address or a role: the checker and `flatAssignees` say which words are neither, with a near match. */
const Assignee = text(320, 1);

/** One of them, or a list; an expression in a list may give a list. */
const Assignees = z.union([Assignee, z.array(z.union([Assignee, z.array(Assignee)])).max(MAX_ASSIGNEES)]);

const Reminder = Duration.refine((value) => durationMs(value) >= MINUTE, {
  error: `must be at least ${MIN_REMINDER}`,
});

const EscalationFields = z.strictObject({
  after: Duration.meta({ description: "How long after the question.", example: "8h" }),
  to: Assignees.meta({ description: "Who can decide as well from then on.", example: ["admin"] }),
});

export const assigneesField = Assignees.optional().meta({
  description:
    "The only people who can decide: mail addresses, and roles in the project (editor, admin; a higher role has the lower one). They get a mail. Left out, everyone with the scope approve.",
  example: ["ada@example.com", "admin"],
});

export const requiredField = z
  .int()
  .min(1)
  .max(MAX_REQUIRED)
  .optional()
  .meta({ description: "How many different people must approve; 1 if left out.", example: 2 });

export const requiredDeclinesField = z
  .int()
  .min(1)
  .max(MAX_REQUIRED)
  .optional()
  .meta({ description: "How many must decline to decline it; 1 if left out.", example: 1 });

export const remindField = z
  .union([Reminder, z.array(Reminder).min(1).max(MAX_REMINDERS)])
  .optional()
  .meta({
    description: `Mails those who have not decided again: each time after this duration (${MAX_REMINDERS} times at most), or after each of several durations since the question.`,
    example: "4h",
  });

export const escalateField = z
  .union([EscalationFields, z.array(EscalationFields).min(1).max(MAX_ESCALATIONS)])
  .optional()
  .meta({
    description: "Lets others decide as well when nobody has decided after a time.",
    example: { after: "8h", to: ["admin"] },
  });

type Escalations = z.output<typeof escalateField>;
type WrittenAssignees = z.output<typeof Assignees>;

/** The addresses and roles, each once. Roles are in lower case. @throws StepError input_invalid */
export function flatAssignees(written: WrittenAssignees | undefined, field = "assignees"): string[] {
  const found = new Map<string, string>();
  for (const assignee of [written ?? []].flat(2)) {
    const key = canonicalAddress(assignee);
    const issue = isAssignedRole(key) ? undefined : mailAddressIssue(assignee);
    if (issue !== undefined)
      throw new StepError(
        "input_invalid",
        `${field} must have mail addresses and roles (${ASSIGNED_ROLES.join(", ")}), got ${JSON.stringify(assignee.slice(0, 100))}: it ${issue.message}.`,
        { fix: issue.fix },
      );
    if (!found.has(key)) found.set(key, isAssignedRole(key) ? key : assignee);
  }
  return [...found.values()];
}

/** @throws StepError input_invalid */
export function rulesOf({
  required = 1,
  required_declines: requiredDeclines = 1,
  remind,
  escalate,
}: {
  required?: number | undefined;
  required_declines?: number | undefined;
  remind?: string | string[] | undefined;
  escalate?: Escalations;
}): ApprovalRules {
  return {
    required,
    requiredDeclines,
    remind: remindersOf(remind),
    escalate: [escalate ?? []]
      .flat()
      .map(({ after, to }) => ({
        after: durationMs(after),
        to: named(flatAssignees(to, "escalate.to"), "escalate.to"),
      }))
      .toSorted((a, b) => a.after - b.after),
  };
}

function remindersOf(remind: string | string[] | undefined): ApprovalRules["remind"] {
  if (remind === undefined) return null;
  if (typeof remind === "string") return { every: durationMs(remind) };
  return { after: [...new Set(remind.map((duration) => durationMs(duration)))].toSorted((a, b) => a - b) };
}

/** @throws StepError input_invalid when an expression names nobody: everyone could decide then, which the author did not mean */
export function named(assignees: string[], field: string): string[] {
  if (assignees.length > 0) return assignees;
  throw new StepError("input_invalid", `${field} names nobody, so it is not clear who may decide.`, {
    fix: `Give ${field} an address or a role (${ASSIGNED_ROLES.join(", ")}), such as a default with ??.`,
  });
}
