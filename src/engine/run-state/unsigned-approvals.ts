/**
 * Finds the approvals of runs that somebody unknown may have started, with the URL of a trigger without a signature: who decides might
 * be the one who started it.
 */
import type { Issue } from "../../../schemas/problem.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { DefinitionCache, DefinitionRef } from "../definition/compiled-definition.ts";
import { pinnedVersions } from "./key-limits.ts";
import type { PinCalls } from "./pin-calls.ts";

/** Returns the issues of the versions that a run follows: their steps that ask for an approval. A version that can't run has none. */
export type UnsignedApprovals = (versions: readonly DefinitionRef[]) => Promise<Issue[]>;

/** @param isAllowed whether the operator lets those decide who have started a run */
export const unsignedApprovals =
  (
    definitionCache: DefinitionCache,
    runs: Pick<RunReader, "versionDefinition">,
    isAllowed: boolean,
  ): UnsignedApprovals =>
  async (versions) => {
    const issues: Issue[] = [];
    if (isAllowed) return issues;
    for (const ref of versions) {
      const compiled = await definitionCache.find(ref, runs);
      const found = approvalsOf(compiled?.definition ?? {});
      // The steps only where the caller sees the definition: a called workflow may belong to another project.
      issues.push(...(ref.id === "" ? found.slice(0, 1).map(() => inCalled(ref)) : found));
    }
    return issues;
  };

/** Returns the issues of a valid definition with a trigger without a signature, and of what it calls. @param called the workflows that it calls */
export const undecidableIn =
  (pinCalls: PinCalls, undecidable: UnsignedApprovals, isAllowed: boolean) =>
  async (definition: Readonly<Record<string, unknown>>, called: readonly string[]): Promise<Issue[]> => {
    if (isAllowed || !hasUnsignedTrigger(definition)) return [];
    const pins = called.length === 0 ? {} : await pinCalls(called, { live: false });
    return [...approvalsOf(definition), ...(await undecidable(pinnedVersions(pins)))];
  };

/** The steps of a definition that ask for an approval, as issues. */
const approvalsOf = ({ steps = [] }: { steps?: readonly { type: string }[] }): Issue[] =>
  steps.flatMap(({ type }, index) => (type === "approval" ? [ofStep(index)] : []));

/** Whether anybody with a URL starts runs of a definition. */
const hasUnsignedTrigger = ({ triggers = [] }: { triggers?: readonly { signature?: unknown }[] }): boolean =>
  triggers.some(({ signature }) => signature === undefined);

/** The code of the issues. */
const UNSIGNED_APPROVAL = "unsigned_approval";
const WHY =
  "but a trigger without a signature starts the run: anyone who has its URL could start it unseen, and decide on it";
const FIX =
  "Add signature to the trigger, or remove the approval. The operator can allow it with approvals.by_starter in the configuration.";

const ofStep = (index: number): Issue => ({
  path: `steps[${index}]`,
  code: UNSIGNED_APPROVAL,
  message: `asks for an approval, ${WHY}`,
  fix: FIX,
});

const inCalled = ({ workflowId }: DefinitionRef): Issue => ({
  path: "",
  code: UNSIGNED_APPROVAL,
  message: `calls the workflow ${workflowId}, which asks for an approval, ${WHY}`,
  fix: FIX,
});
