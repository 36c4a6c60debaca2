/**
 * Receives the deliveries of webhooks that start runs. The token in the path and the signature are the permission: no key, no
 * session and no cookie counts. The token is never logged (commands/log-redaction.ts).
 */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import type { Request, Response } from "express";
import { z } from "zod";
import { timestamp } from "../../../schemas/text.ts";
import { networkOf } from "../../auth/network.ts";
import { AppError, ERRORS } from "../../core/errors.ts";
import type { EventFields } from "../../core/event-path.ts";
import { invalidInput } from "../../core/issues.ts";
import { secondsSince } from "../../core/meter.ts";
import type { TriggerTarget } from "../../core/trigger-ports.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import { DEFAULT_SECRET_HEADER } from "../../core/webhook-signatures/index.ts";
import type { Services } from "../invoke.ts";
import { customerOf, networkLimit } from "../network-limit.ts";
import { requestWindow } from "../request-window.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import type { BodyMemory } from "../body-memory.ts";
import { fromExpressError, readBytes } from "./body.ts";
import { answerOfSigned, answerOfUnsigned, assertNoToken, hookSecretOf, sendText } from "./handshakes.ts";
import { HEADERS, problems } from "./openapi-responses.ts";
import { receivedEvent, signedRequest } from "./received-event.ts";

/** Maximum number of requests from one network in a minute, on this process, whatever they are. */
const PER_NETWORK = 1_200;
/**
 * Maximum number of deliveries in a minute, on this process: from one network to one trigger, whatever they are; and, only
 * of those that have proved where they come from, to one trigger and to all triggers of an owner. Who knows no more than
 * a URL can't use up what belongs to the trigger or to its owner.
 */
const PER_MINUTE = { sender: 600, trigger: 600, owner: 1_200 };
/** Maximum number of refusals in a minute that are listed of what one network sent to a trigger without a proof. */
const LISTED_PER_MINUTE = 5;
const OPERATION = "receive_delivery";
/** Refusals that are the sender's, which the owner of the trigger wants to see. */
const LISTED_STATUS = { from: 400, to: 499 };

/** Handles `POST /hooks/:token`. */
export function receiveDelivery(
  { engine, log, meter }: Pick<Services, "engine" | "log" | "meter">,
  bodies: BodyMemory,
  now = (): number => performance.now(),
): (req: Request<{ token: string }>, res: Response) => Promise<void> {
  const assertNetworkBelow = networkLimit(PER_NETWORK, "deliveries", now);
  const listed = requestWindow(LISTED_PER_MINUTE, now);
  const windows = {
    sender: requestWindow(PER_MINUTE.sender, now),
    trigger: requestWindow(PER_MINUTE.trigger, now),
    owner: requestWindow(PER_MINUTE.owner, now),
  };
  const assertBelow = (kind: keyof typeof windows, id: string): void => {
    const seconds = windows[kind](id);
    if (seconds !== undefined) throw tooMany(kind, seconds);
  };

  return async (req, res) => {
    const start = performance.now();
    const logFields = {
      operation: OPERATION,
      request_id: res.locals["requestId"] as string,
      surface: "rest",
    };
    const report = (status: number): void =>
      meter.operationCompleted({ name: OPERATION, surface: "rest", status, seconds: secondsSince(start) });
    const elapsed = (): number => Math.round((performance.now() - start) * 100) / 100;
    const address = clientAddressOf(req);
    let target: TriggerTarget | undefined;
    let isProven = false;
    let body: Buffer = Buffer.alloc(0);
    const senderTo = ({ record }: TriggerTarget): string => `${record.id} ${networkOf(address)}`;
    res.locals["observed"] = true;
    res.setHeader("Cache-Control", "no-store");
    try {
      assertNetworkBelow(address);
      target = await engine.triggers.find(req.params.token);
      assertBelow("sender", senderTo(target));
      bodies.reserve(req, res, customerOf(address));
      body = await readBytes(req, res);
      const unsigned = answerOfUnsigned(target.trigger, req.query as EventFields);
      if (unsigned !== undefined) {
        report(200);
        sendText(res, unsigned);
        return;
      }
      const hookSecret = hookSecretOf(target.trigger, req.headers);
      if (hookSecret !== undefined) {
        report(200);
        res.status(200).setHeader("X-Hook-Secret", hookSecret).end();
        return;
      }
      const request = signedRequest(req, body);
      const senderId = await engine.triggers.checkSignature(target, request);
      assertNoToken(target.trigger, body);
      isProven = true;
      assertBelow("trigger", target.record.id);
      assertBelow("owner", usageSubjectOf(target.record.actor));
      const { signature } = target.trigger;
      const secretHeader =
        signature?.header ?? (signature?.scheme === "shared_secret" ? DEFAULT_SECRET_HEADER : undefined);
      const { event, issues } = await receivedEvent(req, body, secretHeader);
      const answer = await answerOfSigned(engine.triggers, target, event, request);
      if (answer !== undefined) {
        report(200);
        if (typeof answer === "string") sendText(res, answer);
        else sendJson(res, 200, answer);
        return;
      }
      if (issues.length > 0) throw invalidInput(issues);
      const receipt = await engine.triggers.receive(target, { event, senderId, bytes: body.byteLength });
      log.info(
        {
          ...logFields,
          ...idsOf(target),
          delivery_id: receipt.deliveryId,
          run_id: receipt.runId,
          ms: elapsed(),
        },
        OPERATION,
      );
      const status = target.trigger.answer_status ?? 202;
      report(status);
      meter.triggerDeliveryReceived(receipt.repeated ? "repeated" : "recorded");
      sendJson(res, status, {
        delivery_id: receipt.deliveryId,
        run_id: receipt.runId,
        received_at: receipt.receivedAt,
      });
    } catch (thrown) {
      const error = fromExpressError(thrown);
      report(error.status);
      const level = ERRORS[error.code].log;
      const refused = level === "info";
      log[level](
        {
          ...logFields,
          ...idsOf(target),
          ms: elapsed(),
          ip: req.ip,
          code: error.code,
          ...(!refused && { err: error.cause ?? error }),
        },
        `${OPERATION} ${refused ? "refused" : "failed"}`,
      );
      const isSenders = error.status >= LISTED_STATUS.from && error.status <= LISTED_STATUS.to;
      if (isSenders) meter.triggerDeliveryReceived("refused");
      // Many of them would hide what senders with a proof were refused for.
      const isListed = (to: TriggerTarget): boolean =>
        isProven || (error.code !== "rate_limited" && listed(senderTo(to)) === undefined);
      if (target !== undefined && isSenders && isListed(target))
        await engine.triggers.recordRefusal(target, {
          code: error.code,
          reason: error.message,
          bytes: body.byteLength,
        });
      throw error;
    }
  };
}

