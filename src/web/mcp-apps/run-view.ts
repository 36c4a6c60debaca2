/** A run as nodes: why it failed, what it waits for, its steps as a timeline, and its output. */
import type { Run, RunStep } from "../../../schemas/run.ts";
import { formatElapsed } from "../runs/elapsed.ts";
import { describeFailure, firstSentence } from "../runs/failure.ts";
import { pluralize, triggerLabel } from "../runs/labels.ts";
import { isSettled } from "../runs/live-updates.ts";
import { axisTicks, type Bar, buildBar, tickLabel, type TimeRange, timeRangeOf } from "../timeline/bars.ts";
import { barLabel, rowLabel } from "../timeline/row-labels.ts";
import { markedParts } from "../ui/marked-parts.ts";
import { formatRelativeTime } from "../ui/relative-time.ts";
import { STATUS_COLORS } from "../ui/status-colors.ts";
import { h, pageButton, type ViewNode } from "./nodes.ts";
import { valueNodes } from "./values.ts";
import type { View } from "./view.ts";

/** A run as a tool returned it: a caller may have chosen some fields of it. */
export type ShownRun = Pick<Run, "id"> & Partial<Run>;

/** Maximum number of steps that are shown. */
const MAX_STEPS = 200;
const MAX_TICKS = 4;

export const RUN_VIEW: View<ShownRun> = {
  read(output, input) {
    const id = output["id"] ?? input["run_id"];
    return typeof id === "string" ? { ...output, id } : undefined;
  },
  load: async ({ id }, call) => (await call("get_run", { run_id: id, detail: "steps" })) as unknown as Run,
  isFinal: (run) => isWhole(run) && isSettled(run),
  nodes: runNodes,
};

const isWhole = (run: ShownRun): run is Run => run.status !== undefined && run.steps !== undefined;

export function runNodes(run: ShownRun, now: number): ViewNode[] {
  return [
    h("header", {}, h("h1", {}, titleOf(run)), statusNode(run)),
    h("p", { class: "dim" }, facts(run, now).join(" · ")),
    ...failureNodes(run),
    ...approvalNodes(run),
    ...timelineNodes(run, now),
    ...outputNodes(run),
    h("div", { class: "buttons" }, pageButton("Open in Millrace", `/runs/${encodeURIComponent(run.id)}`)),
  ];
}

const titleOf = ({ workflow_id: workflow, step }: ShownRun): string =>
  workflow ?? (step === undefined ? "Run" : `Step ${step.id}`);

const statusNode = ({ status }: ShownRun): ViewNode | null =>
  status === undefined
    ? null
    : h("span", { role: "status", class: `badge ${STATUS_COLORS[status]}` }, status);

function facts({ id, version, trigger, trial, ...run }: ShownRun, now: number): string[] {
  const { created_at: created, started_at: started, finished_at: finished = null, progress } = run;
  return [
    id,
    typeof version === "number" && `version ${version}`,
    trigger !== undefined && triggerLabel({ trigger, ...(trial && { trial }) }),
    created !== undefined && `created ${formatRelativeTime(Date.parse(created), now)}`,
    typeof started === "string" && formatElapsed(started, finished, now),
    progress !== undefined && `${progress.done} of ${pluralize(progress.total, "step")} done`,
  ].filter((part) => typeof part === "string");
}

/** A text with `ids in backticks`. */
const marked = (text: string): ViewNode[] =>
  markedParts(text).map(({ text: part, isMarked }) => (isMarked ? h("code", {}, part) : part));

function failureNodes({ error = null, failed_step: step }: ShownRun): ViewNode[] {
  const failure = describeFailure({ error, failed_step: step });
  if (failure === undefined) return [];
  return [
    h(
      "section",
      { class: "failure" },
      h("h2", {}, "Why it failed"),
      h("p", {}, marked(failure.summary)),
      h("p", {}, marked(failure.fix)),
      step?.input !== undefined && [
        h("h3", {}, "Input of ", h("code", {}, step.id)),
        ...valueNodes(step.input, `Input of ${step.id}`),
      ],
    ),
  ];
}

const approvalNodes = ({ approvals = [] }: ShownRun): ViewNode[] =>
  approvals.map(({ id, step_id: step, message, progress }) =>
    h(
      "section",
      { class: "pending" },
      h("h2", {}, "Waits for an approval"),
      h("p", { class: "text" }, message),
      h("p", { class: "dim" }, [step, ...(progress === undefined ? [] : [progress])].join(" · ")),
      pageButton("Decide in Millrace", `/approvals/${encodeURIComponent(id)}`, "primary"),
    ),
  );

function timelineNodes(
  { steps, started_at: started = null, finished_at: finished = null, ...run }: ShownRun,
  now: number,
): ViewNode[] {
  if (steps === undefined || steps.length === 0) return [];
  const rows = steps.slice(0, MAX_STEPS).map((step) => ({ step, bar: buildBar(step, now) }));
  const span = timeRangeOf(
    rows.map(({ bar }) => bar),
    started,
    finished,
    now,
  );
  const left = steps.length - rows.length;
  const explained = run.error?.step_id;
  return [
    h("h2", {}, "Steps"),
    axisNode(span),
    h(
      "ul",
      { class: "timeline", label: "Timeline of the steps" },
      rows.map(({ step, bar }) => rowNode(step, bar, span, step.id === explained)),
    ),
    ...(left > 0 ? [h("p", { class: "dim" }, `${pluralize(left, "more step")} in Millrace.`)] : []),
  ];
}

const percent = (part: number, { from, to }: TimeRange): number =>
  Math.round((10_000 * part) / (to - from)) / 100;

function axisNode(span: TimeRange): ViewNode {
  const length = span.to - span.from;
  return h(
    "div",
    { class: "axis", hidden: true },
    h(
      "span",
      { class: "track" },
      axisTicks(length, MAX_TICKS)
        // A label at the very end would stick out.
        .filter((tick) => tick < 0.9 * length)
        .map((tick) => h("span", { class: "tick", left: percent(tick, span) }, tickLabel(tick))),
    ),
  );
}

function rowNode(step: RunStep, bar: Bar | null, span: TimeRange, isExplained: boolean): ViewNode {
  return h(
    "li",
    {},
    h("span", { class: "unseen" }, rowLabel(step, bar, span.from)),
    h(
      "span",
      { class: "name", hidden: true },
      h("span", { class: `dot ${STATUS_COLORS[step.status]}` }),
      h("span", { class: "id" }, step.id),
      h("span", { class: "dim" }, step.type),
    ),
    h(
      "span",
      { class: "track", hidden: true },
      (bar?.segments ?? []).map(({ activity, status, from, to }) =>
        h("span", {
          class: `segment ${activity} ${STATUS_COLORS[status]}`,
          left: percent(from - span.from, span),
          width: percent(to - from, span),
        }),
      ),
    ),
    h("span", { class: "duration", hidden: true }, barLabel(step, bar)),
    step.error !== null && !isExplained && h("p", { class: "error" }, firstSentence(step.error.message)),
  );
}

const outputNodes = ({ status, output }: ShownRun): ViewNode[] =>
  status !== "succeeded" || output === undefined || output === null
    ? []
    : [h("section", {}, h("h2", {}, "Output"), ...valueNodes(output, "Output"))];
