/** Says that the server can't be reached, until it can. The only message about it on a page. */
import { Alert, Button, Group, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { connection, useConnection } from "../api/connection.ts";
import { formatRelativeTime } from "../ui/relative-time.ts";
import { useNow } from "../ui/now.ts";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

export function ConnectionBanner() {
  const { isReachable, lastContact } = useConnection();
  return isReachable ? null : <Banner lastContact={lastContact} />;
}

function Banner({ lastContact }: { lastContact: number }) {
  const now = useNow();
  return (
    <Alert
      color="red.9"
      variant="filled"
      role="region"
      aria-label="Connection"
      icon={<IconPlugConnectedX aria-hidden />}
      mb="md"
      p="xs"
      className="connection-banner"
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm" component="div">
          {/* Only this is announced: the rest changes all the time. */}
          <strong role="alert">The server can't be reached.</strong> Showing data from{" "}
          {clock.format(lastContact)} ({formatRelativeTime(lastContact, now)}). Trying again…
        </Text>
        <Button size="compact-sm" variant="white" color="red" onClick={connection.check}>
          Try now
        </Button>
      </Group>
    </Alert>
  );
}
