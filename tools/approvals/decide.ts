/** Decides an approval for a person: the only way, whichever surface the decision comes from. */
import type { Issue } from "../../schemas/problem.ts";
import { iso } from "../../src/core/clock.ts";
import type { CallContext } from "../../src/core/connections.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { formatPlan } from "../../src/core/format-plan.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import type { Writers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { Validated } from "../../src/core/validation.ts";
import { claimDecision } from "./decision-way.ts";
import { deciderName } from "./decider-name.ts";
import { findDecidable } from "./find-decidable.ts";
import { refusals } from "./refusals.ts";
import { findApproval, hasPlanChanged } from "./serialize-approval.ts";
import { type Decider, personId, type Standing, type StandingContext, standingOf } from "./standing.ts";

export interface DecisionInput {
  id: string;
  decision: "approve" | "decline";
  comment: string | null;
  /** The filled-in form as it was sent; see `parseForm`. */
  form: Record<string, unknown> | undefined;
  parsedForm: ParsedForm | undefined;
  /** The digest of the plan that the person has seen. Left out, the decision is for what the approval was asked for. */
  planDigest: string | undefined;
  /** Whether an admin decides in place of the assignees. */
  override: boolean;
}

/**
 * Records the decision of a person, in the transaction of the request. The caller wakes the executors after the commit.
 * @returns how the person stands to it then, with the new state of the approval
 * @throws AppError approval_not_found, approval_not_yours, approval_decided, approval_expired, approval_plan_changed, invalid_input
 */
export async function decideAs(
  ctx: StandingContext,
  tx: Writers,
  decider: Decider,
  { id, decision, comment, form, parsedForm, planDigest, override }: DecisionInput,
): Promise<Standing> {
  await lockApproval(tx, id);
  const { approval, remaining, right } = await findDecidable(ctx, tx, { decider, id, override });
  assertPlan(approval, remaining, planDigest);
  const approved = decision === "approve";
  const recorded = {
    person: personId(decider),
    seat: right.seat.of,
    name: deciderName(decider),
    approved,
    override: right.override,
    comment,
    answer: parsedForm === undefined ? refuseForm(form) : formValue(parsedForm),
    decidedAt: iso(ctx.now()),
    via: decider.decides?.via ?? null,
  };
  const way = await claimDecision(ctx, tx, decider, { approval, remaining });
  const result = await ctx.engine.recordDecision(tx, approval, recorded, remaining.levels);
  const after = await findApproval(tx.approvals, id);
  if ("refused" in result)
    throw result.refused === "ended"
      ? refusals.ended(after)
      : refusals.seatTaken(approval, {
          ...recorded,
          planDigest: remaining.digest,
        });
  const seat = recorded.seat === recorded.person ? {} : { for: recorded.seat };
  await tx.recordAudit(id, undefined, {
    details: { decision, ...seat, ...(right.override && { override: true }), status: result.status, ...way },
  });
  return standingOf(ctx, tx, decider, after);
}

/** Locks an approval and its run, so that it stays as it is until the transaction ends. @throws AppError approval_not_found */
export async function lockApproval(tx: Pick<Writers, "approvals" | "runs">, id: string): Promise<void> {
  const { runId } = await findApproval(tx.approvals, id);
  await unscoped(tx).runs.lock(runId);
  await unscoped(tx).approvals.lock(id);
}

/**
 * A decision is for what the approval was asked for, or for the plan that the client says it has seen.
 * @throws AppError approval_plan_changed
 */
function assertPlan(approval: ApprovalRecord, remaining: RemainingWork, digest: string | undefined): void {
  const holds =
    digest === undefined ? !hasPlanChanged(approval, remaining.levels) : digest === remaining.digest;
  if (holds) return;
  throw new AppError(
    "approval_plan_changed",
    `What can run after ${approval.id} has changed since ${digest === undefined ? "it was asked" : "you read it"}, such as ` +
      "the configuration of a database, so nothing was decided. " +
      `${formatPlan(approval.id, remaining.workflows)}\n` +
      `To decide on this, send plan_digest: "${remaining.digest}" (plan.digest of GET /approvals/${approval.id}).`,
    {
      errors: [
        {
          path: "plan_digest",
          code: "plan_changed",
          message: "is not the plan any more",
          allowed: [remaining.digest],
          fix: "Show the new plan to the person who decides, then send its digest.",
        },
      ],
    },
  );
}

export type ParsedForm = Validated<Record<string, unknown> | null>;

/**
 * Validates the filled-in form against the approval's schema, and completes it with defaults: outside of the transaction, because it may
 * take long. The schema of an approval never changes.
 */
export async function parseForm(
  {
    engine,
    read,
  }: Pick<StandingContext, "engine"> & { read: { approvals: { find: Writers["approvals"]["find"] } } },
  call: CallContext & { asWritten?: boolean },
  id: string,
  form: Record<string, unknown> | undefined,
): Promise<ParsedForm> {
  const schema = (await read.approvals.find(id))?.form ?? null;
  if (schema === null) return form === undefined ? { value: null } : { issues: [NO_FORM] };
  return engine.validation.parseInputs(schema, form ?? {}, call);
}

const NO_FORM = {
  code: "not_allowed",
  message: "is not allowed: this approval has no form",
  fix: "Leave it out.",
};

function formValue(parsed: ParsedForm): Record<string, unknown> | null {
  if ("value" in parsed) return parsed.value;
  throw invalidInput(
    parsed.issues.map(({ path = [], ...issue }): Issue =>
      Object.assign({ path: formatPath(["form", ...path]) }, issue),
    ),
  );
}

function refuseForm(form: Record<string, unknown> | undefined): null {
  if (form === undefined) return null;
  throw invalidInput([{ ...NO_FORM, path: "form", message: "is not allowed when declining" }]);
}
