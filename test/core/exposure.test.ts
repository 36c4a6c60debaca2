import { describe, expect, it } from "vitest";
import { exposureOf, isConsentedTo } from "../../src/core/exposure.ts";

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
const lookup = (url: string) => ({ type: "http", url, happened: "true" });
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

  it("covers what its lookups read, and not what follows an interruption", async () => {
    const { effects, digest } = await of({ steps: [{ ...send, lookup: lookup("https://b.example/") }] });
    expect(effects).toEqual(["http POST https://a.example/", "http GET https://b.example/"]);
    expect(await digestOf({ steps: [{ ...send, lookup: lookup("https://c.example/") }] })).not.toBe(digest);
    expect(await digestOf({ steps: [{ ...send, on_interrupted: "ask" }] })).toBe(
      await digestOf({ steps: [send] }),
    );
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

const effectsOf = async (...steps: object[]) => of({ steps });

describe("exposureOf the steps of a workflow", () => {
  it.each<[string, object, string]>([
    [
      "an http step without a method",
      { type: "http", url: "https://a.example/" },
      "http GET https://a.example/",
    ],
    [
      "an http step with a computed URL",
      { type: "http", method: "PUT", url: { from: "x" } },
      'http PUT {"from":"x"}',
    ],
    ["a model step", { type: "model", model: "large" }, "model large"],
    ["a model step without a model", { type: "model" }, "model"],
    ["a sql step that writes", { type: "sql", write: true, database: "crm" }, "sql writes crm"],
    [
      "a sql step that writes to the default database",
      { type: "sql", write: true },
      "sql writes the default database",
    ],
    [
      "a sql step whose write is computed",
      { type: "sql", write: "${{ inputs.w }}" },
      "sql writes the default database",
    ],
    ["a tool step", { type: "tool", server: "crm", tool: "save" }, "tool crm save"],
    ["an email step", { type: "email", to: ["a@example.com"] }, 'email to ["a@example.com"]'],
    ["a step of another type", { type: "approval" }, "approval"],
    ["a workflow step whose workflow is computed", { type: "workflow", workflow: { from: "x" } }, "workflow"],
  ])("calls %s an effect", async (_what, step, summary) => {
    expect(await effectsOf(step)).toMatchObject({ effects: [summary], readOnly: false });
  });

  it.each<[string, object, string[]]>([
    ["a sql step that reads", { type: "sql", database: "crm" }, ["sql reads crm"]],
    ["a sql step that says that it reads", { type: "sql", write: false }, ["sql reads the default database"]],
    [
      "a sql step whose database is computed",
      { type: "sql", database: { a: 1 } },
      ["sql reads the default database"],
    ],
    ["an assert step", { type: "assert" }, []],
    ["a set step", { type: "set" }, []],
    ["a wait step", { type: "wait" }, []],
  ])("calls %s no effect that changes anything", async (_what, step, effects) => {
    expect(await effectsOf(step)).toMatchObject({ effects, readOnly: true });
  });

  it("names each effect once, and is empty without steps", async () => {
    expect((await effectsOf(send, send)).effects).toEqual(["http POST https://a.example/"]);
    expect(await of({})).toMatchObject({ effects: [], readOnly: true });
    expect(await of({ commit: {} })).toMatchObject({ effects: ["saves workflow state"], readOnly: false });
    expect((await effectsOf({ ...send, workflow: "x" })).effects).toEqual(["http POST https://a.example/"]);
  });

  it("shortens no summary of 200 characters", async () => {
    const url = "https://a.example/".padEnd(200 - "http POST ".length, "x");
    expect((await effectsOf({ ...send, url })).effects).toEqual([`http POST ${url}`]);
    expect((await effectsOf({ ...send, url: `${url}x` })).effects).toEqual([`http POST ${url}…`]);
  });
});

const computing = (value: number) => ({
  w: { definition: { steps: [{ type: "set", values: { value } }] } },
});

const calling = (workflow: string) => ({ steps: [{ id: "c", type: "workflow", workflow }] });
const sendsTo = (url: string) => ({ steps: [{ ...send, url }] });

describe("exposureOf a workflow that runs others", () => {
  interface Called {
    project?: string;
    version?: number;
    published?: number | null;
    definition?: Record<string, unknown> | null;
  }
  const asked: string[] = [];

  const exposed = async (definition: Record<string, unknown>, called: Readonly<Record<string, Called>>) => {
    asked.length = 0;
    const source = {
      projectOf: async () => "default",
      find: async (id: string) => {
        const { project, version = 2, published = null } = called[id] ?? {};
        return id in called ? { project, version, published_version: published } : undefined;
      },
      findVersion: async (id: string, version: number) => {
        asked.push(`${id}@${version}`);
        return { definition: called[id]!.definition };
      },
    };
    return exposureOf(source as unknown as Parameters<typeof exposureOf>[0], {
      id: "x",
      name: "X",
      description: "",
      definition,
    });
  };

  it("has the effects of the published version, or else of the newest one", async () => {
    const definition = sendsTo("https://b.example/");
    const { effects, readOnly } = await exposed(calling("w"), { w: { definition, published: 1 } });
    expect([effects, readOnly, asked]).toEqual([["http POST https://b.example/"], false, ["w@1"]]);
    await exposed(calling("w"), { w: { definition } });
    expect(asked).toEqual(["w@2"]);
  });

  it("has those of workflows that undo steps, that follow a failure, and that called ones call", async () => {
    const w = { definition: calling("v") };
    const v = { definition: sendsTo("https://v.example/") };
    expect((await exposed(calling("w"), { w, v })).effects).toEqual(["http POST https://v.example/"]);
    const undo = { type: "workflow", workflow: "v" };
    expect((await exposed({ steps: [{ id: "s", type: "set", undo }] }, { v })).effects).toEqual([
      "http POST https://v.example/",
    ]);
    expect((await exposed({ on_failure: "v" }, { v })).effects).toEqual(["http POST https://v.example/"]);
    expect((await exposed({ on_failure: { from: "x" } }, { v })).effects).toEqual([]);
  });

  it("says only that a workflow of another project runs, and covers what it does", async () => {
    const foreign = (url: string) => ({ w: { project: "finance", definition: sendsTo(url) } });
    const { effects, kinds, digest, readOnly } = await exposed(calling("w"), foreign("https://b.example/"));
    expect([effects, readOnly]).toEqual([["workflow w of another project"], false]);
    expect(kinds).toEqual(["workflow"]);
    expect((await exposed(calling("w"), foreign("https://evil.example/"))).digest).not.toBe(digest);
    const own = await exposed(calling("w"), {
      w: { project: "default", definition: sendsTo("https://b.example/") },
    });
    expect(own.effects).toEqual(["http POST https://b.example/"]);
    expect(own.kinds).toEqual(["http"]);
  });

  it("says so where a workflow can't run, and changes with which one it is", async () => {
    const { effects, readOnly, digest } = await exposed(calling("w"), { w: { definition: null } });
    expect([effects, readOnly]).toEqual([["workflow w, which can't run"], false]);
    expect((await exposed(calling("v"), { v: { definition: null } })).digest).not.toBe(digest);
  });

  it("covers what called workflows compute, where there is an effect", async () => {
    const both = { steps: [send, { id: "c", type: "workflow", workflow: "w" }] };
    expect((await exposed(both, computing(1))).digest).not.toBe((await exposed(both, computing(2))).digest);
    expect((await exposed(calling("w"), computing(1))).digest).toBe(
      (await exposed(calling("w"), computing(2))).digest,
    );
  });
});

const digestWith = async (fields: object, definition: Record<string, unknown> = { steps: [read] }) =>
  (await exposureOf(nothing, { id: "x", name: "X", description: "", definition, ...fields })).digest;

describe("exposureOf more than 100 workflows", () => {
  it("is not read-only, also where those that are read only read", async () => {
    const source = {
      projectOf: async () => "default",
      find: async () => ({ version: 1, published_version: null, project: "default" }),
      findVersion: async () => ({ definition: { steps: [read] } }),
    };
    const steps = Array.from({ length: 101 }, (_, index) => ({ type: "workflow", workflow: `w${index}` }));
    const definition = { steps };
    const exposed = (count: number) =>
      exposureOf(source as unknown as Parameters<typeof exposureOf>[0], {
        id: "x",
        name: "X",
        description: "",
        definition: { ...definition, steps: steps.slice(0, count) },
      });
    expect(await exposed(100)).toMatchObject({ effects: ["sql reads shop"], readOnly: true });
    expect(await exposed(101)).toMatchObject({
      effects: ["sql reads shop", "more than 100 other workflows"],
      readOnly: false,
    });
  });
});

describe("the digest of exposureOf", () => {
  it("changes with the name, the description, the inputs and the name of the tool", async () => {
    const digests = await Promise.all([
      digestWith({}),
      digestWith({ name: "Y" }),
      digestWith({ description: "Y" }),
      digestWith({}, { steps: [read], inputs: { a: { type: "text" } } }),
      digestWith({}, { steps: [read], inputs: { b: { type: "text" } } }),
      digestWith({}, { steps: [read], tool_name: "x" }),
    ]);
    expect(new Set(digests).size).toBe(6);
  });

  it("stays the same in later releases, because consents hold only for it", async () => {
    expect(await digestWith({})).toBe("ixGuEHITTox-1tUIojkzsd");
    expect(await digestWith({}, { steps: [send], commit: { a: 1 }, on_failure: "gone" })).toBe(
      "I_d6dYKE483Kp1xhs0xACc",
    );
    const steps = Array.from({ length: 101 }, (_, index) => ({ type: "workflow", workflow: `w${index}` }));
    expect(await digestWith({}, { steps })).toBe("EYa-xWWxQQs4xGDJO_TR2N");
  });

  it.each(["inputs", "state", "commit", "output"])(
    "changes with %s of a workflow with an effect",
    async (field) => {
      const withField = (value: object) => digestOf({ steps: [send], [field]: value });
      expect(await withField({ a: 1 })).not.toBe(await withField({ a: 2 }));
    },
  );

  it("does not change with the order of steps, or with fields that change nothing outside", async () => {
    const a = { ...send, id: "a" };
    const b = { ...read, id: "b" };
    expect(await digestOf({ steps: [b] })).toBe(await digestOf({ steps: [b, b], output: { a: 1 } }));
    const aside = {
      description: "x",
      needs: ["b"],
      if: true,
      timeout: "1m",
      retry: {},
      rate: {},
      concurrency: 1,
      cache: {},
    };
    expect(await digestOf({ steps: [{ ...a, ...aside }] })).toBe(await digestOf({ steps: [a] }));
  });
});

const consentTo = (digest: string | null, version = 3) =>
  ({ digest, version }) as NonNullable<Parameters<typeof isConsentedTo>[0]["consent"]>;

describe("isConsentedTo", () => {
  const exposure = { digest: "now", effects: [], readOnly: true };
  it.each<[string, Parameters<typeof isConsentedTo>[0], boolean]>([
    ["without a consent", { consent: null, version: 3 }, false],
    ["by the digest, also of another version", { consent: consentTo("now", 1), version: 3 }, true],
    ["not by another digest, also of this version", { consent: consentTo("before"), version: 3 }, false],
    [
      "by the version, where an older release recorded only that",
      { consent: consentTo(null), version: 3 },
      true,
    ],
    ["not by another version", { consent: consentTo(null, 2), version: 3 }, false],
  ])("%s", (_what, request, expected) => {
    expect(isConsentedTo(request, exposure)).toBe(expected);
  });
});
