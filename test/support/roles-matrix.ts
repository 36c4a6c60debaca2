/** The principals and resources of the matrix of permissions. */
import { addDelivery, addSubscription } from "./subscription-records.ts";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { accessEverywhere } from "../../src/core/access.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { Scope } from "../../schemas/actor.ts";
import type { Role } from "../../schemas/user.ts";
import { HOUR, iso } from "../../src/core/clock.ts";
import type { UserRecord } from "../../src/core/account-ports.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { SqliteStore } from "../../src/store/database.ts";
import { projectWriter } from "../../src/store/projects.ts";
import { linkWriter } from "../../src/store/links.ts";
import { newLink } from "../../src/auth/links.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { startBulkAction } from "../../tools/bulk-actions/start-bulk-action.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { eventually } from "./eventually.ts";
import { addInterruption } from "./interruption-records.ts";
import { fakeClock, temporaryDirectory, testInstance, type TestInstance } from "./instance.ts";
import { callAs, addUser, signIn } from "./users.ts";

export interface CallerSpec {
  label: string;
  /** The credential: none, a cookie or a key. */
  credential: "nothing" | "session" | "key";
  /** The owner's role; `operator` for keys of the command line. */
  role: Role | "operator";
  /** A key's. */
  scopes?: readonly Scope[];
  condition: "alive" | "deactivated" | "revoked" | "expired" | "ended";
}

/** A principal that sends requests. */
export interface Caller extends CallerSpec {
  headers: Record<string, string>;
  owner: ResourceOwner;
}

/** The owner of a resource. */
export interface ResourceOwner {
  email: string;
  lineage: string;
  user?: UserRecord;
}

export type ResourceKind =
  | "workflow"
  | "workflow with a run"
  | "run"
  | "approval"
  | "bulk action"
  | "interruption"
  | "api key"
  | "session"
  | "user"
  | "invited user"
  | "database"
  | "project"
  | "review"
  | "subscription"
  | "delivery";

const SETS: Readonly<Record<string, readonly Scope[]>> = {
  read: ["read"],
  "read, write": ["read", "write"],
  "read, publish": ["read", "publish"],
  "read, write, publish": ["read", "write", "publish"],
  "read, run": ["read", "run"],
  "read, approve": ["read", "approve"],
  all: ["read", "write", "publish", "run", "approve", "admin"],
};

const ROLES = ["viewer", "editor", "admin"] as const;
const ALIVE = { condition: "alive" } as const;

export const CALLER_SPECS: readonly CallerSpec[] = [
  { label: "nobody", credential: "nothing", role: "viewer", ...ALIVE },
  ...ROLES.map((role) => ({ label: `${role}, signed in`, credential: "session" as const, role, ...ALIVE })),
  ...[...ROLES, "operator" as const].flatMap((role) =>
    Object.entries(SETS).map(([name, scopes]) => ({
      label: `${role}'s key: ${name}`,
      credential: "key" as const,
      role,
      scopes,
      condition: "alive" as const,
    })),
  ),
  ...(["deactivated", "ended"] as const).map((condition) => ({
    label: `admin's session, ${condition}`,
    credential: "session" as const,
    role: "admin" as const,
    condition,
  })),
  ...(["deactivated", "revoked", "expired"] as const).map((condition) => ({
    label: `admin's key, ${condition}`,
    credential: "key" as const,
    role: "admin" as const,
    scopes: SETS["all"]!,
    condition,
  })),
];

const WORKFLOW = {
  inputs: { type: "object", properties: { name: { type: "string", default: "you" } } },
  steps: [{ id: "hello", type: "set", values: { greeting: "Good morning, ${{ inputs.name }}" } }],
  state: { last_id: { type: "integer", default: 0 } },
  schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" },
  triggers: [{ id: "hook", type: "webhook" }],
};
const ASKING = { steps: [{ id: "ask", type: "approval", message: "Go?", timeout: "2h" }] };

