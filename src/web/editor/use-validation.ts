/** Checks a text as it is typed: its syntax at once, the rest by the server when the typing rests. */
import { useEffect, useState } from "react";
import { send } from "../api/client.ts";
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { type EditorIssue, type Format, parse, placeIssues } from "./format.ts";

/** What validation gives besides faults. */
type ValidationReport = Omit<Schemas.Validation, "errors" | "valid">;

export interface ValidationState {
  /** Those of the text before, while the next is being checked. */
  issues: EditorIssue[];
  /**
   * idle: not asked for. checking: under way. checked: `faults` are all there are; none: it is valid.
   * unavailable: the server did not answer, or may not be asked, so that nothing is known.
   */
  state: "idle" | "checking" | "checked" | "unavailable";
  /** Of the last text that the server could read. */
  report?: ValidationReport;
}

interface Options {
  enabled?: boolean;
  /** Where the text is to belong to a workflow that exists. */
  workflowId?: string | undefined;
}

const REST_MS = 400;

interface Result extends ValidationState {
  of: string;
}

const NOTHING: EditorIssue[] = [];

export function useValidation(
  text: string,
  format: Format,
  { enabled = true, workflowId }: Options = {},
): ValidationState {
  const [result, setResult] = useState<Result>({ of: "", issues: NOTHING, state: "idle" });
  const key = `${workflowId ?? ""} ${format} ${text}`;
  useEffect(() => {
    if (!enabled) return;
    const asking = new AbortController();
    const { signal } = asking;
    const run = async (): Promise<void> => {
      const found = await check(text, format, workflowId, signal);
      if (!signal.aborted) setResult((before) => ({ ...kept(before), ...found, of: key }));
    };
    void run();
    return () => asking.abort();
  }, [key, text, format, workflowId, enabled]);

  if (!enabled) return { issues: NOTHING, state: "idle" };
  const { of, issues, state, report } = result;
  const told = report === undefined ? {} : { report };
  return { issues, state: of === key ? state : "checking", ...told };
}

const kept = ({ report }: Result): Pick<Result, "report"> => (report === undefined ? {} : { report });

async function check(
  text: string,
  format: Format,
  workflowId: string | undefined,
  signal: AbortSignal,
): Promise<ValidationState> {
  try {
    const parsed = await parse(text, format);
    if ("issues" in parsed) return { issues: parsed.issues, state: "checked" };
    await rest(signal);
    // As text: the server knows where in it each fault stands, and YAML that is misread.
    const body = { definition: text, ...(workflowId !== undefined && { workflow_id: workflowId }) };
    const { data } = await send("post", "/workflows/validate", { body, signal });
    const { errors, valid: _, ...report } = data;
    return { issues: await placeIssues(text, format, errors), state: "checked", report };
  } catch {
    return { issues: NOTHING, state: "unavailable" };
  }
}

function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, REST_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
