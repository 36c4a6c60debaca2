import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { accessEverywhere } from "../../src/core/access.ts";
import type { AppError } from "../../src/core/errors.ts";
import { noMeter } from "../../src/core/meter.ts";
import { noTracer } from "../../src/core/tracer.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { StepRecord } from "../../src/core/model.ts";
import { type StepState, StepStates } from "../../src/core/step-states.ts";
import { runEvents } from "../../src/surfaces/rest/run-events.ts";
import { createStreamRegistry } from "../../src/surfaces/streams.ts";
import { userWriter } from "../../src/store/users.ts";
import { addProject } from "../support/projects.ts";
import { addUser, signIn } from "../support/users.ts";
import { eventually, quietTime, untilPassing } from "../support/eventually.ts";
import { startTestExecutor } from "../support/executor.ts";
import { apiClient } from "../support/http.ts";
import type { Json } from "../support/json.ts";
import { openEventStream, rawRequest } from "../support/raw-http.ts";
import { expectProblem, openRest } from "../support/rest.ts";
import { startTimer } from "../support/expect-cost.ts";

const asks = (id: string) => ({ id, type: "approval", message: "Go on?" });
const sets = (id: string) => ({ id, type: "set", values: { n: "${{ 1 + 1 }}" } });

/** The API with an executor, and a second key that can decide approvals. */
async function open() {
  const rest = await openRest();
  await startTestExecutor(rest.instance);
  const { value: decider } = await rest.instance.key({ name: "decider", scopes: ["approve"] });
  const decide = apiClient(rest.url, decider);
  return {
    ...rest,
    /** @param more further fields of the definition; a workflow in on_failure is archived after it was saved */
    async start(steps: object[], more: { on_failure?: string } = {}): Promise<string> {
      if (more.on_failure !== undefined) {
        const handler = { name: more.on_failure, definition: { steps: [sets("sent")] } };
        await rest.call("POST", "/workflows", handler);
      }
      const { body: workflow } = await rest.call("POST", "/workflows", {
        name: "Test",
        definition: { steps, ...more },
      });
      expect(workflow.issues).toEqual([]);
      if (more.on_failure !== undefined) await rest.call("DELETE", `/workflows/${more.on_failure}`);
      const { body } = await rest.call("POST", `/workflows/${workflow.id}/runs`, {});
      return body.id as string;
    },
    /** Approves the run's approval when it is pending. */
    async approve(run: string, step: string) {
      const approval = await eventually(async () => {
        const { body } = await rest.call("GET", `/runs/${run}`);
        return (body.approvals ?? []).find((waiting: Json) => waiting.step_id === step);
      }, `the approval of ${step}`);
      const { status } = await decide("POST", `/approvals/${approval.id}`, { decision: "approve" });
      expect(status).toBe(200);
    },
    follow: (run: string, headers: Record<string, string> = {}) =>
      openEventStream("GET", `${rest.url}/runs/${run}/events`, {
        headers: { "X-API-Key": rest.key, ...headers },
      }),
  };
}

/** Parses the events of a stream. */
const eventsOf = (text: string): { id: string | undefined; event: string; data: Json }[] =>
  text
    .split("\n\n")
    .filter((block) => block.includes("event: "))
    .map((block) => {
      const fields = Object.fromEntries(
        block
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      ) as Record<string, string>;
      return { id: fields["id"], event: fields["event"]!, data: JSON.parse(fields["data"]!) };
    });
const ofSteps = (text: string) =>
  eventsOf(text)
    .filter(({ event }) => event === "step")
    .map(({ data }) => `${data.id} ${data.status}`);
const lastId = (text: string): string => [...text.matchAll(/^id: (\d+)$/gm)].at(-1)![1]!;
const ENDED = /^event: end$/m;

