/** Assembles the part of the engine that every process needs: checking definitions and starting runs. */
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Issue } from "../../schemas/problem.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { Clock } from "../core/clock.ts";
import type { Connections } from "../core/connections.ts";
import { lazy } from "../core/lazy.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import type { WorkflowReader } from "../core/ports.ts";
import type { EngineReaders, RunReader } from "../core/run-ports.ts";
import { ANY } from "../core/shapes.ts";
import { noTracer, type Tracer } from "../core/tracer.ts";
import type { AnyStepType } from "../core/step-type.ts";
import type { Checker, Report, WorkflowLookup } from "./definition/check/index.ts";
import { definitionSchema } from "./definition/definition-schema.ts";
import { type DefinitionRef, definitionCache } from "./definition/compiled-definition.ts";
import { type PrepareRun, prepareRun } from "./run-state/prepare-run.ts";
import { spans } from "./run-state/spans.ts";
import type { RunContext } from "./run-state/run-context.ts";

export interface EngineOptions {
  stepTypes: readonly AnyStepType[];
  connections: Connections;
  read: EngineReaders & { workflows: WorkflowReader };
  clock: Clock;
  log: Logger;
  meter?: Meter;
  tracer?: Tracer;
}

/** The part of the engine that starts runs. Executors add executor/job-handlers.ts to it. */
export interface Engine {
  context: RunContext;
  check: Checker["check"];
  prepareRun: PrepareRun;
  /** Fills in the defaults of a definition without issues. */
  parse(definition: Record<string, unknown>): Definition;
}

export function engine({
  stepTypes,
  connections,
  read,
  clock,
  log,
  meter = noMeter,
  tracer = noTracer(),
}: EngineOptions): Engine {
  const { runs } = read;
  const schema = definitionSchema(stepTypes);
  const parse = (definition: Record<string, unknown>): Definition => schema.parse(definition);
  const context: RunContext = {
    clock,
    log,
    meter,
    spans: spans(tracer, stepTypes, connections),
    definitionCache: definitionCache(parse, stepTypes, connections),
  };
  // Loaded with the first check: a process that only lists and reads never needs the checker.
  const loadChecker = lazy(async () => {
    const { checker } = await import("./definition/check/index.ts");
    return checker({ stepTypes, connections, clock, workflows });
  });
  const check: Checker = { check: async (source, options) => (await loadChecker()).check(source, options) };
  const workflows = workflowLookup(read.workflows, runs, (definition, selfId) =>
    check.check(definition, { checkConnections: false, selfId }),
  );
  const prepare = prepareRun({
    workflows: read.workflows,
    runs,
    definitionCache: context.definitionCache,
    issuesOf: cachedIssues(check, runs),
  });
  return { context, check: check.check, prepareRun: prepare, parse };
}

/** Number of workflows among which the checker looks for a near match of an unknown id. */
const MAX_CANDIDATES = 200;

/** Looks up the inputs and the output of other workflows for the checker. */
const workflowLookup = (
  workflows: WorkflowReader,
  runs: Pick<RunReader, "versionDefinition">,
  check: (definition: Record<string, unknown>, selfId: string) => Promise<Report>,
): WorkflowLookup => ({
  async workflow(id) {
    const found = await workflows.find(id);
    if (found === undefined || found.status === "archived") return undefined;
    const version = found.published_version ?? found.version;
    const definition = await runs.versionDefinition(id, version);
    if (definition === null) return { inputs: null, output: ANY };
    const inputs = (definition["inputs"] ?? null) as Record<string, unknown> | null;
    return { inputs, output: (await check(definition, id)).output_shape };
  },
  workflowIds: () => workflows.recentIds(MAX_CANDIDATES),
});

/** Maximum number of definitions whose issues are cached. */
const MAX_CACHED_CHECKS = 500;

/**
 * Checks a definition without its connections. Those are checked when it is saved and published; a database that is
 * unavailable when a run starts is a matter for `retry`, not a reason to refuse the run.
 */
function cachedIssues(
  check: Checker,
  runs: Pick<RunReader, "versionDefinition">,
): (ref: DefinitionRef) => Promise<readonly Issue[]> {
  const cache = new LRUCache<string, readonly Issue[]>({ max: MAX_CACHED_CHECKS });
  return async ({ workflowId, version, definition }) => {
    // A version never changes. The patched definition of a retry is identified by its text.
    const key = definition === null ? `${workflowId}@${version}` : canonicalJson([workflowId, definition]);
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const { errors } = await check.check(definition ?? (await runs.versionDefinition(workflowId, version)), {
      checkConnections: false,
      selfId: workflowId,
    });
    cache.set(key, errors);
    return errors;
  };
}
