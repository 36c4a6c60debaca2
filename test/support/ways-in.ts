/** The same operation by every way in: directly, over MCP, over REST; each on a fresh instance of its own. */
import type { Scope } from "../../schemas/actor.ts";
import type { Problem } from "../../schemas/problem.ts";
import { toAppError, toProblem } from "../../src/core/errors.ts";
import { newRequestId } from "../../src/core/ids.ts";
import { type AnyTool, routeOf } from "../../src/core/tool.ts";
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

export interface WayIn {
  surface: "direct" | "rest" | "mcp";
  clock: FakeClock;
  call(tool: AnyTool, input: Record<string, unknown>, readOnly: boolean): Promise<Outcome>;
}

const PROGRAM = { name: "parity", version: "1" };

/** Three instances that differ in nothing but the way in. */
export async function everyWayIn(newClock: () => FakeClock): Promise<[WayIn, WayIn, WayIn]> {
  return Promise.all([direct(newClock()), overMcp(newClock()), overRest(newClock())]);
}

async function fresh(clock: FakeClock) {
  const instance = await testInstance({ clock });
  const [full, readOnly] = await Promise.all([
    instance.key({ name: "parity" }),
    instance.key({ name: "parity", scopes: ["read"] }),
  ]);
  return { instance, keyFor: (only: boolean) => (only ? readOnly : full) };
}

async function direct(clock: FakeClock): Promise<WayIn> {
  const { instance, keyFor } = await fresh(clock);
  return {
    surface: "direct",
    clock,
    async call(tool, input, readOnly) {
      const { id, name, owner, lineage, scopes } = keyFor(readOnly).record;
      const principal = { keyId: id, keyName: name, owner, lineage, scopes: new Set<Scope>(scopes) };
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

async function overMcp(clock: FakeClock): Promise<WayIn> {
  const { instance, keyFor } = await fresh(clock);
  const { url } = await instance.mcp();
  const client = (only: boolean) => connect("v2 pinned to 2026-07-28", url, keyFor(only).value, PROGRAM);
  const [full, readOnly] = await Promise.all([client(false), client(true)]);
  return {
    surface: "mcp",
    clock,
    async call(tool, input, only) {
      const { isError, content, structuredContent } = await (only ? readOnly : full).call(tool.name, input);
      return isError ? { problem: JSON.parse(content[0]!.text) as Problem } : { output: structuredContent };
    },
  };
}

async function overRest(clock: FakeClock): Promise<WayIn> {
  const { instance, keyFor } = await fresh(clock);
  const { url } = await instance.rest();
  return {
    surface: "rest",
    clock,
    async call(tool, input, readOnly) {
      const { method, target, body, headers } = asRequest(tool, input);
      const answer = await api(url, keyFor(readOnly).value)(method, target, body, headers);
      if (answer.status >= 400) {
        if (answer.status !== answer.body.status) throw new Error("the problem names another status");
        return { problem: answer.body as Problem };
      }
      return { output: tool.page === undefined ? objectIn(tool, answer) : pageIn(answer) };
    },
  };
}

type Answered = Awaited<ReturnType<ReturnType<typeof api>>>;

/** A single object, and what REST says of it in its status and headers. */
function objectIn(tool: AnyTool, { status, headers, body }: Answered): Json {
  const expected = tool.effect === "create" ? 201 : 200;
  if (status !== expected) throw new Error(`${tool.name} answered ${status}, not ${expected}`);
  const etag = tool.etag === undefined ? null : `"${tool.etag(body)}"`;
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
