/** The dialog with a link that the server did not send by e-mail, for the admin to share. */
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import * as texts from "#texts/people";
import { Snippet } from "../ui/copy.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";

export interface ShareableLink {
  email: string;
  kind: "invitation" | "reset";
  sent: boolean;
  /** Null if an earlier response already contained the link. */
  link: string | null;
}

export function ShareLinkDialog({ sharedLink, onClose }: { sharedLink: ShareableLink; onClose: () => void }) {
  useRestoreFocus();
  const { email, kind, link } = sharedLink;
  return (
    <Modal opened onClose={onClose} title={texts.linkFor({ email })} size="lg">
      <Stack>
        {link === null ? (
          <Alert color="yellow">{texts.linkShownBefore}</Alert>
        ) : (
          <>
            <Text size="sm">{texts.shareLink({ email, kind })}</Text>
            <Snippet text={link} label={texts.linkLabel} />
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>{texts.done}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
