import type { CallContext } from "../../src/core/connections.ts";

/** The context of a call: by default of one owner, and never aborted. */
export const callOf = (signal = new AbortController().signal, owner = "ada@example.com"): CallContext => ({
  owner,
  signal,
});
