/** The dialog that shows a signing secret, the only time that it is visible. */
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import * as texts from "#texts/notifications";
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
      title={texts.secretTitle({ name: created.name })}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert icon={<IconKey aria-hidden />} title={texts.copyNow}>
          {texts.copyNowHelp}
        </Alert>
        <Snippet text={created.secret ?? ""} label={texts.signingSecret} focusOnOpen />
        {until !== null && <Text size="sm">{texts.previousSecret({ time: <Time at={until} /> })}</Text>}
        <Group justify="flex-end">
          <Button onClick={onClose}>{texts.doneSaved}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
