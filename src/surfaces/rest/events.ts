/**
 * Receives the events that runs wait for. The token in the path is the permission: no key, no session and no cookie
 * counts, so other sites gain nothing by sending requests here. It is never logged (commands/log-redaction.ts).
 */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import type { Request, Response } from "express";
import { z } from "zod";
import type { Issue } from "../../../schemas/problem.ts";
import { timestamp } from "../../../schemas/text.ts";
import { ERRORS } from "../../core/errors.ts";
import type { ReceivedEvent } from "../../core/event-path.ts";
import type { EventTarget } from "../../core/event-ports.ts";
import { secondsSince } from "../../core/meter.ts";
import type { Services } from "../invoke.ts";
import { customerOf, networkLimit } from "../network-limit.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import type { BodyMemory } from "../body-memory.ts";
import { receivedEvent, signedRequest } from "./received-event.ts";
import { fromExpressError, readBytes } from "./body.ts";
import { BODY_ERRORS, HEADERS, problems } from "./openapi-responses.ts";

/** Maximum number of events from one network in a minute, on this process. */
const PER_MINUTE = 300;
const OPERATION = "receive_event";

/** Handles `POST /events/:token`. */
export function receiveEvent(
  { engine, log, meter }: Pick<Services, "engine" | "log" | "meter">,
  bodies: BodyMemory,
  now = (): number => performance.now(),
): (req: Request<{ token: string }>, res: Response) => Promise<void> {
  const assertBelowLimit = networkLimit(PER_MINUTE, "events", now);
  return async (req, res) => {
    const start = performance.now();
    const logFields = {
      operation: OPERATION,
      request_id: res.locals["requestId"] as string,
      surface: "rest",
    };
    const report = (status: number): void =>
      meter.operationCompleted({
        name: OPERATION,
        surface: "rest",
        status,
        seconds: secondsSince(start),
      });
    const elapsed = (): number => Math.round((performance.now() - start) * 100) / 100;
    let target: EventTarget | undefined;
    res.locals["observed"] = true;
    res.setHeader("Cache-Control", "no-store");
    try {
      const address = clientAddressOf(req);
      assertBelowLimit(address);
      target = await engine.events.find(req.params.token);
      bodies.reserve(req, res, customerOf(address));
      const { event, issues } = await readEvent(req, res, target);
      const receivedAt = await engine.events.receive(target, event.body, {
        issues,
        isForm: event.isForm ?? false,
      });
      log.info({ ...logFields, ...idsOf(target), ms: elapsed() }, OPERATION);
      report(202);
      res.status(202).setHeader("Content-Type", "application/json");
      res.end(JSON.stringify({ received_at: receivedAt }));
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
      throw error;
    }
  };

  /** Reads the body. One with a signature is parsed once the signature is known to be right. */
  async function readEvent(
    req: Request,
    res: Response,
    target: EventTarget,
  ): Promise<{ event: ReceivedEvent; issues: Issue[] }> {
    const { signature } = target;
    const bytes = await readBytes(req, res, signature === undefined);
    if (signature !== undefined)
      await engine.events.checkSignature(target, signature, signedRequest(req, bytes));
    return receivedEvent(req, bytes, undefined);
  }
}

const idsOf = (target: EventTarget | undefined): Record<string, string> =>
  target === undefined
    ? {}
    : {
        ...(target.workflowId !== null && { workflow_id: target.workflowId }),
        run_id: target.runId,
        step_id: target.stepId,
      };

/** Not in the catalogue, because its callers have no key. */
export const EVENTS: RouteConfig = {
  method: "post",
  path: "/events/{token}",
  operationId: OPERATION,
  summary: "Send the event that a run waits for",
  description:
    "Ends the wait of a step with `event`. The URL is `run.event_urls.<step id>` of the run; anyone who has it may use it, " +
    "once. Any JSON, or form, that matches the step's schema is accepted; one that does not is refused with all issues, and the URL " +
    "stays valid. With `signature`, so is one without it. An event that comes before the step begins is kept for it.\n\nNeeds no API key.",
  tags: ["Runs"],
  security: [],
  request: {
    params: z.strictObject({
      token: z.string().meta({
        description: "The last part of the URL.",
        example: "run_8dkq2m0sfj3a.callback.Zm9yIGV4YW1wbGUgb25seSwgbm90IHZhbGlk",
      }),
    }),
    body: {
      required: false,
      content: {
        "application/json": {
          schema: z.unknown().meta({ description: "The event, up to 1 MiB of JSON, or a form." }),
          example: { approved: true },
        },
      },
    },
  },
  responses: {
    202: {
      description: "The event was received; the run continues.",
      headers: { "X-Request-Id": HEADERS.requestId },
      content: {
        "application/json": {
          schema: z.strictObject({
            received_at: timestamp.meta({ description: "When it was received." }),
          }),
        },
      },
    },
    ...problems([
      "event_not_found",
      "event_received",
      "signature_invalid",
      "secret_unavailable",
      "invalid_input",
      ...BODY_ERRORS,
    ]),
  },
};
