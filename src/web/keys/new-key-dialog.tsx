/** The dialog that shows a new key's value, the only time that it is visible, with examples of its use. */
import { Alert, Button, Group, Modal, Stack, Text, Title } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import * as texts from "#texts/keys";
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
      title={texts.newKeyTitle({ name: newKey.name })}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        {value === null ? (
          <Alert color="yellow" title={texts.createdEarlier}>
            {texts.createdEarlierHelp}
          </Alert>
        ) : (
          <>
            <Alert icon={<IconKey aria-hidden />} title={texts.copyNow}>
              {texts.copyNowHelp}
            </Alert>
            <Snippet text={value} label={texts.apiKey} focusOnOpen />
            <Title order={3} size="h5">
              {texts.tryIt}
            </Title>
            <Snippet text={curlCommand(location.origin, value)} label={texts.curlCommand} />
            <Title order={3} size="h5">
              {texts.connectAgent}
            </Title>
            <ClientSetups url={url} value={value} />
            <ConnectionCheck keyId={newKey.id} />
          </>
        )}
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {newKey.id}
          </Text>
          <Button onClick={onClose}>{value === null ? texts.done : texts.doneSaved}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
