/** Shows the steps of a run while it runs: redrawn lines on a terminal, else one line for each change. */
import { FINAL_STATUSES, type Run, type RunStep } from "../../schemas/run.ts";
import { type Io, paint } from "./io.ts";
import { plural } from "./plural.ts";

/** Maximum number of steps that are shown at a time. */
const MAX_LINES = 25;
const NAME_WIDTH = 24;
const LINE_WIDTH = 100;
/** Maximum number of progress lines of a fan-out or loop without a terminal. */
const PROGRESS_LINES = 10;

export interface RunView {
  show(run: Run): void;
}

/** Shows nothing. */
export const silentView: RunView = { show: () => {} };

export const runView = (io: Io): RunView => (io.errTerminal ? terminalView(io) : lineView(io));

const ACTIVE: ReadonlySet<RunStep["status"]> = new Set(["running", "waiting"]);

/** Formats a step: `revenue  succeeded  35 ms`; for a fan-out with the number of finished items, for a loop with its iteration. */
export function stepLine(step: RunStep, now: number): string {
  const { started_at: started, finished_at: finished, items, error } = step;
  const parts = [step.status.padEnd(9)];
  if (items !== undefined) {
    const failed = items.failed > 0 ? `, ${items.failed} failed` : "";
    const reused = items.reused === undefined ? "" : `, ${items.reused} reused`;
    const count =
      items.max === undefined
        ? `${items.done}/${items.total} items`
        : finished === null
          ? `iteration ${items.total} of at most ${items.max}`
          : plural(items.total, "iteration");
    parts.push(`${count}${reused}${failed}`);
  }
  if (started !== null && step.status !== "skipped") {
    const end = finished === null ? now : Date.parse(finished);
    parts.push(duration(Math.max(0, end - Date.parse(started))));
  }
  if (step.attempts > 1) parts.push(`attempt ${step.attempts}`);
  if (step.given === true) parts.push("given");
  if (step.reused_from !== undefined) parts.push(`reused from ${step.reused_from}`);
  if (step.waits_until !== undefined) parts.push(`until ${step.waits_until}`);
  if (error !== null) parts.push(`${error.code}: ${error.message}`);
  return `${step.id.padEnd(NAME_WIDTH)} ${parts.join("  ")}`;
}

/** Formats a duration: `35 ms`, `1.2 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
}

function lineView(io: Io): RunView {
  const printed = new Map<string, string>();
  let status: string | undefined;
  return {
    show(run) {
      // The run starts before its steps, and ends after them.
      const line = status === run.status ? "" : `${run.id} ${run.status}\n`;
      ({ status } = run);
      if (!FINAL_STATUSES.has(run.status)) io.err(line);
      for (const step of run.steps ?? []) {
        const { total = 0, done = 0, max = total } = step.items ?? {};
        const key = `${step.status} ${step.attempts} ${total === 0 ? 0 : Math.floor((PROGRESS_LINES * done) / max)}`;
        if (printed.get(step.id) === key || (step.status === "pending" && !printed.has(step.id))) continue;
        printed.set(step.id, key);
        io.err(`${oneLine(stepLine(step, Date.now()))}\n`);
      }
      if (FINAL_STATUSES.has(run.status)) io.err(line);
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
  let drawnLines = 0;
  return {
    show(run) {
      const steps = run.steps ?? [];
      const lines = visibleSteps(steps).map((step) => {
        const line = oneLine(stepLine(step, Date.now())).slice(0, LINE_WIDTH);
        return (colours[step.status] ?? String)(line);
      });
      const done = steps.filter(({ status }) => status !== "pending" && !ACTIVE.has(status)).length;
      lines.push(`${run.id} ${run.status}, ${done} of ${steps.length} steps`);
      if (drawnLines > 0) io.eraseLines?.(drawnLines);
      io.err(`${lines.join("\n")}\n`);
      drawnLines = lines.length;
    },
  };
}

/** Selects the steps around the first active one, if there are too many to show. */
function visibleSteps(steps: readonly RunStep[]): readonly RunStep[] {
  if (steps.length <= MAX_LINES) return steps;
  const active = steps.findIndex(({ status }) => ACTIVE.has(status));
  const middle = active === -1 ? steps.length : active;
  const from = Math.min(Math.max(0, middle - Math.floor(MAX_LINES / 2)), steps.length - MAX_LINES);
  return steps.slice(from, from + MAX_LINES);
}
