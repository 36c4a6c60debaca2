/** The `fetch` of model clients, with a limit on the size of responses. */
import { boundedFetch } from "../../core/bounded-fetch.ts";
import { loadUndici, outgoingAgent } from "../../core/outgoing-agent.ts";
import type { OutgoingProxies } from "../../core/outgoing-proxy.ts";
import { StepError } from "../../core/step-errors.ts";

/** Maximum size of a response, compressed and decompressed, in bytes. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/**
 * Creates a `fetch` that limits responses to `MAX_RESPONSE_BYTES`. It follows no redirects, which would get the API key, and
 * has no time limit except its signal.
 */
export function createBoundedFetch(proxies: OutgoingProxies): typeof globalThis.fetch {
  const { fetch: undiciFetch } = loadUndici();
  const dispatcher = outgoingAgent(proxies, {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { allowH2: false, timeout: 10_000 },
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  return async (input, init) => {
    const options = { ...init, dispatcher, redirect: "manual" };
    const limits = { maxBytes: MAX_RESPONSE_BYTES, tooLarge: responseTooLarge };
    return boundedFetch(undiciFetch as unknown as typeof fetch, input as string, options as object, limits);
  };
}

export const responseTooLarge = (): StepError =>
  new StepError(
    "output_too_large",
    `The model's response is larger than the maximum of ${MAX_RESPONSE_BYTES} bytes.`,
    { fix: "Ask for less, or set max_output_tokens." },
  );
