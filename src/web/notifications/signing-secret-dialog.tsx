/** The dialog that shows a signing secret, the only time that it is visible. */
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { Snippet } from "../ui/copy.tsx";
import { Time } from "../ui/time.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import type { Created } from "./notifications.tsx";

export function SigningSecretDialog({ created, onClose }: { created: Created; onClose: () => void }) {
  useRestoreFocus();
  const { previous_secret_until: until } = created;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Signing secret of “${created.name}”`}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert icon={<IconKey aria-hidden />} title="Copy the secret now">
          You won&apos;t see it again. The receiver checks with it that a delivery comes from here, with any
          library for Standard Webhooks.
        </Alert>
        <Snippet text={created.secret ?? ""} label="signing secret" focusOnOpen />
        {until !== null && (
          <Text size="sm">
            The secret before signs too until <Time at={until} />, so that the receiver can change in between.
          </Text>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done, I&apos;ve saved it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
