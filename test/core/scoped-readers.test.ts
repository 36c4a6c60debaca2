/** Each reader of a request finds and lists only what its caller may see, for callers of one of two projects. */
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import { type Access, accessEverywhere, FULL_ACCESS, type KeyLimits } from "../../src/core/access.ts";
import { eventUrlMask } from "../../src/core/event-url-mask.ts";
import { eventTokens } from "../../src/core/event-tokens.ts";
import type { Readers, Writers } from "../../src/core/ports.ts";
import { scopedReaders, scopedWriters, unscoped } from "../../src/core/scoped-readers.ts";
import { UNLIMITED_PORTS, UNLIMITED_READS } from "../../src/core/unlimited-reads.ts";
import { principalWith } from "../support/callers.ts";
import { testInstance } from "../support/instance.ts";

/** Something of the project default, and something of the project finance. */
type Which = "mine" | "theirs";
type Canned = Readonly<Record<string, (...args: never[]) => unknown>>;
type Ports = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>>>;

const projectOf = (id: string): string | undefined =>
  id.endsWith("mine") ? "default" : id.endsWith("theirs") ? "finance" : undefined;
const workflowOf = (id: string): string => (projectOf(id) === "default" ? "mine" : "theirs");
const record = (id: string) => ({ id, project: projectOf(id), workflowId: workflowOf(id) });
const find = (id: string) => (projectOf(id) === undefined ? undefined : record(id));
const both = [{ id: "default" }, { id: "finance" }];
const steps = [{ childRun: null }, { childRun: "run_mine" }, { childRun: "run_theirs" }];
const changed = [
  { workflowId: "mine", client: "a", count: 2 },
  { workflowId: "theirs", client: "b", count: 3 },
];
const inBoth = (client: string) => [
  { project: "default", client, count: 4 },
  { project: "finance", client, count: 5 },
];

/** What a port answers where it is no echo of what it was asked. */
const CANNED: Canned = {
  "workflows.find": find,
  "workflows.projectOf": projectOf,
  "workflows.callers": () => ["mine", "theirs"],
  "workflows.liveCallersOfDrafts": () => [
    { draft: "d", caller: "theirs" },
    { draft: "d", caller: "mine" },
    { draft: "e", caller: "mine" },
  ],
  "runs.find": (id: string) => (id === "run_step" ? { id, project: "default", workflowId: null } : find(id)),
  "runs.lock": find,
  "runs.latestByWorkflow": () => new Map(["mine", "theirs"].map((id) => [id, record(id)])),
  "runs.steps": () => steps,
  "runs.items": () => steps,
  "runs.failedItems": () => steps,
  "runs.step": ({ stepId }: { stepId: string }) => (stepId === "none" ? undefined : steps[2]),
  "runs.valueText": () => ({ text: "abc", chars: 3 }),
  "approvals.find": (id: string) => find(id) && { id, runId: id.replace("apr", "run") },
  "approvals.findByStep": ({ runId }: { runId: string }) => find(runId) && { runId },
  "reviews.find": find,
  "triggers.find": find,
  "triggerDeliveries.find": find,
  "backfills.find": find,
  "backfills.lock": find,
  "backtests.find": find,
  "backtests.lock": find,
  "bulkActions.find": find,
  "bulkActions.lock": find,
  "interruptions.find": find,
  "backfills.unfinishedRuns": () => ["run_mine", "run_theirs"],
  "subscriptions.find": find,
  "subscriptions.findDelivery": find,
  "projects.list": () => both,
  "workflowChanges.ofKey": () => ({
    other: "kept",
    changed,
    rotations: changed,
    subscriptions: inBoth("c"),
    operations: inBoth("d"),
  }),
  "workflowChanges.hasChangedAfter": () => true,
};

const PORTS = [
  "workflows",
  "runs",
  "approvals",
  "schedules",
  "projects",
  "reviews",
  "backfills",
  "backtests",
  "bulkActions",
  "interruptions",
  "subscriptions",
  "expectations",
  "workflowStates",
  "triggers",
  "triggerDeliveries",
  "events",
  "audit",
  "workflowChanges",
  "users",
];

