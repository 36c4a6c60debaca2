/** Which browsers have opened the links that decide an approval, for those who may read the audit log. */
import { List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Approval } from "../../../schemas/approval.ts";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { send } from "../api/client.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { Section } from "../runs/section.tsx";
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
    <Section title="Who opened the links" order={2}>
      <QueryContent query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <Text size="sm">Nobody has opened a link from a mail.</Text>
          ) : (
            <List size="sm" spacing={6} listStyleType="none" aria-label="Who opened the links">
              {entries.map((entry) => (
                <List.Item key={entry.id}>
                  <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                    <Visit entry={entry} />
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

function Visit({ entry: { at, client, details, operation } }: { entry: AuditEntry }) {
  const { link_sent_to: recipient, address } = details ?? {};
  return (
    <>
      The link to <strong>{String(recipient)}</strong> was opened from {String(address)}
      {` with ${client}`}
      {operation.endsWith(".again") &&
        ", another browser: the mail may have been forwarded, or checked by a program"}{" "}
      <Text span c="dimmed" inherit>
        <Time at={at} ago />
      </Text>
    </>
  );
}
