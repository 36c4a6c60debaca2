import { OutgoingMessage } from "node:http";
import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { answerCache, type ListCache } from "../../src/surfaces/rest/responses.ts";
import type { ApiResponse } from "../support/http.ts";
import { eventually } from "../support/eventually.ts";
import { insertWorkflows } from "../support/many-workflows.ts";
import { expectProblem, openRest } from "../support/rest.ts";
import { listUsers } from "../../tools/users/list-users.ts";

describe("a page of large definitions", () => {
  it("ends after about 2 MiB, and the pages together hold every workflow", async () => {
    const { call } = await openRest();
    const definition = { text: "x".repeat(700_000) };
    for (let i = 0; i < 8; i += 1) await call("POST", "/workflows", { name: `W ${i}`, definition });
    const ids: string[] = [];
    const sizes: number[] = [];
    for (let path: string | undefined = "/workflows?include=definition&limit=200"; path !== undefined;) {
      const { body, headers }: ApiResponse<{ id: string }[]> = await call("GET", path);
      sizes.push(body.length);
      ids.push(...body.map((one) => one.id));
      path = /<(.*)>/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(sizes).toEqual([3, 3, 2]);
    expect(ids).toEqual(["w-7", "w-6", "w-5", "w-4", "w-3", "w-2", "w-1", "w-0"]);
    // Without paging parameters too: a list with definitions is a page, and the one without holds every workflow.
    const first = await call("GET", "/workflows?include=definition");
    expect(first.body).toHaveLength(3);
    expect(first.headers.get("x-total-count")).toBe("8");
    const next = /<(.*)>; rel="next"/.exec(first.headers.get("link")!)![1]!;
    const second = await call("GET", next);
    expect(second.body.map(({ id }: { id: string }) => id)).toEqual(["w-4", "w-3", "w-2"]);
    expect(second.body[0].definition).toEqual(definition);
    expect((await call("GET", "/workflows")).body).toHaveLength(8);
  });

  it("ends after about 2 MiB in a history too", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    for (const letter of "abcd") {
      await call("PATCH", "/workflows/a", { definition: { text: letter.repeat(900_000) } });
    }
    const first = await call("GET", "/workflows/a/versions?include=definition&limit=200");
    expect(first.body.map((one: { version: number }) => one.version)).toEqual([5, 4, 3]);
    const whole = await call("GET", "/workflows/a/versions?include=definition");
    expect(whole.body).toHaveLength(3);
    const next = /<(.*)>/.exec(first.headers.get("link")!)![1]!;
    const second = await call("GET", next);
    expect(second.body.map((one: { version: number }) => one.version)).toEqual([2, 1]);
    expect(second.body[0].definition.text[0]).toBe("a");
  });
});

describe("a client that reads nothing", () => {
  it("is disconnected after it has stalled for a minute", async () => {
    const { instance, url, key } = await openRest();
    await insertWorkflows(instance, { count: 10_000, length: 2_000 });
    const asked: number[] = [];
    let stalled = false;
    const { setTimeout: real } = OutgoingMessage.prototype;
    const spy = vi.spyOn(OutgoingMessage.prototype, "setTimeout").mockImplementation(function (
      this: OutgoingMessage,
      ms,
      then,
    ) {
      asked.push(ms);
      return real.call(this, 100, () => {
        then?.();
        stalled = true;
      });
    });
    onTestFinished(() => spy.mockRestore());
    const answer = await fetch(`${url}/workflows`, { headers: { "X-API-Key": key } });
    expect(answer.status).toBe(200);
    await eventually(() => stalled || undefined, "the time-out");
    expect(asked).toEqual([60_000]);
    await expect(answer.text()).rejects.toThrow("terminated");
  });
});

