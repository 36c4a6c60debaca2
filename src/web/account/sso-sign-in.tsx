/** Sign-in through an identity provider (OIDC or Cognito), and its error messages. */
import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/sso";
import type { RefusalReason, SignInErrorCode } from "../../../schemas/sign-on.ts";
import { notifyOtherTabs } from "../app/session.tsx";
import { AuthCard } from "./auth-card.tsx";

/** A page of the server. It ends the session here and, where the provider supports that, at the provider too. */
const LOGOUT = "/logout";

/** The server's page that redirects to the provider. @param to path below /ui to open after sign-in */
export const loginUrl = (to: string): string => `/login?to=${encodeURIComponent(`/ui${to}`)}`;

const ERROR_MESSAGES: Readonly<Record<SignInErrorCode, { title: string; text: string }>> = {
  no_role: { title: texts.noAccess, text: texts.noRole },
  no_email: { title: texts.noAccess, text: texts.noEmail },
  email_not_verified: { title: texts.noAccess, text: texts.emailNotVerified },
  address_taken: { title: texts.noAccess, text: texts.addressTaken },
  deactivated: { title: texts.noAccess, text: texts.deactivated },
  denied: { title: texts.deniedTitle, text: texts.denied },
  flow_expired: { title: texts.flowExpiredTitle, text: texts.flowExpired },
  state_mismatch: { title: texts.stateMismatchTitle, text: texts.stateMismatch },
  code_expired: { title: texts.codeExpiredTitle, text: texts.codeExpired },
  provider_refused: { title: texts.providerRefusedTitle, text: texts.providerRefused },
  provider_unavailable: { title: texts.providerUnavailableTitle, text: texts.providerUnavailable },
  not_verified: { title: texts.notVerifiedTitle, text: texts.notVerified },
  too_many_attempts: { title: texts.tooManyAttemptsTitle, text: texts.tooManyAttempts },
  busy: { title: texts.busyTitle, text: texts.busy },
  internal: { title: texts.internalTitle, text: texts.internal },
};

/** The reasons why another account at the identity provider may have access. */
const REFUSALS: ReadonlySet<string> = new Set<RefusalReason>([
  "no_role",
  "no_email",
  "email_not_verified",
  "address_taken",
  "deactivated",
]);

const isKnown = (code: string): code is SignInErrorCode => Object.hasOwn(ERROR_MESSAGES, code);

function SignInError({ code }: { code: string }) {
  const { title, text } = ERROR_MESSAGES[isKnown(code) ? code : "internal"];
  return (
    <Alert role="alert" color="red" icon={<IconAlertTriangle aria-hidden />} title={title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text}</Text>
        {REFUSALS.has(code) && (
          <Anchor href={LOGOUT} size="sm">
            {texts.signOutAtProvider}
          </Anchor>
        )}
      </Stack>
    </Alert>
  );
}

/** Redirects only on a click. An automatic redirect would loop for a user who just signed out or was refused. */
export function SsoSignIn({ to }: { to: string }) {
  const [search] = useSearchParams();
  const errorCode = search.get("error");
  const isSignedOut = search.has("signed_out");
  useEffect(() => {
    if (isSignedOut) notifyOtherTabs();
  }, [isSignedOut]);
  return (
    <AuthCard
      title={texts.signIn}
      about={isSignedOut ? <span role="status">{texts.signedOut}</span> : texts.signInAtProvider}
    >
      {errorCode !== null && <SignInError code={errorCode} />}
      <Button component="a" href={loginUrl(to)}>
        {errorCode === null ? texts.signIn : texts.signInAgain}
      </Button>
    </AuthCard>
  );
}

/** Behind a load balancer that authenticates every browser: loading any page starts its sign-in. */
export function LoadBalancerSignIn({ to }: { to: string }) {
  return (
    <AuthCard title={texts.notSignedIn} about={texts.notSignedInHelp}>
      <Group grow>
        <Button variant="default" component="a" href={LOGOUT}>
          {texts.signOut}
        </Button>
        <Button component="a" href={`/ui${to}`}>
          {texts.signIn}
        </Button>
      </Group>
    </AuthCard>
  );
}

/** Shown in a tab that was opened only to sign in again. The tab that opened it continues by itself. */
export function CloseTabNotice() {
  useEffect(() => {
    notifyOtherTabs();
    // Browsers allow only some tabs to close themselves. In the others the text stays.
    window.close();
  }, []);
  return (
    <AuthCard title={texts.signedIn}>
      <Text size="sm" role="status">
        {texts.closeTab}
      </Text>
    </AuthCard>
  );
}

/** Shown instead of the pages when the provider knows the user and the server refuses access. */
export function SignInRefused({ children }: { children: ReactNode }) {
  return (
    <AuthCard title={texts.noAccess}>
      {children}
      <Button variant="default" component="a" href={LOGOUT}>
        {texts.signOut}
      </Button>
    </AuthCard>
  );
}
