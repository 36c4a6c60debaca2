/** Projects, people and keys of one sequence, on an installation that many sequences share, and how they send requests. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { DAY, iso } from "../../../src/core/clock.ts";
import { apiClient } from "../http.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../instance.ts";
import { addMember, addProject } from "../projects.ts";
import { addUser, signIn } from "../users.ts";
import type { UserRecord } from "../../../src/core/account-ports.ts";
import { DATABASE, OTHER_DATABASE, SECRET, STRANGER } from "./definitions.ts";
import type {
  Actor,
  Approval,
  Backfill,
  Backtest,
  BulkAction,
  Delivery,
  Interruption,
  Owned,
  Review,
  Run,
  Surface,
  Workflow,
} from "./made.ts";
import { subjectOf } from "./people.ts";
import { DEFAULT, OPERATOR, type Person, type Role, type Scope } from "./state.ts";
import { overMcp, overRest } from "./surfaces.ts";

const ALL: readonly Scope[] = ["read", "write", "publish", "run", "approve", "admin"];
const NO_LIMITS = { runs_per_hour: null, unfinished_runs: null, stored_bytes: null };
export const HOOK_SECRET = "a secret of the test";

/** Opens an installation with both surfaces and an executor. */
export async function openInstallation() {
  const directory = temporaryDirectory();
  const database = (name: string) => {
    const dataset = join(directory, `${name}.db`);
    new DatabaseSync(dataset).close();
    return { name, type: "sqlite", dataset };
  };
  const config = {
    databases: [database(DATABASE), database(OTHER_DATABASE)],
    secrets: [{ name: SECRET, key_var: "HOOK_SECRET", hosts: [] }],
    limits: { per_key: NO_LIMITS, unfinished_runs: 1_000_000 },
  };
  const env = { HOOK_SECRET };
  const clock = fakeClock();
  const instance = await testInstance({ clock, config, env });
  const executor = await instance.executor({ config, env });
  const { url } = await instance.rest({ config, env });
  const { url: mcpUrl } = await instance.mcp({ config, env });
  return { instance, clock, executor, url, mcpUrl };
}
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** Creates the projects, people and keys of a sequence. @param number differs from that of all other sequences */
export async function openCompany({ instance, executor, url, mcpUrl }: Installation, number: number) {
  const [a, b] = [`a${number}`, `b${number}`];
  // Some projects require reviews from the beginning.
  const reviewed = new Set([a, b].filter((_, index) => number % 3 === index));
  for (const project of [a, b]) await addProject(instance, project, { review: reviewed.has(project) });
  const people = new Map<string, Person>();
  const actors: Actor[] = [];
  const users = new Map<string, UserRecord>();

  async function person(name: string, role: Role, roles: Readonly<Record<string, Role>> = {}) {
    const [mailbox, tag] = name.split("+");
    const email = `${mailbox}${number}${tag === undefined ? "" : `+${tag}`}@example.com`;
    const user = await addUser(instance, { email, role });
    for (const [project, held] of Object.entries(roles))
      await addMember(instance, { project, email, role: held as "viewer" });
    people.set(email, { email, role, roles: new Map(Object.entries(roles)), isActive: true });
    users.set(email, user);
    await addSession(email, `${name}, signed in`);
    return email;
  }
  async function addSession(email: string, label: string): Promise<void> {
    const { cookie, session } = await signIn(instance, users.get(email)!);
    actors.push({
      label,
      kind: "session",
      owner: email,
      subject: subjectOf(email),
      isValid: true,
      scopes: [],
      projects: [],
      limits: {},
      headers: { Cookie: cookie, "Sec-Fetch-Site": "same-origin" },
      id: session.id,
    });
  }
  /** What follows from it that sessions are ended: the people sign in again, and the old cookies stay refused. */
  async function endSessions(ended: readonly Actor[]): Promise<void> {
    for (const session of ended) {
      session.isValid = false;
      await addSession(session.owner, session.label);
      session.label = `${session.label}, ended`;
      // Of those that are refused for one reason a few are enough.
      const all = actors.filter(({ kind, isValid }) => kind === "session" && !isValid);
      if (all.length > 3) actors.splice(actors.indexOf(all[0]!), 1);
    }
  }
  function addKey(
    value: string,
    { id, lineage, owner, scopes, projects, limits }: KeyRecord,
    label: string,
    isValid = true,
  ): Actor {
    const actor: Actor = {
      label: `${label} (${scopes.join("+")} in ${projects.join("+")}${limits === null ? "" : ` ${JSON.stringify(limits)}`})`,
      kind: "key",
      owner,
      subject: owner === OPERATOR ? lineage : subjectOf(owner),
      isValid,
      scopes,
      projects,
      limits: limits ?? {},
      headers: { "X-API-Key": value },
      id,
    };
    actors.push(actor);
    return actor;
  }
  async function key(
    label: string,
    options: Parameters<typeof instance.key>[0],
    state: "valid" | "expired" | "revoked" = "valid",
  ): Promise<void> {
    const expired = { expiresAt: iso(instance.clock.now() - 1) };
    const { value, record } = await instance.key({ ...options, ...(state === "expired" && expired) });
    if (state === "revoked") await instance.keys.revoke(record.id, iso(instance.clock.now()), OPERATOR);
    addKey(value, record, `${label}, ${state}`, state === "valid");
  }

  /** The access of an application that a person has connected, for the MCP server only. */
  async function token(
    label: string,
    options: Parameters<typeof instance.key>[0],
    state: "valid" | "revoked" = "valid",
  ): Promise<void> {
    const end = iso(instance.clock.now() + DAY);
    const application = {
      clientId: "client",
      host: "app.example.com",
      resource: `${mcpUrl}/mcp`,
      renewableUntil: end,
    };
    await key(label, { ...options, application, expiresAt: end }, state);
    const onMcp = actors.at(-1)!;
    onMcp.surface = "mcp";
    onMcp.label = `${onMcp.label} over MCP`;
    actors.push({ ...onMcp, label: `${label} over REST`, surface: "rest", isValid: false });
  }

  await person("root", "admin");
  const ann = await person("ann", "member", { [a]: "editor" });
  await person("ann+b", "member", { [a]: "editor", [b]: "editor" });
  const ben = await person("ben", "member", { [a]: "editor", [b]: "editor" });
  const cai = await person("cai", "member", { [a]: "admin", [b]: "viewer" });
  const dan = await person("dan", "viewer", { [a]: "viewer", [b]: "admin" });
  await person("eve", "editor");
  await person("gus", "member");
  await addSession(ben, "ben, signed in elsewhere");
  for (const scope of ALL.slice(1))
    await key(`operator's ${scope}`, { scopes: ["read", scope], projects: [a] });
  await key("operator's", { scopes: [...ALL], projects: [a] });
  await key("operator's of both", { scopes: ALL.slice(0, 5), projects: [a, b] });
  await key("operator's of the default project", { scopes: [...ALL], projects: [DEFAULT] });
  await key("ann's", { owner: ann, scopes: [...ALL], projects: [a, b] });
  await key("ann's", { owner: ann, scopes: ["read", "run"], projects: [a] });
  await key("ben's", { owner: ben, scopes: ["read", "run", "approve"], projects: [a, b] });
  await key("cai's", { owner: cai, scopes: [...ALL], projects: [a, b] });
  await key("dan's", { owner: dan, scopes: [...ALL], projects: [a, b, DEFAULT] });
  const withoutDatabase = { scopes: ALL.slice(0, 5), projects: [a], limits: { databases: [OTHER_DATABASE] } };
  await key("operator's without databases", withoutDatabase);
  // The ids that the first workflows get.
  const workflows = [`${a}.w-${number}-0`, `${a}.w-${number}-1`, `${b}.w-${number}-2`];
  const ofWorkflows = {
    scopes: ["read", "run", "approve"] as Scope[],
    projects: [a, b],
    limits: { workflows },
  };
  await key("operator's of workflows", ofWorkflows);
  await key("ben's of workflows", { ...ofWorkflows, owner: ben });
  const tools = ["list_workflows", "get_run", "run_workflow", "decide_approval", "publish_workflow"];
  await key("operator's with tools", { scopes: ALL.slice(0, 5), projects: [a, b], limits: { tools } });
  await key("operator's", { scopes: [...ALL], projects: [a, b] }, "expired");
  await key("ben's", { owner: ben, scopes: [...ALL], projects: [a, b] }, "revoked");
  await token("ann's token", { owner: ann, scopes: ["read", "run", "approve"], projects: [a, b] });
  await token("cai's token", { owner: cai, scopes: ALL.slice(0, 5), projects: [a] });
  await token("ben's token", { owner: ben, scopes: [...ALL], projects: [a, b] }, "revoked");

  return {
    number,
    projects: [a, b, DEFAULT],
    ownProjects: [a, b],
    people,
    actors,
    users,
    absences: new Map<string, string>(),
    assignees: [ben, cai],
    addKey,
    endSessions,
    /** Those of the keys and tokens that have this id. */
    endKey(id: string): void {
      for (const actor of actors) if (actor.id === id) actor.isValid = false;
    },
    instance,
    workflows: [] as Workflow[],
    runs: [] as Run[],
    /** The projects that require reviews. */
    reviewed,
    reviews: [] as Review[],
    approvals: [] as Approval[],
    deliveries: [] as Delivery[],
    subscriptions: [] as Owned[],
    /** To subscriptions. */
    sent: [] as Owned[],
    backfills: [] as Backfill[],
    backtests: [] as Backtest[],
    bulkActions: [] as BulkAction[],
    interruptions: [] as Interruption[],
    /** Projects that were made in the sequence, which nothing else is about. */
    madeProjects: [] as string[],
    invited: [] as string[],
    /** The stranger whom the definitions name. */
    stranger: STRANGER,
    /** Sends a request over REST, or MCP. */
    send: (actor: Actor, surface: Surface, operation: string, input: Record<string, unknown>) =>
      surface === "rest" ? overRest(url, actor, operation, input) : overMcp(mcpUrl, actor, operation, input),
    /** Sends a delivery without a key. */
    deliver: (path: string, headers: Record<string, string>) =>
      apiClient(url)("POST", path, { at: Math.random() }, headers),
    /** Sends a form without a key. @returns the status */
    async postForm(path: string, fields: Record<string, string>): Promise<number> {
      return (await fetch(url + path, { method: "POST", body: new URLSearchParams(fields) })).status;
    },
    /** Waits until everything that can run has run. */
    async settle(): Promise<void> {
      executor.queue.wake();
      await executor.startReceived();
      await executor.continueBackfills();
      await executor.queue.waitUntilIdle();
      while ((await executor.continueBacktests()) > 0) await executor.queue.waitUntilIdle();
      while ((await executor.continueBulkActions()) > 0) await executor.queue.waitUntilIdle();
    },
  };
}
export type Company = Awaited<ReturnType<typeof openCompany>>;
interface KeyRecord {
  id: string;
  lineage: string;
  owner: string;
  scopes: readonly Scope[];
  projects: readonly string[];
  limits: Actor["limits"] | null;
}
