/** The page "Account": password, sign-in method, absence and active sessions of the current user. */
import { Alert, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { Page } from "../ui/page.tsx";
import { AbsenceForm } from "./absence-form.tsx";
import { ChangePassword } from "./change-password.tsx";
import { SecondFactors } from "./second-factors.tsx";
import { Sessions } from "./sessions.tsx";

export default function Account() {
  const { user, mail, mode } = useSession();
  const hasPassword = mode === "built-in";
  return (
    <Page title={texts.account} about={texts.aboutUser(user)}>
      {hasPassword && mail && !user.verified && <Unverified email={user.email} />}
      {hasPassword ? (
        <>
          <Section title={texts.password}>
            <ChangePassword email={user.email} />
          </Section>
          <Section title={texts.twoFactor}>
            <SecondFactors email={user.email} />
          </Section>
        </>
      ) : (
        <Section title={texts.signInMethod}>
          <Text size="sm">{texts.passwordAtProvider}</Text>
        </Section>
      )}
      <Section title={texts.absence}>
        <AbsenceForm />
      </Section>
      <Section title={texts.activeSessions}>
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
    onSuccess: () => notifySuccess(texts.mailSent({ email })),
    onError: (error) => notifyError(texts.mailFailed, error),
  });
  return (
    <Alert color="yellow" icon={<IconMail aria-hidden />} title={texts.confirmAddress}>
      <Group justify="space-between">
        <Text size="sm">{texts.openMailedLink({ email })}</Text>
        <Button size="xs" variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
          {texts.resendMail}
        </Button>
      </Group>
    </Alert>
  );
}
