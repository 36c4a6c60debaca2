/**
 * Answers the requests with which senders check the URL of a trigger before their first delivery. What a stranger sends is
 * repeated only where the trigger declares such a sender, as plain text. The answer to an unsigned request is no signature that
 * anybody could send a delivery with: X has the only one, of a token that no delivery of such a trigger can be.
 */
import type { Request, Response } from "express";
import type { Trigger } from "../../../schemas/trigger.ts";
import { AppError } from "../../core/errors.ts";
import type { EventFields, ReceivedEvent } from "../../core/event-path.ts";
import type { TriggersApi, TriggerTarget } from "../../core/trigger-ports.ts";
import type { SignedRequest } from "../../core/webhook-signatures/index.ts";
import type { Services } from "../invoke.ts";
import { networkLimit } from "../network-limit.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import { rejectOtherMethods } from "./methods.ts";

/** Maximum number of checks from one network in a minute, on this process. */
const PER_NETWORK = 300;
/** What is repeated: visible text of a limited length, without line breaks. */
const REPEATED = /^[\x20-\x7e]{1,1000}$/;
/** A token of X in base64 of either alphabet: no JSON object and no form, so what is computed for it signs neither. */
const CRC_TOKEN = /^(?=.{1,200}$)[A-Za-z0-9+/_-]+={0,2}$/;
/** A secret that Asana chooses for a webhook: 64 hexadecimal digits today. */
const HOOK_SECRET = /^[A-Za-z0-9_-]{1,200}$/;
/** The host that asks whether it may send (CloudEvents, HTTP 1.1 Web Hooks, section 4.1.1). */
const ORIGIN = /^[a-z0-9.-]{1,253}$/i;
/** How many deliveries in a minute are announced where the sender asks: those that one network may send to one trigger. */
const ALLOWED_RATE = 600;
const HINT = "If the sender checks the URL with it, name the sender in handshake of the trigger.";

type Way = Pick<Trigger, "handshake">;

const refuseMethod = rejectOtherMethods(["POST", "HEAD"]);

/** Handles every method of `/hooks/:token` but POST. */
export function answerChecks(
  { engine }: Pick<Services, "engine">,
  now = (): number => performance.now(),
): (req: Request<{ token: string }>, res: Response) => Promise<void> {
  const assertBelowLimit = networkLimit(PER_NETWORK, "checks of webhooks", now);

  return async (req, res) => {
    res.setHeader("Cache-Control", "no-store");
    const isCheck =
      ["GET", "HEAD"].includes(req.method) ||
      (req.method === "OPTIONS" && req.headers["webhook-request-origin"] !== undefined);
    if (!isCheck) return refuseMethod(req, res);
    assertBelowLimit(clientAddressOf(req));
    const target = await engine.triggers.find(req.params.token);
    const { handshake } = target.trigger;
    // Who sends deliveries sends POST: HEAD starts nothing anywhere, but a sender of GET would take 200 for a run.
    if (req.method === "HEAD") return void res.status(200).end();
    if (req.method === "OPTIONS") return allowOrigin(target.trigger, req, res);
    const answer = await answerOfGet(engine.triggers, target, req.query as EventFields);
    if (typeof answer === "object") return void res.status(200).json(answer);
    if (answer !== undefined) return sendText(res, answer);
    if (handshake === undefined)
      throw new AppError("method_not_allowed", `GET is not allowed here. Use POST, HEAD. ${HINT}`, {
        headers: { Allow: "POST, HEAD" },
      });
    return refuseMethod(req, res);
  };
}

