import { describe, expect, it } from "vitest";
import { type Access, accessEverywhere } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { eventTokens } from "../../src/core/event-tokens.ts";
import {
  eventUrlMask,
  maskedPart,
  maskError,
  maskValue,
  seesEventUrls,
} from "../../src/core/event-url-mask.ts";
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

describe("seesEventUrls", () => {
  it("needs the scope run in the project of the run", () => {
    expect(seesEventUrls(runIn("default"), "default")).toBe(true);
    expect(seesEventUrls(runIn("finance"), "default")).toBe(false);
    expect(seesEventUrls(accessEverywhere(["read", "write", "admin"]), "default")).toBe(false);
  });
});

describe("eventUrlMask", () => {
  it("is undefined only for a caller with the scope run in every project", () => {
    expect(maskFor(accessEverywhere(["run"])).mask).toBeUndefined();
    expect(maskFor(accessEverywhere(["read"])).mask).toBeDefined();
    expect(maskFor(runIn("default")).mask).toBeDefined();
  });

  it("looks up each run once", async () => {
    const { mask, finds } = maskFor(runIn("default"));
    await maskValue([token, `${token}?a`], mask);
    await maskValue(token, mask);
    expect(finds).toEqual([RUN]);
  });

  it("hides a whole token of a run that does not exist, and keeps a cut one, which is other text", async () => {
    const { mask } = maskFor(runIn("default"));
    const unknown = token.replace(RUN, "run_000000000000");
    expect(await maskValue(unknown, mask)).toBe(unknown.slice(0, -mac.length) + "*".repeat(mac.length));
    const cut = unknown.slice(0, -20);
    expect(await maskValue(cut, mask)).toBe(cut);
  });

  it("hides a cut token of a run that the caller may not run, and keeps that of one that it may", async () => {
    const cut = token.slice(0, -20);
    expect(await maskValue(cut, maskFor(runIn("default")).mask)).toBe(cut);
    const shown = cut.length - (mac.length - 20);
    expect(await maskValue(cut, maskFor(runIn("finance")).mask)).toBe(
      cut.slice(0, shown) + "*".repeat(mac.length - 20),
    );
  });

  it("hides several tokens of a text, each by its own run", async () => {
    const unknown = token.replace(RUN, "run_000000000000");
    const hidden = unknown.slice(0, -mac.length) + "*".repeat(mac.length);
    expect(await maskValue(`${token} ${unknown}`, maskFor(runIn("default")).mask)).toBe(`${token} ${hidden}`);
  });
});

describe("maskValue without a mask", () => {
  it("returns the value itself", async () => {
    const value = { url: token };
    expect(await maskValue(value, undefined)).toBe(value);
  });
});

describe("maskedPart", () => {
  const before = `${"x".repeat(5_000)} `;
  const text = `${before}${token} ${"y".repeat(5_000)}`;
  const parts: [number, number][] = [];
  const read = (value: string) =>
    maskedPart(async (_at, { from, chars }) => {
      parts.push([from, chars]);
      return { text: value.slice(from, from + chars), chars: value.length };
    }, maskFor().mask!);
  const at = {} as never;
  const partOf = async (value: string, from: number, chars: number) =>
    (await read(value)(at, { from, chars }))?.text;

  it("hides what is in the part of a token that begins before it or ends after it", async () => {
    const begin = before.length;
    const end = begin + token.length;
    const hidden = begin + masked.indexOf("*");
    const whole = text.slice(0, begin) + masked + text.slice(end);
    for (const [from, to] of [
      [0, text.length],
      [begin - 3, end + 3],
      [begin + 5, end],
      [hidden + 1, end + 10],
      [hidden, hidden + 10],
      [end - 1, end],
      [begin, hidden + 12],
      [0, hidden + 3],
      [end, end + 9],
      [0, 10],
    ] as const)
      expect(await partOf(text, from, to - from)).toBe(whole.slice(from, to));
  });

  it("hides a token at the very beginning and at the very end of the text", async () => {
    expect(await partOf(token, 3, token.length - 3)).toBe(masked.slice(3));
    expect(await partOf(token, 0, token.length - 1)).toBe(masked.slice(0, -1));
    expect(await partOf(`x ${token}`, 0, 1_000)).toBe(`x ${masked}`);
  });

  it("keeps the other fields, and reads no part that is outside of the text", async () => {
    parts.length = 0;
    expect(await read("short")(at, { from: 0, chars: 5 })).toEqual({ text: "short", chars: 5 });
    expect(parts).toEqual([[0, 5]]);
    parts.length = 0;
    expect(await partOf("short", 2, 2)).toBe("or");
    expect(parts).toEqual([
      [2, 2],
      [0, 2],
      [4, expect.any(Number)],
    ]);
  });

  it("is undefined where there is no value", async () => {
    const none = maskedPart(async () => undefined, maskFor().mask!);
    expect(await none(at, { from: 0, chars: 5 })).toBeUndefined();
  });

  it("shows the part where what surrounds it is gone", async () => {
    let reads = 0;
    const first = maskedPart(async () => {
      reads += 1;
      return reads === 1 ? { text: "part", chars: 100 } : undefined;
    }, maskFor().mask!);
    expect(await first(at, { from: 10, chars: 4 })).toEqual({ text: "part", chars: 100 });
    expect(reads).toBe(3);
  });
});

describe("maskError", () => {
  const cause = new Error("inner");
  const error = (message: string, details = {}) =>
    new AppError("run_not_found", message, { ...details, cause });

  it("hides the tokens in the message and the details of an error, and keeps the rest of it", async () => {
    const details = { errors: [{ path: "", code: "x", message: `sent to ${token}` }] };
    const hidden = await maskError(error(`No ${token}`, details), maskFor().mask);
    expect(hidden).toBeInstanceOf(AppError);
    expect(hidden).toMatchObject({
      code: "run_not_found",
      message: `No ${masked}`,
      details: { errors: [{ path: "", code: "x", message: `sent to ${masked}` }] },
      cause,
    });
    expect(await maskError(error("No", details), maskFor().mask)).toMatchObject({
      message: "No",
      details: { errors: [{ message: `sent to ${masked}` }] },
    });
    expect(await maskError(error(`No ${token}`), maskFor().mask)).toMatchObject({ message: `No ${masked}` });
  });

  it("returns an error that it need not change", async () => {
    const plain = error("No such run");
    expect(await maskError(plain, maskFor().mask)).toBe(plain);
    const unmasked = error(`No ${token}`);
    expect(await maskError(unmasked, undefined)).toBe(unmasked);
    const other = new Error(token);
    expect(await maskError(other, maskFor().mask)).toBe(other);
  });
});
