/** Calls an operation directly, over MCP and over REST, each on a new instance. */
import type { z } from "zod";
import { choosesProject, accessOfKey, accessOfPerson, scopesOf } from "../../src/core/access.ts";
import type { Scope } from "../../schemas/actor.ts";
import type { Problem } from "../../schemas/problem.ts";
import type { Role } from "../../schemas/user.ts";
import type { Executor } from "../../src/app/executor.ts";
import type { CreatedKey } from "../../src/auth/api-keys.ts";
import { iso } from "../../src/core/clock.ts";
import { toAppError, toProblem } from "../../src/core/errors.ts";
import { newRequestId } from "../../src/core/ids.ts";
import type { Principal } from "../../src/core/ports.ts";
import { type AnyTool, parseRoute, isServedOn } from "../../src/core/tool.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { untilPassing } from "./eventually.ts";
import { apiClient } from "./http.ts";
import { type FakeClock, testInstance, type TestInstance } from "./instance.ts";
import { addInterruption } from "./interruption-records.ts";
import type { Json } from "./json.ts";
import { connect } from "./mcp.ts";
import { signedInUser, signIn, type SignedIn } from "./users.ts";

/** The result of a call: an output or a problem. */
export interface CallResult {
  output?: Json;
  problem?: Problem;
}

/** `full` has all scopes but admin, and so has `other`, which has another owner. */
type KeyName = "full" | "other" | "readOnly";
/** The signed-in users, by role. The editor owns the key `other`. */
type PersonName = Role;
export type CallerName = KeyName | PersonName;

export interface SurfaceClient {
  surface: "direct" | "rest" | "mcp";
  clock: FakeClock;
  call(tool: AnyTool, input: Record<string, unknown>, by: CallerName): Promise<CallResult>;
  /** Sends a delivery to the trigger of a workflow, and waits until it has ended. */
  deliver(delivery: Record<string, unknown>): Promise<Json>;
  /** Ends the pending deliveries of subscriptions as failed. */
  giveUpDeliveries(): Promise<Json>;
  /** Continues the running backtests until they have ended. */
  finishBacktests(): Promise<Json>;
  /** Opens an interruption of a run. */
  interrupt(run: Record<string, unknown>): Promise<Json>;
}

const PROGRAM = { name: "parity", version: "1" };

/** Three instances that differ only in their surface. */
export async function openEverySurface(
  newClock: () => FakeClock,
  config: unknown = {},
): Promise<[SurfaceClient, SurfaceClient, SurfaceClient]> {
  return Promise.all([direct(newClock(), config), overMcp(newClock(), config), overRest(newClock(), config)]);
}

async function fresh(clock: FakeClock, config: unknown) {
  const instance = await testInstance({ clock, config });
  const executor = await instance.executor({ config });
  // What it delivers when would differ between the surfaces.
  await executor.deliverer.stop(0);
  // The migration writes the time of the machine.
  await instance.store.transaction((trx) =>
    trx
      .updateTable("projects")
      .set({ created_at: iso(clock.now()) })
      .execute(),
  );
  const scopes: Scope[] = ["read", "write", "publish", "run", "approve"];
  const people = {
    admin: await signedInUser(instance, { email: "root@example.com", role: "admin" }),
    editor: await signedInUser(instance, { email: "ann@example.com", role: "editor" }),
    viewer: await signedInUser(instance, { email: "vic@example.com", role: "viewer" }),
  };
  // Created one after another, so that lists have one order.
  const key = async (options: Parameters<typeof instance.key>[0]) => {
    clock.advance(1);
    return instance.key({ name: "parity", ...options });
  };
  const keys = {
    full: await key({ scopes }),
    other: await key({ scopes, owner: "ann@example.com" }),
    readOnly: await key({ scopes: ["read"] }),
  };
  clock.advance(1);
  await signIn(instance, people.editor.user, { client: "Safari 26 on iOS" });
  clock.advance(1);
  return { instance, callers: { ...keys, ...people }, finishBacktests: finisherOf(instance, executor) };
}

type Callers = Readonly<Record<KeyName, CreatedKey> & Record<PersonName, SignedIn>>;

