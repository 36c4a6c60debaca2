/** Checks the result of a tool against its output schema, and completes it. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { AppError } from "../../core/errors.ts";
import {
  CompletedTooLarge,
  completeValue,
  exceedsJsonSize,
  type JsonSchema,
} from "../../core/json-schema/index.ts";
import { StepError } from "../../core/step-errors.ts";
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { isTimeout, runWithTimeout } from "../models/run-with-timeout.ts";
import { type FailureContext, toolFailed } from "./errors.ts";
import { CHECK_MS, type OutputCheck } from "./exact-values.ts";
import { ROUNDED } from "./repair-message.ts";
import { toolResultValue } from "./tool-result.ts";

/** Maximum size of a result, in characters of JSON. */
const MAX_OUTPUT_CHARS = 4 * 1024 ** 2;

/** The output schema of a tool. */
export interface ResultSchema {
  schema: JsonSchema;
  check: OutputCheck;
}

/**
 * Returns the value of a result, with every field that the schema declares.
 * @throws StepError tool_failed, output_too_large
 */
export function checkedResult(
  context: FailureContext,
  tool: string,
  result: CallToolResult,
  declared: ResultSchema | null,
): unknown {
  const value = toolResultValue(result);
  const whose = `${context.server}: the result of ${tool}`;
  if (exceedsDepth(value, MAX_JSON_DEPTH))
    throw new StepError("output_too_large", `${whose} is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  const tooLarge = (): StepError =>
    new StepError(
      "output_too_large",
      `${whose} has more than ${MAX_OUTPUT_CHARS} characters of JSON with the defaults of its schema, or more than ${MAX_JSON_DEPTH} levels.`,
      { fix: "Request less data from the tool: a filter, a page, fewer fields.", transient: false },
    );
  if (declared !== null && result.structuredContent === undefined)
    throw refused(context, tool, "the tool has an output schema, but returned no structured content");
  const checked = declared === null ? { value } : inTime(declared, result, value);
  if (checked === "too slow")
    throw refused(context, tool, "its result takes too long to check against its output schema");
  if (checked === "too large") throw tooLarge();
  if ("issue" in checked)
    throw refused(context, tool, `its structured content does not match its output schema: ${checked.issue}`);
  // A few defaults, repeated for each item of a list, can be larger than any response.
  if (exceedsJsonSize(checked.value, MAX_OUTPUT_CHARS) || exceedsDepth(checked.value, MAX_JSON_DEPTH))
    throw tooLarge();
  return checked.value;
}

/** The server writes both the schema and the value, so the time of checking is limited. */
function inTime(
  { schema, check }: ResultSchema,
  { structuredContent: exact, _meta }: CallToolResult,
  value: unknown,
): { value: unknown } | { issue: string } | "too slow" | "too large" {
  try {
    return runWithTimeout(CHECK_MS, () => {
      const issue = check({ exact, rounded: _meta?.[ROUNDED] });
      return issue === undefined ? { value: completeValue(schema, value, MAX_OUTPUT_CHARS) } : { issue };
    });
  } catch (error) {
    // A busy machine too: the tool has done its work, and must not be called again.
    if (isTimeout(error) || error instanceof AppError) return "too slow";
    // Defaults inside of defaults may never end.
    if (error instanceof CompletedTooLarge || error instanceof RangeError) return "too large";
    throw error;
  }
}

const refused = (context: FailureContext, tool: string, issue: string): StepError =>
  toolFailed(context, tool, issue, {
    transient: false,
    fix: "Ask the people who run the server to correct the tool or its output schema.",
  });