/** @throws AppError signature_invalid for another verify token */
async function answerOfGet(
  triggers: Pick<TriggersApi, "isVerifyToken" | "signToken">,
  target: TriggerTarget,
  query: EventFields,
): Promise<object | string | undefined> {
  switch (target.trigger.handshake?.type) {
    case "get":
      return "This URL receives deliveries that are sent with POST.";
    case "dropbox":
      return repeated(query["challenge"]);
    case "meta": {
      const { "hub.mode": mode, "hub.verify_token": token, "hub.challenge": challenge } = query;
      if (mode !== "subscribe") return undefined;
      if (typeof token === "string" && (await triggers.isVerifyToken(target, token)))
        return repeated(challenge);
      throw new AppError(
        "signature_invalid",
        "hub.verify_token is not the secret that handshake of the trigger names. Enter the same text at the sender.",
      );
    }
    // https://docs.x.com/x-api/webhooks/quickstart, section 2: the CRC check
    case "x": {
      const token = query["crc_token"];
      return typeof token === "string" && CRC_TOKEN.test(token)
        ? { response_token: `sha256=${await triggers.signToken(target, token)}` }
        : undefined;
    }
    case "asana":
    case "zoom":
    case "twitch":
    case "microsoft_graph":
    case "cloudevents":
    case undefined:
      return undefined;
  }
}

/** https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md#4-abuse-protection */
function allowOrigin({ handshake }: Way, req: Request<{ token: string }>, res: Response): void {
  const origin = req.headers["webhook-request-origin"];
  if (handshake?.type !== "cloudevents" || typeof origin !== "string" || !ORIGIN.test(origin))
    return refuseMethod(req, res);
  res.setHeader("Allow", "POST, HEAD");
  res.setHeader("WebHook-Allowed-Origin", origin);
  if (req.headers["webhook-request-rate"] !== undefined)
    res.setHeader("WebHook-Allowed-Rate", String(ALLOWED_RATE));
  res.status(200).end();
}

/** What a POST is answered with that is no delivery, and that its sender does not sign; undefined for a delivery. */
export function answerOfUnsigned({ handshake }: Way, query: EventFields): string | undefined {
  if (handshake?.type !== "microsoft_graph") return undefined;
  // SharePoint and OneDrive write it in lower case.
  return repeated(query["validationToken"] ?? query["validationtoken"]);
}

/**
 * The secret that Asana sends before the first delivery, and wants back in the same header. It is not stored: the answer to the request
 * that creates the webhook has it, too (https://developers.asana.com/reference/createwebhook).
 */
export function hookSecretOf({ handshake }: Way, headers: SignedRequest["headers"]): string | undefined {
  const secret = headers["x-hook-secret"];
  return handshake?.type === "asana" && typeof secret === "string" && HOOK_SECRET.test(secret)
    ? secret
    : undefined;
}

/**
 * Refuses a signed delivery that could be the answer to a check: that signs a token for anybody who asks.
 * @throws AppError signature_invalid
 */
export function assertNoToken({ handshake }: Way, body: Buffer): void {
  if (handshake?.type === "x" && body[0] !== "{".codePointAt(0))
    throw new AppError("signature_invalid", "The body must be a JSON object, as X sends it.");
}

/** What a signed POST is answered with that is no delivery: JSON, or a text; undefined for a delivery. */
export async function answerOfSigned(
  triggers: Pick<TriggersApi, "signChallenge">,
  target: TriggerTarget,
  event: ReceivedEvent,
  request: SignedRequest,
): Promise<object | string | undefined> {
  const { signature, handshake } = target.trigger;
  const body = (event.body ?? {}) as Readonly<Record<string, unknown>>;
  if (signature?.scheme === "slack" && body["type"] === "url_verification") {
    const challenge = repeated(body["challenge"]);
    return challenge === undefined ? undefined : { challenge };
  }
  // https://dev.twitch.tv/docs/eventsub/handling-webhook-events/#responding-to-a-challenge-request
  if (handshake?.type === "twitch")
    return request.headers["twitch-eventsub-message-type"] === "webhook_callback_verification"
      ? repeated(body["challenge"])
      : undefined;
  if (handshake?.type !== "zoom" || body["event"] !== "endpoint.url_validation") return undefined;
  const plainToken = repeated((body["payload"] as { plainToken?: unknown } | null | undefined)?.plainToken);
  if (plainToken === undefined) return undefined;
  return { plainToken, encryptedToken: await triggers.signChallenge(target, request, plainToken) };
}

const repeated = (text: unknown): string | undefined =>
  typeof text === "string" && REPEATED.test(text) ? text : undefined;

export function sendText(res: Response, text: string): void {
  res.status(200).setHeader("Content-Type", "text/plain; charset=utf-8");
  res.end(text);
}
