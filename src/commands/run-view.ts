/** A run's steps as a person watches them: lines that are redrawn at a terminal, else one line for each change. */
import type { Run, RunStep } from "../../schemas/run.ts";
import { type Io, paint } from "./io.ts";

/** As many steps are shown at a time; of more, those that matter now. */
const MOST_LINES = 25;
const NAME_WIDTH = 24;
const LINE_WIDTH = 100;
/** A fan-out without a terminal says so many times how far it is. */
const MARKS = 10;

export interface RunView {
  show(run: Run): void;
}

/** Says nothing. */
export const silentView: RunView = { show: () => {} };

export const runView = (io: Io): RunView => (io.errTerminal ? terminalView(io) : lineView(io));

const LIVE: ReadonlySet<RunStep["status"]> = new Set(["running", "waiting"]);

/** `revenue  succeeded  35 ms`, and of a fan-out how many items are done. */
export function stepLine(step: RunStep, now: number): string {
  const { started_at: started, finished_at: finished, items, error } = step;
  const parts = [step.status.padEnd(9)];
  if (items !== undefined) {
    const failed = items.failed > 0 ? `, ${items.failed} failed` : "";
    parts.push(`${items.done}/${items.total} items${failed}`);
  }
  if (started !== null && step.status !== "skipped") {
    const end = finished === null ? now : Date.parse(finished);
    parts.push(duration(Math.max(0, end - Date.parse(started))));
  }
  if (step.attempts > 1) parts.push(`attempt ${step.attempts}`);
  if (step.reused_from !== undefined) parts.push(`from ${step.reused_from}`);
  if (step.waits_until !== undefined) parts.push(`until ${step.waits_until}`);
  if (error !== null) parts.push(`${error.code}: ${error.message}`);
  return `${step.id.padEnd(NAME_WIDTH)} ${parts.join("  ")}`;
}

function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
}

function lineView(io: Io): RunView {
  const told = new Map<string, string>();
  let status: string | undefined;
  return {
    show(run) {
      for (const step of run.steps ?? []) {
        const { total, done } = step.items ?? { total: 0, done: 0 };
        const key = `${step.status} ${step.attempts} ${total === 0 ? 0 : Math.floor((MARKS * done) / total)}`;
        if (told.get(step.id) === key || (step.status === "pending" && !told.has(step.id))) continue;
        told.set(step.id, key);
        io.err(`${oneLine(stepLine(step, Date.now()))}\n`);
      }
      if (status !== run.status) io.err(`${run.id} ${run.status}\n`);
      ({ status } = run);
    },
  };
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ");

function terminalView(io: Io): RunView {
  const { green, red, yellow, dim, bold } = paint({ terminal: io.errTerminal, env: io.env });
  const colours: Partial<Record<RunStep["status"], (text: string) => string>> = {
    succeeded: green,
    failed: red,
    running: bold,
    waiting: yellow,
    pending: dim,
    skipped: dim,
    cancelled: dim,
  };
  let drawn = 0;
  return {
    show(run) {
      const steps = run.steps ?? [];
      const lines = window(steps).map((step) => {
        const line = oneLine(stepLine(step, Date.now())).slice(0, LINE_WIDTH);
        return (colours[step.status] ?? String)(line);
      });
      const done = steps.filter(({ status }) => status !== "pending" && !LIVE.has(status)).length;
      lines.push(`${run.id} ${run.status}, ${done} of ${steps.length} steps`);
      if (drawn > 0) io.eraseLines?.(drawn);
      io.err(`${lines.join("\n")}\n`);
      drawn = lines.length;
    },
  };
}

/** Of many steps those around the ones under way. */
function window(steps: readonly RunStep[]): readonly RunStep[] {
  if (steps.length <= MOST_LINES) return steps;
  const live = steps.findIndex(({ status }) => LIVE.has(status));
  const middle = live === -1 ? steps.length : live;
  const from = Math.min(Math.max(0, middle - Math.floor(MOST_LINES / 2)), steps.length - MOST_LINES);
  return steps.slice(from, from + MOST_LINES);
}
