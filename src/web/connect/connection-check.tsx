/** Shows whether a client has used a new key yet, and notices when it does. */
import { Alert, Group, Loader, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/connect";
import { apiKeyQuery } from "../keys/queries.ts";
import { Time } from "../ui/time.tsx";

/** Poll interval, in milliseconds. The server writes the last use of a key within ten seconds. */
const POLL_MS = 2_000;

export function ConnectionCheck({ keyId }: { keyId: string }) {
  const { data } = useQuery({
    ...apiKeyQuery(keyId),
    refetchInterval: (query) => ((query.state.data?.last_used_at ?? null) === null ? POLL_MS : false),
    // People look at their client in the meantime.
    refetchIntervalInBackground: true,
  });
  const usedAt = data?.last_used_at ?? null;
  return (
    <div role="status">
      {usedAt === null ? (
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          <Text size="sm">{texts.waiting}</Text>
        </Group>
      ) : (
        <Alert color="green" icon={<IconCheck aria-hidden />} title={texts.connected}>
          {texts.connectedHelp({ time: <Time at={usedAt} ago /> })}
        </Alert>
      )}
    </div>
  );
}
