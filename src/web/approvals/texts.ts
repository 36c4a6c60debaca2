/** What the pages say of approvals. */
import type { Approval, ApprovalPlan } from "../../../schemas/approval.ts";
import { assigneeNames } from "./progress.ts";

export type PlannedWorkflow = ApprovalPlan["workflows"][number];
type PlannedStep = PlannedWorkflow["steps"][number];

/** The role of a workflow in a plan. */
export const ROLE_TEXTS: Readonly<Record<PlannedWorkflow["role"], string>> = {
  run: "the rest of this run",
  parent: "the rest of a run that waits for it",
  called: "can be called",
  reviewed: "the version to publish",
  planned: "a run of it",
};

/** What a step is to the step with its id: "Undo of ", "Lookup of ", or nothing for that step itself. */
export const stepPrefix = ({ undo, lookup }: PlannedStep): string =>
  undo === true ? "Undo of " : lookup === true ? "Lookup of " : "";

/** Whether a plan shows the workflow. */
export const isShown = ({ role, steps, on_failure: onFailure }: PlannedWorkflow): boolean =>
  role === "called" || steps.length > 0 || onFailure !== undefined;

export const PLAN_CHANGED = {
  title: "This has changed since the question",
  text: "For example, the configuration of a database is a different one now. A decision is for what is listed here.",
} as const;

/** The outcome of an approval that is no longer pending. */
export const OUTCOME_TITLES: Readonly<Record<Exclude<Approval["status"], "pending">, string>> = {
  approved: "Approved",
  declined: "Declined",
  expired: "Expired: nobody decided in time",
  cancelled: "Cancelled: the run was stopped",
};

/** Who can decide an approval, for readers who can't. */
export const whoDecides = ({ assignees }: Pick<Approval, "assignees">): string =>
  "Editors and admins can, except those who started the run or wrote what it runs." +
  (assignees.length > 0 ? ` It is assigned to ${assigneeNames(assignees)}.` : "");
