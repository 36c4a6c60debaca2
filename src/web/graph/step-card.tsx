/** A step in the graph: its id, type and status, and marks for a condition, a fan-out, a loop and retries. */
import {
  IconArrowsSplit2,
  IconClock,
  IconDatabase,
  IconFold,
  IconListCheck,
  IconMail,
  IconPuzzle,
  IconQuestionMark,
  IconRubberStamp,
  IconShieldCheck,
  IconSparkles,
  IconVariable,
  IconWorld,
} from "@tabler/icons-react";
import { VisuallyHidden } from "@mantine/core";
import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import type { GraphStep } from "./steps.ts";
import { failedLabel, itemsLabel, iterationsLabel, stepLabel } from "./step-label.ts";

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
};

/** A colour with enough contrast on the page in both schemes; the theme's own gray is too faint. */
const colorOf = (color: string): string =>
  color === "gray" ? "var(--mantine-color-dimmed)" : `var(--mantine-color-${color}-text)`;

function Card({ data: { step }, selected }: NodeProps<StepNode>) {
  const { id, name = id, type, status, progress, folded } = step;
  const failed = failedLabel(progress);
  const TypeIcon =
    folded === undefined ? (TYPES[type] ?? (type === "" ? IconQuestionMark : IconListCheck)) : IconFold;
  const style = status === undefined ? undefined : STATUS_STYLES[status];
  return (
    <>
      <VisuallyHidden>{stepLabel(step)}</VisuallyHidden>
      <div
        aria-hidden
        className={`step-card${selected ? " step-card-selected" : ""}${folded === undefined ? "" : " step-card-folded"}`}
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
            <span className="step-card-type-name" title={type}>
              {type === "" ? "no type" : type}
            </span>
          </span>
          {style !== undefined && (
            <span className={`step-card-status status-${style.color}`}>
              <span style={{ color: colorOf(style.color) }}>
                <style.Icon size={14} aria-hidden />
              </span>
              {status}
              {failed !== null && <strong className="step-card-failed">{failed}</strong>}
            </span>
          )}
        </div>
      </div>
    </>
  );
}

function Marks({ step }: { step: GraphStep }) {
  const { condition, fanOut, repeats, undoable, hasLookup, rate, required, progress, attempts } = step;
  return (
    <span className="step-card-marks">
      {condition === true && <span title="Runs only if its condition is true">if</span>}
      {fanOut === true && (
        <span title={progress === undefined ? "Runs once per item" : itemsLabel(progress)}>
          {progress === undefined ? "×N" : `×${progress.done}/${progress.total}`}
        </span>
      )}
      {repeats === true && (
        <span title={progress === undefined ? "Runs repeatedly" : iterationsLabel(progress)}>
          {progress === undefined ? "⟳" : `⟳${progress.done}`}
        </span>
      )}
      {rate !== undefined && <span title={`Starts at most ${rate}`}>{rate}</span>}
      {required !== undefined && <span title={`${required} people must approve`}>{required}✓</span>}
      {undoable === true && <span title="Is undone if the run does not succeed">↶</span>}
      {hasLookup === true && (
        <span title="Finds out whether its effect happened before it is sent again">⌕</span>
      )}
      {attempts !== undefined && attempts > 1 && <span title={`${attempts} attempts`}>↻{attempts}</span>}
    </span>
  );
}

/** Rendered only when its content changes: during a run, each event creates new step objects. */
export const StepCard = memo(
  Card,
  (before, after) =>
    before.selected === after.selected && JSON.stringify(before.data) === JSON.stringify(after.data),
);