/** An instance with its listener, and functions that create principals and resources. */
export async function openRolesMatrix() {
  const instance = await testInstance({ clock: fakeClock() });
  const { store, clock } = instance;
  const directory = temporaryDirectory();
  const dataset = join(directory, "shop.db");
  const db = new DatabaseSync(dataset);
  db.exec("create table orders (region text)");
  db.close();
  const { url } = await instance.rest({
    config: { databases: [{ name: "shop", type: "sqlite", dataset }] },
    // Each request can have its own source address.
    env: { MILLRACE_TRUSTED_PROXIES: "127.0.0.1" },
  });

  let number = 0;
  const newUser = async (role: Role, name: string = role): Promise<ResourceOwner> => {
    const user = await addUser(instance, { email: `${name}-${(number += 1)}@example.com`, role });
    return { email: user.email, lineage: user.id, user };
  };
  /** One user per role, unless a new one is requested. */
  const known = new Map<string, ResourceOwner>();
  const ownerOf = async (role: Role, fresh: boolean): Promise<ResourceOwner> => {
    const owner = (fresh ? undefined : known.get(role)) ?? (await newUser(role));
    if (!fresh) known.set(role, owner);
    return owner;
  };

  /** @param fresh whether to create a new user too, so that the request does not affect other cases */
  async function asker(spec: CallerSpec, fresh: boolean): Promise<Caller> {
    const { credential, role, scopes, condition } = spec;
    const owner: ResourceOwner =
      role === "operator"
        ? { email: "operator", lineage: "" }
        : await ownerOf(role, fresh || condition === "deactivated");
    const headers: Record<string, string> = {};
    if (credential === "session") {
      const { cookie, session } = await signIn(instance, owner.user!);
      headers["Cookie"] = cookie;
      headers["Sec-Fetch-Site"] = "same-origin";
      if (condition === "ended")
        await store.transaction((trx) => trx.deleteFrom("sessions").where("id", "=", session.id).execute());
    }
    if (credential === "key") {
      const expiresAt = condition === "expired" ? { expiresAt: iso(clock.now() - HOUR) } : {};
      const { value, record } = await instance.key({
        owner: owner.email,
        scopes: [...scopes!],
        ...expiresAt,
      });
      headers["X-API-Key"] = value;
      if (role === "operator") owner.lineage = record.lineage;
      if (condition === "revoked") await instance.keys.revoke(record.id, iso(clock.now()), owner.email);
    }
    if (condition === "deactivated")
      await store.transaction((trx) =>
        trx.updateTable("users").set({ status: "deactivated" }).where("id", "=", owner.lineage).execute(),
      );
    return { ...spec, headers, owner };
  }

  const principalOf = ({ email, lineage }: ResourceOwner): Principal => ({
    kind: "operator",
    keyId: "command-line",
    keyName: "test",
    owner: email,
    lineage,
    scopes: new Set(Scope.options),
    access: accessEverywhere(Scope.options),
  });
  const as = (owner: ResourceOwner) => callAs(instance, principalOf(owner));

  const setReview = (review: boolean) =>
    store.transaction((trx) => projectWriter(trx).update(DEFAULT_PROJECT, { review }));

  /** Asks for the publication of a new workflow, with a key. The default project needs reviews meanwhile. */
  async function askForReview(owner: ResourceOwner): Promise<string> {
    const { id } = await as(owner)(createWorkflow, { name: "Matrix", definition: WORKFLOW });
    await setReview(true);
    const asked = await callAs(instance, { ...principalOf(owner), kind: "key" })(publishWorkflow, {
      workflow_id: id,
    });
    await setReview(false);
    return asked.review!.id;
  }
  let lastReview = Promise.resolve("");
  const newReview = (owner: ResourceOwner): Promise<string> =>
    (lastReview = lastReview.then(() => askForReview(owner)));

  async function newWorkflow(owner: ResourceOwner, definition: object = WORKFLOW): Promise<string> {
    const call = as(owner);
    const { id } = await call(createWorkflow, { name: "Matrix", definition });
    await call(publishWorkflow, { workflow_id: id });
    return id;
  }

  async function newEndedRun(owner: ResourceOwner): Promise<{ id: string; workflow_id: string }> {
    const workflow_id = await newWorkflow(owner);
    const { id } = await as(owner)(runWorkflow, { workflow_id, wait: 0 });
    await as(owner)(cancelRun, { run_id: id });
    return { id, workflow_id };
  }

  /** A workflow with a run that has failed, which backtests compare with. No executor runs. */
  async function newWorkflowWithRun(owner: ResourceOwner): Promise<string> {
    const { id, workflow_id } = await newEndedRun(owner);
    await store.transaction((trx) =>
      trx.updateTable("runs").set({ status: "failed" }).where("id", "=", id).execute(),
    );
    return workflow_id;
  }

  /** Its run waits for an executor, so it does not end. */
  async function newBulkAction(owner: ResourceOwner): Promise<string> {
    const workflow_id = await newWorkflow(owner);
    await as(owner)(runWorkflow, { workflow_id, wait: 0 });
    const input = { action: "cancel", workflow_id, wait: 0 };
    const { digest } = await as(owner)(startBulkAction, input);
    return (await as(owner)(startBulkAction, { ...input, digest })).id!;
  }

  /** Pending approvals by the starter of their runs; the executor that created them has stopped. */
  async function approvals(owners: readonly ResourceOwner[]): Promise<Map<string, string[]>> {
    const workflow_id = await newWorkflow(owners[0]!, ASKING);
    const starters = new Map<string, ResourceOwner>();
    for (const owner of owners) {
      const { id } = await as(owner)(runWorkflow, { workflow_id, wait: 0 });
      starters.set(id, owner);
    }
    const executor = await instance.executor();
    const waiting = await eventually(async () => {
      const { items } = await as(owners[0]!)(listApprovals, { limit: 200 });
      return items.length === owners.length ? items : undefined;
    }, "the approvals");
    await executor.stop(0);
    const byStarter = Map.groupBy(waiting, ({ run_id }) => starters.get(run_id)!.lineage);
    return new Map([...byStarter].map(([lineage, items]) => [lineage, items.map(({ id }) => id)]));
  }

  const makers: Record<Exclude<ResourceKind, "approval">, (owner: ResourceOwner) => Promise<string>> = {
    workflow: (owner) => newWorkflow(owner),
    "workflow with a run": newWorkflowWithRun,
    // The run has ended, so that it can be retried, and its event stream ends.
    run: async (owner) => (await newEndedRun(owner)).id,
    "bulk action": newBulkAction,
    interruption: async (owner) => addInterruption(instance, (await newEndedRun(owner)).id),
    "api key": async ({ email }) => (await instance.key({ owner: email })).record.id,
    session: async ({ user }) => (await signIn(instance, user ?? (await newUser("viewer")).user!)).session.id,
    user: async ({ user }) => user?.id ?? "usr_none",
    "invited user": async () => {
      const user = await addUser(instance, { email: `new-${(number += 1)}@example.com`, status: "invited" });
      return user.id;
    },
    database: async () => "shop",
    project: async () => "default",
    review: newReview,
    subscription: ({ email }) => addSubscription(instance, { createdBy: email }),
    delivery: async ({ email }) =>
      addDelivery(instance, await addSubscription(instance, { createdBy: email })),
  };

  /** A valid link of a new user. */
  async function newLinkFor(kind: "invitation" | "verification"): Promise<string> {
    const user = await addUser(instance, {
      email: `link-${(number += 1)}@example.com`,
      status: kind === "invitation" ? "invited" : "active",
    });
    const { token, record } = newLink(kind, user.id, clock);
    await store.transaction((trx) => linkWriter(trx, clock).insert(record));
    return token;
  }

  return { instance, url, asker, newUser, approvals, makers, newLinkFor };
}

