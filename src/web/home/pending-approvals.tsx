/** The approvals that the user may decide; of somebody who decides none, those that are pending. Each has its evidence and plan, and Approve and Decline. */
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import * as texts from "#texts/home";
import { useHasScope } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { HomeCard } from "./home-card.tsx";
import { decidableApprovalsQuery, pendingApprovalsQuery } from "./queries.ts";

/** Loaded only when an approval is pending: most visits of the home page have none. */
const ApprovalCard = lazy(async () => ({
  default: (await import("../approvals/approval-card.tsx")).ApprovalCard,
}));

export function PendingApprovals() {
  const decides = useHasScope()("approve");
  const filter = useProjectFilter();
  const query = useQuery(decides ? decidableApprovalsQuery(filter) : pendingApprovalsQuery(filter));
  return (
    <HomeCard title={decides ? texts.needsYourApproval : texts.pendingApprovals} to="/approvals">
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={1} />}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {decides ? texts.noneForYou : texts.nonePending}
            </Text>
          ) : (
            <Suspense fallback={<LoadingSkeleton rows={data.length} />}>
              <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
                {data.map((approval) => (
                  <ApprovalCard key={approval.id} approval={approval} />
                ))}
              </Stack>
              {total !== null && total > data.length && (
                <Text size="sm" c="dimmed">
                  {texts.more({ count: total - data.length })}
                </Text>
              )}
            </Suspense>
          )
        }
      </QueryContent>
    </HomeCard>
  );
}