/** As the document describes JSON, without a character set. */
function sendJson(res: Response, status: number, body: object): void {
  res.status(status).setHeader("Content-Type", "application/json");
  res.end(JSON.stringify(body));
}

const idsOf = (target: TriggerTarget | undefined): Record<string, string> =>
  target === undefined ? {} : { workflow_id: target.record.workflowId, trigger: target.record.name };

const WHOSE = {
  sender: "Your network has sent this trigger more than",
  trigger: "This trigger has received more than",
  owner: "The triggers of one owner have received more than",
};

const tooMany = (kind: keyof typeof PER_MINUTE, seconds: number): AppError =>
  new AppError(
    "rate_limited",
    `${WHOSE[kind]} ${PER_MINUTE[kind].toLocaleString("en")} deliveries in a minute. Send it again in ${seconds} s.`,
    { headers: { "Retry-After": String(seconds) } },
  );

/** Not in the catalogue, because its callers have no key. */
export const HOOKS: RouteConfig = {
  method: "post",
  path: "/hooks/{token}",
  operationId: OPERATION,
  summary: "Send a delivery to a trigger",
  description:
    "Starts a run of the workflow whose published version has the trigger. get_triggers returns the URL. The delivery must " +
    "have the signature that the trigger names. A repeated delivery gets the same answer and starts nothing, unless the first has ended without a run. Whether a run " +
    "starts is decided after the answer: by `if` of the trigger, its payload and its inputs. list_trigger_deliveries shows it. HEAD gets 200; other checks of the URL are answered as `handshake` of the trigger " +
    "says.\n\nNeeds no API key.",
  tags: ["Runs"],
  security: [],
  request: {
    params: z.strictObject({
      token: z.string().meta({
        description: "The last part of the URL.",
        example: "trg_8dkq2m0sfj3a.Zm9yIGV4YW1wbGUgb25seSwgbm90IHZhbGlk",
      }),
    }),
    body: {
      required: false,
      content: {
        "application/json": {
          schema: z.unknown().meta({ description: "Up to 1 MiB of JSON, or a form." }),
          example: { ref: "refs/heads/main" },
        },
      },
    },
  },
  responses: {
    202: {
      description:
        "The delivery was recorded. 200 where `answer_status` of the trigger says so, with the same body.",
      headers: { "X-Request-Id": HEADERS.requestId },
      content: {
        "application/json": {
          schema: z.strictObject({
            delivery_id: z.string().meta({ description: "Its id.", example: "trd_8dkq2m0sfj3a" }),
            run_id: z.string().meta({
              description: "The run that it starts, if it starts one.",
              example: "run_8dkq2m0sfj3a",
            }),
            received_at: timestamp.meta({ description: "When the first of its repetitions was received." }),
          }),
        },
      },
    },
    ...problems([
      "trigger_not_found",
      "trigger_not_published",
      "trigger_gone",
      "signature_invalid",
      "invalid_input",
      "invalid_json",
      "payload_too_large",
      "unsupported_media_type",
      "rate_limited",
      "too_many_runs",
      "storage_limit_reached",
      "secret_unavailable",
      "storage_full",
    ]),
  },
};
