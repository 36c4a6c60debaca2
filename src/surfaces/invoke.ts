/** The one way in: authorise, parse, run, check the output, log. REST and MCP are thin adapters on it. */
import type { Logger } from "pino";
import type { z } from "zod";
import type { Clock } from "../core/clock.ts";
import type { AccountsApi } from "../core/account-ports.ts";
import type { EngineApi } from "../core/engine-port.ts";
import { AppError, ERRORS, toAppError } from "../core/errors.ts";
import { parseInput } from "../core/issues.ts";
import { type Meter, secondsSince } from "../core/meter.ts";
import { serializeTrace, type TraceContext, type TraceHeaders } from "../core/trace-context.ts";
import type { SpanAttributes, Tracer } from "../core/tracer.ts";
import type { Actor, CursorCodec, Readers, UnitOfWork } from "../core/ports.ts";
import type { AnyTool, ListResponse, Progress, Elicitation, ToolContext } from "../core/tool.ts";
import type { Issue } from "../../schemas/problem.ts";
import { MAX_PAGE } from "../../schemas/page.ts";
import { endRequestSpan, startRequestSpan } from "./request-trace.ts";
import { type ResourceIds, resourceIdsOf } from "./resource-ids.ts";

/** What every operation stands on. */
export interface Services {
  read: Readers;
  cursors: CursorCodec;
  write: UnitOfWork;
  engine: EngineApi;
  accounts: AccountsApi;
  clock: Clock;
  log: Logger;
  meter: Meter;
  tracer: Tracer;
}

/** One request, from whichever surface. */
export interface Call {
  actor: Actor;
  requestId: string;
  signal: AbortSignal;
  /** The status of the answer, once it is there; 200 where the surface has none. */
  status?: () => number;
  /** What it turns out to be about, for its line in the log. */
  resourceIds?: ResourceIds;
  /** The trace that the caller is in, as it was sent. */
  incomingTrace?: Readonly<Record<keyof TraceHeaders, unknown>> | undefined;
  /** What its surface knows of it, for a trace. */
  attributes?: SpanAttributes;
  /** The trace that it is part of, and hands on; known once it is observed. */
  trace?: TraceContext | undefined;
  /** Where whoever waits wants to be told how far it is. */
  progress?: ((progress: Progress) => void) | undefined;
}

/** A request that was let in and understood, ready to run. */
export interface PreparedCall {
  input: Record<string, unknown>;
  /** Runs it once. */
  run(): Promise<unknown>;
  /** What must be asked of a person first. */
  question(): Promise<Elicitation | undefined>;
  /** Every page of a list, one after the other. */
  pages(): AsyncGenerator<ListResponse<unknown>>;
  /** The list's revision, if it has one. */
  revision(): Promise<string | undefined>;
}

/**
 * Lets a request in: scope first, then its input, every fault at once.
 * @param found faults that the surface found before
 * @throws AppError missing_scope, invalid_input
 */
export function prepare(
  services: Services,
  tool: AnyTool,
  raw: unknown,
  call: Call,
  found: readonly Issue[] = [],
): PreparedCall {
  authorise(tool, call);
  const input: Record<string, unknown> = parseInput(tool.input as z.ZodObject, raw, found);
  call.resourceIds = resourceIdsOf(input);
  const ctx = contextOf(services, tool, raw as Record<string, unknown>, call);
  const run = async (given: Record<string, unknown>) => {
    const output = checkOutput(tool, await tool.run(given, ctx));
    call.resourceIds = resourceIdsOf(input, output);
    return output;
  };
  return {
    input,
    run: () => run(input),
    question: async () => tool.elicitation?.(input, ctx),
    async *pages() {
      for (let cursor = input["cursor"]; ;) {
        const page = (await run({ ...input, limit: MAX_PAGE, cursor })) as ListResponse<unknown>;
        yield page;
        if (page.next_cursor === null) return;
        cursor = page.next_cursor;
      }
    },
    revision: async () => tool.page?.revision?.(ctx, input),
  };
}

/**
 * Carries an operation out.
 * @param raw the input as it came, not yet checked
 * @throws AppError those of `prepare`, those that the tool declares, busy, storage_unavailable, internal
 */