export type RolesMatrix = Awaited<ReturnType<typeof openRolesMatrix>>;

const TABLES = [
  "users",
  "api_keys",
  "sessions",
  "account_links",
  "workflows",
  "workflow_versions",
  "schedules",
  "triggers",
  "trigger_deliveries",
  "runs",
  "run_steps",
  "jobs",
  "approvals",
  "audit_log",
  "idempotency_keys",
  "projects",
  "project_members",
  "reviews",
  "subscriptions",
  "deliveries",
  "grants",
  "backfills",
  "backtests",
  "backtest_runs",
  "bulk_actions",
  "bulk_action_runs",
  "interruptions",
] as const;

const textOf = (row: object): string =>
  JSON.stringify(row, (name, value: unknown) =>
    name === "last_used_at" || name === "seen_at" ? undefined : value,
  );

/** The last dump of each store, which holds until the next commit: most calls of the matrix are refused and commit nothing. */
const dumps = new WeakMap<TestInstance["store"], { version: number; text: string }>();

/** All rows of the store, without last uses and counts of attempts. */
export async function dumpState({ store }: TestInstance): Promise<string> {
  // Of a connection that writes nothing, so that each commit of any connection changes it. PostgreSQL has none.
  const version = (store as Partial<SqliteStore>).dataVersion?.();
  const known = dumps.get(store);
  if (version !== undefined && known?.version === version) return known.text;
  const text = await readState(store);
  if (version !== undefined) dumps.set(store, { version, text });
  return text;
}

async function readState({ read }: TestInstance["store"]): Promise<string> {
  const tables = await Promise.all(TABLES.map((table) => read.selectFrom(table).selectAll().execute()));
  // PostgreSQL returns the rows in no particular order.
  return JSON.stringify(tables.map((rows) => rows.map(textOf).toSorted()));
}