/** Ports that answer with their canned answer, or else with what they were asked. */
function fakePorts(answers: Canned = {}) {
  const calls: string[] = [];
  const portOf = (port: string) =>
    new Proxy(
      { insert: async () => `${port}.insert` },
      {
        get: (target, method: string) =>
          method === "insert"
            ? target.insert
            : async (...args: never[]) => {
                calls.push(`${port}.${method}`);
                const canned = answers[`${port}.${method}`] ?? CANNED[`${port}.${method}`];
                return canned === undefined ? { port, method, args } : canned(...args);
              },
      },
    );
  const ports = Object.fromEntries(PORTS.map((port) => [port, portOf(port)])) as unknown as Ports;
  return { ports, calls };
}

const inProjects = (
  projects: Readonly<Record<string, readonly Scope[]>>,
  keyLimits: KeyLimits | null = null,
): Access => ({
  everywhere: null,
  projects: new Map(Object.entries(projects).map(([id, scopes]) => [id, new Set(scopes)])),
  keyLimits,
});
/** Sees nothing of the project finance. */
const ONLY_DEFAULT = inProjects({ default: ["read", "run"] });
/** Sees what is in the project finance, and may not run anything there. */
const READS_FINANCE = inProjects({ default: ["read", "run"], finance: ["read"] });
const ONE_WORKFLOW = { ...accessEverywhere(["read", "run"]), keyLimits: { workflows: ["mine"] } };
const LISTED_IN_DEFAULT = { projects: ["default"], workflows: null };

const request = (ports: object, access: Access, scope: Scope = "run") => ({
  principal: principalWith(access),
  operation: "cancel_run",
  scope,
  mask: eventUrlMask((ports as Pick<Readers, "runs">).runs, access),
});

/** The readers of a request, those that they are made of, and the calls of these. */
function readersFor(access: Access, scope?: Scope) {
  const { ports, calls } = fakePorts();
  const made = scopedReaders(ports as unknown as Readers, request(ports, access, scope));
  return { made: made as unknown as Ports, ports, calls };
}

const names = (of: object): string[] => Object.keys(of).toSorted();

const ref = (which: Which) => ({ runId: `run_${which}`, stepId: "a", item: null });

/** A method that finds something by an id, its arguments, and its answer where there is no such thing. */
type Row = [port: string, method: string, args: (which: Which) => unknown[], none: unknown];
const run = (method: string, none: unknown, ...more: unknown[]): Row => [
  "runs",
  method,
  (which) => [`run_${which}`, ...more],
  none,
];
const step = (method: string, none: unknown, ...more: unknown[]): Row => [
  "runs",
  method,
  (which) => [ref(which), ...more],
  none,
];
const workflow = (port: string, method: string, none: unknown, ...more: unknown[]): Row => [
  port,
  method,
  (which) => [which, ...more],
  none,
];

