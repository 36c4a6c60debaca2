import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { CheckReport } from "../../src/core/engine-port.ts";
import type { Connections } from "../../src/core/connections.ts";
import { type InterruptionRules } from "../../src/core/interruption-rules.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { inlineValidation } from "../../src/core/validation.ts";
import { checker } from "../../src/engine/definition/check/index.ts";
import { engineThreads } from "../../src/engine/threads/engine-threads.ts";
import type { LocalResources } from "../../src/engine/threads/remote-resources.ts";
import { systemClock } from "../../src/core/clock.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { keepNormalPriority } from "../support/normal-priority.ts";

beforeAll(() => keepNormalPriority());

const CHILD = {
  inputs: { type: "object", properties: { n: { type: "number" } } },
  steps: [{ id: "a", type: "set", values: { x: 1 } }],
};

const entry = { name: "shop", type: "sqlite", access: "read-only" as const, unavailableReason: null };

const rules: InterruptionRules = {
  hosts: [{ host: "keys.example.com", idempotent: true, onInterrupted: null }],
  resources: {},
};

/** Connections that answer with what each test needs. */
const resources: LocalResources = {
  clock: systemClock,
  settings: {},
  workflows: {
    find: async (id) => {
      if (id === "broken-storage") throw new TypeError("the storage is broken");
      return id === "child" ? { status: "published", definition: CHILD } : undefined;
    },
    ids: async () => ["child"],
  },
  isActiveUser: async (email) => email === "ada@example.com",
  connections: {
    defaultDatabase: "shop",
    interruptionRules: rules,
    databases: {
      list: () => [entry],
      prepare: async ({ query }: { query: string }) => {
        if (query.includes("down"))
          throw new StepError("database_unavailable", "It is down.", { fix: "Start it." });
        return { columns: [{ name: "region", type: "string", databaseType: "TEXT" }] };
      },
    },
    models: { list: () => [] },
    http: {
      check: () => [{ path: ["url"], code: "private_host", message: "is private" }],
      secrets: () => [],
    },
    mcpServers: { list: () => [], tools: async () => [] },
    chats: { list: () => [] },
    mailer: { unavailableReason: () => null, allowedDomains: () => ["example.com"] },
  } as unknown as Connections,
};

function open(options: Parameters<typeof engineThreads>[0] = {}) {
  const threads = engineThreads(options);
  onTestFinished(() => threads.close());
  return threads;
}

/** What both reports have. */
const comparable = ({
  errors,
  warnings,
  definition,
  output_type,
  steps,
  preview,
  applied_fixes,
}: CheckReport) => ({
  errors,
  warnings,
  definition,
  output_type,
  preview,
  applied_fixes,
  steps: steps.map(({ id, type, output_type: output, effects, facts }) => ({
    id,
    type,
    output,
    effects,
    facts,
  })),
});

const post = (host: string) => ({ id: "p", type: "http", method: "POST", url: `https://${host}/` });

const DEFINITIONS: [name: string, source: unknown, options?: object][] = [
  [
    "a definition without issues",
    { steps: [{ id: "q", type: "sql", query: "select 1" }], output: "${{ steps.q.rows }}" },
  ],
  ["YAML with issues and positions", "steps:\n  - id: a\n    type: sett\n    values: {x: 1}\n"],
  ["unreadable YAML", "steps: ["],
  ["a connection that is down", { steps: [{ id: "q", type: "sql", query: "select down" }] }],
  ["a private host", { steps: [{ id: "h", type: "http", url: "http://10.0.0.1/" }] }],
  ["an effect that may be repeated", { steps: [post("a.example.com")] }],
  ["an effect that the receiver recognizes", { steps: [post("keys.example.com")] }],
  [
    "calls of workflows",
    {
      steps: [
        { id: "c", type: "workflow", workflow: "child", inputs: { m: 1 } },
        { id: "d", type: "workflow", workflow: "chidl" },
      ],
    },
  ],
  [
    "assignees",
    {
      steps: [
        { id: "ok", type: "approval", message: "?", assignees: ["ada@example.com", "bob@example.com"] },
      ],
    },
  ],
  ["fixes", { steps: [{ id: "a", type: "set", valuez: { x: 1 } }] }, { applyFixes: true }],
  ["mocks", { steps: [{ id: "a", type: "set", values: { x: "${{ 1 + 1 }}" } }] }, { mocks: {} }],
];

