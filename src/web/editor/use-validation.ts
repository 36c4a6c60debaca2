/** Validates a text while it is typed: syntax immediately, the rest on the server after a pause. */
import { useCallback, useEffect, useState } from "react";
import * as texts from "#texts/editor";
import { ApiError, send } from "../api/client.ts";
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { type EditorIssue, type Format, parse, placeIssues } from "./format.ts";

/** The fields of a validation result besides its issues. */
type ValidationReport = Omit<Schemas.Validation, "errors" | "warnings" | "valid">;

export interface ValidationState {
  /** The issues of the previous text while the next is checked. */
  issues: EditorIssue[];
  /**
   * idle: validation is disabled. checking: the text has changed since the last check. checked: `issues` is complete, and
   * has no errors for a valid text. unavailable: the server did not answer or refused, so the result is unknown.
   */
  state: "idle" | "checking" | "checked" | "unavailable";
  /** Why the text could not be checked, as a sentence that follows a colon; only when unavailable. */
  reason?: string;
  /** Whether a part could not be checked, as a warning says. */
  isPartial?: boolean;
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
/** Pause after which a failed check is repeated, in milliseconds. It is repeated at once when the browser is online again. */
const RETRY_MS = 10_000;

interface Result extends ValidationState {
  /** The text, format and workflow that it belongs to. */
  key: string;
  /** Number of the check that found it. */
  attempt: number;
}

const NO_ISSUES: EditorIssue[] = [];

export function useValidation(
  text: string,
  format: Format,
  { enabled = true, workflowId }: Options = {},
): ValidationState & { checkAgain: () => void } {
  const [attempt, setAttempt] = useState(0);
  const checkAgain = useCallback(() => setAttempt((last) => last + 1), []);
  const [result, setResult] = useState<Result>({ key: "", attempt: 0, issues: NO_ISSUES, state: "idle" });
  const key = `${workflowId ?? ""} ${format} ${text}`;
  useEffect(() => {
    if (!enabled) return;
    const controller = new AbortController();
    const { signal } = controller;
    const run = async (): Promise<void> => {
      const found = await check(text, format, workflowId, signal);
      if (!signal.aborted) setResult((before) => ({ ...reportOf(before), ...found, key, attempt }));
    };
    void run();
    return () => controller.abort();
  }, [key, text, format, workflowId, enabled, attempt]);
  const isUnavailable = enabled && result.key === key && result.state === "unavailable";
  useRepetition(isUnavailable, checkAgain);

  if (!enabled) return { issues: NO_ISSUES, state: "idle", checkAgain };
  const { issues, state, reason, isPartial } = result;
  if (result.key !== key) return { issues, state: "checking", ...reportOf(result), checkAgain };
  return {
    issues,
    state,
    ...(reason !== undefined && { reason }),
    ...(isPartial === true && { isPartial }),
    ...reportOf(result),
    checkAgain,
  };
}

/** Repeats a failed check until it succeeds. */
function useRepetition(isUnavailable: boolean, checkAgain: () => void): void {
  useEffect(() => {
    if (!isUnavailable) return;
    const timer = setInterval(checkAgain, RETRY_MS);
    window.addEventListener("online", checkAgain);
    return () => {
      clearInterval(timer);
      window.removeEventListener("online", checkAgain);
    };
  }, [isUnavailable, checkAgain]);
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
    const isPartial = warnings.some(({ code }) => code === "not_checked");
    return { issues, state: "checked", report, ...(isPartial && { isPartial }) };
  } catch (error) {
    return { issues: NO_ISSUES, state: "unavailable", reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return texts.checkerNotLoaded;
  if (error.status !== 0) return lowerFirst(error.message);
  return navigator.onLine ? texts.serverUnreachable : texts.offline;
}

const lowerFirst = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

function waitForPause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, DEBOUNCE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
