import { describe, expect, it } from "vitest";
import { rotateKey } from "../../src/auth/api-keys.ts";
import { DAY, HOUR } from "../../src/core/clock.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { expectProblem, openRest } from "../support/rest.ts";

/** `a` at version 2, archived if it will be restored. */
async function ready(method: string) {
  const opened = await openRest();
  const { call } = opened;
  await call("POST", "/workflows", { name: "A" });
  const { body } = await (method === "POST"
    ? call("DELETE", "/workflows/a")
    : call("PATCH", "/workflows/a", { description: "2" }));
  expect(body.version).toBe(2);
  return { ...opened, before: body };
}

describe("If-Match", () => {
  const changes = [
    ["PATCH", "/workflows/a", { name: "B" }],
    ["DELETE", "/workflows/a", undefined],
    ["POST", "/workflows/a/restore", undefined],
  ] as const;

  it.each(changes)("allows %s at the named version, weak or strong, and at *", async (...change) => {
    const [method, path, body] = change;
    for (const tag of ['"2"', 'W/"2"', ' "2" ', "*", '"1", "2"', '"abc",W/"2" , "0"']) {
      const { call } = await ready(method);
      const changed = await call(method, path, body, { "If-Match": tag });
      expect(changed).toMatchObject({ status: 200, body: { version: 3 } });
      expect(changed.headers.get("etag")).toBe('"3"');
    }
  });

  it.each(changes)(
    "refuses %s with 412 after a concurrent change, and changes nothing",
    async (...change) => {
      const [method, path, body] = change;
      const { call, before } = await ready(method);
      for (const tag of [
        '"1"',
        'W/"1"',
        '"3"',
        '"two"',
        '"-1"',
        '"0"',
        '"99999999999"',
        '""',
        '"a,b", "1"',
      ]) {
        const answer = await call(method, path, body, { "If-Match": tag });
        const { detail } = expectProblem(answer, "version_conflict");
        expect(detail).toContain("at version 2");
        expect(answer.headers.has("etag")).toBe(false);
      }
      expect((await call("GET", "/workflows/a")).body).toEqual({ ...before, used_by: [] });
    },
  );

  it.each(changes)("is refused, not ignored, when it is malformed on %s", async (...change) => {
    const [method, path, body] = change;
    const { call, before } = await ready(method);
    for (const tag of ["2", "", '"2', 'w/"2"', "**", '"2", *', '"1" "2"', '"2",']) {
      const answer = await call(method, path, body, { "If-Match": tag });
      const { errors } = expectProblem(answer, "invalid_input");
      expect(errors).toHaveLength(1);
      expect(errors![0]!.path.toLowerCase()).toMatch(/^if[-_]match$/);
    }
    expect((await call("GET", "/workflows/a")).body).toEqual({ ...before, used_by: [] });
  });

  it("lets one of many simultaneous edits win", async () => {
    const { call } = await ready("PATCH");
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, i) =>
        call("PATCH", "/workflows/a", { name: `edit ${i}` }, { "If-Match": '"2"' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(7);
    const winner = answers.find(({ status }) => status === 200)!;
    expect((await call("GET", "/workflows/a")).body).toEqual({ ...winner.body, used_by: [] });
  });
});

/**
 * Tags as proxies send them to clients for our `"2"`, or for two of them one behind the other: Apache's DeflateAlterETag, Caddy and
 * lighttpd, Jetty's ETAG_SEPARATOR, and nginx, which weakens.
 */
const COMPRESSED = [
  '"2-gzip"',
  '"2-br"',
  '"2-zstd"',
  '"2-deflate"',
  '"2--gzip"',
  '"2;gzip"',
  'W/"2-gzip"',
  'W/"2"',
  '"2-gzip-gzip"',
  '"1-gzip", "2-gzip"',
];

describe("the tag of a workflow that others call", () => {
  it.each(["", "-gzip"])("is accepted as it was sent, with the suffix %j", async (suffix) => {
    const { call } = await ready("PATCH");
    const steps = [{ id: "a", type: "workflow", workflow: "a" }];
    expect((await call("POST", "/workflows", { name: "B", definition: { steps } })).status).toBe(201);
    const { headers, body } = await call("GET", "/workflows/a");
    expect(body.used_by).toEqual(["b"]);
    const tag = headers.get("etag")!.replace(/"$/, `${suffix}"`);
    const changed = await call("PATCH", "/workflows/a", { description: "3" }, { "If-Match": tag });
    expect(changed).toMatchObject({ status: 200, body: { version: 3 } });
    expectProblem(
      await call("PATCH", "/workflows/a", { description: "4" }, { "If-Match": tag }),
      "version_conflict",
    );
  });
});

describe("a tag that a proxy has changed", () => {
  it.each(COMPRESSED)("%s is the version that it names", async (tag) => {
    const { call } = await ready("PATCH");
    const same = await call("GET", "/workflows/a", undefined, { "If-None-Match": tag });
    expect(same).toMatchObject({ status: 304, body: "" });
    const changed = await call("PATCH", "/workflows/a", { name: "B" }, { "If-Match": tag });
    expect(changed).toMatchObject({ status: 200, body: { version: 3 } });
    expectProblem(
      await call("PATCH", "/workflows/a", { name: "C" }, { "If-Match": tag }),
      "version_conflict",
    );
    const newer = await call("GET", "/workflows/a", undefined, { "If-None-Match": tag });
    expect(newer).toMatchObject({ status: 200, body: { name: "B" } });
  });

  it("is accepted with the published version, for the state and for lists", async () => {
    const { call } = await openRest();
    const definition = {
      state: { n: { type: "integer", default: 0 } },
      steps: [{ id: "a", type: "set", values: { x: 1 } }],
    };
    await call("POST", "/workflows", { name: "A", definition });
    await call("POST", "/workflows/a/publish", {});
    const suffixed = async (path: string): Promise<string> =>
      (await call("GET", path)).headers.get("etag")!.replace(/"$/, '-gzip"');
    for (const path of ["/workflows", "/workflows/a", "/workflows/a/state"]) {
      const same = await call("GET", path, undefined, { "If-None-Match": await suffixed(path) });
      expect([path, same.status]).toEqual([path, 304]);
    }
    const state = await suffixed("/workflows/a/state");
    const set = () =>
      call("PUT", "/workflows/a/state", { values: { n: 1 }, reason: "r" }, { "If-Match": state });
    expect((await set()).status).toBe(200);
    expect((await set()).status).toBe(412);
  });

  it.each(['"2-other"', '"2gzip"', '"gzip"', '"2-gzip-x"', '"22-gzip"', '"2-gzi"', '"2_gzip"', '"-gzip"'])(
    "%s is another tag",
    async (tag) => {
      const { call } = await ready("PATCH");
      const answer = await call("PATCH", "/workflows/a", { name: "B" }, { "If-Match": tag });
      expectProblem(answer, "version_conflict");
      expect((await call("GET", "/workflows/a", undefined, { "If-None-Match": tag })).status).toBe(200);
    },
  );
});

describe("If-None-Match", () => {
  it("answers 304 while a workflow is unchanged, and the whole workflow afterwards", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    for (const tag of ['"1"', 'W/"1"', '"7", "1"', "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const same = await call(method, "/workflows/a", undefined, { "If-None-Match": tag });
        expect(same).toMatchObject({ status: 304, body: "" });
        expect(same.headers.get("etag")).toBe('"1"');
        expect(same.headers.get("cache-control")).toBe("private, no-cache");
      }
    }
    await call("PATCH", "/workflows/a", { name: "B" });
    const changed = await call("GET", "/workflows/a", undefined, { "If-None-Match": '"1"' });
    expect(changed).toMatchObject({ status: 200, body: { name: "B" } });
  });

  it.each([
    "/workflows",
    "/workflows?limit=2",
    "/workflows?status=archived",
    "/workflows?include=definition",
  ])("answers 304 for the list %s until any process changes a workflow", async (path) => {
    const { instance, call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const first = await call("GET", path);
    const tag = first.headers.get("etag")!;
    const repeat = () => call("GET", path, undefined, { "If-None-Match": tag });
    expect(await repeat()).toMatchObject({ status: 304, body: "" });
    const elsewhere = await testInstance({ stateDir: instance.stateDir });
    const copy = apiClient((await elsewhere.rest()).url, (await elsewhere.key()).value);
    await copy("PATCH", "/workflows/a", { name: "B" });
    const after = await repeat();
    expect(after.status).toBe(200);
    expect(after.headers.get("etag")).not.toBe(tag);
    expect(after.body).toEqual((await copy("GET", path)).body);
  });

  it.each([
    ['"1"', 304],
    ['W/"1"', 304],
    ["*", 304],
    [' "0" ,"1"', 304],
    ['"0",, W/"1",', 304],
    ["", 200],
    ['"0", "2"', 200],
    ['"11"', 200],
    ["1", 200],
    ['w/"1"', 200],
    ['""', 200],
  ])("compares weakly with each tag of a list: %s gives %i", async (tags, status) => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const answer = await call("GET", "/workflows/a", undefined, { "If-None-Match": tags });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("etag")).toBe('"1"');
  });

  it("decides alone: the request's Cache-Control and If-Modified-Since have no effect", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const get = async (headers: Record<string, string>) =>
      (await call("GET", "/workflows/a", undefined, headers)).status;
    expect(await get({ "If-None-Match": '"1"', "Cache-Control": "no-cache" })).toBe(304);
    expect(await get({ "If-None-Match": '"0"', "Cache-Control": "max-age=60" })).toBe(200);
    expect(await get({ "If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT" })).toBe(200);
  });

  it("does not turn an error into a 304", async () => {
    const { call } = await openRest();
    const answer = await call("GET", "/workflows?cursor=x", undefined, { "If-None-Match": 'W/"0"' });
    expectProblem(answer, "invalid_cursor");
    expect(answer.headers.has("etag")).toBe(false);
  });
});

describe("Idempotency-Key", () => {
  const K = { "Idempotency-Key": "order-1" };

  it("repeats the first answer with status and headers, and does nothing", async () => {
    const { call } = await openRest();
    const first = await call("POST", "/workflows", { name: "A", tags: ["x"] }, K);
    await call("PATCH", "/workflows/a", { name: "B" });
    const again = await call("POST", "/workflows", { name: "A", tags: ["x"] }, K);
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    for (const name of ["location", "etag", "content-type"]) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect((await call("GET", "/workflows")).body).toHaveLength(1);
  });

  it("covers every POST: a restore is not done twice", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    await call("DELETE", "/workflows/a");
    const first = await call("POST", "/workflows/a/restore", { reason: "r" }, K);
    await call("DELETE", "/workflows/a");
    const again = await call("POST", "/workflows/a/restore", { reason: "r" }, K);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect((await call("GET", "/workflows/a")).body).toMatchObject({ status: "archived", version: 4 });
  });

  it("refuses another body under the same key, and accepts it for another operation", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" }, K);
    const { detail } = expectProblem(
      await call("POST", "/workflows", { name: "A", description: "other" }, K),
      "idempotency_key_reused",
    );
    expect(detail).toContain("Nothing was changed");
    expect((await call("POST", "/workflows/a/restore", {}, K)).status).toBe(200);
    expect((await call("GET", "/workflows")).body).toHaveLength(1);
  });

  it("creates one workflow for many simultaneous requests, through several processes", async () => {
    const { instance, call } = await openRest();
    const other = await testInstance({ stateDir: instance.stateDir });
    const { url } = await other.rest();
    // The same API key through the other copy: it does not matter which copy issued it.
    const { value } = await instance.key();
    const [here, there] = [apiClient((await instance.rest()).url, value), apiClient(url, value)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, i) =>
        (i % 2 === 0 ? here : there)("POST", "/workflows", { name: "A" }, K),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect((await call("GET", "/workflows")).body).toHaveLength(1);
  });

  it("expires after 24 hours, not before", async () => {
    const clock = fakeClock();
    const { call } = await openRest({ clock });
    const create = () => call("POST", "/workflows", { name: "A" }, K);
    await create();
    clock.advance(DAY - 1);
    expect((await create()).body.id).toBe("a");
    clock.advance(1);
    expect((await create()).body.id).toBe("a-2");
    expect((await create()).body.id).toBe("a-2");
  });

  it("belongs to an API key and its successors, and to no other key", async () => {
    const { instance, url } = await openRest();
    const { clock, keys } = instance;
    const mine = await instance.key();
    const others = await instance.key();
    const record = (await keys.list()).find(({ id }) => id === mine.record.id)!;
    const rotated = await rotateKey(keys, clock, record, { overlap: HOUR });
    const create = async (value: string) =>
      (await apiClient(url, value)("POST", "/workflows", { name: "A" }, K)).body.id;
    expect(await create(mine.value)).toBe("a");
    expect(await create(others.value)).toBe("a-2");
    expect(await create(rotated.value)).toBe("a");
  });

  it("is not used up by a request that failed", async () => {
    const { call } = await openRest();
    expectProblem(await call("POST", "/workflows", { nam: "A" }, K), "invalid_input");
    expectProblem(await call("POST", "/workflows/a/restore", {}, K), "workflow_not_found");
    expect((await call("POST", "/workflows", { name: "A" }, K)).status).toBe(201);
    expect((await call("POST", "/workflows/a/restore", {}, K)).status).toBe(200);
  });

  it.each(["", "with space", "ä", "a".repeat(201)])("is refused when it is invalid: %j", async (value) => {
    const { call } = await openRest();
    const answer = await call("POST", "/workflows", { name: "A" }, { "Idempotency-Key": value });
    const { errors } = expectProblem(answer, "invalid_input");
    expect(errors).toMatchObject([{ path: "idempotency_key", code: "wrong_format" }]);
    expect((await call("GET", "/workflows")).body).toEqual([]);
  });
});
