/** A link that no mail carries: the admin hands it on. */
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { Snippet } from "../ui/copy.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";

export interface ShareableLink {
  email: string;
  kind: "invitation" | "reset";
  sent: boolean;
  /** Null where it was given before. */
  link: string | null;
}

export function ShareLinkDialog({ handed, onClose }: { handed: ShareableLink; onClose: () => void }) {
  useRestoreFocus();
  const { email, kind, link } = handed;
  return (
    <Modal opened onClose={onClose} title={`A link for ${email}`} size="lg">
      <Stack>
        {link === null ? (
          <Alert color="yellow">The link was shown already. Make another one.</Alert>
        ) : (
          <>
            <Text size="sm">
              No mail was sent, so hand this link on yourself, in a way that only {email} can read.{" "}
              {kind === "invitation" ? "It works for seven days" : "It works for 30 minutes"}, and once:
              whoever opens it chooses the password.
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
