/** Approvals as the API returns them, with what can still run after the decision. */
import { z } from "zod";
import { ApprovalEvent, ApprovalRight, PersonalDecision } from "./approval-rules.ts";
import { EffectKind } from "./effect-kind.ts";
import { ProjectField } from "./project.ts";
import { ApprovalStatus } from "./run.ts";
import { text, timestamp } from "./text.ts";

export const ApprovalId = text(100, 1).meta({
  description: "The approval's id, from list_approvals or get_run.",
  example: "apr_5pXq0aZr4mXw1kq0Zr4mXw",
});

/** Which pending approvals a caller asks for, with whether they can decide each. */
export const ForMe = z.enum(["all", "assigned", "decidable"]).meta({
  description:
    "Pending ones with `you` and `plan`: `all`, those `assigned` to you, or those that you may decide (`decidable`).",
  example: "assigned",
});
export type ForMe = z.infer<typeof ForMe>;

/** A step that can still run after a decision. */
const PlannedStep = z
  .strictObject({
    id: z.string().meta({ example: "send" }),
    type: z.string().meta({ example: "email" }),
    effect: z.string().meta({
      description: "What it touches outside of the run; expressions are shown as written.",
      example: "Sends mail to team@example.com",
    }),
    does: EffectKind.optional().meta({
      description: "The same as data; left out in plans of older releases.",
    }),
    targets: z
      .array(z.string())
      .optional()
      .meta({
        description: "What it reads, or to whom it writes or sends; expressions as written.",
        example: ["team@example.com"],
      }),
    if: z.string().optional().meta({ description: "Its condition.", example: "steps.ask.approved" }),
    undo: z
      .literal(true)
      .optional()
      .meta({ description: "It undoes the step with this id when the run does not succeed." }),
    lookup: z.literal(true).optional().meta({
      description:
        "It finds out whether the effect of the step with this id happened, if that is interrupted.",
    }),
  })
  .meta({ id: "PlannedStep", description: "A step that can still run." });

export const PlannedWorkflow = z
  .strictObject({
    workflow_id: z
      .string()
      .nullable()
      .meta({ description: "Null: a single step, or hidden.", example: "weekly-revenue" }),
    version: z
      .int()
      .nullable()
      .meta({ description: "The version that runs; null if there is none.", example: 3 }),
    role: z.enum(["run", "parent", "called", "reviewed", "planned"]).meta({
      description:
        "`run`: the rest of the run that asks. `parent`: the rest of a run that waits for it. `called`: all of a workflow that one of them can call. `reviewed`: all of the version that a change request is about. `planned`: all of the version that `plan_workflow` is about.",
    }),
    run_id: z.string().optional().meta({ example: "run_8dkq2m0sfj3a" }),
    patched: z
      .literal(true)
      .optional()
      .meta({ description: "The run follows a changed definition of its own." }),
    on_failure: z
      .string()
      .optional()
      .meta({ description: "The workflow that runs if it fails.", example: "tell-the-team" }),
    foreign: z.literal(true).optional().meta({
      description: "Another project owns it and vouches for what it does: its steps are not shown.",
    }),
    steps: z.array(PlannedStep),
  })
  .meta({ id: "PlannedWorkflow", description: "A workflow, or the rest of a run, that can still run." });

export const PlanDigest = text(100, 1).meta({
  description: "The digest of the plan that the decision is for. Refused if it is no longer the plan.",
  example: "q0aZr4mXw1kq0Zr4mXw5pX",
});

export const ApprovalPlan = z
  .strictObject({
    digest: z.string().meta({
      description: "Identifies everything that can still run, with the configuration of what it connects to.",
      example: "q0aZr4mXw1kq0Zr4mXw5pX",
    }),
    changed: z.boolean().meta({
      description: "Whether it changed since the question. A decision then needs `plan_digest`.",
      example: false,
    }),
    workflows: z.array(PlannedWorkflow),
  })
  .meta({ id: "ApprovalPlan", description: "What can still run after the decision." });
export type ApprovalPlan = z.infer<typeof ApprovalPlan>;

export const Approval = z
  .strictObject({
    id: z.string().meta({ example: "apr_5pXq0aZr4mXw1kq0Zr4mXw" }),
    run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
    workflow_id: z
      .string()
      .nullable()
      .meta({ description: "Null in a run of a single step.", example: "weekly-revenue" }),
    project: ProjectField,
    step_id: z.string().meta({ example: "approve" }),
    item: z.int().optional().meta({ description: "In a fan-out: which item.", example: 3 }),
    status: ApprovalStatus,
    message: z.string().meta({ description: "The question.", example: "Send this to the team?" }),
    form: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "JSON Schema of the form to fill in; null for none." }),
    assignees: z
      .array(z.string())
      .meta({ description: "Addresses and roles; empty for everyone.", example: ["ann@example.com"] }),
    created_at: timestamp,
    expires_at: timestamp.nullable().meta({ description: "When it expires; null for never." }),
    decided_at: timestamp.nullable(),
    decided_by: z.string().nullable().meta({ example: "operator" }),
    comment: z.string().nullable().meta({ example: "Looks right." }),
    answer: z.record(z.string(), z.unknown()).nullable().meta({ description: "The filled-in form." }),
    required: z
      .int()
      .optional()
      .meta({ description: "How many people must approve; left out for one.", example: 2 }),
    required_declines: z
      .int()
      .optional()
      .meta({ description: "How many people must decline; left out for one.", example: 2 }),
    decisions: z.array(PersonalDecision).optional().meta({ description: "What each person decided so far." }),
    history: z
      .array(ApprovalEvent)
      .optional()
      .meta({ description: "Reminders, escalations, and to whom it was passed on." }),
    escalates: z
      .array(z.strictObject({ at: timestamp, to: z.array(z.string()) }))
      .optional()
      .meta({ description: "To whom it goes as well, and when, while nobody decides." }),
    you: ApprovalRight.optional().meta({
      description: "Whether you can decide; with `plan`.",
    }),
    evidence: z.record(z.string(), z.unknown()).optional().meta({
      description: "The values to decide on, by name; left out for none.",
    }),
    decide_by_link: z.literal(true).optional().meta({
      description: "The link in the mail to each assignee decides, without an account.",
    }),
    decided_via: z.enum(["link", "slack"]).optional().meta({
      description:
        "How it was decided, if not over the API or in the interface. `link`: by the link that was sent to `decided_by`, which is no proof of who used it.",
    }),
    plan: ApprovalPlan.optional().meta({
      description: "What can still run; for a pending one, of `get_approval`, or of a list with `run_id`.",
    }),
  })
  .meta({ id: "Approval", description: "A decision of a person that a run is waiting for." });
export type Approval = z.infer<typeof Approval>;
