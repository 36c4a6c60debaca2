/** `millrace approvals`: approvals on the command line, as the operator. */
import type { Approval } from "../../schemas/approval.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { delegateApproval } from "../../tools/approvals/delegate-approval.ts";
import { getApproval } from "../../tools/approvals/get-approval.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { AppError } from "../core/errors.ts";
import { formatPlan } from "../core/format-plan.ts";
import { alignColumns, formatTimestamp } from "./columns.ts";
import { jsonOrText } from "./inputs.ts";
import { type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";

/** Maximum number of approvals that the list prints. */
const MAX_LISTED = 200;

interface Options {
  config?: string;
  json?: boolean;
}

/** Lists approvals, newest first. */
export async function listAll(
  io: Io,
  { status, run, project, json, config }: Options & { status: string; run?: string; project?: string },
): Promise<void> {
  const { items } = await withOperator(io, { config, requiresStateFor: "list approvals of" }, ({ call }) =>
    call<{ items: Approval[] }>(listApprovals, {
      status,
      limit: MAX_LISTED,
      ...(run !== undefined && { run_id: run }),
      ...(project !== undefined && { project }),
    }),
  );
  if (json) return io.out(`${JSON.stringify(items, null, 2)}\n`);
  if (items.length === 0) return io.out(`No approval is ${status}.\n`);
  const rows = items.map((approval) => [
    approval.id,
    approval.workflow_id ?? "a single step",
    approval.step_id,
    progressOf(approval),
    approval.assignees.join(", ") || "everyone",
    formatTimestamp(approval.created_at),
  ]);
  const head = ["ID", "WORKFLOW", "STEP", "APPROVED", "ASSIGNED TO", "REQUESTED"];
  const line = alignColumns([head, ...rows]);
  io.out(`${paint(io).bold(line(head))}\n`);
  for (const row of rows) io.out(`${line(row)}\n`);
}

/** `1 of 2`, without the decisions that no longer count. */
function progressOf({ required = 1, decisions = [] }: Approval): string {
  const approved = decisions.filter((decision) => decision.approved && decision.outdated !== true);
  return `${approved.length} of ${required}`;
}

/** Prints an approval: the question, what can run after the decision, and what happened so far. */
export async function show(io: Io, id: string, { json, config }: Options): Promise<void> {
  const approval = await withOperator(io, { config, requiresStateFor: "show an approval of" }, ({ call }) =>
    call<Approval>(getApproval, { approval_id: id }),
  );
  if (json) return io.out(`${JSON.stringify(approval, null, 2)}\n`);
  const { bold } = paint(io);
  io.out(`${bold(approval.message)}\n\n`);
  for (const text of factsOf(approval)) io.out(`${text}\n`);
  for (const { by, for: seat, override, approved, comment, outdated, at } of approval.decisions ?? [])
    io.out(
      `- ${by} ${approved ? "approved" : "declined"} at ${at}${seat === undefined ? "" : ` in the place of ${seat}`}` +
        `${override ? ", in place of the assignees" : ""}${outdated ? ", for a plan that has changed since" : ""}` +
        `${comment === null ? "" : `: ${comment}`}\n`,
    );
  for (const { event, at, by, to, note } of approval.history ?? [])
    io.out(
      `- ${event}${by === undefined ? "" : ` by ${by}`} to ${to.join(", ")} at ${at}${note === undefined ? "" : `: ${note}`}\n`,
    );
  if (approval.plan === undefined) return;
  io.out(`\n${formatPlan(approval.id, approval.plan.workflows)}\n`);
  io.out(
    approval.you?.can_decide === true
      ? `\nmillrace approvals decide ${id} --decision approve --digest ${approval.plan.digest}${approval.you.override ? " --override" : ""}\n`
      : `\n${approval.you?.reason ?? ""}\n`,
  );
}

function factsOf(approval: Approval): string[] {
  const {
    status,
    run_id: run,
    workflow_id: workflow,
    step_id: step,
    assignees,
    expires_at: expires,
  } = approval;
  return [
    `${status}, ${progressOf(approval)} approved`,
    `Step ${step} of ${workflow ?? "a single step"}, run ${run}`,
    `Assigned to ${assignees.join(", ") || "everyone with the scope approve"}`,
    ...(expires === null ? [] : [`Expires at ${expires}`]),
    ...(approval.escalates ?? []).map(({ at, to }) => `Escalates to ${to.join(", ")} at ${at}`),
  ];
}

/** Approves or declines. */
export async function decide(
  io: Io,
  id: string,
  {
    decision,
    digest,
    comment,
    form,
    override,
    config,
  }: Options & { decision: string; digest: string; comment?: string; form?: string; override?: boolean },
): Promise<void> {
  const approval = await withOperator(io, { config }, ({ call }) =>
    call<Approval>(decideApproval, {
      approval_id: id,
      decision,
      plan_digest: digest,
      ...(comment !== undefined && { comment }),
      ...(form !== undefined && { form: parseForm(form) }),
      ...(override === true && { override }),
    }),
  );
  const done = decision === "approve" ? "Approved" : "Declined";
  io.out(
    approval.status === "pending"
      ? `${done} ${id}: ${progressOf(approval)} people have approved.\n`
      : `${done} ${id}. The run ${approval.run_id} continues.\n`,
  );
}

/** @throws AppError invalid_input; CommandError as `jsonOrText` */
function parseForm(json: string): unknown {
  const form = jsonOrText(json, "--form");
  if (typeof form !== "string") return form;
  throw new AppError("invalid_input", `--form must be a JSON object, got: ${json.slice(0, 100)}`);
}

/** Passes the place of an assignee on. */
export async function delegate(
  io: Io,
  id: string,
  { config, ...input }: Options & { from: string; to: string; note?: string },
): Promise<void> {
  await withOperator(io, { config }, ({ call }) =>
    call<Approval>(delegateApproval, { approval_id: id, ...input }),
  );
  io.out(`${input.to} decides ${id} now, in the place of ${input.from}.\n`);
}
