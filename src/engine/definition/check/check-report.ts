/** The options and the report of a check. */
import type { Definition } from "../../../../schemas/workflow-definition.ts";
import type { PartialIssue } from "../../../core/connections.ts";
import {
  type CheckOptions as PortOptions,
  type CheckReport,
  MAX_TYPE_CHARS,
} from "../../../core/engine-port.ts";
import { formatShape } from "../../../core/format-shape.ts";
import { type PatchOperation, prefixPatch } from "../../../core/json-patch.ts";
import type { Shape } from "../../../core/shapes.ts";
import { SIGNATURE_SECRET } from "../../../core/webhook-signatures/issues.ts";

export type CheckOptions = Omit<PortOptions, "signal" | "owner" | "project"> & {
  signal?: AbortSignal;
  /** Left out, the default one. */
  project?: string;
  /** Left out, the command line. */
  owner?: string;
  /** Timeout of the checks against connections, in milliseconds; left out, that of the checker. */
  connectionsTimeoutMs?: number;
};

export type CheckedStep = CheckReport["steps"][number] & { output: Shape };
export type Preview = NonNullable<CheckReport["preview"]>;

/** The report inside the engine: operations get less of it. */
export interface Report extends CheckReport {
  output_shape: Shape;
  steps: CheckedStep[];
  /** The definition with defaults filled in; null if it does not match its schema. */
  parsed: Definition | null;
  inputs_shape: Shape;
  /** The passed inputs with defaults, if they are valid. */
  inputs?: Record<string, unknown>;
}

/** The type of a value in a report. */
export const typeText = (shape: Shape): string => formatShape(shape).slice(0, MAX_TYPE_CHARS);

/** An issue with its path from the top of the definition, in parts. */
export type LocatedIssue = Omit<PartialIssue, "path"> & {
  path: readonly PropertyKey[];
  /** The position in the text, if it is not that of the path. */
  line?: number | undefined;
  column?: number | undefined;
  /** The one right change of the definition. */
  patch?: readonly PatchOperation[];
};

/** Moves an issue and its patch below `path`. */
export const prefixPath = (
  path: readonly PropertyKey[],
  issue: PartialIssue | LocatedIssue,
): LocatedIssue => ({
  ...issue,
  path: [...path, ...(issue.path ?? [])],
  ...("patch" in issue && issue.patch !== undefined && { patch: prefixPatch(path, issue.patch) }),
});

export const isWarning = ({ severity }: Pick<PartialIssue, "severity">): boolean => severity === "warning";

/** Whether one of the issues prevents running. */
export const hasErrors = (issues: readonly Pick<PartialIssue, "severity">[]): boolean =>
  !issues.every(isWarning);

/** Maximum number of issues reported for one definition, and of warnings. */
export const MAX_ISSUES = 100;

/** The code of an output that an example gives, and that the step can't have. */
export const UNFIT_OUTPUT = "unfit_output";
/** The code of hidden characters in a text of a definition. */
export const HIDDEN_CHARACTERS = "hidden_characters";
/**
 * Codes of what is refused when a definition is saved, but does not stop a version that was saved before: it runs with the
 * maximum of the operator, with its texts as they are, and although a table that its examples show has changed.
 */
const ALLOWED_IN_SAVED: ReadonlySet<string> = new Set([
  "schedule_too_frequent",
  "duration_too_long",
  HIDDEN_CHARACTERS,
  UNFIT_OUTPUT,
  SIGNATURE_SECRET.unknown,
  SIGNATURE_SECRET.notSet,
  SIGNATURE_SECRET.malformed,
]);

export const isAllowedInSaved = ({ code }: Pick<PartialIssue, "code">): boolean => ALLOWED_IN_SAVED.has(code);
