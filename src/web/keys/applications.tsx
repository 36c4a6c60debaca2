/** The applications that users have connected by signing in, with their last use and a button that ends their access. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/keys";
import * as uiTexts from "#texts/ui";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { flattenPages } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { type ConnectedApplication, groupApplications } from "./application-groups.ts";
import { KeyAreaText } from "./key-area-text.tsx";
import { apiKeysQuery } from "./queries.ts";
import { StateBadge } from "./state-badge.tsx";

export function Applications({ everyone }: { everyone: boolean }) {
  const query = useInfiniteQuery(apiKeysQuery({ everyone, application: true }));
  const keys = flattenPages(query.data) ?? [];
  if (keys.length === 0 && !query.isError) return null;
  return (
    <Stack component="section" aria-label={texts.applications} gap="sm">
      <Title order={2} size="h4">
        {texts.applications}
      </Title>
      <Text size="sm" c="dimmed">
        {texts.applicationsHelp}
      </Text>
      {query.isError && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
      {groupApplications(keys).map((application) => (
        <Application key={application.id} application={application} everyone={everyone} />
      ))}
      {query.hasNextPage && (
        <Button
          variant="default"
          style={{ alignSelf: "flex-end" }}
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {uiTexts.loadMore}
        </Button>
      )}
    </Stack>
  );
}

function Application({ application, everyone }: { application: ConnectedApplication; everyone: boolean }) {
  const { name, host, owner, latest, usable, lastUsedAt } = application;
  const scopes = new Set((usable.length === 0 ? [latest] : usable).flatMap((key) => key.scopes));
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Stack gap={4} style={{ minWidth: 0 }}>
          <Group gap="xs">
            <Anchor
              component={Link}
              to={`/keys/${latest.id}`}
              size="sm"
              fw={600}
              style={{ overflowWrap: "anywhere" }}
            >
              {name}
            </Anchor>
            <StateBadge state={usable[0]?.state ?? latest.state} />
          </Group>
          <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {texts.applicationAt({ host })} · {[...scopes].join(", ")}
            {everyone && ` · ${owner}`}
          </Text>
          <KeyAreaText apiKey={latest} />
          <Text size="sm" c="dimmed" component="div">
            {texts.applicationTimes({
              created: <Time at={latest.created_at} ago />,
              count: usable.length,
              use: lastUsedAt === null ? "never" : "before",
              used: lastUsedAt !== null && <Time at={lastUsedAt} ago />,
            })}{" "}
            ·{" "}
            <Anchor component={Link} to={`/keys/${encodeURIComponent(latest.id)}/changes`} size="sm">
              {texts.changes}
            </Anchor>
          </Text>
        </Stack>
        {usable.length > 0 && <Revoke application={application} />}
      </Group>
    </Card>
  );
}

function Revoke({ application: { name, host, usable } }: { application: ConnectedApplication }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      Promise.all(
        usable.map(({ id }) =>
          send("post", "/api-keys/{key_id}/revoke", {
            path: { key_id: id },
            body: {},
            header: idempotencyHeader(),
          }),
        ),
      ),
    onSuccess: () => notifySuccess(texts.accessRevoked({ name })),
    onError: (error) => notifyError(texts.revokeAccessFailed, error),
    onSettled: () => client.invalidateQueries({ queryKey: ["api-keys"] }),
  });
  return (
    <Button
      variant="default"
      size="xs"
      style={{ flexShrink: 0 }}
      loading={revoke.isPending}
      aria-label={texts.revokeAccessOf({ name })}
      onClick={() =>
        confirmAction({
          title: texts.revokeAccessTitle({ name }),
          consequence: texts.revokeAccessConsequence({ host }),
          confirm: texts.revoke,
          onConfirm: () => revoke.mutate(),
        })
      }
    >
      {texts.revokeMenu}
    </Button>
  );
}
