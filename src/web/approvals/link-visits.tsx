/** Which browsers have opened the links that decide an approval, for those who may read the audit log. */
import { List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { send } from "../api/client.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { Section } from "../runs/section.tsx";
import { strong } from "../ui/message-tags.tsx";
import { QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";

/** Maximum number of visits that are shown. */
const MAX_SHOWN = 50;

/** Nothing where no link decides, and for those who may not read the audit log. */
export function LinkVisits({ approval }: { approval: Approval }) {
  const mayRead = useHasScopeIn(approval)("admin");
  return approval.decide_by_link === true && mayRead ? <Visits approval={approval} /> : null;
}

function Visits({ approval: { id, status } }: { approval: Approval }) {
  const query = useQuery({
    queryKey: ["audit-log", "link-visits", id, status],
    queryFn: async ({ signal }) => {
      const filter = { target: id, search: "open_decision_link", limit: MAX_SHOWN };
      return (await send("get", "/audit-log", { query: filter, signal })).data;
    },
  });
  return (
    <Section title={texts.visits} order={2}>
      <QueryContent query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <Text size="sm">{texts.noVisits}</Text>
          ) : (
            <List size="sm" spacing={6} listStyleType="none" aria-label={texts.visits}>
              {entries.map((entry) => (
                <List.Item key={entry.id}>
                  <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                    {describeVisit(entry)}
                  </Text>
                </List.Item>
              ))}
            </List>
          )
        }
      </QueryContent>
    </Section>
  );
}

function describeVisit({ at, client, details, operation }: AuditEntry): ReactNode {
  const { link_sent_to: recipient, address } = details ?? {};
  return texts.visit({
    b: strong,
    recipient: String(recipient),
    address: String(address),
    client,
    again: `${operation.endsWith(".again")}`,
    time: (
      <Text span c="dimmed" inherit>
        <Time at={at} ago />
      </Text>
    ),
  });
}
