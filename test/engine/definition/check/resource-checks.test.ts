import { describe, expect, it } from "vitest";
import { NUMBER, listOf, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { StepError } from "../../../../src/core/step-errors.ts";
import type { StepCheckContext } from "../../../../src/core/step-type.ts";
import { untilCollected } from "../../../support/garbage.ts";
import { assert, checkerOf, queryStep, set } from "./test-checker.ts";

const query = (id: string, more: object = {}) => ({ id, type: "query", query: "select 1", ...more });
const rowsOf = (fields: Record<string, typeof STRING>) =>
  objectOf({ rows: listOf(objectOf(fields)), row_count: NUMBER });
const codes = (errors: readonly { path: string; code: string }[]) =>
  errors.map(({ path, code }) => `${path} ${code}`);

const refuse = () =>
  Promise.reject(new StepError("database_unavailable", "It is not there.", { fix: "Start it." }));

describe("checks against resources", () => {
  it("give later expressions the shapes that a step found", async () => {
    const bound = checkerOf(
      {},
      queryStep(() => Promise.resolve({ issues: [], output: rowsOf({ region: STRING }) })),
    );
    const steps = [query("q"), assert("a", "steps.q.rows[0].regoin == 'x'")];
    const { errors } = await bound.check({ steps }, { checkConnections: true });
    expect(errors).toMatchObject([{ path: "steps[1].that", code: "unknown_field", did_you_mean: "region" }]);
    expect(
      (
        await bound.check(
          { steps: [query("q"), assert("a", "steps.q.rows[0].region == 'x'")] },
          { checkConnections: true },
        )
      ).valid,
    ).toBe(true);
  });

  it("pass the shapes of earlier checks to a step, in any order of the list", async () => {
    const seen: unknown[] = [];
    const bound = checkerOf(
      {},
      queryStep(async (step, ctx) => {
        if (step.id === "join") seen.push(ctx.shapeAt("tables", "orders"), ctx.shapeOf("limit"));
        else await new Promise((resolve) => setImmediate(resolve));
        return { issues: [], output: rowsOf({ total: NUMBER }) };
      }),
    );
    const steps = [
      query("join", { tables: { orders: "${{ steps.orders.rows }}" }, needs: ["orders"] }),
      query("orders", { needs: [] }),
    ];
    expect((await bound.check({ steps }, { checkConnections: true })).errors).toEqual([]);
    expect(seen).toEqual([
      { kind: "list", of: { kind: "object", fields: { total: NUMBER } } },
      { kind: "any" },
    ]);
  });

  it("keep nothing after their end, although the signal of the caller goes on", async () => {
    const signals: WeakRef<AbortSignal>[] = [];
    const bound = checkerOf(
      {},
      queryStep((_, { signal }) => {
        signals.push(new WeakRef(signal));
        return Promise.resolve({ issues: [] });
      }),
    );
    const caller = new AbortController();
    const { errors } = await bound.check(
      { steps: [query("q")] },
      { checkConnections: true, signal: caller.signal },
    );
    expect([errors, signals.length]).toEqual([[], 1]);
    expect(await untilCollected(signals)).toBe(true);
    expect(caller.signal.aborted).toBe(false);
  });

  it("use no resource unless this is requested", async () => {
    const bound = checkerOf(
      {},
      queryStep((step, ctx) =>
        Promise.resolve({ issues: [{ code: "x", message: ctx.connections.defaultDatabase ?? step.id }] }),
      ),
    );
    expect((await bound.check({ steps: [query("q")] }, { checkConnections: false })).errors).toEqual([]);
    expect((await bound.check({ steps: [query("q")] }, { checkConnections: true })).errors).toHaveLength(1);
  });

  it("run for at most eight steps at a time", async () => {
    let running = 0;
    let maxActive = 0;
    const bound = checkerOf(
      {},
      queryStep(async () => {
        maxActive = Math.max(maxActive, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { issues: [] };
      }),
    );
    const steps = Array.from({ length: 40 }, (_, index) => query(`q${index}`, { needs: [] }));
    expect((await bound.check({ steps }, { checkConnections: true })).valid).toBe(true);
    expect(maxActive).toBe(8);
  });

  it("report a step that could not be checked in time, and abort it", async () => {
    const signals: AbortSignal[] = [];
    const never = (_: unknown, ctx: StepCheckContext) => {
      signals.push(ctx.signal);
      return new Promise<never>(() => undefined);
    };
    const bound = checkerOf({ resourceCheckMs: 20 }, queryStep(never));
    const { errors } = await bound.check({ steps: [set("a", {}), query("q")] }, { checkConnections: true });
    expect(codes(errors)).toEqual(["steps[1] check_timeout"]);
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
  });

  it("report the error of a resource", async () => {
    const { errors } = await checkerOf({}, queryStep(refuse)).check(
      { steps: [query("q")] },
      { checkConnections: true },
    );
    expect(errors).toEqual([
      { path: "steps[0]", code: "database_unavailable", message: "It is not there.", fix: "Start it." },
    ]);
  });

  it("rethrow unexpected errors", async () => {
    const broken = checkerOf(
      {},
      queryStep(() => Promise.reject(new TypeError("oops"))),
    );
    await expect(
      broken.check({ steps: [query("q"), query("r")] }, { checkConnections: true }),
    ).rejects.toThrow("oops");
  });

  it("are made for a step with schema issues too, without the fields that have one", async () => {
    const asked: unknown[] = [];
    const bound = checkerOf(
      {},
      queryStep((step) => {
        asked.push(step);
        return Promise.resolve({
          issues: [
            { path: ["query"], code: "database_failed", message: "no such table" },
            { path: ["limit"], code: "too_small", message: "follows from the other issue" },
            { path: [], code: "invalid", message: "follows too" },
          ],
        });
      }),
    );
    const steps = [query("q", { limit: 11, unknown_field: 1 })];
    const { errors } = await bound.check({ steps }, { checkConnections: true });
    expect(codes(errors)).toEqual([
      "steps[0].query database_failed",
      "steps[0].limit too_large",
      "steps[0].unknown_field unknown_key",
    ]);
    expect(asked).toEqual([query("q")]);
  });

  it("check the kind that a template returns", async () => {
    const bound = checkerOf(
      {},
      queryStep(() => Promise.resolve({ issues: [] })),
    );
    const steps = [
      query("q", { limit: "${{ 'ten' }}" }),
      query("r", { limit: "${{ 10 }}" }),
      query("s", { query: "${{ 1 }}" }),
    ];
    const { errors } = await bound.check({ steps }, { checkConnections: true });
    expect(codes(errors)).toEqual(["steps[0].limit wrong_type", "steps[2].query no_expression_here"]);
  });

  it("end when the signal of the caller is aborted", async () => {
    const caller = new AbortController();
    const bound = checkerOf(
      {},
      queryStep(() => {
        caller.abort(new Error("gone"));
        return new Promise<never>(() => undefined);
      }),
    );
    await expect(
      bound.check({ steps: [query("q")] }, { checkConnections: true, signal: caller.signal }),
    ).rejects.toThrow("gone");
  });

  it("give expressions the status of a step even if its type has a field of that name", async () => {
    const answer = objectOf({ status: NUMBER, body: STRING });
    const bound = checkerOf(
      {},
      queryStep(() => Promise.resolve({ issues: [], output: answer })),
    );
    const { steps } = await bound.check({ steps: [query("q")] }, { checkConnections: true });
    expect(steps[0]!.output).toMatchObject({ fields: { status: STRING, body: STRING } });
  });
});
