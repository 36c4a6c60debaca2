/** Sign-in through an identity provider (OIDC or Cognito), and its error messages. */
import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";
import { useSearchParams } from "react-router";
import { serverPath } from "../app/base-path.ts";
import type { SignInErrorCode } from "../../../schemas/sign-on.ts";
import { notifyOtherTabs } from "../app/session.tsx";
import { AuthCard } from "./auth-card.tsx";

/** A page of the server. It ends the session here and, where the provider supports that, at the provider too. */
const LOGOUT = serverPath("/logout");

/** The server's page that redirects to the provider. @param to path below /ui to open after sign-in */
export const loginUrl = (to: string): string => serverPath(`/login?to=${encodeURIComponent(`/ui${to}`)}`);

const NO_ACCESS = "You don't have access";

const ERROR_MESSAGES: Readonly<Record<SignInErrorCode, { title: string; text: string }>> = {
  no_role: {
    title: NO_ACCESS,
    text: "None of your groups at the identity provider has a role in Millrace. Ask an admin to add you to one that does.",
  },
  no_email: {
    title: NO_ACCESS,
    text: "The identity provider didn't send your e-mail address, which identifies you in Millrace. Ask an admin to make it send the address.",
  },
  email_not_verified: {
    title: NO_ACCESS,
    text: "Your e-mail address isn't verified at the identity provider. Verify it there, then sign in again.",
  },
  address_taken: {
    title: NO_ACCESS,
    text: "Another account at the identity provider already uses your e-mail address here. Ask an admin for help.",
  },
  deactivated: {
    title: NO_ACCESS,
    text: "Your account is deactivated. Ask an admin to reactivate it.",
  },
  denied: {
    title: "You weren't signed in",
    text: "Sign-in was cancelled, or the identity provider doesn't allow it. Try again, or ask an admin for access.",
  },
  flow_expired: {
    title: "Sign-in timed out",
    text: "Complete sign-in within ten minutes, in the browser that you started in, with cookies allowed. Start again.",
  },
  state_mismatch: {
    title: "This response belongs to another sign-in",
    text: "You may have started to sign in twice, or another site sent you here. Start again.",
  },
  code_expired: {
    title: "The sign-in code has expired",
    text: "It works once, for a short time. Start again.",
  },
  provider_refused: {
    title: "The identity provider rejected the request",
    text: "Your account is fine; the configuration may be wrong. An admin can find the reason in the server's log.",
  },
  provider_unavailable: {
    title: "The identity provider can't be reached",
    text: "Nobody can sign in until it responds. Try again in a moment. API keys keep working.",
  },
  not_verified: {
    title: "The identity provider's response is invalid",
    text: "Millrace couldn't verify that the provider sent it for this sign-in. Start again. If the error stays, an admin can find the reason in the server's log.",
  },
  too_many_attempts: {
    title: "Too many attempts",
    text: "There were too many sign-in attempts from your network. Wait a few minutes, then start again.",
  },
  busy: {
    title: "The server is busy",
    text: "You weren't signed in and nothing was changed. Start again.",
  },
  internal: {
    title: "Something went wrong",
    text: "The error was logged. Start again. If it stays, tell an admin when it happened.",
  },
};

const isKnown = (code: string): code is SignInErrorCode => Object.hasOwn(ERROR_MESSAGES, code);

function SignInError({ code }: { code: string }) {
  const { title, text } = ERROR_MESSAGES[isKnown(code) ? code : "internal"];
  return (
    <Alert role="alert" color="red" icon={<IconAlertTriangle aria-hidden />} title={title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text}</Text>
        {title === NO_ACCESS && (
          <Anchor href={LOGOUT} size="sm">
            Sign out at the identity provider to use another account
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
      title="Sign in"
      about={
        isSignedOut ? (
          <span role="status">You are signed out.</span>
        ) : (
          "You sign in at your organisation's identity provider, then return here."
        )
      }
    >
      {errorCode !== null && <SignInError code={errorCode} />}
      <Button component="a" href={loginUrl(to)}>
        {errorCode === null ? "Sign in" : "Sign in again"}
      </Button>
    </AuthCard>
  );
}

/** Behind a load balancer that authenticates every browser: loading any page starts its sign-in. */
export function LoadBalancerSignIn({ to }: { to: string }) {
  return (
    <AuthCard
      title="You are not signed in"
      about="Sign in to continue. If you end up here again, sign out first: your browser's sign-in has expired."
    >
      <Group grow>
        <Button variant="default" component="a" href={LOGOUT}>
          Sign out
        </Button>
        <Button component="a" href={serverPath(`/ui${to}`)}>
          Sign in
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
    <AuthCard title="You are signed in">
      <Text size="sm" role="status">
        Continue in the other tab. You can close this one.
      </Text>
    </AuthCard>
  );
}

/** Shown instead of the pages when the provider knows the user and the server refuses access. */
export function SignInRefused({ children }: { children: ReactNode }) {
  return (
    <AuthCard title={NO_ACCESS}>
      {children}
      <Button variant="default" component="a" href={LOGOUT}>
        Sign out
      </Button>
    </AuthCard>
  );
}
