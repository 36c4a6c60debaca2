/** What people decided about an approval, and what happened since the question, as a list. */
import { List, Text } from "@mantine/core";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { Time } from "../ui/time.tsx";
import { describeEvents } from "./approval-events.ts";

export function ApprovalEventList({ approval }: { approval: Pick<Approval, "decisions" | "history"> }) {
  return (
    <List size="sm" spacing={6} listStyleType="none" aria-label={texts.events}>
      {describeEvents(approval).map(({ at, text }) => (
        <List.Item key={`${at} ${text}`}>
          <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
            {text}{" "}
            <Text span c="dimmed" inherit>
              <Time at={at} ago />
            </Text>
          </Text>
        </List.Item>
      ))}
    </List>
  );
}
