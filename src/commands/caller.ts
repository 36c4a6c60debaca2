/** Calls operations for a command: on the state of this machine, or on the server that MILLRACE_URL names. */
import type { CheckReport } from "../core/engine-port.ts";
import type { AnyTool } from "../core/tool.ts";

/** What the check of a workflow file found. */
export type CheckedFile = Pick<CheckReport, "file" | "definition" | "errors">;

export interface CheckFileOptions {
  project: string;
  /** The id of the workflow, if it exists. */
  selfId?: string | undefined;
  /** Whether to check against the connections. Default: true; a server elsewhere always does. */
  checkConnections?: boolean | undefined;
}

/** Commands that work in both places know no more than this. */
export interface Caller {
  /** Calls an operation. @throws AppError; CommandError if the server can't be reached */
  call<T>(tool: AnyTool, input: Readonly<Record<string, unknown>>): Promise<T>;
  /** Checks the text of a workflow file. */
  checkFile(text: string, options: CheckFileOptions): Promise<CheckedFile>;
}
