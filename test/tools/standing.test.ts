/** Who may decide an approval, with records of plain values. */
import { describe, expect, it } from "vitest";
import type { Role } from "../../schemas/user.ts";
import { accessOfPerson } from "../../src/core/access.ts";
import type { ApprovalRecord, RunRecord } from "../../src/core/model.ts";
import { personalCause } from "../../src/core/run-causes.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import { findDecidable } from "../../tools/approvals/find-decidable.ts";
import {
  concerns,
  type Decider,
  shownAssignees,
  type StandingContext,
  type StandingReaders,
  standingOf,
} from "../../tools/approvals/standing.ts";
import { onlyRole } from "../support/callers.ts";
import { newRun } from "../support/run-records.ts";

const START = Date.parse("2026-11-21T08:00:00.000Z");
const mail = (name: string) => `${name}@example.com`;
const ROLES: Readonly<Record<string, Role>> = { ann: "admin", ben: "editor", cai: "editor", vera: "viewer" };

const person = (name: string): Decider => ({
  kind: "session",
  owner: mail(name),
  keyName: "browser",
  lineage: `usr_${name}`,
  access: accessOfPerson(onlyRole(ROLES[name] ?? "editor")),
});
const keyOf = (name: string): Decider => ({
  ...person(name),
  kind: "key",
  keyName: "ci",
  lineage: `key_${name}`,
});
const OPERATOR_KEY: Decider = { ...keyOf("ann"), owner: "operator" };

const APPROVAL = {
  id: "apr_1",
  runId: "run_1",
  project: "default",
  status: "pending",
  assignees: [],
  events: [],
  decisions: [],
  expiresAt: null,
  decidedAt: null,
  decidedBy: null,
  rules: { required: 2 },
} as unknown as ApprovalRecord;

interface Setting {
  approval?: Partial<ApprovalRecord>;
  run?: Partial<RunRecord>;
  parent?: RunRecord;
  /** The timeouts of runs, by id. */
  timeouts?: Readonly<Record<string, string>>;
  waitUntil?: string | null;
  /** Who stands in for whom now. */
  away?: Readonly<Record<string, string>>;
  authors?: readonly string[];
  policy?: { approvalsByStarter?: boolean; approvalsByAuthor?: boolean };
  /** Milliseconds after the start of the run. */
  after?: number;
}

function setUp({
  approval,
  run,
  parent,
  timeouts = {},
  waitUntil = null,
  away = {},
  authors = [],
  policy,
  after = 0,
}: Setting) {
  const record = { ...APPROVAL, ...approval };
  const started = {
    ...newRun("run_1"),
    actor: {
      owner: "operator",
      keyName: "starter",
      lineage: "key_starter",
      surface: "rest",
      client: "vitest",
    },
    createdAt: new Date(START).toISOString(),
    ...run,
  } as RunRecord;
  const ctx = {
    now: () => START + after,
    engine: {
      policy: { approvalsByStarter: false, approvalsByAuthor: false, ...policy },
      remainingWork: async () =>
        ({
          levels: [],
          digest: "plan",
          workflows: [],
          versions: [{ workflowId: "w", version: 3 }],
        }) as unknown as RemainingWork,
      getDefinition: async ({ id }: { id: string }) => ({ steps: [], timeout: timeouts[id] }),
    },
  } as unknown as StandingContext;
  const read = {
    approvals: { find: async (id: string) => (id === record.id ? record : undefined) },
    runs: {
      find: async (id: string) =>
        [started, ...(parent === undefined ? [] : [parent])].find((one) => one.id === id),
      step: async () => (waitUntil === null ? undefined : { waitUntil }),
    },
    workflows: {
      authorship: async () => ({
        authors: authors.map((name) => ({
          owner: mail(name),
          keyName: "browser",
          subject: mail(name),
          version: 3,
        })),
        reviews: [],
      }),
    },
    users: {
      findByEmail: async (email: string) => {
        const role = ROLES[email.split("@")[0]!];
        return role && { status: "active", role };
      },
      absencesAt: async (now: string) =>
        now === new Date(START + after).toISOString()
          ? Object.entries(away).map(([name, substitute]) => ({
              email: mail(name),
              substitute: mail(substitute),
            }))
          : [],
    },
    projects: { isSingle: async () => true, membershipsOf: async () => new Map() },
  } as unknown as StandingReaders;
  return { ctx, read, record };
}

