/** What a text that is being written last said: while it is broken, what it said before. */
import { useEffect, useState } from "react";
import { type Format, parse } from "../editor/format.ts";

const REST_MS = 200;

type Definition = Record<string, unknown> | null;

export interface LastGood {
  definition: Definition;
  /** The text can't be read as it is now. */
  broken: boolean;
  /** The text has comments, which a definition can't hold. */
  commented: boolean;
}

export function useLastGood(text: string, format: Format, initial: Definition): LastGood {
  const [good, setGood] = useState<LastGood>({ definition: initial, broken: false, commented: false });
  useEffect(() => {
    let wanted = true;
    const read = async () => {
      const found = text.trim() === "" ? { definition: null } : await parse(text, format);
      const commented = format === "yaml" && (await import("../editor/yaml-text.ts")).hasComments(text);
      if (!wanted) return;
      setGood((before) =>
        "faults" in found
          ? { ...before, broken: true, commented }
          : { definition: found.definition, broken: false, commented },
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
