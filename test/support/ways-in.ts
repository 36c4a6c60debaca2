/** The same operation by every way in: directly, over MCP, over REST; each on a fresh instance of its own. */
import type { Scope } from "../../schemas/actor.ts";
import type { Problem } from "../../schemas/problem.ts";
import { toAppError, toProblem } from "../../src/core/errors.ts";
import { newRequestId } from "../../src/core/ids.ts";
import { type AnyTool, routeOf, servedOn } from "../../src/core/tool.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { api } from "./http.ts";
import { type FakeClock, testInstance } from "./instance.ts";
import type { Json } from "./json.ts";
import { connect } from "./mcp.ts";

/** What a call came to: one of the two. */
export interface Outcome {
  output?: Json;
  problem?: Problem;
}

/** `full` may do everything but administer, and so may `other`, which belongs to somebody else. */
export type KeyName = "full" | "other" | "readOnly";

export interface WayIn {
  surface: "direct" | "rest" | "mcp";
  clock: FakeClock;
  call(tool: AnyTool, input: Record<string, unknown>, key: KeyName): Promise<Outcome>;
}

const PROGRAM = { name: "parity", version: "1" };

/** Three instances that differ in nothing but the way in. */
export async function everyWayIn(
  newClock: () => FakeClock,
  config: unknown = {},
): Promise<[WayIn, WayIn, WayIn]> {
  return Promise.all([direct(newClock(), config), overMcp(newClock(), config), overRest(newClock(), config)]);
}

async function fresh(clock: FakeClock, config: unknown) {
  const instance = await testInstance({ clock, config });
  await instance.executor({ config });
  const scopes: Scope[] = ["read", "write", "run", "approve"];
  const [full, other, readOnly] = await Promise.all([
    instance.key({ name: "parity", scopes }),
    instance.key({ name: "parity", scopes, owner: "ann" }),
    instance.key({ name: "parity", scopes: ["read"] }),
  ]);
  const keys = { full, other, readOnly };
  return { instance, keyFor: (name: KeyName) => keys[name] };
}

async function direct(clock: FakeClock, config: unknown): Promise<WayIn> {
  const { instance, keyFor } = await fresh(clock, config);
  return {
    surface: "direct",
    clock,
    async call(tool, input, key) {
      const { id, name, owner, lineage, scopes } = keyFor(key).record;
      const principal = {
        kind: "key" as const,
        keyId: id,
        keyName: name,
        owner,
        lineage,
        scopes: new Set<Scope>(scopes),
      };
      const requestId = newRequestId();
      try {
        const output = await invoke(instance.services, tool, input, {
          actor: { principal, client: { surface: "cli", name: "parity/1" } },
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

async function overMcp(clock: FakeClock, config: unknown): Promise<WayIn> {
  const { instance, keyFor } = await fresh(clock, config);
  const { url } = await instance.mcp({ config });
  const rest = caller((await instance.rest({ config })).url, keyFor);
  const client = (key: KeyName) => connect("v2 pinned to 2026-07-28", url, keyFor(key).value, PROGRAM);
  const [full, other, readOnly] = await Promise.all([client("full"), client("other"), client("readOnly")]);
  const clients = { full, other, readOnly };
  return {
    surface: "mcp",
    clock,
    async call(tool, input, key) {
      // What leads up to a scenario may be REST's alone.
      if (!servedOn(tool, "mcp")) return rest(tool, input, key);
      const { isError, content, structuredContent } = await clients[key].call(tool.name, input);
      return isError ? { problem: JSON.parse(content[0]!.text) as Problem } : { output: structuredContent };
    },
  };
}

async function overRest(clock: FakeClock, config: unknown): Promise<WayIn> {
  const { instance, keyFor } = await fresh(clock, config);
  const { url } = await instance.rest({ config });
  return { surface: "rest", clock, call: caller(url, keyFor) };
}

const caller =
  (url: string, keyFor: (name: KeyName) => { value: string }): WayIn["call"] =>
  async (tool, input, key) => {
    const { method, target, body, headers } = asRequest(tool, input);
    const answer = await api(url, keyFor(key).value)(method, target, body, headers);
    if (answer.status >= 400) {
      if (answer.status !== answer.body.status) throw new Error("the problem names another status");
      return { problem: answer.body as Problem };
    }
    return { output: tool.page === undefined ? objectIn(tool, answer) : pageIn(answer) };
  };

type Answered = Awaited<ReturnType<ReturnType<typeof api>>>;

/** A single object, and what REST says of it in its status and headers. */
function objectIn(tool: AnyTool, { status, headers, body }: Answered): Json {
  const place = tool.accepted?.(body);
  const expected = tool.effect === "create" ? 201 : place === undefined ? 200 : 202;
  if (place !== undefined && headers.get("location") !== place) throw new Error(`Location is not ${place}`);
  if (status !== expected) throw new Error(`${tool.name} answered ${status}, not ${expected}`);
  const tag = tool.etag?.(body);
  const etag = tag === undefined ? null : `"${tag}"`;
  if (headers.get("etag") !== etag) throw new Error(`ETag ${headers.get("etag")}, not ${etag}`);
  return body;
}

/** A list as MCP has it: REST sends the items alone and the rest as headers. */
function pageIn({ headers, body }: Answered): Json {
  const next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  return {
    items: body,
    total: Number(headers.get("x-total-count")),
    next_cursor: next === undefined ? null : new URL(next, "http://localhost").searchParams.get("cursor"),
  };
}

/** An operation's input where REST has it: path, headers, and the query or the body. */
function asRequest(tool: AnyTool, input: Record<string, unknown>) {
  const { method, path, parameters } = routeOf(tool);
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
  if (method === "POST" || method === "PATCH") return { method, target, body: rest, headers };
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(rest)) query.set(key, String(value));
  return { method, target: `${target}?${query.toString()}`, body: undefined, headers };
}
