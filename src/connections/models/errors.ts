/** What the AI SDK throws, as the error of a step. */
import { StepError } from "../../core/step-errors.ts";
import { errorCodeOf } from "../http/errors.ts";
import { type Masker } from "../masking.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import { responseTooLarge } from "./bounded-fetch.ts";

const SHOWN = 300;

/** What an error says of itself, as the vendors' bodies have it. */
const REFUSALS = /content_filter|content_policy|responsible_?ai/i;
const SPENT = /insufficient_quota|billing/i;

/**
 * @param model its name in the configuration
 * @param mask hides the key, should the vendor repeat it
 * @param now in milliseconds, for a `Retry-After` that is a date
 */
export async function modelStepError(
  error: unknown,
  model: string,
  mask: Masker,
  now: number,
): Promise<StepError> {
  const { APICallError } = await import("ai");
  const chain = causes(error);
  const own = chain.find((it) => it instanceof StepError);
  if (own !== undefined) return own;
  if (chain.some((it) => errorCodeOf(it) === "UND_ERR_RES_EXCEEDED_MAX_SIZE")) return responseTooLarge();
  const call = chain.find((it) => APICallError.isInstance(it));
  const status = call?.statusCode;
  if (call === undefined || status === undefined) return unreachable(chain, model, error);
  const said = mask.text(call.message).slice(0, SHOWN);
  const options = { details: { status, said }, cause: error };
  // Some vendors' packages put the parsed body there.
  const raw: unknown = call.responseBody ?? "";
  const code = (typeof raw === "string" ? raw : JSON.stringify(raw)).slice(0, 10_000);

  if (status >= 200 && status < 300)
    return new StepError(
      "model_failed",
      `The model "${model}" answered with what is no answer of its vendor's API.`,
      {
        ...options,
        fix: "If it stays so, the operator checks vendor and base_url of the model.",
      },
    );
  if (status === 429) {
    const wait = retryAfterMs(call.responseHeaders ?? {}, now);
    const spent = SPENT.test(code);
    return new StepError("model_rate_limited", `The vendor of "${model}" takes no more calls now: ${said}`, {
      ...options,
      fix: spent
        ? "The operator looks after the account at the vendor."
        : "Try again later: add retry to the step.",
      ...(spent && { transient: false }),
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  }
  // Its words are left out: vendors repeat parts of the key in them.
  if (status === 401 || status === 403)
    return new StepError(
      "model_failed",
      `The vendor of "${model}" does not accept its key (status ${status}).`,
      {
        fix: "The operator checks the variable that key_var of the model names, and what the key is allowed.",
        details: { status },
        transient: false,
      },
    );
  if (status < 500 && REFUSALS.test(code)) return modelRefused(model);
  if (status >= 500 || status === 408 || status === 409) {
    const wait = retryAfterMs(call.responseHeaders ?? {}, now);
    return new StepError(
      "model_failed",
      `The vendor of "${model}" has a failure (status ${status}): ${said}`,
      {
        ...options,
        fix: "It may go away by itself: add retry to the step.",
        ...(wait !== undefined && { retryAfterMs: wait }),
      },
    );
  }
  return new StepError(
    "model_failed",
    `The vendor of "${model}" does not take the call (status ${status}): ${said}`,
    {
      ...options,
      fix:
        status === 404 || status < 400
          ? "The operator checks model_ref and base_url of the model."
          : "Change the step as it says: a shorter prompt, another temperature, a simpler output_schema.",
      transient: false,
    },
  );
}

export const modelRefused = (model: string): StepError =>
  new StepError(
    "model_refused",
    `The model "${model}" refused to answer, or its vendor's filter held the answer back.`,
    {
      fix: "Change what is asked, or use another model.",
    },
  );

function unreachable(chain: readonly unknown[], model: string, cause: unknown): StepError {
  const code = chain.map(errorCodeOf).find((it) => it !== "unknown");
  if (code === undefined)
    return new StepError("model_failed", `The call of the model "${model}" failed.`, {
      fix: "If it stays so, the operator checks vendor, model_ref and base_url of the model.",
      cause,
    });
  return new StepError("model_failed", `The vendor of "${model}" can't be reached, or broke off (${code}).`, {
    fix: "Try again: add retry to the step. If it stays so, the operator checks base_url and the network.",
    details: { reason: code },
    cause,
  });
}

/** An error and what caused it, outermost first. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let it = error; it instanceof Error && found.length < 10; it = it.cause) found.push(it);
  return found;
}
