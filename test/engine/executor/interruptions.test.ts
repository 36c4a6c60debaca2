import { describe, expect, it } from "vitest";
import {
  busy,
  company,
  cut,
  ledger,
  lookup,
  never,
  NO_JOBS,
  pay,
} from "../../support/interrupted-company.ts";
import { mockHttpServer } from "../../support/mock-http-server.ts";

describe("a step with effects whose executor dies", () => {
  it("is sent again with the same key, and the run says so until somebody settles it", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay()] });
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map([[id, 1]]));
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "paid" } });
    expect(shop.keys).toEqual([shop.keys[0], shop.keys[0]]);
    expect(await shop.latest(id)).toMatchObject({
      runId: id,
      stepId: "pay",
      item: null,
      attempt: 1,
      reason: "executor_ended",
      idempotencyKey: shop.keys[0],
      isAsked: false,
      outcome: null,
    });
    expect(await shop.settle(id, "not_happened")).toBe(true);
    expect(await shop.settle(id, "happened")).toBe(false);
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map());
    expect(await shop.latest(id)).toMatchObject({ outcome: "not_happened", settledBy: "ada@example.com" });
  });

  it("ends with interrupted where on_interrupted is fail, and is not sent again by retry", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail", retry: { attempts: 5 } })] });
    await shop.goOn();
    const { status, error } = await shop.harness.outcome(id);
    expect(status).toBe("failed");
    expect(error).toMatchObject({ code: "interrupted", step_id: "pay" });
    expect(error!.fix).toContain((await shop.latest(id)).id);
    expect(shop.keys).toHaveLength(1);
  });

  it("costs no read of interruptions where there was none before it", async () => {
    const shop = await company([]);
    const reads: string[] = [];
    const reader = shop.interruptions as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const [name, read] of Object.entries(reader)) {
      reader[name] = (...args) => {
        reads.push(name);
        return read(...args);
      };
    }
    const id = await shop.start({ steps: [pay()] });
    await shop.untilEnded(id, "succeeded");
    expect(reads).toEqual([]);
  });

  it("continues with the error where on_error says so", async () => {
    const shop = await company();
    const steps = [
      pay({ on_interrupted: "fail", on_error: "continue" }),
      { id: "b", type: "set", values: { code: "${{ steps.pay.error.code }}" } },
    ];
    const id = await shop.interrupted({ steps });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { code: "interrupted" },
    });
  });

  it.each([
    ["happened", { value: "booked" }, 1, "succeeded", { value: "booked" }],
    ["happened", null, 1, "succeeded", { value: null }],
    ["not_happened", null, 2, "succeeded", { value: "paid" }],
    ["unknown", null, 1, "failed", null],
  ] as const)(
    "waits for a person where on_interrupted is ask: %s",
    async (outcome, output, calls, status, result) => {
      const shop = await company();
      const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
      await shop.goOn();
      expect(await shop.harness.outcome(id)).toMatchObject({ status: "waiting", states: ["waiting"] });
      expect(await shop.latest(id)).toMatchObject({ isAsked: true, outcome: null });
      expect(await shop.settle(id, outcome, output)).toBe(true);
      await shop.goOn();
      expect(await shop.harness.outcome(id)).toMatchObject({ status, output: result });
      expect(shop.keys).toHaveLength(calls);
      expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
    },
  );

  it("asks again where the repeated attempt is interrupted too", async () => {
    const shop = await company([never, never]);
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    await shop.settle(id, "not_happened");
    (await shop.executor()).wake();
    await shop.untilCalled(2);
    await shop.crash();
    await shop.goOn();
    expect(await shop.latest(id)).toMatchObject({ attempt: 2, isAsked: true, outcome: null });
    await shop.settle(id, "happened", { value: "second" });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { value: "second" },
    });
    expect(shop.keys).toHaveLength(2);
  });

  it("asks for one item of a fan-out, while the others go on", async () => {
    const shop = await company([never]);
    const id = await shop.interrupted({
      steps: [pay({ for_each: "[1, 2, 3]", concurrency: 1, on_interrupted: "ask" })],
    });
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    await shop.settle(id, "happened", { value: "by hand" }, 0);
    await shop.goOn();
    const { status, output } = await shop.harness.outcome(id);
    expect(status).toBe("succeeded");
    expect(output).toMatchObject({ items: [{ value: "by hand" }, { value: "paid" }, { value: "paid" }] });
    expect(shop.keys).toHaveLength(3);
  });

  it("is cancelled while it waits for a person, and stays open", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    await shop.harness.stop(id);
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("cancelled");
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map([[id, 1]]));
    expect(await shop.settle(id, "unknown")).toBe(true);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });
});

