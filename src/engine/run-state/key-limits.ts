/** Finds what workflows use beyond the limits of a key, so that it can't reach through others what it can't use itself. */
import type { Issue } from "../../../schemas/problem.ts";
import { SCRATCH_DATABASE } from "../../core/connections.ts";
import type { ConnectionLimits } from "../../core/connection-views.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type {
  CompiledDefinition,
  DefinitionCache,
  DefinitionRef,
} from "../definition/compiled-definition.ts";

/**
 * Returns the issues of the versions that a run follows: the databases and models that they use, also to undo steps, and that
 * the key is not limited to. A version that can't run has none.
 */
export type BeyondLimits = (
  versions: readonly DefinitionRef[],
  limits: ConnectionLimits | null,
) => Promise<Issue[]>;

const KINDS = [
  ["database", "databases"],
  ["model", "models"],
] as const;

export const beyondLimits =
  (definitionCache: DefinitionCache, runs: Pick<RunReader, "versionDefinition">): BeyondLimits =>
  async (versions, limits) => {
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
            code: "beyond_key_limits",
            // The name only where the caller sees the definition: a called workflow may belong to another project.
            message:
              ref.id === ""
                ? `calls the workflow ${ref.workflowId}, which uses a ${kind} that this key may not use`
                : `uses the ${kind} ${name}, which this key may not use`,
            allowed: [...(limits![list] ?? [])],
            fix: "Use another key, or ask its owner for one with wider limits.",
          });
        }
    }
    return issues;
  };

/** The resources of all steps, and of those that undo them. */
const resourcesOf = ({ resources, undo }: CompiledDefinition): Set<string> =>
  new Set(
    [...resources, ...[...undo.values()].map(({ resource }) => resource)].filter((one) => one !== null),
  );

/** The versions that pins name. */
export const pinnedVersions = (pins: Readonly<Record<string, number>>): DefinitionRef[] =>
  Object.entries(pins).map(([workflowId, version]) => ({ id: "", workflowId, version, definition: null }));
