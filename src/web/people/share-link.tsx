/** The dialog with a link that the server did not send by e-mail, for the admin to share. */
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
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
    <Modal opened onClose={onClose} title={`Link for ${email}`} size="lg">
      <Stack>
        {link === null ? (
          <Alert color="yellow">This link was already shown. Create another one.</Alert>
        ) : (
          <>
            <Text size="sm">
              No e-mail was sent. Share this link with {email} only: anyone who opens it can set the password.
              It works once, for {kind === "invitation" ? "seven days" : "30 minutes"}.
            </Text>
            <Snippet text={link} label="link" />
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
