/** Whether a version can go live without a backtest, and what may differ in it. */
import { BacktestRule, type PassedBacktest } from "../../schemas/backtest-rule.ts";
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { normalName } from "../../src/core/difference-names.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Readers, Writers } from "../../src/core/ports.ts";

/** What the rules of a project and a workflow ask for together. */
export interface RequiredBacktest {
  /** Number of runs. */
  last: number;
  /** Normal names (core/difference-names.ts) of what may differ. */
  allow: string[];
}

/**
 * Returns the rule for the publication of a version: that of its project, and that of the version that is published, or was last. A
 * version can't loosen the rule for itself: its own one holds only where there is no other.
 * @returns undefined where no backtest is needed. A version that was published before needs none, so going back is always possible
 */
export async function requiredBacktest(
  read: Pick<Readers, "projects" | "workflows" | "runs">,
  workflow: Pick<WorkflowWithDefinition, "id" | "project" | "published_version">,
  version: number,
): Promise<RequiredBacktest | undefined> {
  const { id, published_version: published } = workflow;
  if (published === version || (await read.workflows.lastPublication(id, version)) !== undefined)
    return undefined;
  const ruleOf = async (of: number | undefined): Promise<BacktestRule | undefined> =>
    of === undefined ? undefined : parseRule(await read.runs.versionDefinition(id, of));
  const ofProject = (await read.projects.find(projectOf(workflow)))?.backtest ?? undefined;
  const ofPublished = await ruleOf(published ?? (await read.workflows.lastPublication(id))?.version);
  const rules = [ofProject, ofPublished].filter((rule) => rule !== undefined);
  if (rules.length === 0) {
    const own = await ruleOf(version);
    if (own !== undefined) rules.push(own);
  }
  if (rules.length === 0) return undefined;
  return {
    last: Math.max(...rules.map(({ last }) => last)),
    allow: rules.flatMap(({ allow = [] }) => allow).map(normalName),
  };
}

/**
 * Refuses to publish a version that a rule demands a backtest of, and that has none: the rule is newer than the request.
 * @param passed.backtest what it passed; null for nothing
 * @throws AppError backtest_unfinished
 */
export async function assertBacktested(
  read: Parameters<typeof requiredBacktest>[0],
  workflow: Parameters<typeof requiredBacktest>[1],
  { version, backtest }: { version: number; backtest: PassedBacktest | null },
): Promise<void> {
  if (backtest !== null || (await requiredBacktest(read, workflow, version)) === undefined) return;
  throw new AppError(
    "backtest_unfinished",
    `Nothing was published. Version ${version} of "${workflow.id}" needs a backtest since the rule of its workflow or project ` +
      `changed. publish_workflow (POST /workflows/${workflow.id}/publish) runs it.`,
  );
}

/** Records which differences somebody accepted by publishing a version, or by approving that. */
export async function auditAccepted(
  tx: Pick<Writers, "recordAudit">,
  workflowId: string,
  { version, backtest }: { version: number; backtest: PassedBacktest | null | undefined },
): Promise<void> {
  if (backtest?.id === undefined || backtest.id === null || backtest.accepted.length === 0) return;
  const details = { version, backtest: backtest.id, accepted: backtest.accepted };
  await tx.recordAudit(workflowId, "differences_accepted", { details });
}

/** A definition of an older version may have a field of this name that is no rule. */
function parseRule(definition: Record<string, unknown> | null): BacktestRule | undefined {
  const { data } = BacktestRule.optional().safeParse(definition?.["backtest"]);
  return data;
}