describe("the events of a run", () => {
  it("contain the whole run first, then changes, and end with the run", async () => {
    const { start, approve, follow } = await open();
    const run = await start([sets("shape"), asks("ask"), sets("last")]);
    const stream = await follow(run);
    expect(stream.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    await stream.waitFor(/"id":"ask","type":"approval","status":"waiting"/);
    expect(eventsOf(stream.text())[0]).toMatchObject({ event: "run", data: { id: run } });
    await approve(run, "ask");
    await stream.waitFor(ENDED);
    await eventually(() => stream.ended() || undefined, "the end of the stream");

    expect(stream.text()).toMatch(/^retry: \d+\n\n/);
    const events = eventsOf(stream.text());
    expect(events.at(-1)).toMatchObject({
      event: "end",
      data: { id: run, status: "succeeded", error: null, progress: { total: 3, done: 3, current: [] } },
    });
    const latest = new Map(
      events.filter(({ event }) => event === "step").map(({ data }) => [data.id as string, data]),
    );
    expect([...latest.values()]).toMatchObject([
      { id: "shape", type: "set", status: "succeeded", attempts: 1, error: null },
      { id: "ask", status: "succeeded" },
      { id: "last", status: "succeeded" },
    ]);
  });

  it("say why the workflow in on_failure could not start, before they end", async () => {
    const { start, follow, call } = await open();
    const run = await start([{ id: "gate", type: "assert", that: "false", message: "no" }], {
      on_failure: "tell",
    });
    const stream = await follow(run);
    await stream.waitFor(ENDED);
    const onFailure = { workflow_id: "tell", error: { code: "workflow_archived" } };
    expect(eventsOf(stream.text()).at(-1)).toMatchObject({
      event: "end",
      data: { status: "failed", on_failure: onFailure },
    });
    const { body } = await call("GET", `/runs/${run}`);
    expect(body).toMatchObject({ status: "failed", on_failure: onFailure });
  });

  it("continue from Last-Event-ID with the changes since", async () => {
    const { start, approve, follow } = await open();
    const run = await start([sets("shape"), asks("first"), asks("second"), sets("last")]);
    const before = await follow(run);
    await before.waitFor(/"id":"first","type":"approval","status":"waiting".*\n\n/);
    before.close();
    const id = lastId(before.text());

    await approve(run, "first");
    const after = await follow(run, { "Last-Event-ID": id });
    await after.waitFor(/"id":"second","type":"approval","status":"waiting"/);
    // The step may be seen while an executor begins its wait.
    const changes = ofSteps(after.text()).filter(
      (change) => change !== "second running" && change !== "second pending",
    );
    expect(new Set(changes)).toEqual(new Set(["first succeeded", "second waiting"]));
    await approve(run, "second");
    await after.waitFor(ENDED);
    expect(ofSteps(after.text())).not.toContain("shape succeeded");
  });

  it("end immediately for a client that has seen the end", async () => {
    const { start, follow, url, key } = await open();
    const run = await start([sets("only")]);
    const stream = await follow(run);
    await stream.waitFor(ENDED);
    const headers = { "X-API-Key": key, "Last-Event-ID": lastId(stream.text()) };
    const again = await rawRequest("GET", `${url}/runs/${run}/events`, { headers });
    expect([again.status, again.text]).toEqual([204, ""]);
    const late = await rawRequest("GET", `${url}/runs/${run}/events`, { headers: { "X-API-Key": key } });
    expect(ofSteps(late.text)).toEqual(["only succeeded"]);
    expect(late.text).toMatch(ENDED);
  });

  it("end about a second after their key is revoked", async () => {
    const { start, instance, url } = await open();
    const run = await start([asks("ask")]);
    const { value, record } = await instance.key({ name: "short-lived" });
    const stream = await openEventStream("GET", `${url}/runs/${run}/events`, {
      headers: { "X-API-Key": value },
    });
    await stream.waitFor(/"status":"waiting"/);
    await instance.keys.revoke(record.id, new Date().toISOString(), "test");
    await eventually(() => stream.ended() || undefined, "the end of the stream");
    expect(stream.text()).not.toMatch(ENDED);
  });

  it("end about a second after their caller has lost its role in the project, and are not found then", async () => {
    const { start, instance, url } = await open();
    await addProject(instance, "other");
    const owner = "ann@example.com";
    const user = await addUser(instance, { email: owner, role: "editor" });
    const run = await start([asks("ask")]);
    const { cookie } = await signIn(instance, user);
    const { value } = await instance.key({ owner });
    const streams = [];
    for (const headers of [{ "X-API-Key": value }, { Cookie: cookie }])
      streams.push(await openEventStream("GET", `${url}/runs/${run}/events`, { headers }));
    for (const stream of streams) await stream.waitFor(/"status":"waiting"/);
    const { store } = instance;
    await store.transaction((trx) => userWriter(trx).update(user.id, { role: "member" }));
    for (const stream of streams)
      await eventually(() => stream.ended() || undefined, "the end of the stream");
    const again = await rawRequest("GET", `${url}/runs/${run}/events`, { headers: { "X-API-Key": value } });
    expect(again.status).toBe(403);
  });

  it("do not delay the end of a process", async () => {
    const { instance, call, start } = await open();
    const run = await start([asks("ask")]);
    const copy = await instance.rest();
    const { value } = await instance.key();
    const stream = await openEventStream("GET", `${copy.url}/runs/${run}/events`, {
      headers: { "X-API-Key": value },
    });
    await stream.waitFor(/"id":"ask"/);
    const expectElapsed = startTimer();
    await copy.stop(0);
    expectElapsed(10_000);
    await eventually(() => stream.ended() || undefined, "the end of the stream");
    expect(stream.text()).not.toMatch(ENDED);
    await untilPassing(async () => expect((await call("GET", `/runs/${run}`)).body.status).toBe("waiting"));
  });

  it("are refused with a problem for an invalid request", async () => {
    const { call, start, url, key } = await open();
    const run = await start([asks("ask")]);
    expectProblem(await call("GET", "/runs/run_nowhere/events"), "run_not_found");
    for (const id of ["-1", "x", "1.5", "9".repeat(40)]) {
      const answer = await call("GET", `/runs/${run}/events`, undefined, { "Last-Event-ID": id });
      const { errors } = expectProblem(answer, "invalid_input");
      expect(errors).toMatchObject([{ path: "Last-Event-ID" }]);
    }
    expectProblem(await call("GET", `/runs/${run}/events?wait=3`), "invalid_input");
    const posted = await call("POST", `/runs/${run}/events`, {});
    expectProblem(posted, "method_not_allowed");
    expect(posted.headers.get("allow")).toBe("GET, HEAD");
    expectProblem(await apiClient(url)("GET", `/runs/${run}/events`), "unauthorized");
    const head = await rawRequest("HEAD", `${url}/runs/${run}/events`, { headers: { "X-API-Key": key } });
    expect([head.status, head.headers["content-type"], head.text]).toEqual([200, "text/event-stream", ""]);
  });
});

const principal: Principal = {
  kind: "key",
  keyId: "key_1",
  keyName: "ci",
  owner: "operator",
  lineage: "key_1",
  scopes: new Set(["read"]),
  access: accessEverywhere(["read"]),
};

const allIn = (state: StepState, count: number): StepStates =>
  StepStates.allPending(count).replaceAll(["pending"], state);

/** The stream alone, on a simulated run of any size and activity. */
async function openAlone(steps: number, record: Partial<StepRecord> = {}) {
  const run = { id: "run_1", seq: 1, stepStates: allIn("running", steps), status: "running", error: null };
  const definition = {
    steps: Array.from({ length: steps }, (_, index) => ({ id: `s${index}`, type: "set" })),
  };
  let moved = Promise.withResolvers<void>();
  let reads = 0;
  /** Advances the run. */
  function move(fields: Partial<typeof run> = {}): void {
    Object.assign(run, { seq: run.seq + 1 }, fields);
    moved.resolve();
    moved = Promise.withResolvers();
  }
  const nothing = {
    retryOf: null,
    replay: null,
    parent: null,
    scheduledFor: null,
    stop: null,
    onFailure: null,
  };
  const services = {
    read: {
      runs: {
        find: async () => ({ ...run, ...nothing }),
        async steps() {
          reads += 1;
          return definition.steps.map(({ id }) => ({
            ...record,
            stepId: id,
            seq: run.seq,
            state: run.stepStates.at(0),
          }));
        },
        runningSteps: async () => [],
      },
      interruptions: { openCounts: async () => new Map() },
    },
    engine: {
      getDefinition: async () => definition,
      waitForChange: async (_id: string, seq: number) => (seq < run.seq ? undefined : moved.promise),
    },
    log: pino({ level: "silent" }),
    meter: noMeter,
    tracer: noTracer(),
  };
  const streams = createStreamRegistry("wait");
  const responses: express.Response[] = [];
  const app = express();
  app.use((_req, res, next) => {
    responses.push(res);
    next();
  });
  app.get(
    "/runs/:run_id/events",
    runEvents({ services: services as never, streams, admit: async () => principal }),
  );
  app.use(
    ((error, _req, res, _next) =>
      void res
        .status((error as AppError).status)
        .end((error as AppError).code)) as express.ErrorRequestHandler,
  );
  const server = createServer(app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/runs/run_1/events`,
    streams,
    responses,
    reads: () => reads,
    move,
    end: () => move({ status: "succeeded", stepStates: allIn("succeeded", steps) }),
  };
}

describe("the events of a large fan-out", () => {
  it("arrive at a limited rate, with the newest state each time", async () => {
    const items = { total: 10_000, started: 0, done: 0, failed: 0, bytes: 0 };
    const { url, move, end, reads } = await openAlone(1, { items });
    const stream = await openEventStream("GET", url);
    await stream.waitFor(/event: step/);
    const began = performance.now();
    while (items.done < items.total) {
      // About ten items per millisecond, each a separate change.
      for (let item = 0; item < 10; item += 1) {
        items.done += 1;
        move();
      }
      await quietTime(1);
    }
    end();
    await stream.waitFor(ENDED);
    const most = 20 + ((performance.now() - began) / 1_000) * 10 + 4;
    const events = eventsOf(stream.text());
    expect(events.length).toBeLessThan(most);
    expect(reads()).toBeLessThan(most);
    const done = events.filter(({ event }) => event === "step").map(({ data }) => data.items.done as number);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(new Set(done).size).toBeGreaterThan(3);
    expect(done.at(-1)).toBe(items.total);
  });
});

describe("a client that stalls while reading a run's events", () => {
  it("gets the newest state when it reads again", async () => {
    const error = { code: "x", message: "x".repeat(1_000) };
    const { url, responses, end } = await openAlone(15_000, { error });
    const stream = await openEventStream("GET", url);
    stream.pause();
    const [res] = responses;
    let seen = -1;
    // The buffers of the system are full, and nothing more is sent.
    const written = await eventually(async () => {
      const now = res!.socket!.bytesWritten;
      const still = now === seen && res!.writableNeedDrain;
      seen = now;
      await quietTime(50);
      return still ? now : undefined;
    }, "a reader who stalls");
    expect(written).toBeLessThan(15_000_000);
    expect(res!.writableLength).toBeLessThan(100_000);
    end();
    stream.resume();
    await stream.waitFor(ENDED);
    expect(eventsOf(stream.text()).at(-2)!.data).toMatchObject({ id: "s14999", status: "succeeded" });
  });

  it("counts towards the stream limit of its key", async () => {
    const { url, streams } = await openAlone(1);
    const mine = { keyId: "key_1", owner: "operator" };
    const leave = Array.from({ length: 200 }, () => streams.reserve(mine, "run_events"));
    const refused = await rawRequest("GET", url);
    expect([refused.status, refused.text]).toEqual([429, "too_many_streams"]);
    leave[0]!();
    const stream = await openEventStream("GET", url);
    await stream.waitFor(/event: step/);
    stream.close();
    await eventually(() => {
      try {
        streams.reserve(mine, "run_events");
        return true;
      } catch {
        return undefined;
      }
    }, "its room");
  });
});
