/** What a check gives, and what it takes. */
import type { Fault } from "../../../schemas/problem.ts";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import type { PartialFault } from "../../core/connections.ts";
import type { Shape } from "../../core/shapes.ts";

export interface CheckOptions {
  /** Whether steps are held against the real world: databases, models, servers, secrets, other workflows. */
  bind: boolean;
  /** Inputs of a run, to be checked and filled up with defaults. */
  inputs?: unknown;
  /** Outputs of steps, by id: what can be evaluated with them is, and comes back as `preview`. */
  mocks?: Readonly<Record<string, unknown>> | undefined;
  /** The workflow that the definition belongs to. */
  selfId?: string | undefined;
  /** Whether `id`, `name`, `description` and `tags` may stand at the top, as in files. */
  file?: boolean;
  signal?: AbortSignal;
}

export interface CheckedStep {
  id: string;
  type: string;
  /** What expressions see as `steps.<id>`. */
  output: Shape;
  /** Whether to run it again may do something twice. */
  effects: boolean;
}

export interface Preview {
  /** By step id what its fields resolve to; `if` beside them; of a fan-out the first items. */
  steps: Record<string, unknown>;
  output?: unknown;
}

export interface Report {
  valid: boolean;
  /** In the order of the document, at most 100. */
  errors: Fault[];
  /** As it was written, as JSON; null where it can't be read as an object. */
  definition: Record<string, unknown> | null;
  /** The same with defaults filled in; null while its form has faults. */
  parsed: Definition | null;
  /** What a file has at the top beside it. */
  file: { id?: string; name?: string; description?: string; tags?: string[] };
  inputs_shape: Shape;
  output_shape: Shape;
  steps: CheckedStep[];
  /** The given inputs with defaults, where they fit. */
  inputs?: Record<string, unknown>;
  preview?: Preview;
}

/** A fault with its path from the top, in parts. */
export type Located = Omit<PartialFault, "path"> & { path: readonly PropertyKey[] };

/** A fault below `path`. */
export const below = (path: readonly PropertyKey[], fault: PartialFault | Located): Located => ({
  ...fault,
  path: [...path, ...(fault.path ?? [])],
});

/** As many faults are told. */
export const MAX_FAULTS = 100;
