/** One's own account: the address, the password, the browsers that are signed in. */
import { Alert, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { Page } from "../ui/page.tsx";
import { ChangePassword } from "./change-password.tsx";
import { Sessions } from "./sessions.tsx";

export default function Account() {
  const { user, mail, mode } = useSession();
  const hasPassword = mode === "built-in";
  return (
    <Page title="Account" about={`${user.email} · ${user.role}`}>
      {hasPassword && mail && !user.verified && <Unverified email={user.email} />}
      {hasPassword ? (
        <Section title="Password">
          <ChangePassword email={user.email} />
        </Section>
      ) : (
        <Section title="How you sign in">
          <Text size="sm">
            At your organisation&apos;s identity provider: your password, and whatever else proves who you
            are, is changed there.
          </Text>
        </Section>
      )}
      <Section title="Where you are signed in">
        <Sessions />
      </Section>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder padding="lg">
      <Stack>
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}

function Unverified({ email }: { email: string }) {
  const again = useMutation({
    mutationFn: () => send("post", "/session/verification-mail", {}),
    onSuccess: () => notifySuccess(`A mail is on its way to ${email}.`),
    onError: (error) => notifyError("No mail was sent", error),
  });
  return (
    <Alert color="yellow" icon={<IconMail aria-hidden />} title="Your address is not confirmed yet">
      <Group justify="space-between">
        <Text size="sm">Open the link in the mail that was sent to {email}; it works for 24 hours.</Text>
        <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
          Send it again
        </Button>
      </Group>
    </Alert>
  );
}