/** The principal of a caller with the access that it has now. */
async function principalOf({ read }: TestInstance, caller: CreatedKey | SignedIn): Promise<Principal> {
  const isSingleProject = await read.projects.isSingle();
  const rolesOf = async (email: string) => {
    const user = await read.users.findByEmail(email);
    const memberships = await read.projects.membershipsOf(email);
    return user === undefined ? null : { role: user.role, memberships, isSingleProject };
  };
  if ("principal" in caller) {
    const access = accessOfPerson((await rolesOf(caller.principal.owner))!);
    return { ...caller.principal, access, scopes: scopesOf(access) };
  }
  const { id, name, owner, lineage } = caller.record;
  const access = accessOfKey(caller.record, await rolesOf(owner), isSingleProject);
  return { kind: "key", keyId: id, keyName: name, owner, lineage, scopes: scopesOf(access), access };
}

/** @param delivery the workflow with the body, or `refused` */
const delivererTo =
  ({ read, services }: TestInstance) =>
  async ({ workflow_id: id, body, refused }: Record<string, unknown>): Promise<Json> => {
    const [record] = await read.triggers.ofWorkflow(id as string);
    const target = { record: record!, trigger: { id: record!.name, type: "webhook" as const } };
    const { triggers } = services.engine;
    if (refused === true) {
      await triggers.recordRefusal(target, { code: "signature_invalid", reason: "No.", bytes: 2 });
      return {};
    }
    const event = { body, headers: {}, query: {} };
    const { deliveryId } = await triggers.receive(target, { event, senderId: null, bytes: 10 });
    await untilPassing(async () => {
      if ((await read.triggerDeliveries.find(deliveryId))!.status === "received")
        throw new Error("not ended");
    });
    return { delivery_id: deliveryId };
  };

const finisherOf =
  ({ read }: TestInstance, executor: Pick<Executor, "continueBacktests" | "queue">) =>
  async (): Promise<Json> => {
    while ((await read.backtests.running(1)).length > 0) {
      await executor.continueBacktests();
      executor.queue.wake();
      await executor.queue.waitUntilIdle();
    }
    // Once a poll finds none, that which the end of the last replay has planned does nothing.
    await executor.continueBacktests();
    return {};
  };

const interrupterOf =
  (instance: TestInstance) =>
  async ({ run_id: id }: Record<string, unknown>): Promise<Json> => ({
    id: await addInterruption(instance, id as string),
  });

const giverUpOf =
  ({ store }: TestInstance, clock: FakeClock) =>
  async (): Promise<Json> => {
    const failed = { state: "failed", due_at: null, ended_at: iso(clock.now()) } as const;
    await store.transaction((trx) => trx.updateTable("deliveries").set(failed).execute());
    return {};
  };

async function direct(clock: FakeClock, config: unknown): Promise<SurfaceClient> {
  const { instance, callers, finishBacktests } = await fresh(clock, config);
  return {
    surface: "direct",
    clock,
    deliver: delivererTo(instance),
    giveUpDeliveries: giverUpOf(instance, clock),
    interrupt: interrupterOf(instance),
    finishBacktests,
    async call(tool, input, by) {
      const requestId = newRequestId();
      try {
        const output = await invoke(instance.services, tool, input, {
          actor: {
            principal: await principalOf(instance, callers[by]),
            client: { surface: "cli", name: "parity/1" },
          },
          requestId,
          signal: new AbortController().signal,
        });
        return { output: output };
      } catch (error) {
        return { problem: toProblem(toAppError(error), requestId) };
      }
    },
  };
}

async function overMcp(clock: FakeClock, config: unknown): Promise<SurfaceClient> {
  const { instance, callers, finishBacktests } = await fresh(clock, config);
  const { url } = await instance.mcp({ config });
  const rest = caller((await instance.rest({ config })).url, callers);
  const client = (key: KeyName) => connect("v2 pinned to 2026-07-28", url, callers[key].value, PROGRAM);
  const [full, other, readOnly] = await Promise.all([client("full"), client("other"), client("readOnly")]);
  const clients = { full, other, readOnly };
  return {
    surface: "mcp",
    clock,
    deliver: delivererTo(instance),
    giveUpDeliveries: giverUpOf(instance, clock),
    interrupt: interrupterOf(instance),
    finishBacktests,
    async call(tool, input, by) {
      // The preparation of a scenario may use operations of REST only, and signed-in users.
      if (!isServedOn(tool, "mcp") || !isKey(by)) return rest(tool, input, by);
      const { access } = await principalOf(instance, callers[by]);
      const isShown = (field: string): boolean => field !== "project" || choosesProject(access);
      const { isError, content, structuredContent } = await clients[by].call(tool.name, {
        ...input,
        // The other surfaces return the whole answer.
        ...(tool.selectable === true &&
          tool.brief !== undefined && {
            fields: Object.keys(((tool.page?.item ?? tool.output) as z.ZodObject).shape).filter(isShown),
          }),
      });
      return isError ? { problem: JSON.parse(content[0]!.text) as Problem } : { output: structuredContent };
    },
  };
}