const FOUND_BY_ID: Row[] = [
  workflow("workflows", "find", undefined),
  workflow("workflows", "projectOf", undefined),
  workflow("workflows", "exposureRequest", undefined),
  workflow("workflows", "exposureConsent", null),
  workflow("workflows", "findVersion", undefined, 3),
  ["workflows", "versions", (which) => [{ id: which }], []],
  run("find", undefined),
  run("usage", null),
  run("runOutput", null),
  run("inputs", {}),
  run("state", null),
  run("trial", null),
  run("runningSteps", []),
  run("rateWaits", new Map(), 1_000),
  run("attemptsDue", new Map()),
  run("facts", null),
  step("itemChunk", [], 0),
  run("itemReuse", new Map()),
  step("executedItems", [], 5),
  step("lastAttempts", [], 5),
  step("valueText", undefined, { from: 0, chars: 9 }),
  step("output", null),
  step("outputJson", null),
  step("itemOutputs", []),
  ["approvals", "find", (which) => [`apr_${which}`], undefined],
  ["approvals", "findByStep", (which) => [ref(which)], undefined],
  ["approvals", "decisionsOf", (which) => [ref(which)], []],
  workflow("schedules", "find", undefined),
  ["reviews", "find", (which) => [`rev_${which}`], undefined],
  workflow("reviews", "findPending", undefined),
  ["backfills", "find", (which) => [`bfl_${which}`], undefined],
  ["backfills", "runCounts", (which) => [`bfl_${which}`], {}],
  ["backfills", "slotRuns", (which) => [{ workflowId: which }, ["t"]], new Map()],
  ["backtests", "find", (which) => [`bt_${which}`], undefined],
  ["backtests", "status", (which) => [`bt_${which}`], undefined],
  ["backtests", "resultCounts", (which) => [`bt_${which}`], {}],
  ["backtests", "runs", (which) => [`bt_${which}`, { after: null, limit: 9 }], []],
  ["backtests", "open", (which) => [`bt_${which}`], []],
  ["backtests", "next", (which) => [`bt_${which}`], undefined],
  ["bulkActions", "find", (which) => [`blk_${which}`], undefined],
  ["bulkActions", "status", (which) => [`blk_${which}`], undefined],
  ["bulkActions", "resultCounts", (which) => [`blk_${which}`], {}],
  ["bulkActions", "skipped", (which) => [`blk_${which}`], []],
  ["bulkActions", "retryCounts", (which) => [`blk_${which}`], {}],
  ["bulkActions", "runs", (which) => [`blk_${which}`, { after: null, limit: 9 }], []],
  ["bulkActions", "unfinishedRetries", (which) => [`blk_${which}`], []],
  ["bulkActions", "next", (which) => [`blk_${which}`], undefined],
  ["interruptions", "find", (which) => [`int_${which}`], undefined],
  ["interruptions", "latest", (which) => [ref(which)], undefined],
  ["interruptions", "output", (which) => [`int_${which}`], null],
  ["subscriptions", "find", (which) => [`sub_${which}`], undefined],
  ["subscriptions", "findDelivery", (which) => [`dlv_${which}`], undefined],
  workflow("expectations", "find", undefined),
  workflow("workflowStates", "find", undefined),
  ["workflowStates", "history", (which) => [{ workflowId: which }], []],
  workflow("workflowStates", "countHistory", 0),
  ["triggers", "find", (which) => [`trg_${which}`], undefined],
  workflow("triggers", "ofWorkflow", []),
  ["triggerDeliveries", "find", (which) => [`tdl_${which}`], undefined],
  ["triggerDeliveries", "event", (which) => [`tdl_${which}`], undefined],
  ["triggerDeliveries", "page", (which) => [{ filter: { workflowId: which } }], { items: [], next: null }],
  ["triggerDeliveries", "count", (which) => [{ workflowId: which }], 0],
  ["events", "find", (which) => [ref(which)], undefined],
  ["projects", "find", (which) => [projectOf(which)], undefined],
  ["projects", "members", (which) => [projectOf(which)], []],
  ["projects", "grants", (which) => [projectOf(which)], []],
  workflow("workflowChanges", "hasChangedAfter", false, 7),
];

