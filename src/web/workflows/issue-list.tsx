/** The issues of a definition, each with its path and fix. */
import { Code, List, Text } from "@mantine/core";
import type { Issue } from "../../../schemas/problem.ts";
import { issueForPeople } from "../api/api-words.ts";
import { MarkedText } from "../ui/id.tsx";
import { endSentence } from "../ui/sentence.ts";

export function IssueList({ issues, label }: { issues: readonly Issue[]; label: string }) {
  return (
    <List size="sm" spacing={6} aria-label={label} withPadding={false}>
      {issues.map(issueForPeople).map((issue) => (
        <List.Item key={`${issue.path} ${issue.code} ${issue.message}`}>
          {issue.path !== "" && <Code>{issue.path}</Code>} <MarkedText text={endSentence(issue.message)} />
          {issue.did_you_mean !== undefined &&
            issue.fix === undefined &&
            ` Did you mean ${issue.did_you_mean}?`}
          {issue.fix !== undefined && (
            <Text span inherit c="dimmed">
              {" "}
              <MarkedText text={issue.fix} />
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  );
}
