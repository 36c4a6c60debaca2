/** The `fetch` of one call, which fails if the response says that the vendor failed, whatever its status and its format. */
import type { StepError } from "../../core/step-errors.ts";
import type { VendorResponse } from "./vendor-error.ts";

export interface CheckedFetch {
  fetch: typeof globalThis.fetch;
  /** The last response without a failure: if the SDK fails after it, the response is not what it expects. */
  lastResponse(): VendorResponse | undefined;
}

/** @param failureOf returns the failure of a response, if it has one */
export function checkedFetch(
  fetch: typeof globalThis.fetch,
  failureOf: (response: VendorResponse) => StepError | undefined,
): CheckedFetch {
  let last: VendorResponse | undefined;
  return {
    async fetch(input, init) {
      last = undefined;
      const response = await fetch(input, init);
      const { status, statusText, headers } = response;
      const body = await response.text();
      const received = { status, headers: Object.fromEntries(headers), body };
      const failure = failureOf(received);
      if (failure !== undefined) throw failure;
      last = received;
      return new Response(status === 204 ? null : body, { status, statusText, headers });
    },
    lastResponse: () => last,
  };
}
