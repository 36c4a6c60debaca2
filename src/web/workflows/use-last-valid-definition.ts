/** What a text that is being written last said: while it is broken, what it said before. */
import { useEffect, useState } from "react";
import { type Format, parse } from "../editor/format.ts";

const REST_MS = 200;

type Definition = Record<string, unknown> | null;

export interface LastValidDefinition {
  definition: Definition;
  /** The text can't be read as it is now. */
  isInvalid: boolean;
  /** The text has comments, which a definition can't hold. */
  hasComments: boolean;
}

export function useLastValidDefinition(
  text: string,
  format: Format,
  initial: Definition,
): LastValidDefinition {
  const [good, setGood] = useState<LastValidDefinition>({
    definition: initial,
    isInvalid: false,
    hasComments: false,
  });
  useEffect(() => {
    let wanted = true;
    const read = async () => {
      const found = text.trim() === "" ? { definition: null } : await parse(text, format);
      const hasComments = format === "yaml" && (await import("../editor/yaml-text.ts")).hasComments(text);
      if (!wanted) return;
      setGood((before) =>
        "issues" in found
          ? { ...before, isInvalid: true, hasComments }
          : { definition: found.definition, isInvalid: false, hasComments },
      );
    };
    const timer = setTimeout(() => void read(), REST_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [text, format]);
  return good;
}