describe("scopedReaders find by an id", () => {
  it.each(FOUND_BY_ID)(
    "with %s.%s what is in a project of the caller, and nothing else",
    async (port, method, args, none) => {
      const { made, ports } = readersFor(ONLY_DEFAULT);
      const whole = await ports[port]![method]!(...args("mine"));
      expect(await made[port]![method]!(...args("mine"))).toEqual(whole);
      expect(whole).not.toEqual(none);
      expect(await made[port]![method]!(...args("theirs"))).toEqual(none);
    },
  );

  it("with runs.steps, items, failedItems and step, without the ids of runs of other projects", async () => {
    const { made } = readersFor(ONLY_DEFAULT);
    const shown = [{ childRun: null }, { childRun: "run_mine" }, { childRun: null }];
    expect(await made["runs"]!["steps"]!("run_mine")).toEqual(shown);
    expect(await made["runs"]!["steps"]!("run_theirs")).toEqual([]);
    for (const method of ["items", "failedItems"]) {
      expect(await made["runs"]![method]!(ref("mine"), 0, 9)).toEqual(shown);
      expect(await made["runs"]![method]!(ref("theirs"), 0, 9)).toEqual([]);
    }
    expect(await made["runs"]!["step"]!(ref("mine"))).toEqual({ childRun: null });
    expect(await made["runs"]!["step"]!(ref("theirs"))).toBeUndefined();
    expect(await made["runs"]!["step"]!({ ...ref("mine"), stepId: "none" })).toBeUndefined();
  });

  it("nothing that does not exist", async () => {
    const { made } = readersFor(ONLY_DEFAULT);
    expect(await made["workflows"]!["find"]!("gone")).toBeUndefined();
    expect(await made["workflows"]!["projectOf"]!("gone")).toBeUndefined();
    expect(await made["runs"]!["find"]!("gone")).toBeUndefined();
    expect(await made["runs"]!["usage"]!("gone")).toBeNull();
    expect(await made["approvals"]!["find"]!("gone")).toBeUndefined();
    expect(await made["triggers"]!["find"]!("gone")).toBeUndefined();
    expect(await made["backfills"]!["runCounts"]!("gone")).toEqual({});
    expect(await made["backtests"]!["resultCounts"]!("gone")).toEqual({});
  });

  it("looks up the project of a workflow or a run once", async () => {
    const { made, calls } = readersFor(ONLY_DEFAULT);
    for (const id of ["mine", "theirs", "mine", "theirs"]) await made["schedules"]!["find"]!(id);
    for (const id of ["run_mine", "run_theirs", "run_mine", "run_theirs"]) await made["runs"]!["usage"]!(id);
    expect(calls.filter((call) => call === "workflows.projectOf")).toHaveLength(2);
    expect(calls.filter((call) => call === "runs.find")).toHaveLength(2);
  });

  it("reads a backtest once for a caller who waits for its end", async () => {
    const { made, calls } = readersFor(ONLY_DEFAULT);
    for (const id of ["bt_mine", "bt_theirs", "bt_mine", "bt_theirs"])
      await made["backtests"]!["status"]!(id);
    expect(calls.filter((call) => call === "backtests.find")).toHaveLength(2);
    expect(calls.filter((call) => call === "backtests.status")).toHaveLength(2);
  });
});

describe("scopedReaders filter lists of ids", () => {
  const ofBoth = ["mine", "theirs"];
  it.each<[string, string, unknown[], unknown]>([
    ["workflows", "currentVersions", [ofBoth], { args: [["mine"]] }],
    ["workflows", "liveVersions", [ofBoth], { args: [["mine"]] }],
    ["workflows", "callers", ["mine", {}], ["mine"]],
    [
      "workflows",
      "liveCallersOfDrafts",
      ["default", 9],
      [
        { draft: "d", caller: "mine" },
        { draft: "e", caller: "mine" },
      ],
    ],
    ["runs", "getStatusSummaries", [["run_mine", "run_theirs"]], { args: [["run_mine"]] }],
    ["runs", "latestByWorkflow", [ofBoth], new Map([["mine", record("mine")]])],
    ["backfills", "unfinishedRuns", ["bfl_mine"], ["run_mine"]],
    ["projects", "list", [], [{ id: "default" }]],
    ["workflowChanges", "ofWorkflows", [new Set(ofBoth), {}], { args: [new Set(["mine"]), {}] }],
  ])("with %s.%s", async (port, method, args, expected) => {
    const { made, ports } = readersFor(ONLY_DEFAULT);
    const found = await made[port]![method]!(...args);
    expect(found).toMatchObject(expected as object);
    expect(await ports[port]![method]!(...args)).not.toEqual(found);
  });

  it("with workflowChanges.ofSubscriptions those that the caller has found before", async () => {
    const { made } = readersFor(ONLY_DEFAULT);
    const ids = new Set(["sub_1"]);
    expect(await made["workflowChanges"]!["ofSubscriptions"]!(ids, {})).toMatchObject({ args: [ids, {}] });
  });

  it("with workflowChanges.ofKey, and counts what is hidden", async () => {
    const { made } = readersFor(ONLY_DEFAULT);
    expect(await made["workflowChanges"]!["ofKey"]!({}, "2026-11-21")).toEqual({
      other: "kept",
      changed: [changed[0]],
      rotations: [changed[0]],
      subscriptions: [inBoth("c")[0]],
      operations: [inBoth("d")[0]],
      unseen: [
        { client: "b", count: 3 },
        { client: "b", count: 1 },
        { client: "c", count: 5 },
        { client: "d", count: 5 },
      ],
    });
  });

  it("with workflowChanges.ofKey in every project for a key that is limited to a workflow", async () => {
    const limited = readersFor(ONE_WORKFLOW).made;
    const activity = await limited["workflowChanges"]!["ofKey"]!({}, "2026-11-21");
    expect(activity).toMatchObject({
      changed: [changed[0]],
      subscriptions: inBoth("c"),
      operations: inBoth("d"),
    });
  });
});