export function invoke(
  services: Services,
  tool: AnyTool,
  raw: unknown,
  call: Call,
  found: readonly Issue[] = [],
): Promise<unknown> {
  return withTelemetry(services, tool, call, async () => prepare(services, tool, raw, call, found).run());
}

/** Runs `work` and writes down how it went: the log line of a request, and the cause of an error that hides it. */
export async function withTelemetry<T>(
  services: Services,
  tool: Pick<AnyTool, "name">,
  call: Call,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const { surface } = call.actor.client;
  const span = startRequestSpan(services.tracer, tool.name, call);
  const line = {
    operation: tool.name,
    request_id: call.requestId,
    key: call.actor.principal.keyId,
    surface,
    ...(call.trace !== undefined && { trace_id: call.trace.traceId }),
  };
  const meet = (status: number): void =>
    services.meter.operationCompleted({ name: tool.name, surface, status, seconds: secondsSince(start) });
  try {
    const result = await work();
    const status = call.status?.() ?? 200;
    meet(status);
    endRequestSpan(span, call, status);
    services.log.info({ ...line, ...call.resourceIds, ms: elapsed(start) }, tool.name);
    return result;
  } catch (thrown) {
    const error = toAppError(thrown);
    meet(error.status);
    endRequestSpan(span, call, error.status, error);
    const level = ERRORS[error.code].log;
    const refused = level === "info";
    services.log[level](
      {
        ...line,
        ...call.resourceIds,
        ms: elapsed(start),
        code: error.code,
        ...(!refused && { err: error.cause ?? error }),
      },
      `${tool.name} ${refused ? "refused" : "failed"}`,
    );
    throw error;
  }
}

const elapsed = (start: number): number => Math.round((performance.now() - start) * 100) / 100;

/** @throws AppError person_needed, missing_scope */
export function authorise(
  tool: Pick<AnyTool, "name" | "scope" | "requiresUser">,
  { actor }: Pick<Call, "actor">,
): void {
  const { kind, scopes, owner } = actor.principal;
  if (tool.requiresUser && kind === "key") {
    throw new AppError(
      "person_needed",
      `${tool.name} is for somebody who is signed in; no key may do it. Use the web interface (/ui/).`,
    );
  }
  if (scopes.has(tool.scope)) return;
  if (kind === "session") {
    throw new AppError(
      "missing_scope",
      `${tool.name} needs the scope "${tool.scope}", which the role of ${owner} does not give. An admin can change the role.`,
    );
  }
  throw new AppError(
    "missing_scope",
    `${tool.name} needs a key with the scope "${tool.scope}"; this one has ${[...scopes].join(", ")}. ` +
      `Use another key, or have one made: millrace keys create --name <name> --scope ${tool.scope}`,
    {
      errors: [
        { path: "", code: "missing_scope", message: `needs the scope ${tool.scope}`, allowed: [tool.scope] },
      ],
    },
  );
}

function contextOf(services: Services, tool: AnyTool, raw: Record<string, unknown>, call: Call): ToolContext {
  // As it was given: a default that a new release brings does not make a repeated request another one.
  const { idempotency_key: key, ...claimed } = raw;
  const idempotency = typeof key === "string" ? { key, input: claimed } : undefined;
  let total: Promise<number> | undefined;
  return {
    actor: call.actor,
    read: services.read,
    cursors: services.cursors,
    engine: services.engine,
    accounts: services.accounts,
    now: () => services.clock.now(),
    signal: call.signal,
    trace: call.trace === undefined ? null : serializeTrace(call.trace),
    progress: call.progress,
    total: (count) => (total ??= count()),
    write: (effect, part) => {
      const operation = part === undefined ? tool.name : `${tool.name}.${part}`;
      return services.write({ operation, actor: call.actor, requestId: call.requestId, idempotency }, effect);
    },
  };
}

function checkOutput(tool: AnyTool, output: unknown): unknown {
  const parsed = (tool.output as z.ZodType).safeParse(output);
  if (parsed.success) return parsed.data;
  throw new Error(`${tool.name} gave what its output schema does not allow`, { cause: parsed.error });
}
