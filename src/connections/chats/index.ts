/** Posts to the chats of the configuration, through the HTTP client with its rules for hosts and its proxy. */
import { LRUCache } from "lru-cache";
import type { Config } from "../../../schemas/config.ts";
import { canonicalAddress } from "../../../schemas/mail-address.ts";
import type { ChatMember, Chats } from "../../core/chat-port.ts";
import { MINUTE } from "../../core/clock.ts";
import type { CallContext, Http } from "../../core/connections.ts";
import type { SecretSource } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { type ConnectionConfig, missingFix } from "../limit-config.ts";
import { slackBlocks } from "./slack-message.ts";
import { teamsCard } from "./teams-card.ts";

type ChatConfig = Config["chats"][number];
type Slack = Extract<ChatConfig, { type: "slack" }>;

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER = 256 * 1024;
/** How long the address of a member is kept, in milliseconds: one who leaves must not decide for long. */
const ADDRESS_MS = 5 * MINUTE;
/** Hosts of Slack's response URLs; the host of `api_url` too, for other installations. */
const SLACK_HOST = /^(?:[\w-]+\.)*slack(?:-gov)?\.com$/;

export function createChats(
  config: Pick<ConnectionConfig, "chats" | "isLimited">,
  secrets: SecretSource,
  http: Pick<Http, "send">,
  now: () => number,
): Chats {
  const { chats } = config;
  const addresses = new LRUCache<string, { email: string | null }>({
    max: 1_000,
    ttl: ADDRESS_MS,
    ttlResolution: 0,
    perf: { now },
  });

  function find(name: string): ChatConfig {
    const chat = chats.find((entry) => entry.name === name);
    if (chat !== undefined) return chat;
    throw new StepError("environment", `There is no chat "${name}" in the configuration.`, {
      fix: missingFix(config, "Ask the operator to add it to chats, or remove it from the step."),
    });
  }

  function findSlack(name: string): Slack {
    const chat = find(name);
    if (chat.type === "slack") return chat;
    throw new StepError("environment", `The chat "${name}" is not a Slack app.`);
  }

  async function secretOf(variable: string): Promise<string> {
    await secrets.load([variable]);
    const value = secrets.get(variable);
    if (value !== undefined) return value;
    throw new StepError(
      "environment",
      `A chat can't be reached: ${secrets.missingReason(variable) ?? variable}.`,
    );
  }

  async function callSlack(
    { api_url: base, bot_token_var: variable }: Slack,
    method: string,
    body: Record<string, unknown>,
    call: CallContext,
  ): Promise<Record<string, unknown>> {
    const form = new URLSearchParams(
      Object.entries(body).map(([key, value]): [string, string] => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    );
    const { body: answer } = await http.send(
      {
        method: "POST",
        url: `${base.replace(/\/+$/, "")}/${method}`,
        headers: {
          authorization: `Bearer ${await secretOf(variable)}`,
          "content-type": "application/x-www-form-urlencoded",
        },
        body: form.toString(),
        maxBytes: MAX_ANSWER,
      },
      call,
    );
    const result = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
    if (result["ok"] === true) return result;
    const code = typeof result["error"] === "string" ? result["error"].slice(0, 100) : "no answer in JSON";
    throw new StepError("http_failed", `Slack refused ${method}: ${code}.`, {
      transient: TRANSIENT.test(code),
    });
  }

  return {
    list: () =>
      chats.map((chat) => ({
        name: chat.name,
        type: chat.type,
        unavailableReason:
          variablesOf(chat)
            .map((variable) => secrets.missingReason(variable))
            .find((reason) => reason !== null) ?? null,
      })),

    async post(name, message, call) {
      const chat = find(name);
      if (chat.type === "teams") {
        const url = await secretOf(chat.webhook_url_var);
        await http.send(
          { method: "POST", url, headers: {}, body: teamsCard(message), maxBytes: MAX_ANSWER },
          call,
        );
        return null;
      }
      const { ts, channel } = await callSlack(
        chat,
        "chat.postMessage",
        { channel: chat.channel, text: message.title, blocks: slackBlocks(message), unfurl_links: "false" },
        call,
      );
      return typeof ts === "string"
        ? JSON.stringify([typeof channel === "string" ? channel : chat.channel, ts])
        : null;
    },

    async update(name, reference, message, call) {
      const [channel, ts] = JSON.parse(reference) as [string, string];
      const body = { channel, ts, text: message.title, blocks: slackBlocks(message) };
      await callSlack(findSlack(name), "chat.update", body, call);
    },

    signingSecrets(name) {
      const chat = chats.find((entry) => entry.name === name);
      const value = chat?.type === "slack" ? secrets.get(chat.signing_secret_var) : undefined;
      return value === undefined ? [] : [value];
    },

    async memberEmail(name, member, call) {
      const slack = findSlack(name);
      const configured = slack.people[member.id];
      if (configured !== undefined) return canonicalAddress(configured);
      const key = `${name}\0${member.team}\0${member.id}`;
      const known = addresses.get(key);
      if (known !== undefined) return known.email;
      const { team_id: workspace } = await callSlack(slack, "auth.test", {}, call);
      const { user } = await callSlack(slack, "users.info", { user: member.id }, call);
      const email = addressOf(user, member, workspace);
      addresses.set(key, { email });
      return email;
    },

    async respond(name, responseUrl, text, call) {
      const slack = findSlack(name);
      const url = URL.canParse(responseUrl) ? new URL(responseUrl) : undefined;
      const own = new URL(slack.api_url);
      const isSlack = url?.protocol === "https:" && SLACK_HOST.test(url.hostname);
      if (url === undefined || !(isSlack || url.origin === own.origin))
        throw new StepError("http_failed", "The response URL of an interaction is not one of Slack.");
      const body = { response_type: "ephemeral", replace_original: false, text };
      await http.send({ method: "POST", url: url.href, headers: {}, body, maxBytes: MAX_ANSWER }, call);
    },
  };
}

/** Errors of Slack that may not occur again. */
const TRANSIENT =
  /^(?:ratelimited|rate_limited|internal_error|fatal_error|service_unavailable|request_timeout|no answer)/;

const variablesOf = (chat: ChatConfig): string[] =>
  chat.type === "slack" ? [chat.bot_token_var, chat.signing_secret_var] : [chat.webhook_url_var];

/**
 * The address of a member of the own workspace; others can be guests of another company, with any address.
 * @param workspace that of the app: an interaction in a shared channel can name the one of the other company
 */
function addressOf(user: unknown, { id, team }: ChatMember, workspace: unknown): string | null {
  const {
    id: found,
    team_id: home,
    deleted,
    is_bot: bot,
    is_stranger: stranger,
    profile,
  } = (user ?? {}) as {
    id?: unknown;
    team_id?: unknown;
    deleted?: unknown;
    is_bot?: unknown;
    is_stranger?: unknown;
    profile?: { email?: unknown };
  };
  if (found !== id || home !== team || home !== workspace) return null;
  if (deleted === true || bot === true || stranger === true) return null;
  return typeof profile?.email === "string" ? canonicalAddress(profile.email) : null;
}
