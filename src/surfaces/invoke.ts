/** Executes operations: authorises, parses the input, runs, checks the output, and logs. REST and MCP are thin adapters. */
import type { Logger } from "pino";
import type { z } from "zod";
import type { Clock } from "../core/clock.ts";
import type { AccountsApi, RecordRead } from "../core/account-ports.ts";
import {
  choosesProject,
  isAlwaysAllowed,
  mayUseTool,
  scopesIn,
  visibilityKey,
  visibilityOf,
} from "../core/access.ts";
import type { EngineApi } from "../core/engine-port.ts";
import { AppError, ERRORS, toAppError } from "../core/errors.ts";
import { type EventUrlMask, eventUrlMask, maskError, maskValue } from "../core/event-url-mask.ts";
import { parseInput } from "../core/issues.ts";
import { sizeUpTo } from "../core/json-schema/json-size.ts";
import { nextTurn } from "../core/next-turn.ts";
import { type Meter, secondsSince } from "../core/meter.ts";
import { serializeTrace, type TraceContext, type TraceHeaders } from "../core/trace-context.ts";
import type { SpanAttributes, Tracer } from "../core/tracer.ts";
import type { Actor, CursorCodec, Principal, Readers, UnitOfWork } from "../core/ports.ts";
import { keyAdvice, missingScope, nothingAllowed } from "../core/scope-refusal.ts";
import { scopedReaders, scopedWriters } from "../core/scoped-readers.ts";
import type { AnyTool, ListResponse, ListTotal, Progress, Elicitation, ToolContext } from "../core/tool.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { Issue } from "../../schemas/problem.ts";
import { MAX_PAGE, MAX_TOTAL } from "../../schemas/page.ts";
import { endRequestSpan, startRequestSpan } from "./request-trace.ts";
import { readEntryOf } from "./read-entry.ts";
import { type ResourceIds, resourceIdsOf } from "./resource-ids.ts";
import { type Callers, stillAllowed } from "./still-allowed.ts";

/** Size from which the steps of an operation are turns of the event loop of their own, in JSON values or characters. */
export const LARGE_INPUT = 20_000;

/** Fields that no message offers to a caller without a choice of projects. */
const PROJECT_FIELDS = ["project", "projects"] as const;

/** The services that operations use. */
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
  /** Records an answered read of run values; undefined unless the operator asks for it. */
  recordRead: RecordRead | undefined;
  /** Whether the keys and sessions of requests are still valid; undefined for calls of the program itself. */
  callers?: Callers;
}

/** One request, from any surface. */
export interface Call {
  actor: Actor;
  requestId: string;
  /** The idempotency key of operations that take one, unless the input has one. */
  idempotencyKey?: string | undefined;
  signal: AbortSignal;
  /** The HTTP status of the response; 200 on surfaces without one. */
  status?: () => number;
  /** The ids of the resources that it concerns, for the log. */
  resourceIds?: ResourceIds;
  /** The caller's trace headers. */
  incomingTrace?: Readonly<Record<keyof TraceHeaders, unknown>> | undefined;
  /** Span attributes that the surface sets. */
  attributes?: SpanAttributes;
  /** The name of the tool that the caller used, if it is not the operation: that of an exposed workflow. */
  calledAs?: string;
  /** The trace of the request, set by `withTelemetry`. */
  trace?: TraceContext | undefined;
  /** Receives progress, when the caller has asked for it. */
  progress?: ((progress: Progress) => void) | undefined;
}

/** An authorised request with valid input. */
export interface PreparedCall {
  input: Record<string, unknown>;
  /** Runs the operation. */
  run(): Promise<unknown>;
  /** The question that a person must answer first; undefined for none. */
  question(): Promise<Elicitation | undefined>;
  /** All pages of a list. */
  pages(): AsyncGenerator<ListResponse<unknown>>;
  /** What two callers have in common only if they see the same; part of the keys of caches. */
  visibility: string;
  /** Whether the list is sent page by page, also where the request has no paging parameters. */
  isPaged: boolean;
  /** The revision of the answer (`Tool.revision`); undefined for none. */
  revision(): Promise<string | undefined>;
}

/**
 * Authorises a request and parses its input.
 * @param surfaceIssues issues that the surface has found, to be reported together with those of the input
 * @throws AppError missing_scope, invalid_input
 */
