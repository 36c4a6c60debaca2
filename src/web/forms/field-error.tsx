/** The error under a field, with the value that the server suggests in its place. */
import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import type { Issue } from "../../../schemas/problem.ts";
import { issueText } from "./issues.ts";

/**
 * @param issues those of the field, with paths relative to it
 * @param use called with the suggestion when the person accepts it
 */
export function fieldError(issues: readonly Issue[], use: (suggestion: string) => void): ReactNode {
  const text = issueText(issues);
  const suggestion = issues.find((issue) => issue.path === "")?.did_you_mean;
  if (suggestion === undefined) return text;
  return (
    <>
      {text}{" "}
      <Anchor component="button" type="button" size="xs" onClick={() => use(suggestion)}>
        Use the suggestion
      </Anchor>
    </>
  );
}
