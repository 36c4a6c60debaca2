/** The tokens in the URLs of events: the run and the step, with a MAC, so that nobody can make one up. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { EventRef } from "./event-ports.ts";

export interface EventTokens {
  create(ref: EventRef): string;
  /** Takes the same time whatever the MAC is. @returns undefined for a token that was not made with this key */
  verify(token: string): EventRef | undefined;
}

/** Length of a MAC, in bytes. */
const MAC_BYTES = 24;
const REF = /(?<runId>run_[\w-]{1,40})\.(?<stepId>[a-z][a-z0-9_]{0,63})/.source;
const TOKEN = new RegExp(`^${REF}\\.(?<mac>[\\w-]{32})$`);

/**
 * Finds what looks like a token in a text, also if the end of its MAC is cut off. Fewer than 8 characters of a MAC leave 150
 * bits to guess, and would be found in names of files such as `run_8dkq2m0sfj3a.report.csv`.
 */
export const EVENT_TOKENS = new RegExp(
  `${REF}\\.(?:(?<mac>[\\w-]{32})|(?<cutMac>[\\w-]{8,31})(?!\\.?[\\w-]))`,
  "g",
);

/** Maximum length of a token, in characters. */
export const MAX_EVENT_TOKEN = "run_".length + 40 + 1 + 64 + 1 + 32;

/** @param key a secret that all processes of this instance share */
export function eventTokens(key: Buffer): EventTokens {
  const macOf = ({ runId, stepId }: EventRef): Buffer =>
    createHmac("sha256", key).update(`event\0${runId}\0${stepId}`).digest().subarray(0, MAC_BYTES);

  return {
    create: (ref) => `${ref.runId}.${ref.stepId}.${macOf(ref).toString("base64url")}`,
    verify(token) {
      const parts = TOKEN.exec(token)?.groups;
      if (parts === undefined) return undefined;
      const ref = { runId: parts["runId"]!, stepId: parts["stepId"]! };
      return timingSafeEqual(Buffer.from(parts["mac"]!, "base64url"), macOf(ref)) ? ref : undefined;
    },
  };
}
