/** The definitions of the rights test, and what the model knows of each. */
import type { Content } from "./state.ts";

/** The database that steps use, and the only one that keys with limits may use. */
export const DATABASE = "depot";
export const OTHER_DATABASE = "shop";
/** Somebody without an account, whom a definition names. */
export const STRANGER = "auditor@example.com";
export const SECRET = "hook-secret";

const APPROVAL = { id: "ask", type: "approval", message: "Go on?" };
const QUERY = { id: "rows", type: "sql", if: "false", database: DATABASE, query: "SELECT 1 AS x" };
const SCHEDULE = { cron: "0 3 * * *" };
const HOOK = { id: "hook", type: "webhook" };
const SIGNED = { ...HOOK, signature: { scheme: "shared_secret", secret: SECRET } };

interface Parts {
  steps?: readonly object[];
  more?: object;
  content?: Partial<Content>;
}

/** @param assignees those of `assigned` */
const parts = (assignees: readonly string[]) =>
  ({
    plain: {},
    asks: { steps: [APPROVAL], content: { asks: true } },
    assigned: { steps: [{ ...APPROVAL, assignees }], content: { asks: true } },
    "with links": {
      steps: [{ ...APPROVAL, assignees: [...assignees, STRANGER], decide_by_link: true }],
      content: { asks: true, linksTo: [...assignees, STRANGER] },
    },
    exposed: { more: { expose_as_tool: true } },
    database: { steps: [QUERY], content: { usesDatabase: true } },
    scheduled: { more: { schedule: SCHEDULE } },
    "scheduled with a database": {
      steps: [QUERY],
      more: { schedule: SCHEDULE },
      content: { usesDatabase: true },
    },
    hook: { more: { triggers: [HOOK] }, content: { trigger: "unsigned" } },
    "hook with a database": {
      steps: [QUERY],
      more: { triggers: [HOOK] },
      content: { trigger: "unsigned", usesDatabase: true },
    },
    "hook that asks": {
      steps: [APPROVAL],
      more: { triggers: [HOOK] },
      content: { trigger: "unsigned", asks: true },
    },
    "signed hook that asks": {
      steps: [APPROVAL],
      more: { triggers: [SIGNED] },
      content: { trigger: "signed", asks: true },
    },
    "with an event": { steps: [{ id: "event", type: "wait", event: {} }], content: {} },
    "with state": { more: { state: { last: { type: "string", default: "none" } } }, content: {} },
  }) satisfies Record<string, Parts>;

export type Kind = keyof ReturnType<typeof parts>;
export const KINDS = Object.keys(parts([])) as Kind[];

export const contentOf = (kind: Kind): Content => ({
  asks: false,
  usesDatabase: false,
  trigger: null,
  linksTo: null,
  ...(parts([])[kind] as Parts).content,
});

const NOTE = (mark: number) => ({ id: "note", type: "set", values: { mark } });

/** @param mark what two definitions of a kind differ in */
export function definitionOf(kind: Kind, mark: number, assignees: readonly string[]) {
  const { steps = [], more = {} }: Parts = parts(assignees)[kind];
  return {
    inputs: { type: "object", properties: { n: { type: "integer", default: 0 } } },
    steps: [NOTE(mark), ...steps, { id: "last", type: "set", values: { n: "${{ inputs.n }}" } }],
    ...more,
  };
}

/** The definition of a workflow that calls another one. */
export const callOf = (workflow: string, mark: number) => ({
  steps: [NOTE(mark), { id: "call", type: "workflow", workflow }],
});
