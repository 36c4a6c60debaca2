/** Says while the server can't be reached what the page shows, and since when. */
import { Alert, Button, Group, Text } from "@mantine/core";
import { IconCloudOff } from "@tabler/icons-react";
import { useState } from "react";
import { useNavigation } from "react-router";
import * as texts from "#texts/app";
import { Time } from "../ui/time.tsx";
import { useConnection } from "./use-connection.ts";

export function ConnectionBanner() {
  const { connection, state } = useConnection();
  const isOpening = useNavigation().state !== "idle";
  const [isProbing, setProbing] = useState(false);
  if (state.lostSince === null) return null;
  const probe = async () => {
    setProbing(true);
    await connection.probe();
    setProbing(false);
  };
  const at = new Date(state.lostSince).toISOString();
  return (
    <Alert
      role="status"
      color="yellow"
      icon={<IconCloudOff aria-hidden />}
      title={texts.unreachableTitle}
      className="connection-banner"
      styles={{ title: { color: "var(--mantine-color-text)" } }}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          {texts.lastSeen({ time: <Time at={at} />, ago: <Time at={at} ago /> })}
          {isOpening && ` ${texts.opensThen}`}
        </Text>
        <Button size="xs" variant="default" loading={isProbing} onClick={() => void probe()}>
          {texts.tryNow}
        </Button>
      </Group>
    </Alert>
  );
}
