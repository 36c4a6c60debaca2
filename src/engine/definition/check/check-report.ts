/** What a check gives, and what it takes. */
import type { Definition } from "../../../../schemas/workflow-definition.ts";
import type { PartialIssue } from "../../../core/connections.ts";
import type { CheckOptions as PortOptions, CheckReport } from "../../../core/engine-port.ts";
import type { Shape } from "../../../core/shapes.ts";

export type CheckOptions = Omit<PortOptions, "signal"> & { signal?: AbortSignal };

export type CheckedStep = CheckReport["steps"][number];
export type Preview = NonNullable<CheckReport["preview"]>;

/** What the checker knows beyond what operations are told. */
export interface Report extends CheckReport {
  /** The definition with defaults filled in; null while its form has faults. */
  parsed: Definition | null;
  inputs_shape: Shape;
  /** The given inputs with defaults, where they fit. */
  inputs?: Record<string, unknown>;
}

/** A fault with its path from the top, in parts. */
export type LocatedIssue = Omit<PartialIssue, "path"> & { path: readonly PropertyKey[] };

/** A fault below `path`. */
export const prefixPath = (
  path: readonly PropertyKey[],
  issue: PartialIssue | LocatedIssue,
): LocatedIssue => ({
  ...issue,
  path: [...path, ...(issue.path ?? [])],
});

/** As many faults are told. */
export const MAX_ISSUES = 100;
