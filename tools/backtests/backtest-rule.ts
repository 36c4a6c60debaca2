/** What a version must pass before it goes live, where its project or workflow demands a backtest. */
import { BacktestRule, type PassedBacktest } from "../../schemas/backtest-rule.ts";
import { coveringName, differenceName, normalName } from "../../schemas/difference-names.ts";
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { unseenChanges } from "../../src/core/definition-changes.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Readers, Writers } from "../../src/core/ports.ts";

type Reading = Pick<Readers, "projects" | "workflows" | "runs">;
type Found = Pick<WorkflowWithDefinition, "id" | "project">;

/** A rule with normal names (schemas/difference-names.ts). */
interface NormalRule {
  last: number;
  allow: string[];
}

/** What the rules of a project and a workflow ask of a version. */
export interface RequiredBacktest {
  /** Both together. */
  rule: NormalRule;
  /** The names of what it changes that no run of the past can show. */
  unseen: string[];
}

/**
 * Returns what the publication of a version needs: the rule of its project, and that of the version that is published, or was last. A
 * version can't loosen the rule for itself: its own one holds only where there is no other, and a looser one is a difference.
 * @returns undefined where no backtest is needed. A version that was published before needs none, so going back is always possible
 */
export async function requiredBacktest(
  read: Reading,
  workflow: Found,
  version: number,
): Promise<RequiredBacktest | undefined> {
  const { id } = workflow;
  const { versions, last } = await read.workflows.publications(id);
  if (versions.has(version)) return undefined;
  const before = last === null ? null : await read.runs.versionDefinition(id, last);
  const after = (await read.runs.versionDefinition(id, version)) ?? {};
  const ofProject = (await read.projects.find(projectOf(workflow)))?.backtest ?? undefined;
  const [ofPublished, own] = [parseRule(before), parseRule(after)];
  const standing = [ofProject, ofPublished].filter((rule) => rule !== undefined);
  const rule = joined(standing.length === 0 && own !== undefined ? [own] : standing);
  if (rule === undefined) return undefined;
  const isLoosened =
    ofPublished === undefined
      ? standing.length > 0 && allowsMore(own, rule)
      : isLooser(own ?? null, ofPublished);
  return {
    rule,
    unseen: [
      ...(before === null ? [] : unseenChanges(before, after)),
      // Nobody knows the rule of a version whose definition was pruned.
      ...(isLoosened || (last !== null && before === null)
        ? [differenceName(["definition", "backtest"])]
        : []),
    ],
  };
}

/** A definition of an older version may have a field of this name that is no rule. */
const parseRule = (definition: Readonly<Record<string, unknown>> | null): BacktestRule | undefined =>
  BacktestRule.optional().safeParse(definition?.["backtest"]).data;

function joined(rules: readonly BacktestRule[]): NormalRule | undefined {
  if (rules.length === 0) return undefined;
  const allow = rules.flatMap((rule) => rule.allow ?? []).map(normalName);
  return { last: Math.max(...rules.map(({ last }) => last)), allow: [...new Set(allow)] };
}

/** Whether a rule lets more go live than another one. */
export const isLooser = (rule: BacktestRule | null, before: BacktestRule): boolean =>
  rule === null || rule.last < before.last || allowsMore(rule, before);

const allowsMore = (rule: BacktestRule | undefined, before: BacktestRule): boolean => {
  const allowed = (before.allow ?? []).map(normalName);
  return (rule?.allow ?? []).some((name) => coveringName(normalName(name), allowed) === undefined);
};

/**
 * Refuses to publish a version that needs a backtest and passed none, or one of a rule that lets more go live than that of now.
 * @param passed.backtest what it passed; null for nothing
 * @throws AppError backtest_unfinished
 */
export async function assertBacktested(
  read: Reading,
  workflow: Found,
  { version, backtest }: { version: number; backtest: PassedBacktest | null },
): Promise<void> {
  if (await isBacktested(read, workflow, version, backtest)) return;
  throw new AppError(
    "backtest_unfinished",
    `Nothing was published. Version ${version} of "${workflow.id}" needs another backtest, because the rule of its workflow or project, ` +
      `a called workflow or the configuration has changed. publish_workflow (POST /workflows/${workflow.id}/publish) runs it.`,
  );
}

/** Whether what a version passed is enough for the rule of now. */
export async function isBacktested(
  read: Reading,
  workflow: Found,
  version: number,
  backtest: PassedBacktest | null,
): Promise<boolean> {
  const required = await requiredBacktest(read, workflow, version);
  return required === undefined || (backtest !== null && !isLooser(backtest.rule, required.rule));
}

/** Records which differences somebody accepted by publishing a version, or by approving that. */
export async function auditAccepted(
  tx: Pick<Writers, "recordAudit">,
  workflowId: string,
  { version, backtest }: { version: number; backtest: PassedBacktest | null },
): Promise<void> {
  if (backtest === null || backtest.accepted.length === 0) return;
  const { id, accepted } = backtest;
  const details = { version, ...(id !== null && { backtest: id }), accepted };
  await tx.recordAudit(workflowId, "differences_accepted", { details });
}