describe("checks in threads", () => {
  it("report what checks on the calling thread report", async () => {
    const threads = open();
    const inline = checker({
      stepTypes,
      ...resources,
      isActiveUser: resources.isActiveUser!,
      memberEmails: () => Promise.resolve([]),
    });
    for (const [name, source, options] of DEFINITIONS) {
      const all = { checkConnections: true, ...options };
      const report = comparable(await threads.check(source, all, resources));
      expect({ name, ...report }).toEqual({ name, ...comparable(await inline.check(source, all)) });
    }
  });

  it("fail with the error of the process when it can't look something up", async () => {
    const source = { steps: [{ id: "c", type: "workflow", workflow: "broken-storage" }] };
    await expect(open().check(source, { checkConnections: true }, resources)).rejects.toThrow(
      "the storage is broken",
    );
  });

  it("end when their signal is aborted", async () => {
    const reason = new Error("gone");
    const controller = new AbortController();
    const result = open().check(
      { steps: [] },
      { checkConnections: true, signal: controller.signal },
      resources,
    );
    controller.abort(reason);
    await expect(result).rejects.toBe(reason);
  });
});

describe("validation in threads", () => {
  const large = Array.from({ length: 30_000 }, (_, index) => ({ index }));
  const schema = {
    type: "object",
    properties: { a: { type: "array", items: { properties: { x: { default: 1 } } } } },
  };

  it("returns what inline validation returns", async () => {
    const { validation } = open();
    for (const inputs of [{ a: large }, { a: [...large, { x: null }], b: 1 }, { a: large.length }])
      expect(await validation.parseInputs(schema, inputs)).toEqual(
        await inlineValidation.parseInputs(schema, inputs),
      );
    const names = new Map([["b", "a"]]);
    for (const inputs of [{ b: large }, { b: large, a: [] }])
      expect(await validation.readInputs(schema, inputs, names)).toEqual(
        await inlineValidation.readInputs(schema, inputs, names),
      );
    expect(await validation.parseValue({}, large)).toEqual({ value: large });
    const declaration = { a: { type: "array", maxItems: 2, default: [] } };
    expect(await validation.stateIssues(declaration, { a: large })).toEqual(
      await inlineValidation.stateIssues(declaration, { a: large }),
    );
  });

  it("refuses a value that takes too long, and serves others meanwhile", async () => {
    const { validation } = open({ validationCpuMs: 500 });
    const unique = { type: "array", uniqueItems: true };
    const attack = Array.from({ length: 60_000 }, (_, a) => ({ a }));
    const refused = validation.parseValue(unique, attack, { owner: "a" });
    const served = await validation.parseValue({}, large, { owner: "b" });
    expect(served).toEqual({ value: large });
    expect(await refused).toMatchObject({ issues: [{ code: "too_slow" }] });
  });

  /** Validating any value against it takes 2^40 steps. */
  const doubling = {
    type: "object",
    properties: { x: { $ref: "#/$defs/d0" } },
    $defs: {
      ...Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => {
          const next = { $ref: `#/$defs/d${index + 1}` };
          return [`d${index}`, { allOf: [next, next] }];
        }),
      ),
      d40: { type: "number" },
    },
  };

  it("ends a validation and a check that would never end", async () => {
    const threads = open({ validationCpuMs: 200, checkCpuMs: 200 });
    const validated = threads.validation.parseInputs(doubling, { x: 1 }, { owner: "a" });
    expect(await validated).toMatchObject({ issues: [{ code: "too_slow" }] });
    const inputs = { ...doubling, properties: { x: { $ref: "#/$defs/d0", default: 1 } } };
    const report = await threads.check(
      { inputs, steps: CHILD.steps },
      { checkConnections: false },
      resources,
    );
    expect(report).toMatchObject({ valid: false, errors: [{ code: "too_slow" }] });
  });
});
