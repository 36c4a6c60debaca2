/** Converts errors of the AI SDK to step errors. */
import { proxyErrorOf } from "../../core/proxy-tunnel.ts";
import { StepError } from "../../core/step-errors.ts";
import { errorCodeOf } from "../http/errors.ts";
import { type Masker } from "../masking.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import { responseTooLarge } from "./bounded-fetch.ts";

/** Maximum length of a vendor's message, in characters. */
const MAX_MESSAGE_LENGTH = 300;

/** Error codes in the vendors' response bodies. */
const REFUSALS = /content_filter|content_policy|responsible_?ai/i;
const QUOTA_USED_UP = /insufficient_quota|billing/i;

/**
 * Converts an error of a model call.
 * @param model name of the model in the configuration
 * @param mask hides the key, in case the vendor repeats it
 * @param now time in milliseconds, for a `Retry-After` with a date
 */
export async function modelStepError(
  error: unknown,
  model: string,
  mask: Masker,
  now: number,
): Promise<StepError> {
  const { APICallError } = await import("ai");
  const chain = causes(error);
  const own = chain.find((cause) => cause instanceof StepError);
  if (own !== undefined) return own;
  if (chain.some((cause) => errorCodeOf(cause) === "UND_ERR_RES_EXCEEDED_MAX_SIZE"))
    return responseTooLarge();
  const proxy = proxyErrorOf(error);
  if (proxy !== undefined)
    return new StepError("model_failed", `The call of the model "${model}" failed: ${proxy.message}.`, {
      fix: proxy.fix,
      transient: proxy.transient,
      details: { reason: proxy.code },
      cause: error,
    });
  const call = chain.find((cause) => APICallError.isInstance(cause));
  const status = call?.statusCode;
  if (call === undefined || status === undefined) return unreachable(chain, model, error);
  const message = mask.text(call.message).slice(0, MAX_MESSAGE_LENGTH);
  // Whether the step retries depends on its `on`, so each status can ask to wait.
  const wait = retryAfterMs(call.responseHeaders ?? {}, now);
  const waiting = wait === undefined ? {} : { retryAfterMs: wait };
  const options = { details: { status, said: message }, cause: error, ...waiting };
  // The packages of some vendors store the parsed body there.
  const raw: unknown = call.responseBody ?? "";
  const code = (typeof raw === "string" ? raw : JSON.stringify(raw)).slice(0, 10_000);

  if (status >= 200 && status < 300)
    return new StepError(
      "model_failed",
      `The response for the model "${model}" does not have the format of its vendor's API.`,
      {
        ...options,
        fix: "If the error remains, ask the operator to check vendor and base_url of the model.",
      },
    );
  if (status === 429) {
    const quotaUsedUp = QUOTA_USED_UP.test(code);
    return new StepError(
      "model_rate_limited",
      `The vendor of "${model}" accepts no more calls at the moment: ${message}`,
      {
        ...options,
        fix: quotaUsedUp ? "Ask the operator to check the account at the vendor." : "Try again later.",
        ...(quotaUsedUp && { transient: false }),
      },
    );
  }
  // Without the vendor's message, which may contain parts of the key.
  if (status === 401 || status === 403)
    return new StepError(
      "model_failed",
      `The vendor of "${model}" does not accept its key (status ${status}).`,
      {
        fix: "Ask the operator to check the variable named by key_var of the model, and the permissions of the key.",
        details: { status },
        transient: false,
        ...waiting,
      },
    );
  if (status < 500 && REFUSALS.test(code)) return modelRefused(model);
  if (status >= 500 || status === 408 || status === 409)
    return new StepError(
      "model_failed",
      `The vendor of "${model}" reports a failure (status ${status}): ${message}`,
      {
        ...options,
        fix: "The failure may be temporary.",
      },
    );
  return new StepError(
    "model_failed",
    `The vendor of "${model}" rejected the call (status ${status}): ${message}`,
    {
      ...options,
      fix:
        status === 404 || status < 400
          ? "Ask the operator to check model_ref and base_url of the model."
          : "Change the step as the message says: a shorter prompt, another temperature, a simpler output_schema.",
      transient: false,
    },
  );
}

/** Whether the vendor refused the key before it did anything. */
export const isKeyRefusal = (error: unknown): boolean =>
  error instanceof StepError && error.code === "model_failed" && error.options.details?.["status"] === 401;

export const modelRefused = (model: string): StepError =>
  new StepError(
    "model_refused",
    `The model "${model}" refused to answer, or its vendor's filter blocked the answer.`,
    {
      fix: "Change the prompt, or use another model.",
    },
  );

function unreachable(chain: readonly unknown[], model: string, cause: unknown): StepError {
  const code = chain.map(errorCodeOf).find((candidate) => candidate !== "unknown");
  if (code === undefined)
    return new StepError("model_failed", `The call of the model "${model}" failed.`, {
      fix: "If the error remains, ask the operator to check vendor, model_ref and base_url of the model.",
      cause,
    });
  return new StepError(
    "model_failed",
    `The vendor of "${model}" cannot be reached, or closed the connection (${code}).`,
    {
      fix: "If the error remains, ask the operator to check base_url and the network.",
      details: { reason: code },
      cause,
    },
  );
}

/** The error and its causes, the outermost first. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) found.push(cause);
  return found;
}
