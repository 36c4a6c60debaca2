/** Finds what workflows use beyond the limits of a key, so that it can't reach through others what it can't use itself. */
import type { Issue } from "../../../schemas/problem.ts";
import type { KeyLimits } from "../../core/access.ts";
import type { ApiKeyReader } from "../../core/account-ports.ts";
import { SCRATCH_DATABASE } from "../../core/connections.ts";
import type { ConnectionLimits } from "../../core/connection-views.ts";
import type { EngineApi, RunRequest } from "../../core/engine-port.ts";
import { newRunId } from "../../core/ids.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { calledWorkflowIds } from "../../core/workflow-calls.ts";
import type {
  CompiledDefinition,
  DefinitionCache,
  DefinitionRef,
} from "../definition/compiled-definition.ts";
import type { PinCalls } from "./pin-calls.ts";

/** The key whose limits hold, as messages name it. */
type KeyLabel = "this key" | `the key ${string}`;

/**
 * Returns the issues of the versions that a run follows: the databases and models that they use, also to undo steps, and that
 * the key is not limited to. A version that can't run has none.
 */
export type BeyondLimits = (
  versions: readonly DefinitionRef[],
  limits: ConnectionLimits | null,
  key?: KeyLabel,
) => Promise<Issue[]>;

/** The code of the issues. */
const BEYOND_KEY_LIMITS = "beyond_key_limits";

const KINDS = [
  ["database", "databases"],
  ["model", "models"],
] as const;

export const beyondLimits =
  (definitionCache: DefinitionCache, runs: Pick<RunReader, "versionDefinition">): BeyondLimits =>
  async (versions, limits, key = "this key") => {
    const { databases, models } = limits ?? {};
    if (databases === undefined && models === undefined) return [];
    const allowed = { databases: databases && [...databases, SCRATCH_DATABASE], models };
    const issues: Issue[] = [];
    for (const ref of versions) {
      const compiled = await definitionCache.find(ref, runs);
      const used = compiled === undefined ? new Set<string>() : resourcesOf(compiled);
      for (const [kind, list] of KINDS)
        for (const resource of used) {
          const name = resource.slice(kind.length + 1);
          if (!resource.startsWith(`${kind}:`) || allowed[list]?.includes(name) !== false) continue;
          issues.push({
            path: "",
            code: BEYOND_KEY_LIMITS,
            // The name only where the caller sees the definition: a called workflow may belong to another project.
            message:
              ref.id === ""
                ? `calls the workflow ${ref.workflowId}, which uses a ${kind} that ${key} may not use`
                : `uses the ${kind} ${name}, which ${key} may not use`,
            allowed: [...limits![list]!],
            fix:
              key === "this key"
                ? "Use another key, or ask its owner for one with wider limits."
                : "Publish it with a key that may use it, or let a person publish it.",
          });
        }
    }
    return issues;
  };

/** See `EngineApi`. */
export const versionBeyondLimits =
  (
    runs: Pick<RunReader, "versionDefinition">,
    pinCalls: PinCalls,
    beyond: BeyondLimits,
  ): EngineApi["beyondKeyLimits"] =>
  async ({ workflowId, version }, limits) => {
    if (limits?.databases === undefined && limits?.models === undefined) return [];
    const definition = (await runs.versionDefinition(workflowId, version)) ?? {};
    const pins = await pinCalls(calledWorkflowIds(definition), { live: true });
    const ref: DefinitionRef = { id: newRunId(), workflowId, version, definition: null };
    return beyond([ref, ...pinnedVersions(pins)], limits);
  };

/** What the key is limited to that starts a run, or in whose name the engine starts it. */
export type KeyOfStart = (
  request: Pick<RunRequest, "caller" | "keyLimits" | "pins" | "actor">,
) => Promise<{ limits: KeyLimits | null; key?: KeyLabel }>;

/** A rotated key has the limits of its successor, and a person's session has none. */
export const keyOfStart =
  (apiKeys: Pick<ApiKeyReader, "ofLineage">): KeyOfStart =>
  async ({ caller, keyLimits, pins, actor: { lineage, keyName } }) => {
    if (caller !== null) return { limits: caller.principal.access.keyLimits };
    if (keyLimits !== undefined) return { limits: keyLimits };
    // A run that another one starts has the versions that were checked when that one started.
    if (pins !== undefined && pins !== null) return { limits: null };
    // Schedules and triggers call other versions than those that were checked when they were published.
    const [newest] = await apiKeys.ofLineage(lineage);
    return { limits: newest?.limits ?? null, key: `the key "${keyName}" that published it` };
  };

/** The resources of all steps, and of those inside them. */
const resourcesOf = ({ resources, undo, lookups }: CompiledDefinition): Set<string> =>
  new Set(
    [...resources, ...[...undo.values(), ...lookups.values()].map(({ resource }) => resource)].filter(
      (one) => one !== null,
    ),
  );

/** The versions that pins name. */
export const pinnedVersions = (pins: Readonly<Record<string, number>>): DefinitionRef[] =>
  Object.entries(pins).map(([workflowId, version]) => ({ id: "", workflowId, version, definition: null }));
