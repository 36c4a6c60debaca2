/** What is searched and folded in a graph, and so which steps are drawn. */
import { useMemo, useState } from "react";
import { findSteps } from "./find-steps.ts";
import { foldSteps } from "./fold-steps.ts";
import type { GraphStep } from "./steps.ts";

/** @param onSelect left out where steps can't be selected, and are not folded */
export function useGraphTools(
  steps: readonly GraphStep[],
  selected: string | undefined,
  onSelect: ((stepId: string) => void) | undefined,
) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const [isFolded, setFolded] = useState(false);
  // The steps of folds that were opened.
  const [opened, setOpened] = useState<readonly string[]>([]);
  const found = useMemo(
    () => (text.trim() === "" ? undefined : findSteps(steps, text).map(({ id }) => id)),
    [steps, text],
  );
  const current = found?.[index % Math.max(found.length, 1)];
  const drawn = useMemo(() => {
    const shown = [selected, current].filter((id) => id !== undefined);
    return isFolded ? foldSteps(steps, new Set([...opened, ...shown])) : steps;
  }, [steps, isFolded, opened, selected, current]);
  const open = (id: string): void => {
    const folded = drawn.find((step) => step.id === id)?.folded;
    if (folded === undefined) onSelect?.(id);
    else setOpened((before) => [...before, ...folded]);
  };
  return {
    drawn,
    open,
    found: useMemo(() => found && { ids: new Set(found), current }, [found, current]),
    tools: {
      text,
      onText: (next: string) => {
        setText(next);
        setIndex(0);
      },
      found: found && { count: found.length, index: index % Math.max(found.length, 1) },
      onStep: (by: 1 | -1) => setIndex((before) => before + by + (found?.length ?? 0)),
      onOpen: () => current !== undefined && onSelect?.(current),
      isFolded,
      onFold:
        onSelect &&
        (() => {
          setFolded(!isFolded);
          setOpened([]);
        }),
    },
  };
}
