import { describe, expect, it } from "vitest";
import { storedBytesErrors } from "../../src/store/stored-bytes.ts";
import { expectProblem, openRest } from "../support/rest.ts";

const PATH = "/workflows/counter/state";
const definition = {
  state: { last_id: { type: "integer", default: 0 }, note: { type: "string", default: "none" } },
  steps: [{ id: "a", type: "set", values: { x: 1 } }],
};

async function counter() {
  const opened = await openRest();
  await opened.call("POST", "/workflows", { name: "Counter", definition });
  return opened;
}

describe("GET and PUT /workflows/{workflow_id}/state", () => {
  it("return the defaults of a state that was never written", async () => {
    const { call } = await counter();
    const read = await call("GET", PATH);
    expect(read).toMatchObject({
      status: 200,
      body: {
        workflow_id: "counter",
        version: 1,
        revision: 1,
        values: { last_id: 0, note: "none" },
        updated_at: null,
        updated_by: null,
      },
    });
    expect(read.headers.get("etag")).toBe('"1-p1"');
    expect((await call("GET", PATH, undefined, { "If-None-Match": '"1-p1"' })).status).toBe(304);
  });

  it("set the values, and return a key that is left out to its default", async () => {
    const { call, instance } = await counter();
    const set = await call("PUT", PATH, { values: { last_id: 7, note: "by hand" } });
    expect(set).toMatchObject({
      status: 200,
      body: { revision: 2, values: { last_id: 7, note: "by hand" }, updated_by: "operator" },
    });
    expect(set.headers.get("etag")).toBe('"2-p1"');
    expect((await call("PUT", PATH, { values: { last_id: 8 } })).body).toMatchObject({
      revision: 3,
      values: { last_id: 8, note: "none" },
    });
    expect((await call("GET", PATH)).body).toMatchObject({
      revision: 3,
      values: { last_id: 8, note: "none" },
    });
    const filter = { operation: "set_workflow_state" };
    const entries = await instance.read.audit.page({ filter, before: null, limit: 9 });
    expect(entries.map(({ target, owner }) => `${target} ${owner}`)).toEqual([
      "counter operator",
      "counter operator",
    ]);
  });

  it("keep the values of keys that another version declares", async () => {
    const { call } = await counter();
    await call("PUT", PATH, { values: { last_id: 7 } });
    const other = { ...definition, state: { page: { type: "integer", default: 1 } } };
    await call("PATCH", "/workflows/counter", { definition: other });
    expect((await call("PUT", PATH, { values: { page: 3 } })).body).toMatchObject({
      version: 2,
      values: { page: 3 },
    });
    await call("PATCH", "/workflows/counter", { definition });
    expect((await call("GET", PATH)).body).toMatchObject({
      version: 3,
      values: { last_id: 7, note: "none" },
    });
  });

  it("lets one of several simultaneous writes with one ETag win", async () => {
    const { call } = await counter();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, last_id) =>
        call("PUT", PATH, { values: { last_id } }, { "If-Match": '"1-p1"' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(5);
    expectProblem(
      answers.find(({ status }) => status === 412)!,
      "version_conflict",
    );
    expect((await call("GET", PATH)).body.revision).toBe(2);
  });

  it("does all of several simultaneous writes without an ETag", async () => {
    const { call } = await counter();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, last_id) => call("PUT", PATH, { values: { last_id } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect((await call("GET", PATH)).body.revision).toBe(7);
  });

  it("refuses values with all their issues, and writes nothing", async () => {
    const { call } = await counter();
    const { errors } = expectProblem(
      await call("PUT", PATH, { values: { last_id: "x", note: 1, lastid: 5 } }),
      "invalid_input",
    );
    expect(errors!.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "values.last_id wrong_type",
      "values.note wrong_type",
      "values.lastid unknown_key",
    ]);
    expectProblem(await call("PUT", PATH, { values: { note: "x".repeat(300_000) } }), "invalid_input");
    expectProblem(await call("PUT", PATH, {}), "invalid_input");
    expect((await call("GET", PATH)).body.revision).toBe(1);
  });

  it("answers 404 for a workflow without state", async () => {
    expect.hasAssertions();
    const { call } = await counter();
    await call("POST", "/workflows", { name: "Plain" });
    expectProblem(await call("GET", "/workflows/plain/state"), "state_not_found");
    expectProblem(await call("PUT", "/workflows/plain/state", { values: {} }), "state_not_found");
    expectProblem(await call("GET", "/workflows/nothing/state"), "workflow_not_found");
  });
});

describe("the history of a workflow's state", () => {
  it("says what changed which values, when and why, newest first", async () => {
    const { call } = await counter();
    await call("PUT", PATH, { values: { last_id: 7, note: "by hand" }, reason: "Starts at 7" });
    // Nothing changes.
    await call("PUT", PATH, { values: { last_id: 7, note: "by hand" } });
    const reset = await call(
      "POST",
      `${PATH}/reset`,
      { reason: "From the start", keys: ["last_id"] },
      { "If-Match": '"3-p1"' },
    );
    expect(reset).toMatchObject({
      status: 200,
      body: { revision: 4, values: { last_id: 0, note: "by hand" } },
    });
    const { body } = await call("GET", `${PATH}/history`);
    expect(body).toMatchObject([
      {
        revision: 4,
        kind: "reset",
        by: "operator",
        reason: "From the start",
        changes: [{ key: "last_id", before: 7 }],
      },
      {
        revision: 2,
        kind: "set",
        reason: "Starts at 7",
        changes: [
          { key: "last_id", after: 7 },
          { key: "note", after: "by hand" },
        ],
      },
    ]);
    expect(Object.keys((body as object[])[0]!)).toContain("key_name");
  });

  it("resets all keys, but not when the state was written since it was read", async () => {
    const { call, instance } = await counter();
    await call("PUT", PATH, { values: { last_id: 7, note: "x" } });
    const late = await call("POST", `${PATH}/reset`, { reason: "Late" }, { "If-Match": '"1-p1"' });
    expectProblem(late, "version_conflict");
    const reset = await call("POST", `${PATH}/reset`, { reason: "Again" });
    expect(reset.body).toMatchObject({ values: { last_id: 0, note: "none" } });
    expectProblem(await call("POST", `${PATH}/reset`, {}), "invalid_input");
    const filter = { operation: "reset_workflow_state" };
    const [entry] = await instance.read.audit.page({ filter, before: null, limit: 9 });
    expect(entry).toMatchObject({ target: "counter", details: { reason: "Again", revision: 3 } });
  });

  it("keeps the newest changes, and the beginning of long values", async () => {
    const { call, instance } = await counter();
    for (let last_id = 1; last_id <= 230; last_id += 1)
      expect((await call("PUT", PATH, { values: { last_id } })).status).toBe(200);
    await call("PUT", PATH, { values: { last_id: 230, note: "y".repeat(5_000) } });
    const { body } = await call("GET", `${PATH}/history`);
    const revisions = (body as { revision: number }[]).map(({ revision }) => revision);
    expect(revisions.length).toBeLessThan(220);
    expect(revisions.slice(0, 3)).toEqual([232, 231, 230]);
    expect((body as { changes: object[] }[])[0]!.changes).toEqual([
      {
        key: "note",
        after: { truncated: true, chars: 5_002, preview: `"${"y".repeat(1_999)}` },
      },
    ]);
    expect(await storedBytesErrors(instance.store.read)).toEqual([]);
  });
});