export function prepare(
  services: Services,
  tool: AnyTool,
  raw: unknown,
  call: Call,
  surfaceIssues: readonly Issue[] = [],
): PreparedCall {
  authorise(tool, call);
  const { access } = call.actor.principal;
  const input: Record<string, unknown> = parseInput(
    tool.input as z.ZodObject,
    raw,
    surfaceIssues,
    choosesProject(access) ? [] : PROJECT_FIELDS,
  );
  call.resourceIds = resourceIdsOf(input);
  const mask = eventUrlMask(services.read.runs, access);
  const assertAllowed =
    services.callers && stillAllowed(services.callers, call.actor.principal, services.clock);
  const ctx = contextOf(services, tool, raw as Record<string, unknown>, call, { mask, assertAllowed });
  const isLarge = sizeUpTo(input, LARGE_INPUT) === undefined;
  const run = async (parsed: Record<string, unknown>) => {
    if (isLarge) await nextTurn();
    const result = await tool.run(parsed, ctx).catch(async (error: unknown) => {
      throw await maskError(error, mask);
    });
    if (isLarge) await nextTurn();
    // An operation that has written may have changed the access of its own caller.
    if (tool.readsValues === true || tool.effect === "read") await assertAllowed?.();
    const output = await maskValue(checkOutput(tool, result), mask);
    if (tool.readsValues === true) await services.recordRead?.(readEntryOf(tool, parsed, output, call));
    call.resourceIds = resourceIdsOf(input, output);
    return output;
  };
  return {
    input,
    run: () => run(input),
    async question() {
      const question = await maskValue(await tool.elicitation?.(input, ctx), mask);
      if (question !== undefined && tool.readsValues === true)
        await services.recordRead?.(readEntryOf(tool, input, undefined, call, "question"));
      return question;
    },
    async *pages() {
      for (let cursor = input["cursor"]; ;) {
        const page = (await run({ ...input, limit: MAX_PAGE, cursor })) as ListResponse<unknown>;
        // Definitions can be large: reading a page and writing it are different turns of the event loop.
        if (input["include"] !== undefined) await nextTurn();
        yield page;
        if (page.next_cursor === null) return;
        // Reading and writing a page never waits for I/O, so nothing else would be served before the last one.
        await nextTurn();
        cursor = page.next_cursor;
      }
    },
    visibility: [
      visibilityKey(visibilityOf(access, tool.scope)),
      // Callers who find the same can see the event URLs of different projects.
      ...(mask === undefined ? [] : [visibilityKey(visibilityOf(access, "run"))]),
    ].join(" "),
    isPaged:
      input["limit"] !== undefined ||
      input["cursor"] !== undefined ||
      tool.page?.alwaysPaged?.(input) === true,
    revision: async () => tool.revision?.(ctx, input),
  };
}

/**
 * Executes an operation.
 * @param raw the input, not yet validated
 * @throws AppError those of `prepare`, those that the tool declares, busy, storage_unavailable, internal
 */
export function invoke(
  services: Services,
  tool: AnyTool,
  raw: unknown,
  call: Call,
  surfaceIssues: readonly Issue[] = [],
): Promise<unknown> {
  return withTelemetry(services, tool, call, async () =>
    prepare(services, tool, raw, call, surfaceIssues).run(),
  );
}

/** Runs `work` and records its outcome: the log line, the metrics and the span of the request. */
export async function withTelemetry<T>(
  services: Services,
  tool: Pick<AnyTool, "name">,
  call: Call,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const { surface } = call.actor.client;
  const span = startRequestSpan(services.tracer, tool.name, call);
  const logFields = {
    operation: tool.name,
    request_id: call.requestId,
    key: call.actor.principal.keyId,
    surface,
    ...(call.trace !== undefined && { trace_id: call.trace.traceId }),
  };
  const recordStatus = (status: number): void =>
    services.meter.operationCompleted({ name: tool.name, surface, status, seconds: secondsSince(start) });
  try {
    const result = await work();
    const status = call.status?.() ?? 200;
    recordStatus(status);
    endRequestSpan(span, call, status);
    services.log.info({ ...logFields, ...call.resourceIds, ms: elapsedMs(start) }, tool.name);
    return result;
  } catch (thrown) {
    const error = toAppError(thrown);
    recordStatus(error.status);
    endRequestSpan(span, call, error.status, error);
    const level = ERRORS[error.code].log;
    const refused = level === "info";
    services.log[level](
      {
        ...logFields,
        ...call.resourceIds,
        ms: elapsedMs(start),
        code: error.code,
        ...(!refused && { err: error.cause ?? error }),
      },
      `${tool.name} ${refused ? "refused" : "failed"}`,
    );
    throw error;
  }
}