describe("a run whose executor stops, is cancelled or meets silence", () => {
  it("is interrupted by a stop of its executor in the middle", async () => {
    const shop = await company();
    const queue = await shop.executor();
    const id = await shop.start({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.untilCalled(1);
    await queue.stop(0);
    expect(await shop.latest(id)).toMatchObject({ reason: "executor_ended", outcome: null });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "interrupted" },
    });
  });

  it("is interrupted by a connection that breaks", async () => {
    const shop = await company([cut]);
    const id = await shop.start({ steps: [pay()] });
    await shop.untilEnded(id, "failed");
    expect(await shop.latest(id)).toMatchObject({ reason: "connection_lost", outcome: null });
    expect((await shop.harness.outcome(id)).error).toMatchObject({ code: "http_failed" });
  });

  it("is sent again after a lost connection as retry says, and not where on_interrupted is fail", async () => {
    const first = await company([cut]);
    const retried = await first.start({ steps: [pay({ retry: { attempts: 2, initial: "0s" } })] });
    await first.untilEnded(retried, "succeeded");
    expect(first.keys).toHaveLength(2);
    expect(await first.latest(retried)).toMatchObject({ attempt: 1, outcome: null });

    const second = await company([cut]);
    const ended = await second.start({
      steps: [pay({ retry: { attempts: 2, initial: "0s" }, on_interrupted: "fail" })],
    });
    await second.untilEnded(ended, "failed");
    expect((await second.harness.outcome(ended)).error).toMatchObject({ code: "interrupted" });
    expect(second.keys).toHaveLength(1);
  });

  it("is interrupted by the timeout of its step", async () => {
    const shop = await company([never]);
    const id = await shop.start({ steps: [pay({ timeout: "30ms" })] });
    await shop.untilEnded(id, "failed");
    expect((await shop.harness.outcome(id)).error).toMatchObject({ code: "timeout" });
    expect(await shop.latest(id)).toMatchObject({ reason: "timeout", outcome: null });
    expect(shop.keys).toHaveLength(1);
  });

  it("is interrupted by being stopped while the request is on its way, and asks nobody", async () => {
    const shop = await company([never]);
    const id = await shop.start({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.untilCalled(1);
    await shop.harness.stop(id);
    await shop.untilEnded(id, "cancelled");
    expect(await shop.latest(id)).toMatchObject({ reason: "cancelled", outcome: null, isAsked: false });
    expect(shop.keys).toHaveLength(1);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });

  it("is no interruption where the receiver answered", async () => {
    const shop = await company([busy]);
    const id = await shop.start({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.untilEnded(id, "failed");
    expect(await shop.latest(id)).toBeUndefined();
  });
});

describe("what undoes a step", () => {
  it("is sent again with the same key after a crash, and leaves an interruption of its own", async () => {
    const shop = await company([() => "paid", never]);
    const steps = [
      pay({ undo: { type: "probe", ask: "refund" } }),
      { id: "gate", type: "assert", that: "steps.pay.value == 'refused'", message: "closed" },
    ];
    const id = await shop.interrupted({ steps }, 2);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "assert_failed" },
    });
    expect(shop.keys).toHaveLength(3);
    expect(shop.keys[2]).toBe(shop.keys[1]);
    expect(await shop.all(id)).toMatchObject([
      {
        stepId: "undo:pay",
        attempt: 1,
        reason: "executor_ended",
        idempotencyKey: shop.keys[1],
        outcome: null,
      },
    ]);
  });
});

describe("a request that ends without an answer", () => {
  it.each([
    ["a host that the configuration declares idempotent", [{ host: "127.0.0.1", idempotent: true }], []],
    ["any other host", [], ["connection_lost"]],
  ])("to %s: interruptions", async (_, hosts, reasons) => {
    const peer = await mockHttpServer((_request, response) => void response.destroy());
    const shop = await company([], { http: { allowed_hosts: ["127.0.0.1"], hosts } });
    const id = await shop.start({
      steps: [{ id: "pay", type: "http", method: "POST", url: `${peer.url}/payments` }],
    });
    await shop.untilEnded(id, "failed");
    expect(peer.received).toHaveLength(1);
    expect((await shop.all(id)).map(({ reason }) => reason)).toEqual(reasons);
  });

  it("is an interruption of an idempotent host too where on_interrupted does not say retry", async () => {
    const peer = await mockHttpServer((_request, response) => void response.destroy());
    const shop = await company([], {
      http: { allowed_hosts: ["127.0.0.1"], hosts: [{ host: "127.0.0.1", idempotent: true }] },
    });
    const step = { id: "pay", type: "http", method: "POST", url: `${peer.url}/payments` };
    const id = await shop.start({ steps: [{ ...step, on_interrupted: "ask" }] });
    await shop.untilEnded(id, "waiting");
    expect(await shop.latest(id)).toMatchObject({ reason: "connection_lost", isAsked: true });
  });
});

