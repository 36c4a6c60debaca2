import { describe, expect, it } from "vitest";
import { exposureOf } from "../../src/core/exposure.ts";

const nothing = {
  find: async () => undefined,
  findVersion: async () => undefined,
  projectOf: async () => "default",
};
const of = (definition: Record<string, unknown>) =>
  exposureOf(nothing, { id: "x", name: "X", description: "", definition });
const send = { id: "send", type: "http", method: "POST", url: "https://a.example/" };
const read = { id: "read", type: "sql", database: "shop", query: "SELECT 1" };

const digestOf = async (definition: Record<string, unknown>) => (await of(definition)).digest;
const target = (url: string) => ({ id: "target", type: "set", values: { url } });

describe("the exposure of a workflow", () => {
  it("lists what its steps, their undo and a failed run reach", async () => {
    const undo = { type: "http", method: "DELETE", url: "https://b.example/" };
    const { effects, readOnly } = await of({
      steps: [read, { ...send, undo }],
      commit: { n: 1 },
      on_failure: "gone",
    });
    expect(effects).toEqual([
      "sql reads shop",
      "http POST https://a.example/",
      "http DELETE https://b.example/",
      "saves workflow state",
      "workflow gone, which can't run",
    ]);
    expect(readOnly).toBe(false);
  });

  it("changes with the destination of an effect, not with names, conditions and queries that read", async () => {
    const { digest, readOnly } = await of({ steps: [read] });
    expect(readOnly).toBe(true);
    expect((await of({ steps: [{ ...read, id: "other", query: "SELECT 2", if: false }] })).digest).toBe(
      digest,
    );
    expect((await of({ steps: [{ ...read, database: "crm" }] })).digest).not.toBe(digest);
    const sent = await of({ steps: [send] });
    expect((await of({ steps: [{ ...send, url: "https://b.example/" }] })).digest).not.toBe(sent.digest);
    expect((await of({ steps: [{ ...send, body: "${{ steps }}" }] })).digest).not.toBe(sent.digest);
    expect((await of({ steps: [{ ...send, id: "s", retry: { attempts: 3 } }] })).digest).toBe(sent.digest);
  });

  it("changes with the values that an effect gets from other steps, and from workflows that it runs", async () => {
    const sends = { ...send, url: "${{ steps.target.url }}" };
    const consented = await digestOf({ steps: [target("https://a.example/"), sends] });
    expect(await digestOf({ steps: [target("https://evil.example/"), sends] })).not.toBe(consented);
    expect(await digestOf({ steps: [{ ...target("https://a.example/"), if: true }, sends] })).toBe(consented);
    const reads = { ...read, id: "target" };
    expect(
      await digestOf({ steps: [{ ...reads, query: "SELECT 'https://evil.example/' AS url" }, sends] }),
    ).not.toBe(await digestOf({ steps: [reads, sends] }));
    const child = {
      ...nothing,
      find: async () => ({ version: 1, published_version: 1 }),
      findVersion: async () => ({ definition: { steps: [send] } }),
    };
    const calling = async (body: string) =>
      exposureOf(child as unknown as Parameters<typeof exposureOf>[0], {
        id: "x",
        name: "X",
        description: "",
        definition: { steps: [{ id: "child", type: "workflow", workflow: "notify", inputs: { body } }] },
      });
    expect((await calling("evil")).digest).not.toBe((await calling("good")).digest);
    const commit = (url: string) => ({ steps: [send], commit: { url } });
    expect(await digestOf(commit("https://evil.example/"))).not.toBe(
      await digestOf(commit("https://a.example/")),
    );
  });

  it("ends for workflows that run each other", async () => {
    const steps = [{ id: "child", type: "workflow", workflow: "x" }];
    expect(await of({ steps })).toMatchObject({ effects: [], readOnly: true });
  });

  it("reads at most 100 called workflows, and says so beyond", async () => {
    let found = 0;
    const steps = Array.from({ length: 300 }, (_, index) => ({
      id: `s${index}`,
      type: "workflow",
      workflow: `w${index}`,
    }));
    const find = async () => {
      found += 1;
      return undefined;
    };
    const content = { id: "x", name: "X", description: "", definition: { steps } };
    const { effects, readOnly } = await exposureOf({ ...nothing, find }, content);
    expect([found, effects.at(-1), readOnly]).toEqual([100, "more than 100 other workflows", false]);
  });

  it("has short summaries", async () => {
    const { effects } = await of({ steps: [{ ...send, url: `https://a.example/${"x".repeat(1_000)}` }] });
    expect(effects[0]).toHaveLength(201);
  });
});
