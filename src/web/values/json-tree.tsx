/** JSON as a tree. Arrow keys go up and down and open and close; so do Enter and the space bar. */
import { type KeyboardEvent, useMemo } from "react";
import { collapseAllNested, allExpanded, JsonView, type defaultStyles } from "react-json-view-lite";
import { groupForTree, isSmallTree } from "./json-groups.ts";
import css from "./json-tree.module.css";

const STYLE: typeof defaultStyles = {
  container: css["tree"]!,
  basicChildStyle: css["node"]!,
  childFieldsContainer: css["children"]!,
  label: css["label"]!,
  clickableLabel: `${css["label"]} ${css["opens"]}`,
  nullValue: css["word"]!,
  undefinedValue: css["word"]!,
  booleanValue: css["word"]!,
  otherValue: css["word"]!,
  numberValue: css["number"]!,
  stringValue: css["text"]!,
  punctuation: css["mark"]!,
  expandIcon: css["expand"]!,
  collapseIcon: css["collapse"]!,
  collapsedContent: css["more"]!,
  ariaLables: { expandJson: "Open", collapseJson: "Close" },
  stringifyStringValues: true,
};

/** The library's buttons listen to arrows only. */
const KEYS = {
  onKeyDown(event: KeyboardEvent) {
    const { key, target } = event;
    if ((key !== "Enter" && key !== " ") || !(target instanceof HTMLElement) || target.role !== "button")
      return;
    event.preventDefault();
    target.click();
  },
};

export function JsonTree({ value, label }: { value: object; label: string }) {
  const shown = useMemo(() => groupForTree(value) as object, [value]);
  const open = useMemo(() => (isSmallTree(value) ? allExpanded : collapseAllNested), [value]);
  return (
    <JsonView
      data={shown}
      style={STYLE}
      shouldExpandNode={open}
      clickToExpandNode
      aria-label={`${label} as JSON`}
      {...KEYS}
    />
  );
}
