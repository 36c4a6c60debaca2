/** The definition of an operation. REST, MCP, OpenAPI and the tests are generated from it. */
import type { z } from "zod";
import type { Scope } from "../../schemas/actor.ts";
import type { CallContext } from "./connections.ts";
import type { AccountsApi } from "./account-ports.ts";
import type { EngineApi } from "./engine-port.ts";
import type { ErrorCode } from "./errors.ts";
import type { RecordedName } from "./recorded-operations.ts";
import { usageSubjectOf } from "./usage-limits.ts";
import type { Actor, CursorCodec, Readers, Writers } from "./ports.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type HttpRoute = `${HttpMethod} /${string}`;

/** The names behind the colons of a route. */
type RouteParameter<R extends string> = R extends `${string}:${infer Name}/${infer Rest}`
  ? Name | RouteParameter<Rest>
  : R extends `${string}:${infer Name}`
    ? Name
    : never;

export interface Progress {
  done: number;
  total: number;
  message: string;
}

/** A question that the client asks its user before the operation runs. */
export interface Elicitation {
  message: string;
  /** A flat JSON Schema as MCP's elicitation allows it: strings, numbers, booleans and enumerations. */
  schema: { type: "object"; properties: Record<string, Record<string, unknown>>; required: string[] };
  /** Converts an answer to input fields, which are added to the given input. */
  toInput(content: Record<string, unknown>): Record<string, unknown>;
}

export interface ToolContext {
  actor: Actor;
  read: Readers;
  cursors: CursorCodec;
  engine: EngineApi;
  accounts: AccountsApi;
  /** The current time, in milliseconds since 1970 UTC. */
  now(): number;
  /**
   * Runs `effect` in one write transaction and returns its result. With an idempotency key, an effect that was committed
   * before is not repeated: the call returns its recorded result.
   * @param part names an additional write of the operation, which is recorded under its own name
   * @param options.again does it also where a request with the same key did it before
   */
  write<T>(effect: (tx: Writers) => Promise<T>, part?: string, options?: { again: true }): Promise<T>;
  /** Records that an error of the operation shows values of a run, if the operator asks for it (`audit.reads`). */
  recordRead(runId: string): Promise<void>;
  /**
   * Counts the items of a list once for all pages of a response.
   * @param count may stop at one more than `max`
   * @param max default: `MAX_TOTAL`
   */
  total(count: () => Promise<number>, max?: number): Promise<ListTotal>;
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
  /** The trace that runs started here continue (`RunRequest.trace`), or null. */
  trace: string | null;
  /** Reports progress to the client; undefined when the client does not ask for it. */
  progress?: ((progress: Progress) => void) | undefined;
}

/** The context of the connections that an operation uses. */
export const callContextOf = ({ actor, signal }: Pick<ToolContext, "actor" | "signal">): CallContext => ({
  owner: usageSubjectOf(actor.principal),
  signal,
});

/** The number of items of a list. */
export interface ListTotal {
  total: number;
  /** There are more than `total`, and they were not counted. */
  total_capped?: true | undefined;
}

export interface ListResponse<T> extends ListTotal {
  items: T[];
  next_cursor: string | null;
}

