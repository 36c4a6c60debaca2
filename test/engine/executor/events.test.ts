import { describe, expect, it } from "vitest";
import { HOUR } from "../../../src/core/clock.ts";
import { type TestEngine, testEngine } from "../../support/engine.ts";

const SCHEMA = {
  type: "object",
  properties: { approved: { type: "boolean" }, by: { type: "string" } },
  required: ["approved"],
};
const submit = { id: "submit", type: "probe", ask: "${{ run.event_urls.callback }}" };
const callback = { id: "callback", type: "wait", event: { schema: SCHEMA }, timeout: "1h" };
const CALLBACK = {
  steps: [submit, callback],
  output: "${{ steps.callback.body.approved }}",
};

/** Starts a run, and returns the URL that its step `submit` has handed out. */
async function started(harness: TestEngine, definition: Record<string, unknown> = CALLBACK) {
  const urls: string[] = [];
  harness.onProbe((url) => void urls.push(url as string));
  const queue = await harness.executor();
  const workflowId = await harness.define(definition);
  const id = await harness.start(workflowId);
  const proceed = async (): Promise<void> => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  await proceed();
  return { id, workflowId, url: urls[0]!, urls, proceed };
}

describe("a wait for an event", () => {
  it("ends with the event that is sent to the URL that an earlier step has handed out", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness);
    expect(await harness.outcome(id)).toMatchObject({ status: "waiting", states: ["succeeded", "waiting"] });
    harness.clock.advance(60_000);
    const receivedAt = harness.now();
    expect(await harness.send(url, { approved: true, by: "ann" })).toBe(receivedAt);
    await proceed();
    expect(await harness.outcome(id)).toMatchObject({ status: "succeeded", output: true });
    expect(await harness.read.runs.output({ runId: id, stepId: "callback", item: null })).toEqual({
      body: { approved: true, by: "ann" },
      received_at: receivedAt,
    });
    expect(await harness.rows("jobs")).toBe(0);
  });

  it("ends at once with an event that was received before the step began", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness, {
      steps: [submit, { id: "nap", type: "wait", for: "10m" }, callback],
      output: "${{ steps.callback }}",
    });
    const receivedAt = harness.now();
    await harness.send(url, { approved: false });
    await proceed();
    expect(await harness.outcome(id)).toMatchObject({ status: "waiting" });
    harness.clock.advance(10 * 60_000);
    await proceed();
    expect((await harness.outcome(id)).output).toMatchObject({
      body: { approved: false, by: null },
      received_at: receivedAt,
      status: "succeeded",
    });
  });

  it("accepts one of several simultaneous events, and refuses later ones", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => harness.send(url, { approved: true, by: `sender ${index}` })),
    );
    const accepted = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    expect(accepted).toHaveLength(1);
    const reasons = results.flatMap((result) =>
      result.status === "rejected" ? [(result.reason as { code: string }).code] : [],
    );
    expect(reasons).toEqual(Array.from({ length: 7 }, () => "event_received"));
    await expect(harness.send(url, { approved: false })).rejects.toMatchObject({ code: "event_received" });
    await proceed();
    expect((await harness.outcome(id)).status).toBe("succeeded");
    expect(await harness.read.runs.output({ runId: id, stepId: "callback", item: null })).toMatchObject({
      body: { by: `sender ${accepted[0]}` },
    });
    await expect(harness.send(url, { approved: false })).rejects.toMatchObject({ code: "event_received" });
  });

  it("refuses a body that does not match, with all issues, and still waits", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness);
    await expect(harness.send(url, { approved: "yes", by: 1 })).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "approved" }, { path: "by" }] },
    });
    await expect(harness.send(url, null)).rejects.toMatchObject({ code: "invalid_input" });
    await proceed();
    expect((await harness.outcome(id)).status).toBe("waiting");
    await harness.send(url, { approved: true });
    await proceed();
    expect((await harness.outcome(id)).status).toBe("succeeded");
    // A declared field that the event lacks is null.
    expect(await harness.read.runs.output({ runId: id, stepId: "callback", item: null })).toMatchObject({
      body: { approved: true, by: null },
    });
  });

  it("fails after its timeout, from which on events are refused", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness);
    harness.clock.advance(HOUR);
    // No executor has claimed the timer yet.
    await expect(harness.send(url, { approved: true })).rejects.toMatchObject({ code: "event_received" });
    await proceed();
    expect(await harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "event_timeout", step_id: "callback" },
    });
    await expect(harness.send(url, { approved: true })).rejects.toMatchObject({ code: "event_received" });
  });

  it("succeeds with an event that came in time, even if the timer is claimed first", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness);
    harness.clock.advance(HOUR - 1);
    await harness.send(url, { approved: true });
    harness.clock.advance(HOUR);
    await proceed();
    expect(await harness.outcome(id)).toMatchObject({ status: "succeeded", output: true });
  });

  it("refuses events of a run that has ended or is skipping the step", async () => {
    const harness = await testEngine();
    const stopped = await started(harness);
    await harness.stop(stopped.id);
    await expect(harness.send(stopped.url, { approved: true })).rejects.toMatchObject({
      code: "event_received",
    });
    const skipping = await started(harness, {
      steps: [submit, { ...callback, if: "false" }, { id: "nap", type: "wait", for: "1h" }],
    });
    await expect(harness.send(skipping.url, { approved: true })).rejects.toMatchObject({
      code: "event_received",
    });
  });

  it("has null fields when it was skipped or failed", async () => {
    const harness = await testEngine();
    const { id, proceed } = await started(harness, {
      steps: [submit, { ...callback, on_error: "continue" }],
      output: "${{ steps.callback.body == null && steps.callback.error.code == 'event_timeout' }}",
    });
    harness.clock.advance(HOUR);
    await proceed();
    expect(await harness.outcome(id)).toMatchObject({ status: "succeeded", output: true });
  });

  it("accepts any JSON without a schema, also a large one", async () => {
    const harness = await testEngine();
    const { id, url, proceed } = await started(harness, {
      steps: [submit, { id: "callback", type: "wait", event: {} }],
      output: "${{ size(steps.callback.body) }}",
    });
    await harness.send(url, "x".repeat(500_000));
    await proceed();
    expect(await harness.outcome(id)).toMatchObject({ status: "succeeded", output: 500_000 });
  });

  it("has a URL of its own for each run and step, and a retry waits again", async () => {
    const harness = await testEngine();
    const definition = {
      steps: [
        { ...submit, ask: ["${{ run.event_urls.callback }}", "${{ run.event_urls.other }}"] },
        callback,
        { id: "other", type: "wait", event: {}, timeout: "1h" },
      ],
    };
    const harnessed = await started(harness, definition);
    const [[first, second]] = harnessed.urls as unknown as [[string, string]];
    expect(first).not.toBe(second);
    await harness.send(first, { approved: true });
    await harnessed.proceed();
    harness.clock.advance(HOUR);
    await harnessed.proceed();
    const failed = await harness.find(harnessed.id);
    expect(failed.status).toBe("failed");
    const retry = await harness.start(harnessed.workflowId, { retryOf: failed });
    await harnessed.proceed();
    expect(await harness.outcome(retry)).toMatchObject({ states: ["succeeded", "waiting", "pending"] });
    const urls = harnessed.urls as unknown as [string, string][];
    expect(new Set(urls.flat()).size).toBe(4);
    await harness.send(urls[1]![0], { approved: false });
    await harnessed.proceed();
    expect(await harness.outcome(retry)).toMatchObject({ states: ["succeeded", "succeeded", "waiting"] });
  });

  it("is refused with a token that was changed", async () => {
    const harness = await testEngine();
    const { url } = await started(harness);
    const token = url.slice(url.lastIndexOf("/") + 1);
    const [run, step, mac] = token.split(".") as [string, string, string];
    const wrong = [
      "",
      token.slice(0, -1),
      `${token}A`,
      `${run}.${step}.${"A".repeat(32)}`,
      `${run}.submit.${mac}`,
      `run_other.${step}.${mac}`,
      `${run}.${step}.${mac.toLowerCase()}`,
      "../../etc/passwd",
      `${run}.${step}.${mac}`.replace(".", "%2E"),
    ];
    for (const other of wrong)
      await expect(harness.events.find(other)).rejects.toMatchObject({ code: "event_not_found" });
    await expect(harness.events.find(token)).resolves.toMatchObject({ stepId: "callback" });
  });

  it("is refused without telling more once the run was purged", async () => {
    const harness = await testEngine();
    const { url, id } = await started(harness);
    await harness.send(url, { approved: true });
    await harness.stop(id);
    harness.clock.advance(HOUR);
    const now = harness.now();
    await harness.transaction((tx) => tx.runs.purge(now, now, 1_000));
    await expect(harness.send(url, { approved: true })).rejects.toMatchObject({ code: "event_not_found" });
    expect(await harness.rows("events")).toBe(0);
  });
});