/** The seat that somebody would take, as `of by`, or the code and message of the refusal. */
async function standing(who: Decider, setting: Setting = {}): Promise<string> {
  const { ctx, read, record } = setUp(setting);
  const { right, refusal } = await standingOf(ctx, read, who, record);
  if (right === undefined) return `${refusal!.code}: ${refusal!.message}`;
  expect(refusal).toBeUndefined();
  return `${right.seat.of} ${right.seat.by}${right.override ? " override" : ""}`;
}
const decided = (name: string, fields: object = {}) =>
  ({
    person: mail(name),
    seat: mail(name),
    name: mail(name),
    approved: true,
    planDigest: "plan",
    decidedAt: "2026-11-21",
    ...fields,
  }) as ApprovalRecord["decisions"][number];
const passedOn = (by: string, to: string) =>
  ({ kind: "delegated", by: mail(by), to: [mail(to)] }) as unknown as ApprovalRecord["events"][number];
const assignedTo = (...names: string[]) => ({ assignees: names.map(mail) });

describe("standingOf somebody who may decide", () => {
  it.each<[string, Decider, Setting, string]>([
    ["everyone with the scope where nobody is named", person("ben"), {}, `${mail("ben")} assignment`],
    ["a key of theirs", keyOf("ben"), {}, `${mail("ben")} assignment`],
    ["a key of the operator", OPERATOR_KEY, {}, "key_ann assignment"],
    ["an assignee", person("ben"), { approval: assignedTo("ben") }, `${mail("ben")} assignment`],
    ["a key of an assignee", keyOf("ben"), { approval: assignedTo("ben") }, `${mail("ben")} assignment`],
    [
      "a person with the role",
      person("ben"),
      { approval: { assignees: ["editor"] } },
      `${mail("ben")} assignment`,
    ],
    [
      "who got it from another one",
      person("ben"),
      { approval: { ...assignedTo("cai"), events: [passedOn("cai", "ben")] } },
      `${mail("cai")} delegation`,
    ],
    [
      "the substitute of an assignee",
      person("ben"),
      { approval: assignedTo("cai"), away: { cai: "ben" } },
      `${mail("cai")} absence`,
    ],
    [
      "an admin in place of the assignees",
      person("ann"),
      { approval: assignedTo("ben") },
      `${mail("ann")} assignment override`,
    ],
    ["an admin who is assigned", person("ann"), { approval: assignedTo("ann") }, `${mail("ann")} assignment`],
    ["an admin where nobody is named", person("ann"), {}, `${mail("ann")} assignment`],
    [
      "who has decided for another plan",
      person("ben"),
      { approval: { decisions: [decided("ben", { planDigest: "earlier" })] } },
      `${mail("ben")} assignment`,
    ],
    [
      "who started it, where the operator allows that",
      person("ben"),
      {
        run: { actor: { ...person("ben"), surface: "web", client: "x" } },
        policy: { approvalsByStarter: true },
      },
      `${mail("ben")} assignment`,
    ],
    [
      "who wrote it, where the operator allows that",
      person("ben"),
      { authors: ["ben"], policy: { approvalsByAuthor: true } },
      `${mail("ben")} assignment`,
    ],
    [
      "the substitute for an own place, where that of the absent person is taken",
      person("ben"),
      { approval: { ...assignedTo("ben", "cai"), decisions: [decided("cai")] }, away: { cai: "ben" } },
      `${mail("ben")} assignment`,
    ],
    [
      "the substitute for the second place, where the first one is taken",
      person("ben"),
      {
        approval: { ...assignedTo("cai", "dan"), decisions: [decided("eva", { seat: mail("cai") })] },
        away: { cai: "ben", dan: "ben" },
      },
      `${mail("dan")} absence`,
    ],
  ])("is the place of %s", async (_who, who, setting, expected) => {
    expect(await standing(who, setting)).toBe(expected);
  });
});

