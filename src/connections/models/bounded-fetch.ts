/** The way to the vendors of models: hosts that the operator trusts, answers that nobody bounds but us. */
import { createRequire } from "node:module";
import type * as Undici from "undici";
import { StepError } from "../../core/step-errors.ts";

/** The largest answer, as it comes and decompressed. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/**
 * A `fetch` that follows no redirect (the key would go along) and stops an answer at `MAX_RESPONSE_BYTES`. It waits
 * as long as its signal lets it.
 */
export function createBoundedFetch(): typeof globalThis.fetch {
  const { Agent, fetch: undiciFetch } = createRequire(import.meta.url)("undici") as typeof Undici;
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { allowH2: false, timeout: 10_000 },
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  return async (input, init) => {
    const response = await undiciFetch(input as string, {
      ...(init as Parameters<typeof undiciFetch>[1]),
      dispatcher,
      redirect: "manual",
    });
    const { status, statusText, headers, body } = response;
    const bounded = (body as ReadableStream<Uint8Array> | null)?.pipeThrough(limit()) ?? null;
    return new Response(bounded, { status, statusText, headers: [...headers] });
  };
}

function limit(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(part, controller) {
      size += part.length;
      if (size > MAX_RESPONSE_BYTES) controller.error(responseTooLarge());
      else controller.enqueue(part);
    },
  });
}

export const responseTooLarge = (): StepError =>
  new StepError(
    "output_too_large",
    `The model's answer is more than ${MAX_RESPONSE_BYTES} bytes, the most that is taken.`,
    { fix: "Ask for less, or set max_output_tokens." },
  );
