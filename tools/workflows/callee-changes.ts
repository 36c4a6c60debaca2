/** Changes of a workflow, as the workflows that run it see them. */
import { EVERY_PROJECT, projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { CheckOptions, Unavailable } from "../../src/core/engine-port.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { isReviewed } from "../reviews/review-rule.ts";

/** A change of a workflow that may break its callers. */
export interface CalleeChange {
  id: string;
  /** The subject of the refusal: what was not done, and what would break the callers. */
  refused: string;
  /** What to do, up to the name of the field that accepts broken callers. */
  instead: string;
  /** Whether workflows count that run it only as drafts. */
  includesDrafts?: boolean;
  /** Callers that are not published afterwards either, so they can't break. */
  leaving?: ReadonlySet<string>;
  /** What callers in a project find afterwards, in place of what is there now. */
  outcome(project: string): CalleeOutcome | Promise<CalleeOutcome>;
}

type CalleeOutcome = Pick<CheckOptions, "asPublished" | "unavailable">;
type Definition = Record<string, unknown>;

const unavailable = (id: string, code: string, why: string, fix: string): CalleeOutcome => ({
  unavailable: new Map<string, Unavailable>([[id, { code, message: `runs "${id}", ${why}`, fix }]]),
});

const archived = (id: string): CalleeOutcome =>
  unavailable(id, "workflow_archived", "which would be archived", "Run another workflow.");
const notPublished = (id: string): CalleeOutcome =>
  unavailable(id, "not_published", "which would have no published version", "Run another workflow.");
const notOffered = (id: string): CalleeOutcome =>
  unavailable(
    id,
    "not_offered",
    "which would not be offered to its project",
    "Move it too, or run another workflow.",
  );

/** @param definitions those that are published together, with that of the workflow */
export const publication = (id: string, definitions: ReadonlyMap<string, Definition>): CalleeChange => ({
  id,
  refused: `Nothing was published: the new version of "${id}"`,
  instead: "Keep what they rely on, or publish with",
  outcome: () => ({ asPublished: definitions }),
});

export const archival = (id: string): CalleeChange => ({
  id,
  refused: `Nothing was archived: archiving "${id}"`,
  instead: "Change them first, or archive it with",
  outcome: () => archived(id),
});

/**
 * Callers in its project run the newest version then, unless the project requires review; those in other projects run nothing.
 * @param draft the newest definition, as it is then
 */
export async function unpublication(
  { read }: Pick<ToolContext, "read">,
  workflow: WorkflowWithDefinition,
  draft: Definition | null,
): Promise<CalleeChange> {
  const { id } = workflow;
  const isRun = draft !== null && !(await isReviewed(read, workflow));
  return {
    id,
    refused: `Nothing was unpublished: unpublishing "${id}"`,
    instead: "Change them first, or unpublish it with",
    outcome: (project) =>
      isRun && project === projectOf(workflow) ? { asPublished: new Map([[id, draft]]) } : notPublished(id),
  };
}

/** @param options.asDraft whether it arrives as a draft, in a project that requires review */
export const relocation = (
  { read }: Pick<ToolContext, "read">,
  { id }: Pick<WorkflowWithDefinition, "id">,
  to: string,
  { asDraft }: { asDraft: boolean },
): CalleeChange => ({
  id,
  refused: `Nothing was moved: moving "${id}" to the project "${to}"`,
  instead: "Move them first, change them, offer the workflow to their project, or move it with",
  includesDrafts: true,
  outcome: async (project) => {
    if (project !== to && !(await unscoped(read).projects.isOffered(id, project))) return notOffered(id);
    return asDraft ? notPublished(id) : {};
  },
});

/** @param projects those that it is offered to afterwards */
export const offering = (
  workflow: Pick<WorkflowWithDefinition, "id" | "project">,
  projects: readonly string[],
): CalleeChange => ({
  id: workflow.id,
  refused: `Nothing was changed: taking the offer of "${workflow.id}" back`,
  instead: "Keep the offer, or send",
  outcome: (project) =>
    [projectOf(workflow), ...projects].some((id) => id === project || id === EVERY_PROJECT)
      ? {}
      : notOffered(workflow.id),
});

/** The change together with others: of callers that are published in another form then, or no longer. */
export const together = (
  change: CalleeChange,
  { asPublished, leaving }: { asPublished: ReadonlyMap<string, Definition>; leaving: ReadonlySet<string> },
): CalleeChange => ({
  ...change,
  leaving,
  outcome: async (project) => {
    const own = await change.outcome(project);
    return { ...own, asPublished: new Map([...asPublished, ...(own.asPublished ?? [])]) };
  },
});