describe("standingOf somebody who may not decide", () => {
  it.each<[string, Decider, Setting, string]>([
    [
      "a viewer",
      person("vera"),
      {},
      'approval_not_yours: Your key or role does not have the scope "approve"',
    ],
    [
      "a viewer who is assigned",
      person("vera"),
      { approval: assignedTo("vera") },
      'approval_not_yours: Your key or role does not have the scope "approve"',
    ],
    [
      "who is not assigned",
      person("ben"),
      { approval: assignedTo("cai") },
      "approval_not_yours: apr_1 is assigned to",
    ],
    [
      "a key of an admin",
      keyOf("ann"),
      { approval: assignedTo("cai") },
      "approval_not_yours: apr_1 is assigned to",
    ],
    [
      "a key of the operator",
      OPERATOR_KEY,
      { approval: { assignees: ["admin"] } },
      "approval_not_yours: apr_1 is assigned",
    ],
    [
      "who has passed it on",
      person("ben"),
      { approval: { ...assignedTo("ben"), events: [passedOn("ben", "cai")] } },
      `approval_not_yours: You passed apr_1 on to ${mail("cai")}`,
    ],
    [
      "an admin who has passed it on",
      person("ann"),
      { approval: { ...assignedTo("ann"), events: [passedOn("ann", "cai")] } },
      `approval_not_yours: You passed apr_1 on to ${mail("cai")}`,
    ],
    [
      "who started the run",
      person("ben"),
      { run: { actor: { ...person("ben"), surface: "web", client: "x" } } },
      "approval_not_yours: You started the run run_1",
    ],
    [
      "who started what the run repeats",
      person("ben"),
      { run: { causes: [personalCause("started", person("ben"), "run_0")] } },
      "approval_not_yours: You started the run run_0",
    ],
    [
      "who wrote what it runs",
      person("ben"),
      { authors: ["ben"] },
      'approval_not_yours: You wrote version 3 of "w"',
    ],
    [
      "anyone, after it was decided",
      person("ben"),
      { approval: { status: "approved", decidedBy: mail("cai"), decidedAt: "2026-11-21" } },
      "approval_decided: apr_1 was already approved by",
    ],
    [
      "who has decided for this plan",
      person("ben"),
      { approval: { decisions: [decided("ben")] } },
      "approval_decided: You approved apr_1 at 2026-11-21",
    ],
    [
      "who has decided with another tag of the address",
      person("ben"),
      { approval: { decisions: [decided("ben+2", { seat: mail("cai") })] } },
      "approval_decided: You approved apr_1 at 2026-11-21",
    ],
    [
      "an assignee whose place a substitute has taken",
      person("ben"),
      { approval: { ...assignedTo("ben"), decisions: [decided("cai", { seat: mail("ben") })] } },
      `approval_decided: ${mail("cai")} approved apr_1 at 2026-11-21 in the place of ${mail("ben")}`,
    ],
    [
      "the substitute of who wrote what it runs",
      person("ben"),
      { approval: assignedTo("cai"), away: { cai: "ben" }, authors: ["cai"] },
      `approval_not_yours: You stand in for ${mail("cai")}, who may not decide apr_1`,
    ],
    [
      "the substitute, with the first reason of several",
      person("ben"),
      {
        approval: { ...assignedTo("cai", "dan"), decisions: [decided("eva", { seat: mail("dan") })] },
        away: { cai: "ben", dan: "ben" },
        authors: ["cai"],
      },
      `approval_not_yours: You stand in for ${mail("cai")}, who may not decide apr_1`,
    ],
    [
      "the substitute, with a taken place as the first reason",
      person("ben"),
      {
        approval: { ...assignedTo("cai", "dan"), decisions: [decided("eva", { seat: mail("cai") })] },
        away: { cai: "ben", dan: "ben" },
        authors: ["dan"],
      },
      "approval_decided: eva@example.com approved apr_1",
    ],
  ])("refuses %s", async (_who, who, setting, expected) => {
    expect(await standing(who, setting)).toContain(expected);
  });
});

const iso = (after: number) => new Date(START + after).toISOString();

