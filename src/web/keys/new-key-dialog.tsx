/** A new key's value: now or never, with what to do with it. */
import { Alert, Button, Group, Modal, Stack, Text, Title } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useSession } from "../app/session.tsx";
import { ClientSetups } from "../connect/client-setups.tsx";
import { curlCommand } from "../connect/clients.ts";
import { Snippet } from "../ui/copy.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import type { NewKey } from "./queries.ts";

export function NewKeyDialog({ made, onClose }: { made: NewKey; onClose: () => void }) {
  useRestoreFocus();
  const { mcp_url: url } = useSession();
  const { value } = made;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`The key "${made.name}"`}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        {value === null ? (
          <Alert color="yellow" title="It was made, and its value was shown already">
            Revoke it and make another if nobody has kept it.
          </Alert>
        ) : (
          <>
            <Alert icon={<IconKey aria-hidden />} title="Copy it now">
              This is the only time that you see it. Keep it like a password: who has it acts as you.
            </Alert>
            <Snippet text={value} label="API key" focusOnOpen />
            <Title order={3} size="h5">
              Try it
            </Title>
            <Snippet text={curlCommand(location.origin, value)} label="curl command" />
            <Title order={3} size="h5">
              Connect an agent
            </Title>
            <ClientSetups url={url} value={value} />
          </>
        )}
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {made.id}
          </Text>
          <Button onClick={onClose}>I have kept it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
