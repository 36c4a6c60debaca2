/** A step in the graph, or what starts a run: its id, type and status, and marks for a condition, a fan-out, a loop and retries. */
import {
  IconArrowsSplit2,
  IconCalendarTime,
  IconClock,
  IconDatabase,
  IconListCheck,
  IconMail,
  IconPlayerPlay,
  IconPuzzle,
  IconQuestionMark,
  IconRubberStamp,
  IconShieldCheck,
  IconSparkles,
  IconVariable,
  IconWebhook,
  IconWorld,
} from "@tabler/icons-react";
import { VisuallyHidden } from "@mantine/core";
import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import * as texts from "#texts/graph";
import { STATUS_STYLES, statusLabel } from "../ui/status-badge.tsx";
import { isStartId } from "./starts.ts";
import type { GraphStep } from "./steps.ts";
import { itemsLabel, iterationsLabel, stepLabel, typeLabel } from "./step-label.ts";

export type StepNode = Node<{ step: GraphStep }, "step">;

const TYPES: Readonly<Record<string, typeof IconDatabase>> = {
  sql: IconDatabase,
  model: IconSparkles,
  http: IconWorld,
  tool: IconPuzzle,
  workflow: IconArrowsSplit2,
  set: IconVariable,
  assert: IconShieldCheck,
  wait: IconClock,
  approval: IconRubberStamp,
  email: IconMail,
  schedule: IconCalendarTime,
  webhook: IconWebhook,
  start: IconPlayerPlay,
};

/** A colour with enough contrast on the page in both schemes; the theme's own gray is too faint. */
const colorOf = (color: string): string =>
  color === "gray" ? "var(--mantine-color-dimmed)" : `var(--mantine-color-${color}-text)`;

const classesOf = ({ id, group }: GraphStep, selected: boolean): string =>
  [
    "step-card",
    isStartId(id) && "step-card-start",
    group !== undefined && "step-card-group",
    selected && "step-card-selected",
  ]
    .filter((name) => typeof name === "string")
    .join(" ");

function Card({ data: { step }, selected }: NodeProps<StepNode>) {
  const { id, name = id, type, status, group } = step;
  const TypeIcon = TYPES[type] ?? (type === "" ? IconQuestionMark : IconListCheck);
  const style = status === undefined ? undefined : STATUS_STYLES[status];
  return (
    <>
      <VisuallyHidden>{stepLabel(step)}</VisuallyHidden>
      <div
        aria-hidden
        className={classesOf(step, selected)}
        data-status={status}
        style={style && { borderInlineStartColor: colorOf(style.color) }}
      >
        <div className="step-card-row">
          <span className="step-card-id" title={name}>
            {name}
          </span>
          <Marks step={step} />
        </div>
        <div className="step-card-row">
          <span className="step-card-type">
            <TypeIcon size={14} aria-hidden />
            <span>
              {group === undefined
                ? typeLabel(step)
                : `${group.types.join(", ")} · ${group.from} … ${group.to}`}
            </span>
          </span>
          {status !== undefined && style !== undefined && (
            <span className={`step-card-status status-${style.color}`}>
              <span style={{ color: colorOf(style.color) }}>
                <style.Icon size={14} aria-hidden />
              </span>
              {statusLabel(status)}
            </span>
          )}
        </div>
      </div>
    </>
  );
}

function Marks({ step }: { step: GraphStep }) {
  const { condition, fanOut, repeats, undoable, rate, required, progress, attempts } = step;
  return (
    <span className="step-card-marks">
      {condition === true && <span title={texts.conditionHint}>{texts.conditionMark}</span>}
      {fanOut === true && (
        <span title={progress === undefined ? texts.fanOutHint : itemsLabel(progress)}>
          {progress === undefined ? "×N" : `×${progress.done}/${progress.total}`}
        </span>
      )}
      {repeats === true && (
        <span title={progress === undefined ? texts.repeatsHint : iterationsLabel(progress)}>
          {progress === undefined ? "⟳" : `⟳${progress.done}`}
        </span>
      )}
      {rate !== undefined && <span title={texts.rateHint({ rate })}>{rate}</span>}
      {required !== undefined && <span title={texts.required({ required })}>{required}✓</span>}
      {undoable === true && <span title={texts.undoableHint}>↶</span>}
      {attempts !== undefined && attempts > 1 && (
        <span title={texts.attempts({ attempts })}>↻{attempts}</span>
      )}
    </span>
  );
}

/** Rendered only when its content changes: during a run, each event creates new step objects. */
export const StepCard = memo(
  Card,
  (before, after) =>
    before.selected === after.selected && JSON.stringify(before.data) === JSON.stringify(after.data),
);