describe("standingOf at the deadline", () => {
  const parent = { ...newRun("run_0"), createdAt: iso(-60_000) } as unknown as RunRecord;
  const child: Partial<RunRecord> = { parent: { runId: "run_0", stepId: "call", item: null } };
  const expired = "approval_expired: apr_1 expired at ";

  it.each<[string, Setting, number]>([
    ["the approval", { approval: { expiresAt: iso(10_000) } }, 10_000],
    ["the run", { timeouts: { run_1: "20s" } }, 20_000],
    ["the run of the step that waits", { run: child, parent, timeouts: { run_0: "90s" } }, 30_000],
    ["the step that waits", { run: child, parent, waitUntil: iso(5_000) }, 5_000],
    [
      "the earliest of them",
      {
        run: child,
        parent,
        waitUntil: iso(5_000),
        approval: { expiresAt: iso(9_000) },
        timeouts: { run_1: "4s" },
      },
      4_000,
    ],
  ])("is refused from the timeout of %s on", async (_what, setting, at) => {
    expect(await standing(person("ben"), { ...setting, after: at - 1 })).toBe(`${mail("ben")} assignment`);
    expect(await standing(person("ben"), { ...setting, after: at })).toContain(`${expired}${iso(at)}`);
  });
});

describe("standingOf says whether the approval is assigned to the person", () => {
  it.each<[string, Setting["approval"], boolean, boolean]>([
    ["ben", {}, false, true],
    ["ben", assignedTo("ben"), true, true],
    ["ben", assignedTo("cai"), false, false],
    ["ann", assignedTo("cai"), false, false],
    ["vera", assignedTo("vera"), true, true],
  ])("%s, of an approval with %j: %s, and concerns is %s", async (name, approval, assigned, concerned) => {
    const { ctx, read, record } = setUp({ approval: approval! });
    expect((await standingOf(ctx, read, person(name), record)).assigned).toBe(assigned);
    expect(await concerns(ctx, read, person(name), record)).toBe(concerned);
  });
});

const find = (who: Decider, setting: Setting, override: boolean, id = "apr_1") => {
  const { ctx, read } = setUp(setting);
  return findDecidable(ctx, read, { decider: who, id, override });
};

describe("findDecidable of an approval", () => {
  const ofBen = { approval: assignedTo("ben") };

  it("finds it for who may decide, and for an admin with override", async () => {
    expect((await find(person("ben"), ofBen, false)).right.seat.of).toBe(mail("ben"));
    expect((await find(person("ann"), ofBen, true)).right.override).toBe(true);
  });

  it.each<[string, Decider, boolean, string]>([
    [
      "an admin without override",
      person("ann"),
      false,
      "As an admin you can decide in their place: send override: true",
    ],
    ["who is not assigned, also with override", person("cai"), true, `apr_1 is assigned to ${mail("ben")}`],
  ])("refuses %s", async (_who, who, override, message) => {
    await expect(find(who, ofBen, override)).rejects.toMatchObject({
      code: "approval_not_yours",
      message: expect.stringContaining(message),
    });
  });

  it("lets a key that is limited to delegate_approval pass on, not decide", async () => {
    const { ctx, read } = setUp(ofBen);
    const ben = person("ben");
    const decider = { ...ben, access: { ...ben.access, keyLimits: { tools: ["delegate_approval"] } } };
    const asked = { decider, id: "apr_1", override: false };
    const found = await findDecidable(ctx, read, { ...asked, operation: "delegate_approval" });
    expect(found.right.seat.of).toBe(mail("ben"));
    await expect(findDecidable(ctx, read, asked)).rejects.toThrow(
      "limited to other operations than decide_approval",
    );
  });

  it("refuses an approval that does not exist", async () => {
    await expect(find(person("ben"), {}, false, "apr_2")).rejects.toMatchObject({
      code: "approval_not_found",
    });
  });
});

describe("shownAssignees", () => {
  it("are as they were written until an escalation or a delegation", () => {
    const assignees = ["Ben@Example.com", "editor"];
    const shown = (...events: unknown[]) =>
      shownAssignees({ ...APPROVAL, assignees, events: events as ApprovalRecord["events"] });
    expect(shown()).toEqual(assignees);
    expect(shown({ kind: "reminded", by: null, to: [] })).toEqual(assignees);
    expect(shown({ kind: "escalated", by: null, to: [mail("cai")] })).toEqual([
      mail("ben"),
      mail("cai"),
      "editor",
    ]);
    expect(shown(passedOn("ben", "cai"))).toEqual([mail("cai"), "editor"]);
  });
});
