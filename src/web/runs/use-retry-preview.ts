/** What a retry on the text that is being written would do. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDebouncedValue } from "@mantine/hooks";
import type { RunStep } from "../../../schemas/run.ts";
import { parse } from "../editor/format.ts";
import { diffSteps, previewRetry } from "./step-diff.ts";

const REST_MS = 300;

/** @returns sentences; those of the text before while this one can't be read */
export function useRetryPreview(
  definition: Record<string, unknown>,
  text: string,
  steps: readonly RunStep[],
): readonly string[] {
  const [rested] = useDebouncedValue(text, REST_MS);
  // Reading takes a library that is loaded when it is needed.
  const { data } = useQuery({
    queryKey: ["parsed", rested],
    queryFn: async () => {
      const parsed = await parse(rested, "yaml");
      return "definition" in parsed ? parsed.definition : null;
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
  });
  return data ? previewRetry(diffSteps(definition, data), steps) : [];
}
