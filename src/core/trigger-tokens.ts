/** The tokens in the URLs of triggers: the trigger with a MAC, so that nobody can make one up and none is stored. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { TriggerRecord } from "./trigger-ports.ts";

type TriggerRef = Pick<TriggerRecord, "id" | "rotation">;

export interface TriggerTokens {
  create(trigger: TriggerRef): string;
  /** The id in a token, which proves nothing yet; undefined for a text that is no token. */
  idIn(token: string): string | undefined;
  /** Whether the token is the current one of its trigger. It takes the same time whatever the MAC is. */
  isCurrent(token: string, trigger: TriggerRef): boolean;
}

/** Length of a MAC, in bytes. */
const MAC_BYTES = 24;
const TOKEN = /^(?<id>trg_[\w-]{1,40})\.(?<mac>[\w-]{32})$/;

/** @param key a secret that all processes of this instance share */
export function triggerTokens(key: Buffer): TriggerTokens {
  const macOf = ({ id, rotation }: TriggerRef): Buffer =>
    createHmac("sha256", key).update(`trigger\0${id}\0${rotation}`).digest().subarray(0, MAC_BYTES);

  return {
    create: (trigger) => `${trigger.id}.${macOf(trigger).toString("base64url")}`,
    idIn: (token) => TOKEN.exec(token)?.groups?.["id"],
    isCurrent(token, trigger) {
      const { id, mac } = TOKEN.exec(token)?.groups ?? {};
      return id === trigger.id && timingSafeEqual(Buffer.from(mac!, "base64url"), macOf(trigger));
    },
  };
}
