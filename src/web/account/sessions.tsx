import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/account";
import type { Session } from "../../../schemas/user.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { cursorPagination, cursorParam, flattenPages } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";

/** The list of signed-in browsers. Each one can be signed out. */
export function Sessions() {
  const client = useQueryClient();
  const sessions = useInfiniteQuery({
    queryKey: ["sessions"],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/sessions", { query: { limit: 50, ...cursorParam(pageParam) }, signal }),
    ...cursorPagination,
  });
  const refresh = () => void client.invalidateQueries({ queryKey: ["sessions"] });
  const endOthers = useMutation({
    mutationFn: () => send("post", "/sessions/end-others", { body: {}, header: idempotencyHeader() }),
    onSuccess: ({ data }) => {
      notifySuccess(texts.sessionsEnded({ count: data.ended }));
      refresh();
    },
    onError: (error) => notifyError(texts.sessionsEndFailed, error),
  });
  const hasOthers = (flattenPages(sessions.data)?.length ?? 0) > 1;
  return (
    <Stack>
      <PagedList query={sessions} empty={null}>
        {(items) =>
          items.map((session) => <SessionRow key={session.id} session={session} onEnded={refresh} />)
        }
      </PagedList>
      {hasOthers && (
        <Group>
          <Button
            variant="default"
            loading={endOthers.isPending}
            onClick={() =>
              confirmAction({
                title: texts.signOutOthersTitle,
                consequence: texts.signOutOthersHelp,
                confirm: texts.signOutOthers,
                onConfirm: () => endOthers.mutate(),
              })
            }
          >
            {texts.signOutOthers}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function SessionRow({ session, onEnded }: { session: Session; onEnded: () => void }) {
  const end = useMutation({
    mutationFn: () =>
      send("post", "/sessions/{session_id}/end", {
        path: { session_id: session.id },
        body: {},
        header: idempotencyHeader(),
      }),
    onSuccess: () => {
      notifySuccess(texts.clientSignedOut(session));
      onEnded();
    },
    onError: (error) => notifyError(texts.sessionEndFailed, error),
  });
  return (
    <Group justify="space-between" wrap="nowrap">
      <Stack gap={2} style={{ minWidth: 0 }}>
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {session.client}
          </Text>
          {session.current && (
            <Badge variant="light" tt="none">
              {texts.thisBrowser}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          {texts.sessionTimes({
            address: session.address,
            created: <Time at={session.created_at} ago />,
            seen: <Time at={session.seen_at} ago />,
          })}
        </Text>
      </Stack>
      {!session.current && (
        <Button
          size="xs"
          variant="default"
          style={{ flexShrink: 0 }}
          aria-label={texts.signOutClient(session)}
          loading={end.isPending}
          onClick={() => end.mutate()}
        >
          {texts.signOut}
        </Button>
      )}
    </Group>
  );
}
