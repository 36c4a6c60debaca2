/** Notifications: what is delivered to other systems and chats when something happens, and what became of it. For admins. */
import { Button, Stack, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import * as texts from "#texts/notifications";
import type { NewSubscription } from "../../../schemas/subscription.ts";
import { useHasScope } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, Page, QueryContent } from "../ui/page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { SigningSecretDialog } from "./signing-secret-dialog.tsx";
import { SubscriptionDialog } from "./subscription-dialog.tsx";
import { subscriptionsQuery } from "./queries.ts";
import { SubscriptionCard } from "./subscription-card.tsx";

export type Created = z.infer<typeof NewSubscription>;

export default function Notifications() {
  const hasScope = useHasScope();
  return hasScope("admin") ? <NotificationsPage /> : <AccessDenied title={texts.title} />;
}

function NotificationsPage() {
  const project = useProjectFilter();
  const query = useQuery(subscriptionsQuery(project));
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<Created>();
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
      {texts.newSubscription}
    </Button>
  );
  return (
    <Page title={texts.title} about={texts.about} actions={(query.data?.length ?? 0) > 0 && create}>
      <QueryContent query={query}>
        {(subscriptions) =>
          subscriptions.length === 0 ? (
            <EmptyState title={texts.noSubscriptions} action={create}>
              {texts.noSubscriptionsHelp}
            </EmptyState>
          ) : (
            <Stack gap="lg">
              <Stack
                gap="sm"
                component="ul"
                m={0}
                p={0}
                style={{ listStyle: "none" }}
                aria-label={texts.subscriptions}
              >
                {subscriptions.map((subscription) => (
                  <li key={subscription.id}>
                    <SubscriptionCard subscription={subscription} onSecret={setCreated} />
                  </li>
                ))}
              </Stack>
              <Title order={2} size="h4">
                {texts.deliveries}
              </Title>
              <Deliveries subscriptions={subscriptions} project={project} />
            </Stack>
          )
        }
      </QueryContent>
      {isCreating && (
        <SubscriptionDialog
          onClose={() => setIsCreating(false)}
          onCreated={(made) => {
            setIsCreating(false);
            if (made.secret !== null) setCreated(made);
          }}
        />
      )}
      {created !== undefined && (
        <SigningSecretDialog created={created} onClose={() => setCreated(undefined)} />
      )}
    </Page>
  );
}
