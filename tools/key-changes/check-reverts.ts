/** Checks reverts before they are applied, as publish_workflow checks a version: no version goes live that can't run. */
import { EVERY_PROJECT, projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { needsReviewAgain } from "../reviews/review-rule.ts";
import { assertCallersFit } from "../workflows/broken-callers.ts";
import {
  archival,
  type CalleeChange,
  offering,
  publication,
  together,
  unpublication,
} from "../workflows/callee-changes.ts";
import { checkDefinition } from "../workflows/check-definition.ts";
import { publicationIssues } from "../workflows/publishable-definition.ts";
import type { RevertPlan } from "./plan-revert.ts";
import type { ChangedByKey } from "./read-key-changes.ts";
import { effectsOf, plannedResult, type RevertResult, skipped } from "./serialize-key-changes.ts";

type Definition = Record<string, unknown>;
type Planned = ChangedByKey & { plan: RevertPlan };

/**
 * Checks the versions that would be live afterwards, against each other. In the plans, those that no longer pass are
 * replaced by none: a workflow is rather not published than live with a definition that can't run.
 * @param breakCallers ids of callers that may break
 */
export async function checkReverts(
  ctx: ToolContext,
  changed: readonly ChangedByKey[],
  breakCallers: readonly string[],
): Promise<RevertResult[]> {
  const results = new Map(changed.map((one) => [one, plannedResult(one)]));
  const asPublished = new Map<string, Definition>();
  const planned = changed.filter(isPlanned);
  for (const one of planned) {
    const version = versionToPublish(one);
    const definition =
      version === undefined ? null : await ctx.read.runs.versionDefinition(one.workflow.id, version);
    if (definition !== null) asPublished.set(one.workflow.id, definition);
  }
  for (const one of planned) {
    const result = await check(ctx, one, asPublished);
    results.set(one, result);
    if (result.outcome !== "revertible" || versionToPublish(one) === undefined)
      asPublished.delete(one.workflow.id);
  }
  const reverted = planned.filter((one) => results.get(one)!.outcome === "revertible");
  const leaving = new Set(reverted.filter((one) => !isLiveAfter(one)).map(({ workflow }) => workflow.id));
  for (const one of reverted) {
    const change = await changeForCallers(ctx, one, asPublished);
    if (change === undefined) continue;
    try {
      await assertCallersFit(ctx, together(change, { asPublished, leaving }), breakCallers);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "callers_would_break") throw error;
      results.set(one, skipped(one.workflow, error));
    }
  }
  return changed.map((one) => results.get(one)!);
}

/** What callers of a workflow notice of its revert; undefined for nothing. */
async function changeForCallers(
  ctx: ToolContext,
  changed: Planned,
  asPublished: ReadonlyMap<string, Definition>,
): Promise<CalleeChange | undefined> {
  const { workflow, plan } = changed;
  const change = await changeOfVersion(ctx, changed, asPublished);
  if (plan.facts.offers === undefined || !isLiveAfter(changed)) return change;
  const offer = offering(workflow, plan.facts.offers);
  return {
    ...offer,
    ...change,
    outcome: async (project) => ({ ...(await change?.outcome(project)), ...(await offer.outcome(project)) }),
  };
}

/** What they notice of the version that is live then. */
async function changeOfVersion(
  ctx: ToolContext,
  changed: Planned,
  asPublished: ReadonlyMap<string, Definition>,
): Promise<CalleeChange | undefined> {
  const { workflow, plan } = changed;
  if (versionToPublish(changed) !== undefined) return publication(workflow.id, asPublished);
  if (isLiveAfter(changed) || workflow.published_version === null || workflow.status === "archived")
    return undefined;
  if (plan.facts.archived === true) return archival(workflow.id);
  return unpublication(ctx, workflow, plan.content?.value.definition ?? workflow.definition);
}

const restoresConsent = ({ facts: { consent } }: RevertPlan): boolean =>
  consent !== undefined && consent !== null;

/** Those of the projects that have not been deleted since. */
async function presentProjects({ read }: ToolContext, projects: readonly string[]): Promise<string[]> {
  const { projects: all } = unscoped(read);
  const present: string[] = [];
  for (const id of projects) if (id === EVERY_PROJECT || (await all.find(id)) !== undefined) present.push(id);
  return present;
}