const QUERY = { filter: { search: "x" }, limit: 9 };
const LISTS = [
  "workflows.page",
  "runs.page",
  "approvals.page",
  "schedules.page",
  "reviews.page",
  "backfills.page",
  "backtests.page",
  "bulkActions.page",
  "interruptions.page",
  "subscriptions.page",
  "subscriptions.deliveries",
];
const COUNTS = [
  "workflows.count",
  "runs.count",
  "approvals.count",
  "schedules.count",
  "reviews.count",
  "backfills.count",
  "backtests.count",
  "bulkActions.count",
  "interruptions.count",
  "subscriptions.count",
  "subscriptions.countAll",
];
const callOf = (ports: Ports, name: string, ...args: unknown[]) => {
  const [port, method] = name.split(".");
  return ports[port!]![method!]!(...args);
};

describe("scopedReaders list where the caller has the scope of the operation", () => {
  it.each(LISTS)("with %s", async (name) => {
    expect(await callOf(readersFor(READS_FINANCE).made, name, QUERY)).toMatchObject({
      args: [{ filter: { search: "x", visibility: LISTED_IN_DEFAULT }, limit: 9 }],
    });
  });

  it.each(COUNTS)("with %s", async (name) => {
    expect(await callOf(readersFor(READS_FINANCE).made, name, { search: "x" })).toMatchObject({
      args: [{ search: "x", visibility: LISTED_IN_DEFAULT }],
    });
  });

  it.each<[string, unknown[], unknown[]]>([
    ["workflows.revision", [], [["default"]]],
    ["workflows.consentedExposures", [], [LISTED_IN_DEFAULT]],
    ["workflows.recentIds", [5], [5, { projects: ["default", "finance"], workflows: null }]],
    ["expectations.overdue", [{ name: "x" }, 5], [{ name: "x", visibility: LISTED_IN_DEFAULT }, 5]],
  ])("with %s", async (name, args, asked) => {
    expect(await callOf(readersFor(READS_FINANCE).made, name, ...args)).toMatchObject({ args: asked });
  });

  it("runs.latestByWorkflow has only the runs of these projects", async () => {
    const latest = await callOf(readersFor(READS_FINANCE).made, "runs.latestByWorkflow", ["mine", "theirs"]);
    expect(latest).toEqual(new Map([["mine", record("mine")]]));
  });

  it("audit entries only where the caller is an admin", async () => {
    const admin = inProjects({ default: ["read", "admin"], finance: ["read"] });
    const { made: audit } = readersFor(admin, "admin");
    const filter = { search: "x", visible: LISTED_IN_DEFAULT };
    expect(await callOf(audit, "audit.page", QUERY)).toMatchObject({ args: [{ filter, limit: 9 }] });
    expect(await callOf(audit, "audit.pageAfter", QUERY)).toMatchObject({ args: [{ filter, limit: 9 }] });
    expect(await callOf(audit, "audit.count", { search: "x" })).toMatchObject({ args: [filter] });
  });
});

describe("scopedReaders refuse what the caller can see and lacks the scope for", () => {
  it.each([
    ["workflows.find", "theirs"],
    ["runs.find", "run_theirs"],
    ["approvals.find", "apr_theirs"],
    ["approvals.findByStep", ref("theirs")],
    ["reviews.find", "rev_theirs"],
    ["backfills.find", "bfl_theirs"],
    ["backtests.find", "bt_theirs"],
    ["bulkActions.find", "blk_theirs"],
    ["interruptions.find", "int_theirs"],
    ["subscriptions.find", "sub_theirs"],
    ["subscriptions.findDelivery", "dlv_theirs"],
  ])("with %s", async (name, arg) => {
    await expect(callOf(readersFor(READS_FINANCE).made, name, arg)).rejects.toMatchObject({
      code: "missing_scope",
      message: expect.stringContaining('cancel_run needs the scope "run" in the project "finance"'),
    });
  });
});

