/** What the threads of the engine do. Values travel as text: copying large ones in other ways takes longer. */
import type {
  Connections,
  NamedConnection,
  PartialIssue,
  SqlColumn,
  MissingName,
} from "../../core/connections.ts";
import type { StateDeclaration } from "../../core/workflow-state.ts";
import type { JsonSchema } from "../../core/json-schema/index.ts";
import type { StepErrorCode, StepErrorOptions } from "../../core/step-errors.ts";
import type { CheckerOptions, CheckOptions } from "../definition/check/index.ts";

export interface CheckTask {
  kind: "check";
  /** YAML or JSON text, or an object as JSON. */
  source: { yaml: string } | { json: string };
  options: Omit<CheckOptions, "signal" | "owner" | "asPublished" | "unavailable" | "project" | "keyLimits">;
  connections: ConnectionLists;
  /** Whether users can be looked up. */
  hasUsers: boolean;
  /** The present time, in milliseconds since 1970. */
  now: number;
  settings: CheckSettings;
}

/** Settings of the operator. */
export type CheckSettings = Pick<CheckerOptions, "minScheduleInterval" | "limits">;

/** What a check of a definition reads of the connections without asking them. */
export interface ConnectionLists extends Pick<Connections, "defaultDatabase" | "interruptionRules"> {
  databases: ReturnType<Connections["databases"]["list"]>;
  models: ReturnType<Connections["models"]["list"]>;
  secrets: ReturnType<Connections["http"]["secrets"]>;
  mcpServers: ReturnType<Connections["mcpServers"]["list"]>;
  mailUnavailableReason: string | null;
  chats: readonly NamedConnection[];
  allowedDomains: readonly string[];
}

/** The report of a check, in two texts. */
export interface CheckedText {
  /** JSON of the report without its definition. */
  report: string;
  /** JSON of the definition; null if there is none, "unchanged" if it is the one that was passed as JSON. */
  definition: string | null;
}

export const UNCHANGED = "unchanged";

/** Validates a value by a schema of a workflow. */
export type ValidationTask =
  | { kind: "inputs"; schema: JsonSchema | null; json: string; asWritten: boolean }
  | {
      kind: "read";
      schema: JsonSchema;
      json: string;
      otherNames: ReadonlyMap<string, string>;
      keepsAllowed: boolean;
    }
  | { kind: "value"; schema: JsonSchema; json: string }
  | { kind: "state"; declaration: StateDeclaration; json: string };

/** The completed value as JSON, or its issues; for what is read, a `ReadValue` as JSON. */
export type ValidatedText = { json: string } | { issues: PartialIssue[] };

export type TaskResult = CheckedText | ValidatedText;

export type EngineTask = CheckTask | ValidationTask;

/** What a check asks the process that started it. */
export type CheckQuestion =
  | { kind: "prepare"; request: Parameters<Connections["databases"]["prepare"]>[0] }
  | { kind: "tools"; server: string }
  | { kind: "http"; request: Parameters<Connections["http"]["check"]>[0] }
  | { kind: "workflow"; id: string }
  | { kind: "workflowIds" }
  | { kind: "isActiveUser"; email: string }
  | { kind: "memberEmails" };

export type Prepared =
  { columns: SqlColumn[] } | { issues: PartialIssue[]; missing?: MissingName | undefined };

/** An answer, or the error of a connection, which the check reports as an issue. */
export type CheckAnswer =
  | { value: unknown }
  | {
      stepError: {
        code: StepErrorCode;
        message: string;
        options: Pick<StepErrorOptions, "fix" | "transient">;
      };
    };
