/**
 * Changes that take effect without a publication. They need the scope `publish` too: a key that lacks it changes nothing that
 * runs, tools or schedules of others use.
 */
import type { Workflow } from "../../schemas/workflow.ts";
import { projectOf } from "../../schemas/project.ts";
import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { keyLimitRefusal } from "../../src/core/key-limit-refusal.ts";
import type { Readers, WorkflowReader, Writers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** Maximum number of drafts whose callers are searched, on all levels. */
const MAX_DRAFTS = 1_000;

/**
 * Refuses a change of something that is published, unless the caller may publish.
 * @param change what takes effect at once, as the subject of a sentence
 * @param instead what the caller can do without the scope
 * @throws AppError missing_scope
 */
export function assertMayPublish(
  { actor: { principal } }: Pick<ToolContext, "actor">,
  workflow: Pick<Workflow, "project">,
  { change, instead }: { change: string; instead: string },
): void {
  if (scopesIn(principal.access, projectOf(workflow)).has("publish")) return;
  throw new AppError(
    "missing_scope",
    `${change} would take effect at once, which needs the scope publish. Nothing was changed. ${instead}`,
    {
      errors: [
        {
          path: "",
          code: "missing_scope",
          message: "needs a key with the scope publish",
          allowed: ["publish"],
        },
      ],
    },
  );
}

/**
 * Refuses a change of a draft that a published workflow runs, unless the caller may publish. While a workflow has no published
 * version, its callers run the newest one.
 * @param workflow a workflow without a published version
 * @throws AppError missing_scope
 */
export async function assertMayChangeDraft(
  ctx: ToolContext,
  ports: Pick<Readers, "workflows">,
  workflow: Pick<Workflow, "id" | "project">,
): Promise<void> {
  if (scopesIn(ctx.actor.principal.access, projectOf(workflow)).has("publish")) return;
  // Workflows of other projects too, which may run what they are offered.
  const caller = await findPublishedCaller(unscoped(ports.workflows), workflow.id);
  if (caller === undefined) return;
  const isVisible = caller !== null && (await ports.workflows.projectOf(caller)) !== undefined;
  assertMayPublish(ctx, workflow, {
    change: `${isVisible ? `The published workflow "${caller}"` : "A published workflow"} runs the draft "${workflow.id}", so this change`,
    instead: "Make the change in a new workflow, and ask a person to publish it.",
  });
}

/**
 * Refuses what lets a published workflow run a draft that a key with limited databases or models could not run itself. Anyone who
 * starts the published workflow would run it without these limits, and the key could read the result.
 * @param workflow a workflow without a published version, or that is about to lose it
 * @param draft what is wrong with the draft for this key, if it is known
 * @throws AppError not_permitted
 */
export async function assertWithinKeyLimits(
  { actor }: ToolContext,
  tx: Writers,
  { id }: Pick<Workflow, "id">,
  draft: string,
): Promise<void> {
  const { keyLimits } = actor.principal.access;
  if (keyLimits?.databases === undefined && keyLimits?.models === undefined) return;
  if ((await findPublishedCaller(unscoped(tx).workflows, id)) === undefined) return;
  throw new AppError(
    "not_permitted",
    `A published workflow runs the draft "${id}", so this would take effect at once, and ${draft}. This key is limited to some ` +
      "databases or models. Nothing was changed. Use another key, or make the change in a new workflow.",
  );
}

/**
 * Finds out whether the caller's key may make later runs of a version happen, by the rule for starting one: they are not limited like
 * the key, and it could read what they return. That takes long, so it happens before the transaction; the refusal is thrown in it,
 * after the result of an earlier request with the same idempotency key was looked up.
 * @param find the version as it is now; undefined, or an AppError, for none
 * @param change what is refused, as an imperative
 * @returns a check for the version as it is in the transaction, which costs nothing if it is still that one; it throws not_permitted
 */
export async function keyMayStart(
  { actor, engine }: Pick<ToolContext, "actor" | "engine">,
  find: () => Promise<LiveVersion | undefined>,
  change: string,
): Promise<(current: LiveVersion) => Promise<void>> {
  const { keyLimits } = actor.principal.access;
  if (keyLimits === null) return async () => {};
  const refusalOf = async ({ workflowId, version }: LiveVersion): Promise<AppError | undefined> => {
    const errors = await engine.beyondKeyLimits({ workflowId, version }, keyLimits);
    const [first, ...others] = errors;
    const consequence = `So this key can't ${change}, and nothing was changed.`;
    return (
      first &&
      keyLimitRefusal({ workflowId, version }, [first, ...others], { code: "not_permitted", consequence })
    );
  };
  const checked = await find().catch((error: unknown) => {
    // The transaction says so.
    if (error instanceof AppError) return undefined;
    throw error;
  });
  const found = checked && (await refusalOf(checked));
  return async (current) => {
    const refusal = current.version === checked?.version ? found : await refusalOf(current);
    if (refusal !== undefined) throw refusal;
  };
}

interface LiveVersion {
  workflowId: string;
  version: number;
}

/**
 * A published workflow that runs this draft, directly or through other drafts; undefined if there is none, null if too many
 * drafts run it to tell in a short transaction.
 */
async function findPublishedCaller(
  workflows: WorkflowReader,
  id: string,
): Promise<string | undefined | null> {
  const drafts = new Set([id]);
  for (const draft of drafts) {
    const [published] = await workflows.callers(draft, { published: true });
    if (published !== undefined) return published;
    if (drafts.size > MAX_DRAFTS) return null;
    for (const caller of await workflows.callers(draft, { published: false })) {
      const found = await workflows.find(caller);
      // Callers run the published version of a workflow that has one, so its drafts are not live.
      if (found?.published_version === null) drafts.add(caller);
    }
  }
  return undefined;
}
