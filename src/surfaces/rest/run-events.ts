/**
 * `GET /runs/{run_id}/events`: a run's progress as server-sent events. There is no event log. The store has the
 * `seq` of each step's last change, so the newest state of the changed steps is sent, however slowly a client reads.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { RunId } from "../../../schemas/run.ts";
import { findRun } from "../../../tools/runs/find-run.ts";
import { hasEnded, isSettled, progressOf, toRunSummary } from "../../../tools/runs/run-response.ts";
import { serializeStep, serializeUndoSteps, statusOf } from "../../../tools/runs/run-steps.ts";
import { SECOND } from "../../core/clock.ts";
import { eventUrlMask, type EventUrlMask, maskValue } from "../../core/event-url-mask.ts";
import { parseInput } from "../../core/issues.ts";
import type { RunRecord } from "../../core/model.ts";
import { scopedReaders } from "../../core/scoped-readers.ts";
import type { StepStates } from "../../core/step-states.ts";
import { authorise, type Call, withTelemetry, type Services } from "../invoke.ts";
import { type AdmitRequest, clientOf } from "../session/authenticate.ts";
import type { StreamRegistry } from "../streams.ts";
import { traceFields } from "./trace-fields.ts";

export interface RunEventsOptions {
  services: Services;
  admit: AdmitRequest;
  streams: StreamRegistry;
}

/** For logs and authorisation. Not in the catalogue, because MCP has progress notifications instead. */
const OPERATION = { name: "run_events", scope: "read" } as const;
const Input = z.strictObject({ run_id: RunId });

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};
/** How soon a client reconnects after an interruption, in milliseconds. */
const RETRY_MS = 2_000;
/** How long a client may read nothing, including keep-alive comments, before it counts as gone, in milliseconds. */
const STALL_MS = 60_000;
/** Maximum time between two reads of the run, in milliseconds. */
const POLL_MS = 30 * SECOND;

/** Streams a run's progress until it has ended, and the run of its `on_failure` has started. */
export function runEvents({ services, admit, streams }: RunEventsOptions): RequestHandler {
  return async (req, res) => {
    const principal = await admit(req);
    const disconnected = new AbortController();
    const call: Call = {
      actor: { principal, client: clientOf(req, principal) },
      requestId: res.locals["requestId"] as string,
      signal: disconnected.signal,
      status: () => res.statusCode,
      ...traceFields(req, "/runs/:run_id/events"),
    };
    res.locals["observed"] = true;
    await withTelemetry(services, OPERATION, call, async () => {
      authorise(OPERATION, call);
      const { since, issues } = lastEventId(req);
      const { run_id } = parseInput(Input, { ...req.query, ...req.params }, issues);
      const mask = eventUrlMask(services.read.runs, principal.access);
      const read = scopedReaders(services.read, {
        principal,
        operation: OPERATION.name,
        scope: OPERATION.scope,
        mask,
      });
      const run = await findRun(read.runs, run_id);
      call.resourceIds = { ...(run.workflowId !== null && { workflow_id: run.workflowId }), run_id };
      // 204 stops an EventSource from reconnecting after the last event.
      if (isSettled(run) && since !== undefined && since >= run.seq) return void res.status(204).end();
      await services.recordRead?.({
        operation: OPERATION.name,
        target: run.id,
        actor: call.actor,
        requestId: call.requestId,
      });
      if (req.method === "HEAD") return void res.writeHead(200, HEADERS).end();
      // After the client has gone there is no close event.
      if (res.destroyed) return;
      const release = streams.reserve(principal, "run_events");
      const unregister = streams.add({ principal, res, keepAlive: true });
      res.once("close", () => {
        disconnected.abort();
        unregister();
        release();
      });
      res.setTimeout(STALL_MS, () => res.destroy());
      res.writeHead(200, HEADERS).write(`retry: ${RETRY_MS}\n\n`);
      await sendUntilEnd({ ...services, read, mask }, run, since, res, disconnected.signal);
    });
  };
}

/** The `seq` after which a reconnecting client continues; undefined to send everything. */
function lastEventId(req: Request) {
  const id = req.headers["last-event-id"];
  if (id === undefined || id === "") return { since: undefined, issues: [] };
  if (typeof id === "string" && /^\d{1,15}$/.test(id)) return { since: Number(id), issues: [] };
  const issue = {
    path: "Last-Event-ID",
    code: "wrong_format",
    message: "must be the id of an event of this stream, an integer",
    fix: "Send the last id that you received, or leave the header out to get all events.",
  };
  return { since: undefined, issues: [issue] };
}

interface RunEvent {
  event: "run" | "step" | "end";
  data: unknown;
}

/** The state that a client has received. */
interface SentState {
  seq: number;
  /** The states of the steps; undefined when they were sent on another connection. */
  states: StepStates | undefined;
  run: string;
}

