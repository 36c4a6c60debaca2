/** `millrace interruptions`: effects of which nobody knows whether they happened, on the command line, as the operator. */
import type { Interruption, InterruptionOutcome, InterruptionReason } from "../../schemas/interruption.ts";
import { getInterruption } from "../../tools/interruptions/get-interruption.ts";
import { listInterruptions } from "../../tools/interruptions/list-interruptions.ts";
import { settleInterruption } from "../../tools/interruptions/settle-interruption.ts";
import { formatTimestamp } from "./columns.ts";
import { parseObject } from "./inputs.ts";
import { type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { allOf, printJson, printTable } from "./project-output.ts";
import { definedOnly } from "./run-filter.ts";

interface Options {
  config?: string;
  json?: boolean;
}

const REASONS: Readonly<Record<InterruptionReason, string>> = {
  executor_ended: "its executor ended",
  timeout: "its time was over",
  connection_lost: "the connection broke after it was sent",
  cancelled: "its run was stopped",
};
const OUTCOMES: Readonly<Record<InterruptionOutcome, string>> = {
  happened: "The effect happened",
  not_happened: "The effect did not happen",
  unknown: "Nobody could find out whether the effect happened",
};

const stepOf = ({ step_id: step, item }: Interruption): string =>
  item === undefined ? step : `${step} (item ${item})`;
const stateOf = ({ outcome, waiting }: Interruption): string => outcome ?? (waiting ? "waiting" : "open");

interface ListOptions extends Options {
  status: string;
  run?: string;
  workflow?: string;
  project?: string;
}

/** Lists interruptions, newest first. */
export async function listAll(
  io: Io,
  { status, run, workflow, project, json, config }: ListOptions,
): Promise<void> {
  const input = { status, ...definedOnly({ run_id: run, workflow_id: workflow, project }) };
  const found = await withOperator(io, { config, requiresStateFor: "list interruptions of" }, (operator) =>
    allOf<Interruption>(operator, listInterruptions, input),
  );
  if (json) return printJson(io, found);
  if (found.length === 0)
    return io.out(status === "all" ? "There are no interruptions.\n" : `No interruption is ${status}.\n`);
  printTable(
    io,
    ["ID", "RUN", "WORKFLOW", "STEP", "ATTEMPT", "REASON", "INTERRUPTED (UTC)", "STATE"],
    found.map((one) => [
      one.id,
      one.run_id,
      one.workflow_id ?? "a single step",
      stepOf(one),
      String(one.attempt),
      one.reason,
      formatTimestamp(one.interrupted_at),
      stateOf(one),
    ]),
  );
}

/** Prints an interruption: the attempt, what its receiver may know it by, and how it was settled. */
export async function show(io: Io, id: string, { json, config }: Options): Promise<void> {
  const found = await withOperator(io, { config, requiresStateFor: "show an interruption of" }, ({ call }) =>
    call<Interruption>(getInterruption, { interruption_id: id }),
  );
  if (json) return printJson(io, found);
  io.out(`${paint(io).bold(found.id)}  ${stateOf(found)}\n`);
  for (const line of factsOf(found)) io.out(`${line}\n`);
  if (found.outcome === null) io.out(`\n${waysToSettle(found)}\n`);
}

function factsOf(one: Interruption): string[] {
  const { lookup, outcome, comment } = one;
  return [
    `Attempt ${one.attempt} of ${stepOf(one)} of ${one.workflow_id ?? "a single step"}, run ${one.run_id}`,
    `Started at ${one.started_at}, ended without an answer at ${one.interrupted_at}: ${REASONS[one.reason]}`,
    `Idempotency key: ${one.idempotency_key}`,
    ...(lookup === null ? [] : [`Lookup at ${lookup.at}: ${lookup.error ?? "it found out"}`]),
    ...(outcome === null
      ? []
      : [`${OUTCOMES[outcome]}: settled at ${one.settled_at} by ${one.settled_by ?? "a lookup"}`]),
    ...(comment === null ? [] : [comment]),
  ];
}

/** The commands that settle an open interruption, and what follows. */
const waysToSettle = ({ id, waiting }: Interruption): string =>
  [
    `${waiting ? "Its run waits for a person" : "It is open"}: find out whether the effect happened.`,
    `Then run millrace interruptions settle ${id} with one of these:`,
    "  --outcome happened --output '{…}'   the step ends with this output, as it would have returned it; nothing is sent",
    "  --outcome not_happened              it is sent again",
    "  --outcome unknown                   the step fails; a retry of the run sends it again",
  ].join("\n");

interface SettleOptions extends Options {
  outcome: InterruptionOutcome;
  output?: string;
  comment?: string;
}

/** Records whether the effect happened. */
export async function settle(
  io: Io,
  id: string,
  { outcome, output, comment, json, config }: SettleOptions,
): Promise<void> {
  const input = {
    interruption_id: id,
    outcome,
    ...definedOnly({ comment, output: output === undefined ? undefined : parseObject(output, "--output") }),
  };
  const settled = await namingOptions({ output: "--output", comment: "--comment" }, () =>
    withOperator(io, { config, requiresStateFor: "settle an interruption of" }, ({ call }) =>
      call<Interruption>(settleInterruption, input),
    ),
  );
  if (json) return printJson(io, settled);
  io.out(
    `Settled ${id}: ${outcome}. If the run ${settled.run_id} waits for it, it continues when an executor is running.\n`,
  );
}