/** Whether a revert offers a workflow to a project that it is not offered to now. */
async function widensOffer({ read }: ToolContext, { workflow, plan }: Planned): Promise<boolean> {
  const now = new Set(await read.projects.offersOf(workflow.id));
  return !now.has(EVERY_PROJECT) && plan.facts.offers?.some((id) => !now.has(id)) === true;
}

const isPlanned = (changed: ChangedByKey): changed is Planned => !("code" in changed.plan);

/** The version that is live after a revert; null for none. */
function liveAfter({ workflow, plan: { facts } }: Planned): number | null {
  const published = facts.published === undefined ? workflow.published_version : facts.published;
  const isArchived = facts.archived ?? workflow.status === "archived";
  return isArchived ? null : published;
}

const isLiveAfter = (changed: Planned): boolean => liveAfter(changed) !== null;

/** The version that a revert puts live; undefined when it puts none live, or the one that is live stays. */
function versionToPublish(changed: Planned): number | undefined {
  const { facts } = changed.plan;
  const stays = facts.published === undefined && facts.archived === undefined;
  return stays ? undefined : (liveAfter(changed) ?? undefined);
}

async function check(
  ctx: ToolContext,
  changed: Planned,
  asPublished: ReadonlyMap<string, Definition>,
): Promise<RevertResult> {
  const { workflow, plan } = changed;
  if (plan.facts.offers !== undefined) plan.facts.offers = await presentProjects(ctx, plan.facts.offers);
  const isAdmin = scopesIn(ctx.actor.principal.access, projectOf(workflow)).has("admin");
  if (!isAdmin && restoresConsent(plan))
    return skipped(workflow, {
      code: "missing_scope",
      message:
        "The key withdrew the consent to this workflow as a tool. Only an admin can let it hold again.",
    });
  if (!isAdmin && (await widensOffer(ctx, changed)))
    return skipped(workflow, {
      code: "missing_scope",
      message: "The key took the offer to other projects back. Only an admin can offer it to them again.",
    });
  if (plan.content?.isMerged) {
    const issue = await firstIssue(ctx, workflow, plan.content.value.definition, { asPublished });
    if (issue !== undefined)
      return skipped(workflow, {
        code: "merge_conflict",
        message: `Without what the key changed, the definition does not pass the check: ${issue}. Edit the workflow instead.`,
      });
  }
  const version = versionToPublish(changed);
  if (version === undefined) return plannedResult(changed);
  const definition = asPublished.get(workflow.id);
  const issue =
    definition === undefined
      ? "its definition was pruned"
      : await firstIssue(ctx, workflow, definition, { asPublished, issuesOf: publicationIssues });
  const obstacle =
    issue !== undefined
      ? `version ${version} no longer passes the check (${issue})`
      : (await needsReviewAgain(ctx.read, ctx.actor.principal, workflow, version))
        ? `version ${version} needs the review of another person; publish it to ask for one`
        : undefined;
  if (obstacle !== undefined) {
    const { published: _, ...others } = plan.facts;
    const effects = effectsOf({ ...plan, facts: others }, workflow.version + 1);
    plan.facts.published = null;
    return {
      workflow,
      outcome: "revertible",
      effects: [...effects, `it is not published: ${obstacle}`],
      reason: null,
    };
  }
  return plannedResult(changed);
}

/** The first issue of a definition, as if all reverts were done; undefined when it has none. */
async function firstIssue(
  ctx: ToolContext,
  workflow: WorkflowWithDefinition,
  definition: Definition | null,
  {
    asPublished,
    issuesOf = ({ errors }) => errors,
  }: { asPublished: ReadonlyMap<string, Definition>; issuesOf?: typeof publicationIssues },
): Promise<string | undefined> {
  if (definition === null) return undefined;
  const report = await checkDefinition(ctx, definition, {
    checkConnections: true,
    project: projectOf(workflow),
    selfId: workflow.id,
    asPublished,
  });
  const [issue] = issuesOf(report);
  return issue && `${issue.path || "the definition"} ${issue.message}`;
}
