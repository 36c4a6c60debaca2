/** The page "Account": password, sign-in method, absence and active sessions of the current user. */
import { Alert, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { Page } from "../ui/page.tsx";
import { AbsenceForm } from "./absence-form.tsx";
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
        <Section title="Sign-in method">
          <Text size="sm">
            You sign in at your organisation&apos;s identity provider. Change your password and other
            credentials there.
          </Text>
        </Section>
      )}
      <Section title="Absence">
        <AbsenceForm />
      </Section>
      <Section title="Active sessions">
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
  const resend = useMutation({
    mutationFn: () => send("post", "/session/verification-mail", {}),
    onSuccess: () => notifySuccess(`E-mail sent to ${email}.`),
    onError: (error) => notifyError("The e-mail wasn't sent", error),
  });
  return (
    <Alert color="yellow" icon={<IconMail aria-hidden />} title="Confirm your e-mail address">
      <Group justify="space-between">
        <Text size="sm">Open the link in the e-mail that was sent to {email}. It works for 24 hours.</Text>
        <Button size="xs" variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
          Resend e-mail
        </Button>
      </Group>
    </Alert>
  );
}
