/** Previews a retry with the definition that is being edited. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDebouncedValue } from "@mantine/hooks";
import type { RunStep } from "../../../schemas/run.ts";
import { parse } from "../editor/format.ts";
import { diffSteps, previewRetry } from "./step-diff.ts";

/** Pause in typing after which the preview is updated, in milliseconds. */
const DEBOUNCE_MS = 300;

/** @returns sentences; those of the last valid text while the current one has syntax errors */
export function useRetryPreview(
  definition: Record<string, unknown>,
  text: string,
  steps: readonly RunStep[],
): readonly string[] {
  const [settledText] = useDebouncedValue(text, DEBOUNCE_MS);
  // A query, because the parser is loaded on demand.
  const { data } = useQuery({
    queryKey: ["parsed", settledText],
    queryFn: async () => {
      const parsed = await parse(settledText, "yaml");
      return "definition" in parsed ? parsed.definition : null;
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
  });
  return data ? previewRetry(diffSteps(definition, data), steps) : [];
}
