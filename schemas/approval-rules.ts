/** What several people do with an approval: their decisions, and what happens to it meanwhile. */
import { z } from "zod";
import type { Role } from "./user.ts";
import { timestamp } from "./text.ts";

/** The roles that an approval can be assigned to: viewers decide nothing. */
export const ASSIGNED_ROLES = ["editor", "admin"] as const satisfies readonly Role[];
export type AssignedRole = (typeof ASSIGNED_ROLES)[number];

export const isAssignedRole = (assignee: string): assignee is AssignedRole =>
  (ASSIGNED_ROLES as readonly string[]).includes(assignee);

/** Maximum number of addresses and roles of one approval. */
export const MAX_ASSIGNEES = 50;
/** Maximum number of people who must approve. */
export const MAX_REQUIRED = 20;
/** Maximum number of reminders of one approval. */
export const MAX_REMINDERS = 50;
/** Maximum number of times that one approval is passed on. */
export const MAX_DELEGATIONS = 20;
/** Maximum number of escalations of one approval. */
export const MAX_ESCALATIONS = 10;

export const ApprovalEventKind = z.enum(["asked", "reminded", "escalated", "delegated"]).meta({
  description:
    "`asked`: the assignees were notified. `reminded`: those who have not decided were notified again. `escalated`: others were added. `delegated`: an assignee passed it on.",
  example: "escalated",
});
export type ApprovalEventKind = z.infer<typeof ApprovalEventKind>;

export const PersonalDecision = z
  .strictObject({
    by: z.string().meta({ example: "ann@example.com" }),
    for: z.string().optional().meta({
      description:
        "The assignee in whose place the person decided: as a substitute, or because it was passed on.",
      example: "ben@example.com",
    }),
    override: z.literal(true).optional().meta({ description: "An admin who is no assignee decided." }),
    approved: z.boolean(),
    comment: z.string().nullable().meta({ example: "Looks right." }),
    at: timestamp,
    outdated: z.literal(true).optional().meta({
      description:
        "It was made for a plan that has changed since, so it does not count. The person can decide again.",
    }),
  })
  .meta({ id: "PersonalDecision", description: "What one person decided." });
export type PersonalDecision = z.infer<typeof PersonalDecision>;

export const ApprovalEvent = z
  .strictObject({
    event: ApprovalEventKind,
    at: timestamp,
    by: z.string().optional().meta({ description: "Who passed it on.", example: "ben@example.com" }),
    to: z.array(z.string()).meta({ description: "Addresses and roles.", example: ["ann@example.com"] }),
    note: z.string().optional().meta({ example: "I am travelling." }),
    mailed: z
      .array(z.string())
      .optional()
      .meta({ description: "Who was sent a mail about it.", example: ["ann@example.com"] }),
    not_mailed: z.enum(["no_mail_server", "pending", "nobody"]).optional().meta({
      description:
        "Why nobody was mailed, if so. `no_mail_server`: none was configured. `pending`: it has not been sent yet. `nobody`: no mail could be sent, or nobody of `to` has an address and may decide.",
    }),
  })
  .meta({ id: "ApprovalEvent", description: "Something that happened to an approval before its end." });
export type ApprovalEvent = z.infer<typeof ApprovalEvent>;

export const ApprovalRight = z
  .strictObject({
    can_decide: z.boolean(),
    reason: z.string().optional().meta({
      description: "Why you can't.",
      example: "You have decided already.",
    }),
    for: z
      .string()
      .optional()
      .meta({ description: "In whose place you would decide.", example: "ben@example.com" }),
    override: z.literal(true).optional().meta({
      description: "You are no assignee, but an admin: you can decide with `override`.",
    }),
    assigned: z.boolean().meta({ description: "Whether it is assigned to you." }),
  })
  .meta({ id: "ApprovalRight", description: "Whether you can decide." });
export type ApprovalRight = z.infer<typeof ApprovalRight>;
