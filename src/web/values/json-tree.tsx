/** JSON as a tree. Arrow keys move and expand; Enter and the space bar expand and collapse. */
import { type KeyboardEvent, useMemo } from "react";
import { collapseAllNested, allExpanded, JsonView, type defaultStyles } from "react-json-view-lite";
import * as texts from "#texts/values";
import { groupForTree, isSmallTree } from "./json-groups.ts";
import css from "./json-tree.module.css";

const STYLE: typeof defaultStyles = {
  container: css["tree"]!,
  basicChildStyle: css["node"]!,
  childFieldsContainer: css["children"]!,
  label: css["label"]!,
  clickableLabel: `${css["label"]} ${css["clickable"]}`,
  nullValue: css["keyword"]!,
  undefinedValue: css["keyword"]!,
  booleanValue: css["keyword"]!,
  otherValue: css["keyword"]!,
  numberValue: css["number"]!,
  stringValue: css["string"]!,
  punctuation: css["punctuation"]!,
  expandIcon: css["expand"]!,
  collapseIcon: css["collapse"]!,
  collapsedContent: css["ellipsis"]!,
  ariaLables: { expandJson: texts.expand, collapseJson: texts.collapse },
  stringifyStringValues: true,
};

/** The library's buttons react to arrow keys only. */
const KEYBOARD_PROPS = {
  onKeyDown(event: KeyboardEvent) {
    const { key, target } = event;
    if ((key !== "Enter" && key !== " ") || !(target instanceof HTMLElement) || target.role !== "button")
      return;
    event.preventDefault();
    target.click();
  },
};

export function JsonTree({ value, label }: { value: object; label: string }) {
  const tree = useMemo(() => groupForTree(value) as object, [value]);
  const shouldExpand = useMemo(() => (isSmallTree(value) ? allExpanded : collapseAllNested), [value]);
  return (
    <JsonView
      data={tree}
      style={STYLE}
      shouldExpandNode={shouldExpand}
      clickToExpandNode
      aria-label={texts.asJson({ label })}
      {...KEYBOARD_PROPS}
    />
  );
}