export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** For example `list_workflows`, in the file `list-workflows.ts`. */
  name: string;
  title: string;
  /** For the model that chooses a tool: what it does, when to use it, and what to call next. */
  description: string;
  route: HttpRoute;
  scope: Scope;
  /** Only for signed-in users and the command line, never for API keys, because the operation could create further access. */
  requiresUser?: true;
  /** About the instance, such as its users: needs its scope in the default project. */
  instance?: true;
  effect: "read" | "create" | "update" | "delete" | "act";
  /**
   * Whether its answer can contain values of runs: inputs, outputs, states, what approvals show, or messages of errors.
   * If the operator asks for it (`audit.reads`), each answer is recorded before it is sent.
   */
  readsValues?: true;
  /** Whether agents can name the fields of the answer that they want, because it may be long. */
  selectable?: true;
  /**
   * What MCP shows of the answer, or of each item of a list, unless `fields` names fields: without what the caller knows, because
   * it has just sent it, and what few callers need.
   * @param input the arguments as they were sent
   */
  brief?: (shown: Readonly<Record<string, unknown>>, input: Readonly<Record<string, unknown>>) => object;
  /** Whether it calls systems outside of Millrace, such as a database or a model. */
  openWorld?: boolean;
  /** The error codes of the domain; those that every request can have (400, 401, 403, …) are left out. */
  errors: readonly ErrorCode[];
  /** Both when left out. */
  surfaces?: readonly ("rest" | "mcp")[];
  /**
   * `admin`: MCP lists it only to callers with that scope in one of several projects, because every listed tool costs every agent
   * tokens. All can call it.
   */
  mcpList?: "admin";
  /** An example body, for when the examples of the fields are not valid together. */
  example?: Readonly<Record<string, unknown>>;
  /** Input that REST takes from a header instead of the query or body. */
  headers?: Readonly<Record<string, "If-Match" | "Idempotency-Key">>;
  /** The revision of the output, for ETag and If-None-Match of REST. */
  etag?: (output: z.output<O>) => string | undefined;
  /**
   * A tag that changes whenever the answer may, with which REST keeps the answer and sends it again; undefined where there is none. For
   * operations that only read, and no values of runs. A list has it as its ETag.
   */
  revision?: (ctx: ToolContext, input: z.output<I>) => Promise<string | undefined>;
  /** The path to poll while the accepted work has not ended, with status 202 over REST; undefined after its end. */
  pollLocation?: (output: z.output<O>) => string | undefined;
  /** The response contains a secret that is shown once: REST forbids caching it and sends no Location. */
  noStore?: true;
  /** For lists: without paging parameters REST streams all pages, and MCP returns one page of `mcpLimit` items. */
  page?: {
    item: z.ZodType;
    mcpLimit: number;
    /** REST sends lines of JSON (application/x-ndjson) instead of an array, as a file with this name. */
    linesFile?: string;
    /** Whether REST returns a page without paging parameters too, because the whole list may be very large. */
    alwaysPaged?: (input: z.output<I>) => boolean;
  };
  input: I;
  output: O;
  /** The question for the user, or undefined for none. It is asked only by MCP clients that support it. */
  elicitation?: (input: z.output<I>, ctx: ToolContext) => Promise<Elicitation | undefined>;
  run(input: z.output<I>, ctx: ToolContext): Promise<z.input<O>>;
}

// The catalogue contains tools of all types, and each tool is called with the output of its own schema.
// oxlint-disable-next-line typescript/no-explicit-any -- the types of input and output differ between tools
export type AnyTool = Tool<any, any>;

/**
 * Defines an operation. It does not compile when the input lacks a parameter of the route, or a field that `headers` names, nor
 * when it writes and `RECORDED_OPERATIONS` does not say what the report of a key's changes shows of it.
 */
export function defineTool<
  const R extends HttpRoute,
  const E extends Tool["effect"],
  I extends z.ZodObject,
  O extends z.ZodType,
>(
  tool: Omit<Tool<I, O>, "route" | "headers" | "name" | "effect"> & {
    name: E extends "read" ? string : RecordedName;
    effect: E;
    route: RouteParameter<R> extends keyof z.input<I> ? R : never;
    headers?: Readonly<Partial<Record<keyof z.input<I> & string, "If-Match" | "Idempotency-Key">>>;
  },
): Tool<I, O> {
  return tool as unknown as Tool<I, O>;
}

export const isServedOn = (tool: AnyTool, surface: "rest" | "mcp"): boolean =>
  tool.surfaces?.includes(surface) ?? true;

/** Splits a route such as `POST /workflows/:workflow_id`. */
export function parseRoute(tool: Pick<AnyTool, "route">): {
  method: HttpMethod;
  path: string;
  parameters: string[];
} {
  const [method, path] = tool.route.split(" ") as [HttpMethod, string];
  return { method, path, parameters: [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!) };
}

/** Derives MCP's tool annotations from the effect. @see MCP 2025-11-25, ToolAnnotations */
export function toolAnnotations(tool: Pick<AnyTool, "effect" | "openWorld" | "title">) {
  return {
    title: tool.title,
    readOnlyHint: tool.effect === "read",
    destructiveHint: tool.effect === "delete",
    idempotentHint: tool.effect !== "create" && tool.effect !== "act",
    openWorldHint: tool.openWorld ?? false,
  };
}
