/** Reads what Slack sends when a member presses a button: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
import { z } from "zod";
import { APPROVE, DECLINE } from "../../core/chat-port.ts";
import type { ChatMember } from "../../core/chat-port.ts";
import { isNestedDeeper, MAX_REQUEST_DEPTH } from "../../core/json-nesting.ts";

export interface ButtonPress {
  approvalId: string;
  planDigest: string;
  decision: "approve" | "decline";
  member: ChatMember;
  responseUrl: string;
}

const Payload = z.object({
  type: z.literal("block_actions"),
  user: z.object({ id: z.string().max(50), team_id: z.string().max(50).optional() }),
  team: z.object({ id: z.string().max(50) }),
  response_url: z.string().max(2_000),
  actions: z
    .array(z.object({ action_id: z.string(), value: z.string().max(300).optional() }))
    .min(1)
    .max(10),
});
const VALUE = /^(?<approvalId>apr_[\w-]{1,60}) (?<planDigest>[\w-]{1,100})$/;

/** @param body the bytes of a form with the field `payload` @returns undefined for anything but one of our buttons */
export function readPress(body: Buffer): ButtonPress | undefined {
  const text = new URLSearchParams(body.toString("utf8")).get("payload");
  const parsed = Payload.safeParse(parseJson(text ?? ""));
  if (!parsed.success) return undefined;
  const { user, team, response_url: responseUrl, actions } = parsed.data;
  const [{ action_id: action, value = "" }] = actions as [(typeof actions)[number]];
  const found = VALUE.exec(value)?.groups;
  if (found === undefined || (action !== APPROVE && action !== DECLINE)) return undefined;
  return {
    approvalId: found["approvalId"]!,
    planDigest: found["planDigest"]!,
    decision: action === APPROVE ? "approve" : "decline",
    member: { id: user.id, team: team.id },
    responseUrl,
  };
}

function parseJson(text: string): unknown {
  if (isNestedDeeper(text, MAX_REQUEST_DEPTH)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