export async function overRest(clock: FakeClock, config: unknown): Promise<SurfaceClient> {
  const { instance, callers, finishBacktests } = await fresh(clock, config);
  const { url } = await instance.rest({ config });
  return {
    surface: "rest",
    clock,
    call: caller(url, callers),
    deliver: delivererTo(instance),
    giveUpDeliveries: giverUpOf(instance, clock),
    interrupt: interrupterOf(instance),
    finishBacktests,
  };
}

const isKey = (by: CallerName): by is KeyName => by === "full" || by === "other" || by === "readOnly";

const caller =
  (url: string, callers: Callers): SurfaceClient["call"] =>
  async (tool, input, by) => {
    const { method, target, body, headers } = asRequest(tool, input);
    const answer = isKey(by)
      ? await apiClient(url, callers[by].value)(method, target, body, headers)
      : await apiClient(url)(method, target, body, { ...headers, Cookie: callers[by].cookie });
    if (answer.status >= 400) {
      if (answer.status !== answer.body.status) throw new Error("the problem names another status");
      return { problem: answer.body as Problem };
    }
    return { output: tool.page === undefined ? objectIn(tool, answer) : pageIn(answer) };
  };

type Answered = Awaited<ReturnType<ReturnType<typeof apiClient>>>;

/** A single object, with the status and headers of REST. */
function objectIn(tool: AnyTool, { status, headers, body }: Answered): Json {
  const place = tool.pollLocation?.(body);
  const expected = tool.effect === "create" ? 201 : place === undefined ? 200 : 202;
  if (place !== undefined && headers.get("location") !== place) throw new Error(`Location is not ${place}`);
  if (status !== expected) throw new Error(`${tool.name} answered ${status}, not ${expected}`);
  const tag = tool.etag?.(body);
  const etag = tag === undefined ? null : `"${tag}"`;
  const cacheControl = tool.noStore ? "no-store" : "private, no-cache";
  if (headers.get("cache-control") !== cacheControl) throw new Error(`Cache-Control is not ${cacheControl}`);
  if (tool.noStore && headers.has("location")) throw new Error("a secret has no place to be got from again");
  if (headers.get("etag") !== etag) throw new Error(`ETag ${headers.get("etag")}, not ${etag}`);
  return body;
}

/** A list in MCP's form: REST sends only the items, and the rest as headers. */
function pageIn({ headers, body }: Answered): Json {
  const next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  return {
    items: body,
    total: Number(headers.get("x-total-count")),
    ...(headers.get("x-total-count-capped") === "true" && { total_capped: true }),
    next_cursor: next === undefined ? null : new URL(next, "http://localhost").searchParams.get("cursor"),
  };
}

/** Splits an operation's input into path, headers, query and body for REST. */
export function asRequest(tool: AnyTool, input: Record<string, unknown>) {
  const { method, path, parameters } = parseRoute(tool);
  const rest = { ...input };
  const take = (field: string): string => {
    const value = String(rest[field]);
    delete rest[field];
    return value;
  };
  let target = path;
  for (const name of parameters) target = target.replace(`:${name}`, encodeURIComponent(take(name)));
  const headers: Record<string, string> = { "User-Agent": `${PROGRAM.name}/${PROGRAM.version}` };
  for (const [field, header] of Object.entries(tool.headers ?? {})) {
    if (rest[field] === undefined) continue;
    const value = take(field);
    headers[header] = header === "If-Match" ? `"${value}"` : value;
  }
  if (method !== "GET" && method !== "DELETE") return { method, target, body: rest, headers };
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(rest)) query.set(key, String(value));
  return { method, target: `${target}?${query.toString()}`, body: undefined, headers };
}