describe("scopedReaders of a key that is limited to a workflow", () => {
  it("finds that workflow and its runs, and nothing that belongs to another one or to none", async () => {
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "workflows.find", "mine")).toEqual(record("mine"));
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "workflows.find", "theirs")).toBeUndefined();
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "runs.find", "run_mine")).toEqual(record("run_mine"));
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "runs.find", "run_step")).toBeUndefined();
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "reviews.find", "rev_mine")).toEqual(
      record("rev_mine"),
    );
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "reviews.find", "rev_theirs")).toBeUndefined();
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "subscriptions.find", "sub_mine")).toBeUndefined();
    expect(
      await callOf(readersFor(ONE_WORKFLOW).made, "subscriptions.findDelivery", "dlv_mine"),
    ).toBeUndefined();
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "projects.list")).toEqual(both);
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "projects.find", "finance")).toMatchObject({
      args: ["finance"],
    });
  });

  it("finds nothing of a workflow that does not exist any more", async () => {
    const { made } = readersFor({ ...ONE_WORKFLOW, keyLimits: { workflows: ["gone"] } });
    expect(await callOf(made, "schedules.find", "gone")).toBeUndefined();
  });

  it("reads values as they are with the scope run in every project", async () => {
    const value = { text: "abc", chars: 3 };
    const { made } = readersFor(ONE_WORKFLOW);
    expect(await callOf(made, "runs.valueText", ref("mine"), { from: 0, chars: 9 })).toEqual(value);
    expect(await callOf(made, "runs.valueText", ref("theirs"), { from: 0, chars: 9 })).toBeUndefined();
  });

  it("lists only what is of that workflow", async () => {
    expect(await callOf(readersFor(ONE_WORKFLOW).made, "runs.page", QUERY)).toMatchObject({
      args: [{ filter: { visibility: { projects: null, workflows: ["mine"] } } }],
    });
  });

  it("lists nothing without the scope of the operation, and still finds what it can read", async () => {
    const { made: reading } = readersFor(accessEverywhere(["read"]), "admin");
    expect(await callOf(reading, "runs.page", QUERY)).toMatchObject({
      args: [{ filter: { visibility: { projects: [], workflows: null } } }],
    });
    expect(await callOf(reading, "schedules.find", "theirs")).toMatchObject({ args: ["theirs"] });
    await expect(callOf(reading, "workflows.find", "mine")).rejects.toMatchObject({ code: "missing_scope" });
  });

  it("lists with the scope, and finds nothing without the scope read", async () => {
    const { made: running } = readersFor(accessEverywhere(["run"]));
    expect(await callOf(running, "runs.page", QUERY)).toMatchObject({
      args: [{ filter: { visibility: { projects: null, workflows: null } } }],
    });
    expect(await callOf(running, "runs.find", "run_mine")).toBeUndefined();
  });
});

describe("scopedReaders of what has values of runs of another workflow", () => {
  const source = { sourceWorkflowId: "theirs" };
  const replay = { runId: "run_theirs", workflowId: "theirs", backtest: "bt_other", reads: "recorded" };
  const canned: Canned = {
    "runs.find": (id: string) => (id === "run_replay" ? { ...record("run_mine"), id, replay } : find(id)),
    "backtests.find": (id: string) => ({ ...record("bt_mine"), id, ...(id === "bt_other" && source) }),
    "backtests.lock": (id: string) => ({ ...record("bt_mine"), id, ...(id === "bt_other" && source) }),
  };
  const open = (workflows: readonly string[]) => {
    const { ports } = fakePorts(canned);
    const access = { ...ONE_WORKFLOW, keyLimits: { workflows } };
    return {
      read: scopedReaders(ports as unknown as Readers, request(ports, access)) as unknown as Ports,
      write: scopedWriters(ports as unknown as Writers, request(ports, access)) as unknown as Ports,
    };
  };

  it("find a backtest and a replay only where that workflow is found too", async () => {
    const one = open(["mine"]);
    const two = open(["mine", "theirs"]);
    for (const ports of [one.read, one.write]) {
      expect(await callOf(ports, "backtests.find", "bt_own")).toBeDefined();
      expect(await callOf(ports, "backtests.find", "bt_other")).toBeUndefined();
      expect(await callOf(ports, "backtests.status", "bt_other")).toBeUndefined();
      expect(await callOf(ports, "backtests.runs", "bt_other", {})).toEqual([]);
      expect(await callOf(ports, "backtests.resultCounts", "bt_other")).toEqual({});
      expect(await callOf(ports, "runs.find", "run_replay")).toBeUndefined();
      expect(await callOf(ports, "runs.inputs", "run_replay")).toEqual({});
      expect(await callOf(ports, "runs.find", "run_mine")).toBeDefined();
    }
    expect(await callOf(one.write, "backtests.lock", "bt_own")).toBeDefined();
    expect(await callOf(one.write, "backtests.lock", "bt_other")).toBeUndefined();
    for (const ports of [two.read, two.write]) {
      expect(await callOf(ports, "backtests.find", "bt_other")).toMatchObject(source);
      expect(await callOf(ports, "runs.find", "run_replay")).toMatchObject({ replay });
      expect(await callOf(ports, "runs.inputs", "run_replay")).toMatchObject({ args: ["run_replay"] });
    }
    expect(await callOf(two.write, "backtests.lock", "bt_other")).toMatchObject(source);
  });
});

