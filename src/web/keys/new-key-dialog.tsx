/** The dialog that shows a new key's value, the only time that it is visible, with examples of its use. */
import { Alert, Button, Group, Modal, Stack, Text, Title } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { serverUrl } from "../app/base-path.ts";
import { useSession } from "../app/session.tsx";
import { ClientSetups } from "../connect/client-setups.tsx";
import { ConnectionCheck } from "../connect/connection-check.tsx";
import { curlCommand } from "../connect/clients.ts";
import { Snippet } from "../ui/copy.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import type { NewKey } from "./queries.ts";

export function NewKeyDialog({ newKey, onClose }: { newKey: NewKey; onClose: () => void }) {
  useRestoreFocus();
  const { mcp_url: url } = useSession();
  const { value } = newKey;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`API key "${newKey.name}"`}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        {value === null ? (
          <Alert color="yellow" title="The key was created earlier">
            Its value was already shown. If you didn&apos;t save it, revoke the key and create another.
          </Alert>
        ) : (
          <>
            <Alert icon={<IconKey aria-hidden />} title="Copy the key now">
              You won&apos;t see it again. Keep it like a password: anyone who has it can act as you.
            </Alert>
            <Snippet text={value} label="API key" focusOnOpen />
            <Title order={3} size="h5">
              Try it
            </Title>
            <Snippet text={curlCommand(serverUrl(), value)} label="curl command" />
            <Title order={3} size="h5">
              Connect an agent
            </Title>
            <ClientSetups url={url} value={value} />
            <ConnectionCheck keyId={newKey.id} />
          </>
        )}
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {newKey.id}
          </Text>
          <Button onClick={onClose}>{value === null ? "Done" : "Done, I've saved it"}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
