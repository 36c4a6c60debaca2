/** What can run, as lines of text for mails, questions and the terminal. */
import type { ApprovalPlan } from "../../schemas/approval.ts";
import type { PlannedAlert, PlannedSchedule, PlannedTrigger, ReviewPlan } from "../../schemas/review.ts";
import type { WorkflowPlan } from "../../schemas/workflow-plan.ts";

/** Maximum number of steps that the text lists; get_approval and get_review return all of them. */
const MAX_STEPS = 40;

const ROLES = {
  run: "the rest of this run",
  parent: "the rest of a run that waits for it",
  called: "can be called",
  reviewed: "the version to publish",
  planned: "a run of it",
} as const;

/** Writes what can still run after an approval as lines of text. */
export function formatPlan(approvalId: string, workflows: ApprovalPlan["workflows"]): string {
  const lines = stepLines(workflows, `GET /approvals/${approvalId}`);
  return lines.length === 0
    ? "Nothing else runs after the decision."
    : ["After the decision these can run:", ...lines].join("\n");
}

/** Writes what the runs of a version can do once it is published as lines of text. */
export function formatReviewPlan(
  reviewId: string,
  {
    workflows,
    schedule,
    triggers = [],
    must_succeed: alert,
    tool,
    saves_state: saved,
    break_callers: broken,
  }: ReviewPlan,
): string {
  return [
    "Once it is published, its runs can do this:",
    ...stepLines(workflows, `GET /reviews/${reviewId}`),
    ...(saved.length === 0 ? [] : [`They save workflow state: ${saved.join(", ")}.`]),
    schedule === null
      ? "It has no schedule: it runs only when it is started or called."
      : `It runs by itself: ${formatSchedule(schedule)}`,
    ...triggerLines(triggers),
    ...alertLines(alert),
    ...(tool === null ? [] : ["Agents get it as a tool of its own once an admin allows it."]),
    ...(broken.length === 0 ? [] : [`It breaks these callers: ${broken.join(", ")}.`]),
  ].join("\n");
}

/** Writes what a run of a workflow would do as lines of text. */
export function formatWorkflowPlan({
  workflow_id: id,
  workflows,
  schedule,
  triggers = [],
  must_succeed: alert,
  saves_state: saved,
  expected,
}: Omit<WorkflowPlan, "words">): string {
  return [
    "A run can do this:",
    ...stepLines(workflows, `GET /workflows/${id}/plan`),
    ...(saved.length === 0 ? [] : [`It saves workflow state: ${saved.join(", ")}.`]),
    ...(schedule === null ? [] : [`Once published it runs by itself: ${formatSchedule(schedule)}`]),
    ...triggerLines(triggers),
    ...alertLines(alert),
    expectedLine(expected),
  ].join("\n");
}

const formatSchedule = ({ cron, timezone, next_runs: times = [] }: PlannedSchedule): string =>
  `${cron} (${timezone}).${times.length === 0 ? "" : ` Next times: ${times.join(", ")}.`}`;

const triggerLines = (triggers: readonly PlannedTrigger[]): string[] =>
  triggers.map(
    ({ id, signature, if: condition }) =>
      `The webhook ${id} starts it: ` +
      (signature === null
        ? "anybody who has its URL can send it"
        : `deliveries need the signature ${signature}`) +
      (condition === undefined ? "." : `, and start a run if ${condition}.`),
  );

const alertLines = (alert: PlannedAlert | undefined): string[] =>
  alert === undefined
    ? []
    : [
        `It must succeed every ${alert.every}: else there is an alert, with a mail to who publishes it` +
          `${alert.mail.length === 0 ? "" : ` and to ${alert.mail.join(", ")}`}.`,
      ];

function expectedLine(expected: WorkflowPlan["expected"]): string {
  if (expected === null) return "Nothing is known of its rows, time and cost: it has not succeeded yet.";
  const { runs, seconds, cost, input_tokens: input, output_tokens: output, steps } = expected;
  const rows = steps.flatMap(({ id, rows: count }) => (count === undefined ? [] : [`${id} ${count} rows`]));
  return `Expected from ${runs === 1 ? "its last run" : `its last ${runs} runs`}: ${[
    `${seconds} s`,
    ...(cost === null ? [] : [`cost ${cost}`]),
    ...(input === 0 && output === 0 ? [] : [`${input} input and ${output} output tokens`]),
    ...rows,
  ].join(", ")}.`;
}

function stepLines(workflows: ApprovalPlan["workflows"], all: string): string[] {
  const lines: string[] = [];
  let left = MAX_STEPS;
  for (const {
    workflow_id: id,
    version,
    role,
    patched,
    foreign,
    on_failure: onFailure,
    steps,
  } of workflows) {
    const isShown =
      steps.length > 0 ||
      onFailure !== undefined ||
      role === "called" ||
      role === "reviewed" ||
      role === "planned" ||
      foreign === true;
    if (!isShown) continue;
    const source =
      version === null
        ? id === null
          ? foreign
            ? "hidden"
            : "no workflow"
          : "does not exist"
        : `version ${version}${patched ? ", changed" : ""}${foreign ? ", of another project" : ""}`;
    const failure = onFailure === undefined ? "" : `; if it fails, ${onFailure} runs`;
    lines.push(
      `${id ?? (foreign ? "A workflow that you can't see" : "A single step")} (${source}; ${ROLES[role]}${failure}):`,
    );
    for (const { id: stepId, type, effect, if: condition, undo, lookup } of steps.slice(0, Math.max(left, 0)))
      lines.push(
        `- ${undo ? "to undo " : lookup ? "to look up " : ""}${stepId} (${type}): ${effect}${condition === undefined ? "" : `, if ${condition}`}`,
      );
    left -= steps.length;
  }
  return left < 0 ? [...lines, `… and ${-left} more steps: ${all} lists all.`] : lines;
}
