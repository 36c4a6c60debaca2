import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../../src/core/json-patch.ts";
import { stepTypes } from "../../../../src/steps/index.ts";
import { checker } from "../../../../src/engine/definition/check/index.ts";
import type { Connections } from "../../../../src/core/connections.ts";
import { issuesOf, set } from "./test-checker.ts";

const allTypes = (limits?: { max_step_timeout: string; max_wait: string }) =>
  checker({
    stepTypes,
    connections: {} as Connections,
    workflows: { find: () => Promise.resolve(undefined), ids: () => Promise.resolve([]) },
    ...(limits !== undefined && { limits }),
  });

const send = (more: object) => ({ id: "send", type: "http", url: "https://example.com/", ...more });

async function errorsOf(steps: object[], more: object = {}, limits?: Parameters<typeof allTypes>[0]) {
  const { errors } = await allTypes(limits).check({ ...more, steps }, { checkConnections: false });
  return errors.map(({ path, code, message }) => ({ path, code, message }));
}

describe("a duration beyond the operator's maximum", () => {
  it.each([
    send({}),
    { id: "a", type: "sql", database: "shop", query: "SELECT 1" },
    { id: "a", type: "model", model: "writer", prompt: "Hi" },
    { id: "a", type: "tool", server: "crm", tool: "find" },
    { id: "a", type: "email", to: "ada@example.com", subject: "Hi", text: "Hi" },
  ])("is refused as the timeout of a step that calls something: $type", async (step) => {
    expect(await errorsOf([{ ...step, timeout: "9999999d" }])).toEqual([
      {
        path: "steps[0].timeout",
        code: "duration_too_long",
        message: "must be at most 1h, which the operator has set (limits.max_step_timeout), got 9999999d",
      },
    ]);
    expect(await errorsOf([{ ...step, timeout: "1h" }])).toEqual([]);
  });

  it("is much longer for what only waits", async () => {
    const ask = { id: "ask", type: "approval", message: "Send?" };
    const event = { id: "paid", type: "wait", event: {} };
    const timeouts = (timeout: string) =>
      errorsOf([{ ...ask, timeout }, { ...event, timeout }, send({})], { timeout });
    expect(await timeouts("400d")).toEqual([]);
    expect((await timeouts("401d")).map(({ path }) => path)).toEqual([
      "timeout",
      "steps[0].timeout",
      "steps[1].timeout",
    ]);
  });

  it("is refused as a pause, a cache and the timeout of an undo", async () => {
    const long = "9999999d";
    const steps = [
      send({ retry: { attempts: 2, initial: long, max: long } }),
      {
        id: "poll",
        type: "http",
        url: "https://example.com/",
        repeat: { max: 2, every: long },
        cache: { for: long },
      },
      {
        id: "book",
        type: "http",
        method: "POST",
        url: "https://example.com/",
        undo: { type: "http", method: "DELETE", url: "https://example.com/", timeout: "2h" },
      },
    ];
    expect((await errorsOf(steps)).map(({ path, code }) => `${path} ${code}`)).toEqual([
      "steps[0].retry.initial duration_too_long",
      "steps[0].retry.max duration_too_long",
      "steps[1].repeat.every duration_too_long",
      "steps[1].cache.for duration_too_long",
      "steps[2].undo.timeout duration_too_long",
    ]);
  });

  it("has a patch to the maximum that the operator has set", async () => {
    const definition = { steps: [send({ timeout: "30m" })] };
    const limits = { max_step_timeout: "10m", max_wait: "1d" };
    const { errors } = await allTypes(limits).check(definition, { checkConnections: false });
    expect(errors).toMatchObject([{ fix: "Write 10m or less." }]);
    expect(applyJsonPatch(definition, errors[0]!.patch!)).toEqual({ steps: [send({ timeout: "10m" })] });
  });

  it("leaves a value that is no duration to the schema", async () => {
    expect(await issuesOf({ steps: [set("a", { x: 1 }, { timeout: "forever" })] })).toEqual([
      "steps[0].timeout wrong_format",
    ]);
  });
});

async function fixedSteps(step: object): Promise<unknown> {
  const report = await allTypes().check({ steps: [step] }, { checkConnections: false, applyFixes: true });
  return report.definition?.["steps"];
}

describe("a number without a unit", () => {
  it("is the seconds of a duration, and the digits of a text", async () => {
    const mail = { id: "mail", type: "email", to: [5], subject: 7, text: 12, timeout: 30 };
    expect(await fixedSteps(mail)).toMatchObject([{ subject: "7", text: "12", timeout: "30s" }]);
  });
});
