/** The engine put together, as far as every process needs it: checking definitions and taking runs in. */
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

/** What every process needs that takes runs in; executor/job-handlers.ts adds what carries them out. */
export interface Engine {
  context: RunContext;
  check: Checker["check"];
  prepareRun: PrepareRun;
  /** A definition without faults, defaults filled in. */
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
  // Loaded when the first definition is checked: a process that only lists and reads never needs it.
  const loaded = lazy(async () => {
    const { checker } = await import("./definition/check/index.ts");
    return checker({ stepTypes, connections, clock, workflows });
  });
  const check: Checker = { check: async (source, options) => (await loaded()).check(source, options) };
  const workflows = lookup(read.workflows, runs, (definition, selfId) =>
    check.check(definition, { checkConnections: false, selfId }),
  );
  const prepare = prepareRun({
    workflows: read.workflows,
    runs,
    definitionCache: context.definitionCache,
    issuesOf: keptIssues(check, runs),
  });
  return { context, check: check.check, prepareRun: prepare, parse };
}

const CANDIDATES = 200;

/** What the checker asks of other workflows: what their runs take and give. */
const lookup = (
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
  workflowIds: () => workflows.recentIds(CANDIDATES),
});

/** As many checked definitions are remembered. */
const KEPT = 500;

/**
 * The faults that a definition has in itself. What it is bound to is checked when it is saved and published; when it
 * runs, a database that is away for a moment is a matter for `retry`, not a reason to refuse.
 */
function keptIssues(
  check: Checker,
  runs: Pick<RunReader, "versionDefinition">,
): (ref: DefinitionRef) => Promise<readonly Issue[]> {
  const known = new Map<string, readonly Issue[]>();
  return async ({ workflowId, version, definition }) => {
    // Versions never change; what a retry was given for itself is known by its text.
    const key = definition === null ? `${workflowId}@${version}` : canonicalJson([workflowId, definition]);
    const found = known.get(key);
    if (found !== undefined) return found;
    const { errors } = await check.check(definition ?? (await runs.versionDefinition(workflowId, version)), {
      checkConnections: false,
      selfId: workflowId,
    });
    if (known.size >= KEPT) known.delete(known.keys().next().value!);
    known.set(key, errors);
    return errors;
  };
}