describe("a retry of a run with an open interruption", () => {
  it("is not sent before it is settled, then takes the output that a person has given", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    const early = await shop.retry(id);
    expect(early).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(early.error!.message).toContain(id);
    await shop.settle(id, "happened", { value: "booked" });
    const late = await shop.retry(early.id);
    expect(late).toMatchObject({ status: "succeeded", output: { value: "booked" } });
    expect((await shop.runs.step({ runId: late.id, stepId: "pay", item: null }))!.reusedFrom).toBe(id);
    expect(shop.keys).toHaveLength(1);
  });

  it("is planned as a step whose output is reused, once it is known to have happened", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    expect(await shop.plan(id)).toMatchObject({ again: ["pay"], reused: [] });
    await shop.settle(id, "happened", { value: "booked" });
    expect(await shop.plan(id)).toMatchObject({ again: [], reused: ["pay"], run: [] });
  });

  it("is another effect with another input, so it is sent", async () => {
    const shop = await company();
    const id = await shop.interrupted({
      steps: [pay({ ask: "${{ inputs.amount }}", on_interrupted: "fail" })],
      inputs: { type: "object", properties: { amount: { type: "integer", default: 10 } } },
    });
    await shop.goOn();
    await shop.settle(id, "happened", { value: "booked" });
    expect(await shop.retry(id, { amount: 20 })).toMatchObject({ output: { value: "paid" } });
    expect(shop.keys).toHaveLength(2);
  });

  it("is sent again where the effect did not happen, or nobody knows", async () => {
    for (const outcome of ["not_happened", "unknown"] as const) {
      const shop = await company();
      const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
      await shop.goOn();
      await shop.settle(id, outcome);
      expect(await shop.retry(id)).toMatchObject({ status: "succeeded", output: { value: "paid" } });
      expect(shop.keys).toHaveLength(2);
    }
  });
});

describe("a step with a lookup", () => {
  it("takes what the lookup finds, and is not sent again", async () => {
    const book = await ledger(() => ({ status: 200, body: [{ id: "p1" }] }));
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay(lookup(book.url))] });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "p1" } });
    expect(shop.keys).toHaveLength(1);
    expect(book.urls).toEqual([`/payments?key=${encodeURIComponent(shop.keys[0]!)}`]);
    expect(await shop.latest(id)).toMatchObject({
      outcome: "happened",
      settledBy: null,
      lookup: { error: null },
    });
  });

  it("is sent again where the lookup finds nothing", async () => {
    const book = await ledger(() => ({ status: 200, body: [] }));
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay(lookup(book.url))] });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "paid" } });
    expect(shop.keys).toHaveLength(2);
    expect(await shop.latest(id)).toMatchObject({ outcome: "not_happened", settledBy: null });
  });

  it("fails, asks or is sent again as on_interrupted says where the lookup can't tell", async () => {
    const book = await ledger(() => ({ status: 404, body: {} }));
    const results: unknown[] = [];
    for (const said of [undefined, "fail", "ask", "retry"]) {
      const shop = await company([never], book.config);
      const id = await shop.interrupted({
        steps: [pay({ ...lookup(book.url), ...(said !== undefined && { on_interrupted: said }) })],
      });
      await shop.goOn();
      const { status } = await shop.harness.outcome(id);
      results.push([said, status, shop.keys.length, (await shop.latest(id)).outcome]);
      expect((await shop.latest(id)).lookup).toMatchObject({
        error: expect.stringContaining("404") as string,
      });
    }
    expect(results).toEqual([
      [undefined, "failed", 1, null],
      ["fail", "failed", 1, null],
      ["ask", "waiting", 1, null],
      ["retry", "succeeded", 2, null],
    ]);
  });

  it("asks a lookup that fails again, as its retry says", async () => {
    const book = await ledger((_, asked) =>
      asked < 3 ? { status: 503, body: {} } : { status: 200, body: [{ id: "late" }] },
    );
    const shop = await company([never], book.config);
    const id = await shop.interrupted({
      steps: [pay(lookup(book.url, { retry: { attempts: 3, initial: "10s", backoff: "fixed" } }))],
    });
    await shop.goOn();
    expect(book.urls).toHaveLength(1);
    expect((await shop.latest(id)).lookup).toMatchObject({ failures: 1 });
    await shop.goOnFor(2, 10_000);
    expect(book.urls).toHaveLength(3);
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "late" } });
    expect(shop.keys).toHaveLength(1);
  });

  it("ends with the failure of a lost connection that the lookup did not find, where retry is over", async () => {
    const book = await ledger(() => ({ status: 200, body: [] }));
    const shop = await company([cut, cut, cut, cut], book.config);
    const id = await shop.start({
      steps: [pay({ ...lookup(book.url), retry: { attempts: 2, initial: "0s" } })],
    });
    await shop.untilEnded(id, "failed");
    expect((await shop.harness.outcome(id)).error).toMatchObject({ code: "http_failed", message: "cut" });
    expect(shop.keys).toHaveLength(2);
  });
});
