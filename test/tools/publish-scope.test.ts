/** A key without the scope `publish` changes drafts, and nothing that is live. */
import { describe, expect, it } from "vitest";
import { expectProblem, openRest } from "../support/rest.ts";
import { type ApiResponse, apiClient } from "../support/http.ts";
import type { Json } from "../support/json.ts";

const steps = (x: unknown): object => ({ steps: [{ id: "a", type: "set", values: { x } }] });
const calling = (workflow: string): object => ({ steps: [{ id: "call", type: "workflow", workflow }] });
const nightly = { ...steps(1), schedule: { cron: "0 3 * * *" } };

/** A publisher with the default scopes, and an author without `publish`. */
async function open() {
  const { instance, url, call: publisher } = await openRest();
  const { value } = await instance.key({ name: "author", scopes: ["read", "write", "run"] });
  const author = apiClient(url, value);
  const create = async (name: string, definition: object): Promise<string> => {
    const { status, body } = await author("POST", "/workflows", { name, definition });
    expect({ status, issues: body.issues }).toEqual({ status: 201, issues: [] });
    return body.id;
  };
  const publish = async (id: string): Promise<void> =>
    expect((await publisher("POST", `/workflows/${id}/publish`, {})).status).toBe(200);
  const read = async (id: string): Promise<Json> => (await publisher("GET", `/workflows/${id}`)).body;
  return { instance, url, publisher, author, create, publish, read };
}

function expectRefused(answer: ApiResponse): string {
  const { detail, errors } = expectProblem(answer, "missing_scope");
  expect(errors).toMatchObject([{ code: "missing_scope", allowed: ["publish"] }]);
  return detail;
}

describe("A key without the scope publish", () => {
  it("publishes, unpublishes, pauses and resumes nothing, and learns what to do", async () => {
    const { author, create, publish, read } = await open();
    const id = await create("Nightly", nightly);
    const detail = expectRefused(await author("POST", `/workflows/${id}/publish`, {}));
    expect(detail).toContain("What you have saved is a draft: ask a person to publish it.");
    await publish(id);
    const before = await read(id);
    for (const path of ["publish", "unpublish", "schedule/pause", "schedule/resume"])
      expectRefused(await author("POST", `/workflows/${id}/${path}`, {}));
    expect(await read(id)).toEqual(before);
  });

  it("saves a new definition of a published workflow as a draft", async () => {
    const { author, create, publish } = await open();
    const id = await create("Live", steps(1));
    await publish(id);
    const saved = await author("PATCH", `/workflows/${id}`, { definition: steps(2) });
    expect(saved.body).toMatchObject({ status: "published", version: 2, published_version: 1 });
  });

  it.each([{ name: "Other" }, { description: "Other" }, { tags: ["other"] }])(
    "can't change %j of a published workflow, which lists and tools show at once",
    async (change) => {
      const { author, create, publish, read } = await open();
      const id = await create("Live", steps(1));
      expect((await author("PATCH", `/workflows/${id}`, { ...change, reason: "draft" })).status).toBe(200);
      await author("PATCH", `/workflows/${id}`, { name: "Live", description: "", tags: [] });
      await publish(id);
      const before = await read(id);
      const detail = expectRefused(
        await author("PATCH", `/workflows/${id}`, { ...change, definition: steps(2) }),
      );
      expect(detail).toContain(`its ${Object.keys(change)[0]}`);
      expect(await read(id)).toEqual(before);
      // What does not change anything is no change.
      const same = { name: "Live", description: "", tags: [], definition: steps(3) };
      expect((await author("PATCH", `/workflows/${id}`, same)).status).toBe(200);
    },
  );

  it("archives and restores drafts, but nothing that is published", async () => {
    const { author, publisher, create, publish, read } = await open();
    const draft = await create("Draft", steps(1));
    expect((await author("DELETE", `/workflows/${draft}`)).body).toMatchObject({ status: "archived" });
    expect((await author("POST", `/workflows/${draft}/restore`, {})).body).toMatchObject({ status: "draft" });
    const live = await create("Live", nightly);
    await publish(live);
    expectRefused(await author("DELETE", `/workflows/${live}`));
    expect(await read(live)).toMatchObject({ status: "published" });
    await publisher("DELETE", `/workflows/${live}`);
    expectRefused(await author("POST", `/workflows/${live}/restore`, {}));
    expect(await read(live)).toMatchObject({ status: "archived" });
  });

  it.each(["a step", "on_failure"])(
    "can't change a draft that a published workflow runs, by %s",
    async (way) => {
      const { author, publisher, create, publish, read } = await open();
      const called = await create("Called", steps(1));
      const between = await create("Between", calling(called));
      const definition = way === "a step" ? calling(between) : { ...steps(1), on_failure: between };
      const top = await create("Top", definition);
      // While nothing that is published runs them, they are drafts like any other.
      expect((await author("PATCH", `/workflows/${called}`, { definition: steps(2) })).status).toBe(200);
      await publish(top);
      const before = [await read(called), await read(between)];
      for (const id of [called, between]) {
        const detail = expectRefused(await author("PATCH", `/workflows/${id}`, { definition: steps(3) }));
        expect(detail).toContain('The published workflow "top" runs the draft');
        expectRefused(await author("DELETE", `/workflows/${id}`));
      }
      expect([await read(called), await read(between)]).toEqual(before);
      await publisher("DELETE", `/workflows/${called}`);
      expectRefused(await author("POST", `/workflows/${called}/restore`, {}));
    },
  );

  it("changes a draft that only the newest, unpublished version of a workflow runs", async () => {
    const { author, create, publish } = await open();
    const called = await create("Called", steps(1));
    const top = await create("Top", steps(1));
    await publish(top);
    await author("PATCH", `/workflows/${top}`, { definition: calling(called) });
    expect((await author("PATCH", `/workflows/${called}`, { definition: steps(2) })).status).toBe(200);
  });

  it("retries a run with a patch, which changes no workflow", async () => {
    const { instance, author, create, publish, read } = await open();
    await instance.executor();
    const id = await create("Live", steps(1));
    await publish(id);
    const before = await read(id);
    const { body: run } = await author("POST", `/workflows/${id}/runs`, { wait: 20 });
    const patch = [{ op: "update_step", id: "a", set: { values: { x: 2 } } }];
    const retried = await author("POST", `/runs/${run.id}/retry`, { patch, wait: 20 });
    expect(retried.body).toMatchObject({ status: "succeeded" });
    expect({ ...(await read(id)), last_run: undefined }).toEqual({ ...before, last_run: undefined });
  });
});

it.each([
  [["read", "write"], 200],
  [["read", "run"], 403],
] as const)(
  "A key of an older release with %j answers %i: write includes publish",
  async (scopes, status) => {
    const { instance, url, publisher } = await open();
    await publisher("POST", "/workflows", { name: "Live", definition: steps(1) });
    const { value, record } = await instance.key({ scopes: [...scopes] });
    await instance.store.transaction((trx) =>
      trx.updateTable("api_keys").set({ publish: null }).where("id", "=", record.id).execute(),
    );
    expect((await apiClient(url, value)("POST", "/workflows/live/publish", {})).status).toBe(status);
  },
);
