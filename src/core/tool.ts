/** An operation, defined once: REST, MCP, OpenAPI and the tests are made from it. */
import type { z } from "zod";
import type { Scope } from "../../schemas/actor.ts";
import type { AccountsApi } from "./account-ports.ts";
import type { EngineApi } from "./engine-port.ts";
import type { ErrorCode } from "./errors.ts";
import type { Actor, CursorCodec, Readers, Writers } from "./ports.ts";

export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE";
export type HttpRoute = `${HttpMethod} /${string}`;

/** The names behind the colons of a route. */
type RouteParameter<R extends string> = R extends `${string}:${infer Name}/${infer Rest}`
  ? Name | RouteParameter<Rest>
  : R extends `${string}:${infer Name}`
    ? Name
    : never;

/** How far something is that its caller waits for. */
export interface Progress {
  done: number;
  total: number;
  message: string;
}

/** What a person is asked before an operation can be carried out. */
export interface Elicitation {
  message: string;
  /** A flat JSON Schema, as MCP's elicitation takes it: text, numbers, yes or no, and choices. */
  schema: { type: "object"; properties: Record<string, Record<string, unknown>>; required: string[] };
  /** The input that an answer stands for; it is added to what was given. */
  toInput(content: Record<string, unknown>): Record<string, unknown>;
}

/** What an operation is handed beside its input. */
export interface ToolContext {
  actor: Actor;
  read: Readers;
  cursors: CursorCodec;
  engine: EngineApi;
  accounts: AccountsApi;
  /** The present moment, in milliseconds. */
  now(): number;
  /**
   * Runs `effect` in one write transaction and gives what it gave. With an idempotency key, an effect that was
   * committed before is not repeated: its recorded result comes back.
   * @param part names a write beside the operation's own one, which is recorded under a name of its own
   */
  write<T>(effect: (tx: Writers) => Promise<T>, part?: string): Promise<T>;
  /** Works out once what is the same on every page of one answer: how many items there are. */
  total(count: () => Promise<number>): Promise<number>;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** The trace that what is begun here goes on with (`RunRequest.trace`); null for none. */
  trace: string | null;
  /** Tells who waits how far it is; left out where nobody wants to know. */
  progress?: ((progress: Progress) => void) | undefined;
}

export interface ListResponse<T> {
  items: T[];
  total: number;
  next_cursor: string | null;
}

export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** `list_workflows`; the file is `list-workflows.ts`. */
  name: string;
  title: string;
  /** For the model that chooses: what it does, when to use it, what to call next. */
  description: string;
  route: HttpRoute;
  scope: Scope;
  /** Only for somebody who is signed in (or at the command line), never for a key: what could make another way in. */
  requiresUser?: true;
  effect: "read" | "create" | "update" | "delete" | "act";
  /** Whether it reaches beyond Millrace (a database, a model). */
  openWorld?: boolean;
  /** The domain errors it can give; those of every request (401, 403, 400, …) go without saying. */
  errors: readonly ErrorCode[];
  /** Both when left out. */
  surfaces?: readonly ("rest" | "mcp")[];
  /** A body to begin with, where the examples of all fields together make none. */
  example?: Readonly<Record<string, unknown>>;
  /** Input that REST takes from a header instead of the query or body. */
  headers?: Readonly<Record<string, "If-Match" | "Idempotency-Key">>;
  /** The revision of what it gives, for REST's ETag and If-None-Match. */
  etag?: (output: z.output<O>) => string | undefined;
  /** Where what was accepted, but has not ended, can be asked for; undefined once it has. REST answers 202. */
  pollLocation?: (output: z.output<O>) => string | undefined;
  /** The answer holds what is shown this one time: REST tells everybody to keep no copy, and names no place for it. */
  noStore?: true;
  /** A list: without paging parameters REST streams every page, MCP sends one of `mcpLimit`. */
  page?: {
    item: z.ZodType;
    mcpLimit: number;
    /** A tag that changes whenever the whole answer may have; lets REST answer 304 and keep the bytes. */
    revision?: (ctx: ToolContext, input: z.output<I>) => Promise<string | undefined>;
  };
  input: I;
  output: O;
  /** What must be asked of a person first; undefined for nothing. Only asked where the client can ask (MCP). */
  elicitation?: (input: z.output<I>, ctx: ToolContext) => Promise<Elicitation | undefined>;
  run(input: z.output<I>, ctx: ToolContext): Promise<z.input<O>>;
}

// A tool is called with what its own schema parsed; the catalogue holds tools of every shape.
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where the shapes are forgotten
export type AnyTool = Tool<any, any>;

/**
 * Defines an operation. A route parameter that is missing from the input, and a header for a field that the input
 * does not have, do not compile.
 */
export function defineTool<const R extends HttpRoute, I extends z.ZodObject, O extends z.ZodType>(
  tool: Omit<Tool<I, O>, "route" | "headers"> & {
    route: RouteParameter<R> extends keyof z.input<I> ? R : never;
    headers?: Readonly<Partial<Record<keyof z.input<I> & string, "If-Match" | "Idempotency-Key">>>;
  },
): Tool<I, O> {
  return tool as Tool<I, O>;
}

/** Whether an operation is served on a surface. */
export const isServedOn = (tool: AnyTool, surface: "rest" | "mcp"): boolean =>
  tool.surfaces?.includes(surface) ?? true;

/** `POST /workflows/:workflow_id` in its parts. */
export function parseRoute(tool: Pick<AnyTool, "route">): {
  method: HttpMethod;
  path: string;
  parameters: string[];
} {
  const [method, path] = tool.route.split(" ") as [HttpMethod, string];
  return { method, path, parameters: [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!) };
}

/** MCP's four hints follow from the effect. @see MCP 2025-11-25, ToolAnnotations */
export function toolAnnotations(tool: Pick<AnyTool, "effect" | "openWorld" | "title">) {
  return {
    title: tool.title,
    readOnlyHint: tool.effect === "read",
    destructiveHint: tool.effect === "delete",
    idempotentHint: tool.effect !== "create" && tool.effect !== "act",
    openWorldHint: tool.openWorld ?? false,
  };
}
