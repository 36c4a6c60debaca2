/** Converts failures of vendors, and errors of the AI SDK, to step errors. */
import { proxyErrorOf } from "../../core/proxy-tunnel.ts";
import { StepError } from "../../core/step-errors.ts";
import { errorCodeOf } from "../http/errors.ts";
import { type Masker } from "../masking.ts";
import { responseTooLarge } from "./bounded-fetch.ts";
import { describeBody, vendorErrorOf, type VendorResponse } from "./vendor-error.ts";

/** Maximum length of a vendor's message, in characters. */
const MAX_MESSAGE_LENGTH = 300;

/** Error codes in the vendors' response bodies. */
const REFUSALS = /content_filter|content_policy|responsible_?ai|flagged_input/i;
const QUOTA_USED_UP = /insufficient_quota|billing/i;
/** Maximum length of the part of a body that is searched for these, in characters. */
const MAX_SEARCHED_CHARS = 10_000;

/** The model that is called, and what a message about it needs. */
export interface CallFacts {
  /** The name in the configuration. */
  model: string;
  /** Hides the key, in case the vendor repeats it. */
  mask: Masker;
  /** Time in milliseconds, for a `Retry-After` with a date. */
  now: number;
}

/** Returns the failure that a response reports, by its status or by an error in its body; undefined if it reports none. */
export function responseFailure(
  response: VendorResponse,
  { model, mask, now }: CallFacts,
): StepError | undefined {
  const error = vendorErrorOf(response, now);
  if (error === undefined) return undefined;
  const { status } = error;
  const code = response.body.slice(0, MAX_SEARCHED_CHARS);
  const message = mask.text(error.message).slice(0, MAX_MESSAGE_LENGTH) || "it gives no reason";
  // Whether the step retries depends on its `on`, so each status can ask to wait.
  const waiting = error.waitMs === undefined ? {} : { retryAfterMs: error.waitMs };
  const facts = status === undefined ? {} : { status };
  const options = { details: { ...facts, said: message }, ...waiting };
  const isInner = status !== response.status;
  const place = `${status === undefined ? "an error" : `status ${status}`}${isInner ? ` in a response with status ${response.status}` : ""}`;

  if (status === 429) {
    const quotaUsedUp = QUOTA_USED_UP.test(code);
    return new StepError(
      "model_rate_limited",
      `The vendor of "${model}" accepts no more calls at the moment: ${message}`,
      {
        ...options,
        fix: quotaUsedUp ? CHECK_ACCOUNT : "Try again later.",
        ...(quotaUsedUp && { transient: false }),
      },
    );
  }
  if (status !== undefined && status < 500 && status !== 401 && REFUSALS.test(code))
    return modelRefused(model);
  // Without the vendor's message, which may contain parts of the key.
  if (status === 401 || status === 403)
    return new StepError("model_failed", `The vendor of "${model}" does not accept its key (${place}).`, {
      fix: "Ask the operator to check the variable named by key_var of the model, and the permissions of the key.",
      details: { status },
      transient: false,
      ...waiting,
    });
  if (status === undefined || status >= 500 || status === 408 || status === 409)
    return new StepError(
      "model_failed",
      `The vendor of "${model}" reports a failure (${place}): ${message}`,
      {
        ...options,
        fix: "The failure may be temporary.",
      },
    );
  return new StepError("model_failed", `The vendor of "${model}" rejected the call (${place}): ${message}`, {
    ...options,
    fix: fixOfRejection(status),
    transient: false,
  });
}

const CHECK_ACCOUNT = "Ask the operator to check the account at the vendor.";

const fixOfRejection = (status: number): string => {
  if (status === 402) return CHECK_ACCOUNT;
  return status === 404 || status < 400
    ? "Ask the operator to check model_ref and base_url of the model."
    : "Change the step as the message says: a shorter prompt, another temperature, a simpler output_schema.";
};

/**
 * Converts an error of a model call.
 * @param response the response that came before the error; undefined if none did
 */
export function modelStepError(
  error: unknown,
  { model, mask }: Pick<CallFacts, "model" | "mask">,
  response: VendorResponse | undefined,
): StepError {
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
  if (response === undefined) return unreachable(chain, model, error);
  const found = mask.text(describeBody(response)).slice(0, MAX_MESSAGE_LENGTH);
  return new StepError(
    "model_failed",
    `The response for the model "${model}" does not have the format of its vendor's API: ${found}.`,
    {
      fix: "If the error remains, ask the operator to check vendor and base_url of the model.",
      details: { status: response.status },
      cause: error,
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
