/** Validates a text while it is typed: syntax immediately, the rest on the server after a pause. */
import { useEffect, useState } from "react";
import { send } from "../api/client.ts";
import { useConnection } from "../api/connection.ts";
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { type EditorIssue, type Format, parse, placeIssues } from "./format.ts";

/** The fields of a validation result besides its issues. */
type ValidationReport = Omit<Schemas.Validation, "errors" | "warnings" | "valid">;

export interface ValidationState {
  /** The issues of the previous text while the next is checked. */
  issues: EditorIssue[];
  /**
   * idle: validation is disabled. checking: in progress. checked: `issues` is complete, and has no errors for a valid text.
   * unavailable: the server did not answer or refused, so the result is unknown.
   */
  state: "idle" | "checking" | "checked" | "unavailable";
  /** The report on the last text without syntax errors. */
  report?: ValidationReport;
}

interface Options {
  enabled?: boolean;
  /** The existing workflow that the text belongs to. */
  workflowId?: string | undefined;
}

/** Pause in typing after which the server validates the text, in milliseconds. */
const DEBOUNCE_MS = 400;

interface Result extends ValidationState {
  /** The text, format and workflow that it belongs to. */
  key: string;
}

const NO_ISSUES: EditorIssue[] = [];

export function useValidation(
  text: string,
  format: Format,
  { enabled = true, workflowId }: Options = {},
): ValidationState {
  const [result, setResult] = useState<Result>({ key: "", issues: NO_ISSUES, state: "idle" });
  const key = `${workflowId ?? ""} ${format} ${text}`;
  const { isReachable } = useConnection();
  useEffect(() => {
    if (!enabled || !isReachable) return;
    const controller = new AbortController();
    const { signal } = controller;
    const run = async (): Promise<void> => {
      const found = await check(text, format, workflowId, signal);
      if (!signal.aborted) setResult((before) => ({ ...reportOf(before), ...found, key }));
    };
    void run();
    return () => controller.abort();
  }, [key, text, format, workflowId, enabled, isReachable]);

  if (!enabled) return { issues: NO_ISSUES, state: "idle" };
  const { issues, state } = result;
  const pending = isReachable ? "checking" : "unavailable";
  return { issues, state: result.key === key ? state : pending, ...reportOf(result) };
}

const reportOf = ({ report }: Result): Pick<Result, "report"> => (report === undefined ? {} : { report });

async function check(
  text: string,
  format: Format,
  workflowId: string | undefined,
  signal: AbortSignal,
): Promise<ValidationState> {
  try {
    const parsed = await parse(text, format);
    if ("issues" in parsed) return { issues: parsed.issues, state: "checked" };
    await waitForPause(signal);
    // Sent as text, so that the server reports line numbers and YAML pitfalls.
    const body = { definition: text, ...(workflowId !== undefined && { workflow_id: workflowId }) };
    const { data } = await send("post", "/workflows/validate", { body, signal });
    const { errors, warnings = [], valid: _, ...report } = data;
    const issues = [
      ...(await placeIssues(text, format, errors)),
      ...(await placeIssues(text, format, warnings, "warning")),
    ];
    return { issues, state: "checked", report };
  } catch {
    return { issues: NO_ISSUES, state: "unavailable" };
  }
}

function waitForPause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, DEBOUNCE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