describe("scopedReaders and unscoped", () => {
  it("are the same readers for a caller who sees everything", () => {
    const { made, ports } = readersFor(FULL_ACCESS);
    expect(made).toBe(ports);
    expect(unscoped(made)).toBe(ports);
  });

  it("pass on the functions and ports of the list, and no others", () => {
    const { made, ports } = readersFor(ONLY_DEFAULT);
    expect(made["users"]).toBe(ports["users"]);
    for (const [port, functions] of Object.entries(UNLIMITED_READS))
      for (const name of Object.keys(functions)) expect(made[port]).toHaveProperty(name);
    // Neither a limit nor a reason is written for it.
    const kept = Object.keys(made).filter((port) => made[port]!["insert"] !== undefined);
    expect(kept).toEqual(["users"]);
  });

  it("limit every other function of the store", async () => {
    const { read } = await testInstance();
    const made = scopedReaders(read, request(read, ONLY_DEFAULT)) as unknown as Ports;
    const whole = read as unknown as Ports;
    const unlimited = names(whole).filter((port) => made[port] === whole[port]);
    expect(unlimited).toEqual(names(UNLIMITED_PORTS));
    const passedOn = names(whole).flatMap((port) =>
      unlimited.includes(port)
        ? []
        : names(whole[port]!)
            .filter((name) => made[port]![name] === whole[port]![name])
            .map((name) => `${port}.${name}`),
    );
    const listed = Object.entries(UNLIMITED_READS).flatMap(([port, functions]) =>
      names(functions).map((name) => `${port}.${name}`),
    );
    expect(passedOn).toEqual(listed.toSorted());
    for (const port of names(whole)) expect(names(made[port]!)).toEqual(names(whole[port]!));
  });

  it("unscoped gives what limited readers are made of, as a whole and each of them", () => {
    const { made, ports } = readersFor(ONLY_DEFAULT);
    expect(made).not.toBe(ports);
    expect(unscoped(made)).toBe(ports);
    for (const port of PORTS) expect(unscoped(made[port]!)).toBe(ports[port]);
    const other = {};
    expect(unscoped(other)).toBe(other);
  });

  it("unscoped gives the first readers where readers are limited twice", () => {
    const { made, ports } = readersFor(ONLY_DEFAULT);
    const twice = scopedReaders(
      made as unknown as Readers,
      request(made, accessEverywhere(["read"]), "read"),
    );
    expect(unscoped(twice.workflows)).toBe(ports["workflows"]);
  });

  it("mask parts of values for a caller who sees everything, and may not run it", async () => {
    const { made, ports } = readersFor(accessEverywhere(["read"]), "read");
    const token = eventTokens(Buffer.alloc(32, 1)).create({ runId: "run_mine", stepId: "a" });
    expect(made).not.toBe(ports);
    expect(made["workflows"]).toBe(ports["workflows"]);
    expect(made["runs"]!["insert"]).toBe(ports["runs"]!["insert"]);
    expect(unscoped(made)).toBe(ports);
    expect(unscoped(made["runs"]!)).toBe(ports["runs"]);
    const reading = scopedReaders(
      {
        ...ports,
        runs: { find: ports["runs"]!["find"], valueText: async () => ({ text: token, chars: token.length }) },
      } as unknown as Readers,
      request(ports, accessEverywhere(["read"]), "read"),
    );
    const at = { runId: "run_mine", what: "output" } as const;
    const part = await reading.runs.valueText(at, { from: 0, chars: token.length });
    expect(part?.text).toMatch(/^run_mine\.a\.\*+$/);
  });

  it("mask parts of values for a caller of other projects", async () => {
    const { ports } = fakePorts();
    const token = eventTokens(Buffer.alloc(32, 1)).create({ runId: "run_theirs", stepId: "a" });
    const reading = scopedReaders(
      {
        ...ports,
        runs: { find: ports["runs"]!["find"], valueText: async () => ({ text: token, chars: token.length }) },
      } as unknown as Readers,
      request(ports, ONLY_DEFAULT),
    );
    const part = await reading.runs.valueText({ runId: "run_mine", what: "output" }, { from: 0, chars: 99 });
    expect(part?.text).toMatch(/^run_theirs\.a\.\*+$/);
    expect(
      await reading.runs.valueText({ runId: "run_theirs", what: "output" }, { from: 0, chars: 99 }),
    ).toBeUndefined();
  });
});

