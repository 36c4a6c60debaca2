import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { Session } from "../../../schemas/user.ts";
import { send } from "../api/client.ts";
import { once } from "../api/queries.ts";
import { ask } from "../ui/confirm.tsx";
import { List } from "../ui/list.tsx";
import { done, failed } from "../ui/notify.ts";
import { byCursor, cursorOf, itemsOf } from "../ui/pages.ts";
import { Time } from "../ui/time.tsx";

/** The browsers that are signed in, each with a way to end it. */
export function Sessions() {
  const client = useQueryClient();
  const sessions = useInfiniteQuery({
    queryKey: ["sessions"],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/sessions", { query: { limit: 50, ...cursorOf(pageParam) }, signal }),
    ...byCursor,
  });
  const refresh = () => void client.invalidateQueries({ queryKey: ["sessions"] });
  const endOthers = useMutation({
    mutationFn: () => send("post", "/sessions/end-others", { body: {}, header: once() }),
    onSuccess: ({ data }) => {
      done(data.ended === 1 ? "One session was ended." : `${data.ended} sessions were ended.`);
      refresh();
    },
    onError: (error) => failed("The sessions were not ended", error),
  });
  const several = (itemsOf(sessions.data)?.length ?? 0) > 1;
  return (
    <Stack>
      <List query={sessions} empty={null}>
        {(items) => items.map((session) => <Row key={session.id} session={session} onEnded={refresh} />)}
      </List>
      {several && (
        <Group>
          <Button
            variant="default"
            loading={endOthers.isPending}
            onClick={() =>
              ask({
                title: "Sign out everywhere else?",
                consequence: "Every other browser has to sign in again. API keys go on working.",
                confirm: "Sign out everywhere else",
                onConfirm: () => endOthers.mutate(),
              })
            }
          >
            Sign out everywhere else
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Row({ session, onEnded }: { session: Session; onEnded: () => void }) {
  const end = useMutation({
    mutationFn: () =>
      send("post", "/sessions/{session_id}/end", {
        path: { session_id: session.id },
        body: {},
        header: once(),
      }),
    onSuccess: () => {
      done(`${session.client} is signed out.`);
      onEnded();
    },
    onError: (error) => failed("The session was not ended", error),
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
              this one
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          {session.address} · signed in <Time at={session.created_at} ago /> · used{" "}
          <Time at={session.seen_at} ago />
        </Text>
      </Stack>
      {!session.current && (
        <Button
          size="xs"
          variant="default"
          style={{ flexShrink: 0 }}
          aria-label={`Sign out ${session.client}`}
          loading={end.isPending}
          onClick={() => end.mutate()}
        >
          Sign out
        </Button>
      )}
    </Group>
  );
}
