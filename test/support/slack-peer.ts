/** A server on loopback with the parts of Slack's API that Millrace calls, and an app that signs what members press. */
import { createHmac } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

const SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const BOT_TOKEN = "xoxb-for-loopback-only";

interface SlackMessage {
  channel: string;
  ts: string;
  text: string;
  blocks: {
    type: string;
    text?: { text: string };
    elements?: { action_id: string; value?: string; url?: string }[];
  }[];
}

/** @param members addresses, or whole users, by member id */
export async function slackPeer(members: Record<string, string | object>) {
  const messages: SlackMessage[] = [];
  const updates: SlackMessage[] = [];
  const whispers: string[] = [];
  const lookUps: string[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      if (req.url === "/response") {
        whispers.push((JSON.parse(text) as { text: string }).text);
        return answer(res, { ok: true });
      }
      if (req.headers.authorization !== `Bearer ${BOT_TOKEN}`)
        return answer(res, { ok: false, error: "invalid_auth" });
      const fields = Object.fromEntries(new URLSearchParams(text));
      const message = (ts: string): SlackMessage => ({
        channel: fields["channel"]!,
        ts,
        text: fields["text"]!,
        blocks: JSON.parse(fields["blocks"] ?? "[]") as SlackMessage["blocks"],
      });
      if (req.url === "/api/chat.postMessage") {
        messages.push(message(`1700000000.00000${messages.length}`));
        return answer(res, { ok: true, ts: messages.at(-1)!.ts, channel: fields["channel"] });
      }
      if (req.url === "/api/chat.update") {
        updates.push(message(fields["ts"]!));
        return answer(res, { ok: true });
      }
      if (req.url === "/api/auth.test") return answer(res, { ok: true, team_id: "T1", user_id: "UBOT" });
      const id = fields["user"]!;
      lookUps.push(id);
      const member = members[id];
      if (member === undefined) return answer(res, { ok: false, error: "user_not_found" });
      const user = { id, team_id: "T1", deleted: false, is_bot: false };
      return answer(res, {
        ok: true,
        user: typeof member === "string" ? { ...user, profile: { email: member } } : { ...user, ...member },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    messages,
    updates,
    whispers,
    lookUps,
    /** An entry of `chats` for this peer, and the variables with its secrets. */
    chat: {
      name: "finance",
      type: "slack",
      channel: "C1",
      bot_token_var: "SLACK_BOT_TOKEN",
      signing_secret_var: "SLACK_SIGNING_SECRET",
      api_url: `${origin}/api`,
    },
    env: { SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_SIGNING_SECRET: SIGNING_SECRET },
    /** The body that Slack sends when a member presses a button of a message. */
    press: (
      member: string,
      action: "approve" | "decline",
      message = messages[0]!,
      more: object = {},
    ): string => {
      const id = `millrace_${action}`;
      const button = message.blocks
        .flatMap(({ elements = [] }) => elements)
        .find((one) => one.action_id === id);
      const payload = {
        type: "block_actions",
        user: { id: member, team_id: "T1" },
        team: { id: "T1", domain: "acme" },
        response_url: `${origin}/response`,
        actions: [{ type: "button", action_id: id, value: button?.value }],
        ...more,
      };
      return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    },
  };
}

function answer(res: ServerResponse, body: unknown): void {
  res.setHeader("Content-Type", "application/json");
  res.end(JSON.stringify(body));
}

/** Sends an interaction as Slack does, with its signature. */
export async function interact(
  url: string,
  body: string,
  {
    secret = SIGNING_SECRET,
    at = Date.now(),
    headers = {},
  }: { secret?: string; at?: number; headers?: object } = {},
): Promise<number> {
  const time = String(Math.floor(at / 1000));
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`;
  const response = await fetch(`${url}/interactions/slack`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Slack-Request-Timestamp": time,
      "X-Slack-Signature": signature,
      ...headers,
    },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}