/** Milliseconds since `start`, a value of `performance.now()`, with two decimals. */
const elapsedMs = (start: number): number => Math.round((performance.now() - start) * 100) / 100;

/** @throws AppError person_needed, not_permitted, missing_scope */
export function authorise(
  tool: Pick<AnyTool, "name" | "scope" | "requiresUser" | "instance">,
  { actor, calledAs = tool.name }: Pick<Call, "actor" | "calledAs">,
): void {
  const { kind, access } = actor.principal;
  const scopes = tool.instance === true ? scopesIn(access, DEFAULT_PROJECT) : actor.principal.scopes;
  if (tool.requiresUser && kind === "key") {
    throw new AppError(
      "person_needed",
      `${tool.name} is only for signed-in users, not for API keys. Use the web interface (/ui/).`,
    );
  }
  if (!mayUseTool(access, calledAs)) throw notPermitted(actor.principal, calledAs, tool);
  if (scopes.has(tool.scope) || isAlwaysAllowed(access, tool.name)) return;
  const needed = { scope: tool.scope, project: tool.instance === true ? DEFAULT_PROJECT : null };
  if (actor.principal.scopes.size === 0) throw nothingAllowed(actor.principal, needed);
  throw missingScope(actor.principal, {
    subject: tool.name,
    ...needed,
    ...(kind === "key" &&
      tool.scope === "publish" && { instead: "What you have saved is a draft: ask a person to publish it." }),
  });
}

/** @param name that of the operation, or of the tool of an exposed workflow */
function notPermitted(
  principal: Principal,
  name: string,
  { scope, instance }: Pick<AnyTool, "scope" | "instance">,
): AppError {
  const allowed = [...(principal.access.keyLimits?.tools ?? [])];
  const needed = { scope, project: instance === true ? DEFAULT_PROJECT : null };
  return new AppError(
    "not_permitted",
    `This key is limited to ${allowed.join(", ")}, so it can't use ${name}. Use another key, or ` +
      keyAdvice(principal, needed, ` --tool ${name}`),
    { errors: [{ path: "", code: "not_permitted", message: `is not one of the key's tools`, allowed }] },
  );
}

function contextOf(
  services: Services,
  tool: AnyTool,
  raw: Record<string, unknown>,
  call: Call,
  {
    mask,
    assertAllowed,
  }: { mask: EventUrlMask | undefined; assertAllowed: (() => Promise<void>) | undefined },
): ToolContext {
  // The input before its defaults are filled in: a default of a new release must not change a repeated request.
  const { idempotency_key: key, ...input } = raw;
  const accepted = "idempotency_key" in (tool.input as z.ZodObject).shape;
  const usedKey = typeof key === "string" ? key : accepted ? call.idempotencyKey : undefined;
  const idempotency = usedKey === undefined ? undefined : { key: usedKey, input };
  let total: Promise<ListTotal> | undefined;
  const request = {
    principal: call.actor.principal,
    operation: tool.name,
    scope: tool.scope,
    mask,
  };
  return {
    actor: call.actor,
    read: scopedReaders(services.read, request),
    cursors: services.cursors,
    engine: services.engine,
    accounts: services.accounts,
    now: () => services.clock.now(),
    signal: call.signal,
    trace: call.trace === undefined ? null : serializeTrace(call.trace),
    progress: call.progress,
    recordRead: async (target) => {
      const { actor, requestId } = call;
      await services.recordRead?.({ operation: `${tool.name}.read`, target, actor, requestId });
    },
    total: (count, max) => (total ??= count().then((found) => toListTotal(found, max))),
    write: (effect, part, options) => {
      const operation = part === undefined ? tool.name : `${tool.name}.${part}`;
      return services.write(
        {
          operation,
          actor: call.actor,
          requestId: call.requestId,
          idempotency: options?.again === true ? undefined : idempotency,
        },
        async (tx) => {
          await assertAllowed?.();
          return effect(scopedWriters(tx, request));
        },
      );
    },
  };
}

const toListTotal = (count: number, max = MAX_TOTAL): ListTotal =>
  count > max ? { total: max, total_capped: true } : { total: count };

function checkOutput(tool: AnyTool, output: unknown): unknown {
  const parsed = (tool.output as z.ZodType).safeParse(output);
  if (parsed.success) return parsed.data;
  throw new Error(`The output of ${tool.name} does not match its schema`, { cause: parsed.error });
}
