/**
 * `GET /runs/{run_id}/events`: a run's progress as server-sent events. There is no log behind it: the store knows with
 * which change (`seq`) a step last moved, so what is sent is the newest state of what has moved, however slowly it is
 * read. @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { RunId } from "../../../schemas/run.ts";
import { findRun } from "../../../tools/runs/find-run.ts";
import { hasEnded, progressOf, toRunSummary } from "../../../tools/runs/run-response.ts";
import { serializeStep, statusOf } from "../../../tools/runs/run-steps.ts";
import { SECOND } from "../../core/clock.ts";
import { parseInput } from "../../core/issues.ts";
import type { RunRecord } from "../../core/run-ports.ts";
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

/** What this is by the name of an operation; it is none, for MCP has progress notifications instead. */
const OPERATION = { name: "run_events", scope: "read" } as const;
const Input = z.strictObject({ run_id: RunId });

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};
/** How soon a client comes back when the stream broke, in milliseconds. */
const RETRY_MS = 2_000;
/** A reader that takes nothing for so long, keep-alive comments included, has gone without a word. */
const STALL_MS = 60_000;
/** The run is looked at again after so long, whatever is told. */
const LOOK_AGAIN_MS = 30 * SECOND;

/** Streams a run's progress until it ends. */
export function runEvents({ services, admit, streams }: RunEventsOptions): RequestHandler {
  return async (req, res) => {
    const principal = await admit(req);
    const gone = new AbortController();
    const call: Call = {
      actor: { principal, client: clientOf(req, principal) },
      requestId: res.locals["requestId"] as string,
      signal: gone.signal,
      status: () => res.statusCode,
      ...traceFields(req, "/runs/:run_id/events"),
    };
    res.locals["observed"] = true;
    await withTelemetry(services, OPERATION, call, async () => {
      authorise(OPERATION, call);
      const { since, issues } = lastEventId(req);
      const { run_id } = parseInput(Input, { ...req.query, ...req.params }, issues);
      const run = await findRun(services.read.runs, run_id);
      call.resourceIds = { workflow_id: run.workflowId, run_id };
      // Whoever has seen the end is told not to come back: 204 stops an EventSource.
      if (hasEnded(run) && since !== undefined && since >= run.seq) return void res.status(204).end();
      if (req.method === "HEAD") return void res.writeHead(200, HEADERS).end();
      // Gone already: its close would tell us nothing more.
      if (res.destroyed) return;
      const leave = streams.reserve(principal, "run_events");
      const forget = streams.add({ keyId: principal.keyId, res, keepAlive: true });
      res.once("close", () => {
        gone.abort();
        forget();
        leave();
      });
      res.setTimeout(STALL_MS, () => res.destroy());
      res.writeHead(200, HEADERS).write(`retry: ${RETRY_MS}\n\n`);
      await follow(services, run, since, res, gone.signal);
    });
  };
}

/** Where a client that was here before goes on; undefined for from the start. */
function lastEventId(req: Request) {
  const id = req.headers["last-event-id"];
  if (id === undefined || id === "") return { since: undefined, issues: [] };
  if (typeof id === "string" && /^\d{1,15}$/.test(id)) return { since: Number(id), issues: [] };
  const issue = {
    path: "Last-Event-ID",
    code: "wrong_format",
    message: "must be the id of an event of this stream, a whole number",
    fix: "Send the id that came last, or leave the header out to get everything.",
  };
  return { since: undefined, issues: [issue] };
}

interface RunEvent {
  event: "run" | "step" | "end";
  data: unknown;
}

/** What a client has been shown. */
interface Shown {
  seq: number;
  /** The states of the steps; undefined when they were sent on another connection. */
  states: StepStates | undefined;
  run: string;
}

async function follow(
  services: Services,
  first: RunRecord,
  since: number | undefined,
  res: Response,
  signal: AbortSignal,
): Promise<void> {
  const pace = pacer();
  // An id that the run has not come to is none of this state: everything is told.
  const known = since === undefined || since > first.seq ? undefined : since;
  let shown: Shown = { seq: known ?? -1, states: undefined, run: "" };
  for (let run: RunRecord | undefined = first; run !== undefined;) {
    const { events, now } = await changes(services, run, shown);
    await send(res, events, now.seq);
    if (signal.aborted || res.writableEnded) return;
    shown = now;
    if (hasEnded(run)) break;
    pace.sent(events.length);
    await services.engine.waitForChange(run.id, run.seq, { ms: LOOK_AGAIN_MS, signal });
    await pace.turn(signal);
    if (signal.aborted) return;
    run = await services.read.runs.find(run.id);
  }
  res.end();
}

/** What has moved since: the run first, then its steps in their order. */
async function changes(
  { read: { runs }, engine }: Services,
  run: RunRecord,
  shown: Shown,
): Promise<{ events: RunEvent[]; now: Shown }> {
  const { steps } = await engine.getDefinition(run);
  const [records, running] = await Promise.all([
    runs.steps(run.id, { sinceSeq: shown.seq }),
    runs.runningSteps(run.id),
  ]);
  const moved = new Map(records.map((record) => [record.stepId, record]));
  const claimed = new Set(running.map(({ stepId }) => stepId));
  const ended = hasEnded(run);
  const stopping = run.stop !== null && !ended;
  const card = { ...toRunSummary(run), ...(stopping && { stopping }), progress: progressOf(run, steps) };
  const text = JSON.stringify(card);
  const events: RunEvent[] = text === shown.run || ended ? [] : [{ event: "run", data: card }];
  for (const [index, step] of steps.entries()) {
    const state = run.stepStates.at(index);
    let record = moved.get(step.id);
    if (record === undefined && shown.seq >= 0) {
      if (shown.states?.at(index) === state) continue;
      record = await runs.step({ runId: run.id, stepId: step.id, item: null });
      // Said on the connection before this one.
      if (shown.states === undefined && state === (record?.state ?? "pending")) continue;
    }
    // Read after the run, it may be newer.
    const newest = record !== undefined && record.seq > run.seq ? record.state : state;
    events.push({ event: "step", data: serializeStep(step, record, statusOf(newest, claimed.has(step.id))) });
  }
  if (ended) events.push({ event: "end", data: card });
  return { events, now: { seq: run.seq, states: run.stepStates, run: text } };
}

/**
 * Writes events as fast as they are read. Only the last one has an id: who is cut off in their midst gets them again.
 * @param seq what they bring the client up to
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

/** A few events at once, then ten a second. */
const BURST = 20;
const EVENT_MS = 100;
/** A look that finds nothing costs as much as two events, and no debt lasts longer than a second. */
const LEAST = 2;
const MOST_OWED = 10;

function pacer() {
  let room = BURST;
  let at = performance.now();
  return {
    sent(events: number) {
      room = Math.max(room - Math.max(events, LEAST), -MOST_OWED);
    },
    /** Waits for its turn, or until nobody reads any more. */
    async turn(signal: AbortSignal): Promise<void> {
      const now = performance.now();
      room = Math.min(room + (now - at) / EVENT_MS, BURST);
      at = now;
      if (room < 0) await delay(-room * EVENT_MS, undefined, { signal, ref: false }).catch(() => {});
    },
  };
}