describe("a search", () => {
  it.each(["%E2%80%8D", "%20%EF%B8%8F", "%E2%80%8B%20%E2%80%8D"])(
    "refuses a search of characters that searches ignore: %s",
    async (search) => {
      const { call } = await openRest();
      const { errors } = expectProblem(await call("GET", `/workflows?search=${search}`), "invalid_input");
      expect(errors).toMatchObject([{ path: "search", code: "too_short" }]);
    },
  );

  it("of characters that searches ignore is refused for people too (list_users)", () => {
    const { error } = listUsers.input.safeParse({ search: "\u200D" });
    expect(error?.issues).toMatchObject([{ path: ["search"], code: "too_small" }]);
  });

  it("accepts 8 different words and refuses more; repeated words count once", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "a b c d e f g h" });
    expect((await call("GET", "/workflows?search=a+b+c+d+e+f+g+h+A+b+c")).body).toHaveLength(1);
    const { errors } = expectProblem(
      await call("GET", "/workflows?search=a+b+c+d+e+f+g+h+i"),
      "invalid_input",
    );
    expect(errors).toMatchObject([{ path: "search", code: "too_many_words" }]);
  });
});

const list = (revision: string) => ({ revision, body: Buffer.from("[]"), total: 0, nextCursor: null });

describe("the cache of answers", () => {
  it("drops answers from before a change", () => {
    const cache: ListCache = answerCache();
    cache.set("a", list("1"));
    expect(cache.get("a", "1")).toBeDefined();
    expect(cache.get("a", "2")).toBeUndefined();
    expect(cache.get("a", "1")).toBeUndefined();
  });

  it("counts the size of keys too, so that empty lists are limited", () => {
    const cache: ListCache = answerCache();
    const keys = Array.from({ length: 20_000 }, (_, i) => `${i} ${"k".repeat(200)}`);
    for (const key of keys) cache.set(key, list("1"));
    const kept = keys.filter((key) => cache.get(key, "1") !== undefined).length;
    expect(kept).toBeGreaterThan(1_000);
    expect(kept).toBeLessThan(19_000);
    expect(cache.get(keys.at(-1)!, "1")).toBeDefined();
  });
});

describe("a refusal before the operation", () => {
  it("is logged once with its request id", async () => {
    let log = "";
    const sink = new Writable({ write: (chunk, _encoding, done) => ((log += String(chunk)), done()) });
    const { call } = await openRest({ log: pino({ level: "info" }, sink) });
    const refused = [
      ["GET", "/nowhere", undefined, "route_not_found"],
      ["PUT", "/workflows", undefined, "method_not_allowed"],
      ["DELETE", "/workflows/a", { a: 1 }, "invalid_input"],
      ["GET", "/workflows/a", undefined, "workflow_not_found"],
    ] as const;
    for (const [method, path, body, code] of refused) {
      expectProblem(await call(method, path, body, { "X-Request-Id": `id-${code}` }), code);
      await eventually(() => log.includes(`id-${code}`) || undefined, "the log line");
      expect(log.split(`id-${code}`)).toHaveLength(2);
    }
  });
});

describe("a change that changes nothing", () => {
  it("creates no version, however its numbers and keys are written", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A", definition: { a: 0, b: 1 } });
    for (const text of ['{"definition":{"a":-0,"b":1}}', '{"definition":{"b":1.0,"a":0}}']) {
      expect((await call("PATCH", "/workflows/a", text)).body.version).toBe(1);
    }
  });

  it("is refused with a number that would be stored as null", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const answer = await call("PATCH", "/workflows/a", '{"definition":{"a":[{"b":1e9999}]}}');
    const { errors } = expectProblem(answer, "invalid_input");
    expect(errors).toMatchObject([{ path: "definition.a[0].b", code: "not_finite" }]);
  });
});

describe("an idempotency key", () => {
  it("recognizes the same input with its keys in another order", async () => {
    const { call } = await openRest();
    const headers = { "Idempotency-Key": "k" };
    const first = await call("POST", "/workflows", '{"name":"A","definition":{"a":1,"b":2}}', headers);
    const again = await call("POST", "/workflows", '{"definition":{"b":2,"a":1},"name":"A"}', headers);
    expect(again).toMatchObject({ status: 201, body: first.body });
  });
});

describe("/apidoc", () => {
  it("serves its files by their exact names only", async () => {
    const { call } = await openRest();
    const answer = await call("GET", "/apidoc/SWAGGER-UI.CSS");
    expect(expectProblem(answer, "route_not_found").status).toBe(404);
  });
});