const writersFor = (access: Access) => {
  const { ports } = fakePorts();
  const made = scopedWriters(ports as unknown as Writers, request(ports, access)) as unknown as Ports;
  return { made, ports };
};

describe("scopedWriters", () => {
  it("are the same writers for a caller who sees everything, also one with a mask", () => {
    const { made, ports } = writersFor(FULL_ACCESS);
    expect(made).toBe(ports);
  });

  it("lock what is in a project of the caller, and nothing else", async () => {
    const { made } = writersFor(ONLY_DEFAULT);
    expect(await callOf(made, "runs.lock", "run_mine")).toEqual(record("run_mine"));
    expect(await callOf(made, "runs.lock", "run_theirs")).toBeUndefined();
    expect(await callOf(made, "backfills.lock", "bfl_mine")).toEqual(record("bfl_mine"));
    expect(await callOf(made, "backfills.lock", "bfl_theirs")).toBeUndefined();
    expect(await callOf(made, "backtests.lock", "bt_mine")).toEqual(record("bt_mine"));
    expect(await callOf(made, "backtests.lock", "bt_theirs")).toBeUndefined();
    expect(await callOf(made, "bulkActions.lock", "blk_mine")).toEqual(record("blk_mine"));
    expect(await callOf(made, "bulkActions.lock", "blk_theirs")).toBeUndefined();
    const refused = writersFor(READS_FINANCE).made;
    await expect(callOf(refused, "runs.lock", "run_theirs")).rejects.toMatchObject({ code: "missing_scope" });
    for (const [name, id] of [
      ["backfills.lock", "bfl_theirs"],
      ["backtests.lock", "bt_theirs"],
      ["bulkActions.lock", "blk_theirs"],
    ] as const)
      await expect(callOf(refused, name, id)).rejects.toMatchObject({ code: "missing_scope" });
  });

  it.each(FOUND_BY_ID.filter(([port]) => port !== "workflowChanges"))(
    "find with %s.%s what is in a project of the caller, and nothing else",
    async (port, method, args, none) => {
      const { made, ports } = writersFor(ONLY_DEFAULT);
      expect(await made[port]![method]!(...args("mine"))).toEqual(
        await ports[port]![method]!(...args("mine")),
      );
      expect(await made[port]![method]!(...args("theirs"))).toEqual(none);
    },
  );

  it("keep the methods that write, and unscoped gives what they are made of", async () => {
    const { made, ports } = writersFor(ONLY_DEFAULT);
    for (const port of PORTS) {
      expect(await callOf(made, `${port}.insert`)).toBe(`${port}.insert`);
      expect(unscoped(made[port]!)).toBe(ports[port]);
    }
    expect(unscoped(made)).toBe(ports);
  });
});
