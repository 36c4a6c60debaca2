/** A step on the graph: a quiet card with its id, its type, how far it is, and what is special about it. */
import {
  IconArrowsSplit2,
  IconClock,
  IconDatabase,
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
import { stepLabel } from "./step-label.ts";

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

/** Seen on the page's ground in both schemes: the theme's grey is made for text on it. */
const colorOf = (color: string): string =>
  color === "gray" ? "var(--mantine-color-dimmed)" : `var(--mantine-color-${color}-text)`;

function Card({ data: { step }, selected }: NodeProps<StepNode>) {
  const { id, name = id, type, status } = step;
  const TypeIcon = TYPES[type] ?? (type === "" ? IconQuestionMark : IconListCheck);
  const look = status === undefined ? undefined : STATUS_STYLES[status];
  return (
    <>
      <VisuallyHidden>{stepLabel(step)}</VisuallyHidden>
      <div
        aria-hidden
        className={`step-card${selected ? " step-card-selected" : ""}`}
        data-status={status}
        style={look && { borderInlineStartColor: colorOf(look.color) }}
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
            <span>{type === "" ? "no type" : type}</span>
          </span>
          {look !== undefined && (
            <span className={`step-card-status status-${look.color}`}>
              <span style={{ color: colorOf(look.color) }}>
                <look.Icon size={14} aria-hidden />
              </span>
              {status}
            </span>
          )}
        </div>
      </div>
    </>
  );
}

function Marks({ step: { condition, fanOut, progress, attempts } }: { step: GraphStep }) {
  return (
    <span className="step-card-marks">
      {condition === true && <span title="Runs only where its condition holds">if</span>}
      {fanOut === true && (
        <span title={progress === undefined ? "Runs once for each item" : titleOf(progress)}>
          {progress === undefined ? "×N" : `×${progress.done}/${progress.total}`}
        </span>
      )}
      {attempts !== undefined && attempts > 1 && <span title={`${attempts} attempts`}>↻{attempts}</span>}
    </span>
  );
}

const titleOf = ({ done, total, failed }: NonNullable<GraphStep["progress"]>): string =>
  `${done} of ${total} items done, ${failed} failed`;

/** Drawn anew only where what it shows has changed: while a run lives, its steps are made anew with each event. */
export const StepCard = memo(
  Card,
  (before, after) =>
    before.selected === after.selected && JSON.stringify(before.data) === JSON.stringify(after.data),
);