async function sendUntilEnd(
  services: Services & { mask: EventUrlMask | undefined },
  first: RunRecord,
  since: number | undefined,
  res: Response,
  signal: AbortSignal,
): Promise<void> {
  const limiter = rateLimiter();
  // An id that is newer than the run comes from another state (a restored backup), so everything is sent.
  const receivedSeq = since === undefined || since > first.seq ? undefined : since;
  let sent: SentState = { seq: receivedSeq ?? -1, states: undefined, run: "" };
  for (let run: RunRecord | undefined = first; run !== undefined;) {
    const { events, state } = await changesSince(services, run, sent);
    await send(res, await maskValue(events, services.mask), state.seq);
    if (signal.aborted || res.writableEnded) return;
    sent = state;
    if (isSettled(run)) break;
    limiter.charge(events.length);
    await services.engine.waitForChange(run.id, run.seq, { ms: POLL_MS, signal });
    await limiter.wait(signal);
    if (signal.aborted) return;
    run = await services.read.runs.find(run.id);
  }
  res.end();
}

/** The events since the sent state: the run first, then its changed steps in order. */
async function changesSince(
  { read: { runs, interruptions }, engine }: Services,
  run: RunRecord,
  sent: SentState,
): Promise<{ events: RunEvent[]; state: SentState }> {
  const { steps } = await engine.getDefinition(run);
  const [records, running, open] = await Promise.all([
    runs.steps(run.id, { sinceSeq: sent.seq }),
    runs.runningSteps(run.id),
    interruptions.openCounts([run.id]),
  ]);
  const changed = new Map(records.map((record) => [record.stepId, record]));
  const claimed = new Set(running.map(({ stepId }) => stepId));
  const ended = isSettled(run);
  const stopping = run.stop !== null && !hasEnded(run);
  const summary = {
    ...toRunSummary(run, open.get(run.id)),
    ...(stopping && { stopping }),
    progress: progressOf(run, steps),
  };
  const text = JSON.stringify(summary);
  const events: RunEvent[] = text === sent.run || ended ? [] : [{ event: "run", data: summary }];
  for (const [index, step] of steps.entries()) {
    const state = run.stepStates.at(index);
    let record = changed.get(step.id);
    if (record === undefined && sent.seq >= 0) {
      if (sent.states?.at(index) === state) continue;
      record = await runs.step({ runId: run.id, stepId: step.id, item: null });
      // Sent on an earlier connection.
      if (sent.states === undefined && state === (record?.state ?? "pending")) continue;
    }
    // The record was read after the run, so it may be newer.
    const newest = record !== undefined && record.seq > run.seq ? record.state : state;
    events.push({ event: "step", data: serializeStep(step, record, statusOf(newest, claimed.has(step.id))) });
  }
  for (const data of serializeUndoSteps(steps, records, claimed)) events.push({ event: "step", data });
  if (ended) events.push({ event: "end", data: summary });
  return { events, state: { seq: run.seq, states: run.stepStates, run: text } };
}

/**
 * Writes events as fast as the client reads them. Only the last one has an id, so an interrupted client gets all of them again.
 * @param seq the change that the client has received with these events
 */
async function send(res: Response, events: readonly RunEvent[], seq: number): Promise<void> {
  for (const [index, { event, data }] of events.entries()) {
    if (res.writableEnded || res.destroyed) return;
    const id = index === events.length - 1 ? `id: ${seq}\n` : "";
    if (!res.write(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)) await drained(res);
  }
}

const drained = (res: Response) =>
  new Promise<void>((resolve) => {
    const done = (): void => {
      res.off("drain", done).off("close", done);
      resolve();
    };
    res.on("drain", done).on("close", done);
  });

/** Number of events that a stream may send at once. */
const BURST = 20;
/** Time per event beyond the burst, in milliseconds. */
const EVENT_MS = 100;
/** Minimum cost of a read, in events. */
const MIN_COST = 2;
/** Maximum debt, in events: a client never waits longer than a second. */
const MAX_DEBT = 10;

/** A token bucket for the events of one stream. */
function rateLimiter() {
  let tokens = BURST;
  let refilledAt = performance.now();
  return {
    /** Takes tokens for sent events. */
    charge(events: number) {
      tokens = Math.max(tokens - Math.max(events, MIN_COST), -MAX_DEBT);
    },
    /** Waits until the next read is allowed, or the client has gone. */
    async wait(signal: AbortSignal): Promise<void> {
      const now = performance.now();
      tokens = Math.min(tokens + (now - refilledAt) / EVENT_MS, BURST);
      refilledAt = now;
      if (tokens < 0) await delay(-tokens * EVENT_MS, undefined, { signal, ref: false }).catch(() => {});
    },
  };
}
