/** The definition of a text that is being edited; while it has syntax errors, its last valid definition. */
import { useEffect, useState } from "react";
import { type Format, parse } from "../editor/format.ts";

/** Pause in typing after which the text is parsed, in milliseconds. */
const DEBOUNCE_MS = 200;

type Definition = Record<string, unknown> | null;

export interface LastValidDefinition {
  definition: Definition;
  /** Whether the text has syntax errors. */
  isInvalid: boolean;
}

export function useLastValidDefinition(
  text: string,
  format: Format,
  initial: Definition,
): LastValidDefinition {
  const [lastValid, setLastValid] = useState<LastValidDefinition>({
    definition: initial,
    isInvalid: false,
  });
  useEffect(() => {
    let isCurrent = true;
    const read = async () => {
      const found = text.trim() === "" ? { definition: null } : await parse(text, format);
      if (!isCurrent) return;
      setLastValid((before) =>
        "issues" in found
          ? { ...before, isInvalid: true }
          : { definition: found.definition, isInvalid: false },
      );
    };
    const timer = setTimeout(() => void read(), DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, format]);
  return lastValid;
}
