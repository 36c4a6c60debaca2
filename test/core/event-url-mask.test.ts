import { describe, expect, it } from "vitest";
import { type Access, accessEverywhere } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { eventTokens } from "../../src/core/event-tokens.ts";
import { eventUrlMask, maskValue } from "../../src/core/event-url-mask.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { truncateError } from "../../tools/runs/truncate.ts";

const RUN = "run_8dkq2m0sfj3a";
const token = eventTokens(Buffer.alloc(32, 1)).create({ runId: RUN, stepId: "callback" });
const mac = token.split(".").at(-1)!;
const masked = token.slice(0, -mac.length) + "*".repeat(mac.length);

const toInput = (content: object) => ({ ...content, isInput: true });

const runIn = (project: string): Access => ({
  everywhere: null,
  projects: new Map([[project, new Set(["read", "run"] as const)]]),
  keyLimits: null,
});

/** A mask for a caller who can only read, or has this access, with the ids that it looks up. */
function maskFor(access: Access = accessEverywhere(["read"])) {
  const finds: string[] = [];
  const mask = eventUrlMask(
    {
      find(id) {
        finds.push(id);
        const run = id === RUN ? ({ project: "default" } as RunRecord) : undefined;
        return Promise.resolve(run);
      },
    },
    access,
  );
  return { mask, finds };
}

describe("maskValue", () => {
  it("keeps functions, errors and instances of classes of a value in which it hides a token", async () => {
    const refusal = new AppError("approval_not_yours", "It is not yours.");
    const at = new Date(0);
    const value = {
      message: `Send it to ${token}?`,
      list: [{ [token]: token }, null, 1],
      toInput,
      refusal,
      at,
    };
    const result = await maskValue(value, maskFor().mask);
    expect(result).toEqual({
      message: `Send it to ${masked}?`,
      list: [{ [masked]: masked }, null, 1],
      toInput,
      refusal,
      at,
    });
    expect(result.refusal).toBe(refusal);
    expect(result.at).toBe(at);
    expect(result.toInput({ n: 1 })).toEqual({ n: 1, isInput: true });
    expect(value.message).toContain(token);
  });

  it("hides the token of a run in a project that the caller can't see, also if it may run things in all others", async () => {
    expect(await maskValue(token, maskFor(runIn("finance")).mask)).toBe(masked);
    expect(await maskValue(token, maskFor(runIn("default")).mask)).toBe(token);
  });

  it("hides a token in an object without a prototype", async () => {
    const value: unknown = Object.assign(Object.create(null), { url: token });
    expect(await maskValue(value, maskFor().mask)).toEqual({ url: masked });
  });

  it("copies only what it changes", async () => {
    const value = { same: { list: ["a", { b: 1 }] }, url: token };
    const result = await maskValue(value, maskFor().mask);
    expect(result).toEqual({ ...value, url: masked });
    expect(result.same).toBe(value.same);
  });

  it("looks up no run for a text without a token", async () => {
    const { mask, finds } = maskFor();
    const value = { id: RUN, text: `${RUN} and steps.${RUN}`, file: `${RUN}.report.csv` };
    expect(await maskValue(value, mask)).toBe(value);
    expect(finds).toEqual([]);
  });

  it("looks up at most 100 runs, also for several values at once, and hides the tokens of the others", async () => {
    const { mask, finds } = maskFor(runIn("default"));
    const forged = Array.from({ length: 2_000 }, (_, index) => `run_forged${index}.callback.${mac}`);
    const results = await Promise.all([
      maskValue([token, ...forged.slice(0, 1_000)], mask),
      maskValue(forged.slice(1_000), mask),
      maskValue(token, mask),
    ]);
    expect(finds).toHaveLength(100);
    expect(results.flat().filter((text) => text.includes(mac))).toEqual([token, token]);
  });
});

describe("a token whose end is cut off", () => {
  it("is hidden in a truncated error", async () => {
    const lengths = Array.from({ length: 24 }, (_, index) => index + 8);
    const texts = lengths.map((shown) => {
      const start = token.slice(0, -mac.length) + mac.slice(0, shown);
      const rest = `${mac.slice(shown)} is not reachable`;
      return truncateError({ code: "assert_failed", message: start + rest }, 2 * start.length).message;
    });
    const results = await maskValue(texts, maskFor().mask);
    expect(results.filter((text) => text.includes(mac.slice(0, 8)))).toEqual([]);
    expect(results.map((text) => text.length)).toEqual(texts.map((text) => text.length));
  });

  it("is hidden at the end of a text, of a sentence and of a string in a JSON text", async () => {
    const cut = token.slice(0, -1);
    const texts = [
      cut,
      `See ${cut}...`,
      `{"url":"https://example.com/events/${cut}"}`,
      `${RUN}.log.${token}`,
    ];
    const results = await maskValue(texts, maskFor().mask);
    expect(results.filter((text) => text.includes(mac.slice(0, 8)))).toEqual([]);
  });

  it("is not mistaken for the path of an output", async () => {
    const path = "steps.run_tests.output.failed_tests";
    expect(await maskValue(path, maskFor().mask)).toBe(path);
  });
});
