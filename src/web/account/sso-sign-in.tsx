/** Signing in where an identity provider vouches for people: the way there, and what went wrong on it. */
import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";
import { useSearchParams } from "react-router";
import { SignInErrorCode } from "../../../schemas/sign-on.ts";
import { notifyOtherTabs } from "../app/session.tsx";
import { AuthCard } from "./auth-card.tsx";

/** Ends the session, and the provider's own where that can be done: a page of the server's. */
const LOGOUT = "/logout";

/** The page that begins the way to the provider. @param to where to go afterwards, below /ui */
export const loginUrl = (to: string): string => `/login?to=${encodeURIComponent(`/ui${to}`)}`;

const REFUSED = "You are signed in at the identity provider, but not let in here";

const ISSUES: Readonly<Record<SignInErrorCode, { title: string; text: string }>> = {
  no_role: {
    title: REFUSED,
    text: "None of your groups at the identity provider gives you a role here. Ask an admin to put you into one that does.",
  },
  no_email: {
    title: REFUSED,
    text: "The identity provider tells no e-mail address of yours, and people are known by theirs here. Ask an admin to let it send the e-mail address.",
  },
  email_not_verified: {
    title: REFUSED,
    text: "The identity provider does not say that your e-mail address is verified. Verify it there, then sign in again.",
  },
  address_taken: {
    title: REFUSED,
    text: "Somebody else at the identity provider has your e-mail address here already. Ask an admin to look into it.",
  },
  deactivated: {
    title: REFUSED,
    text: "Your account is deactivated here. Ask an admin to let you back in.",
  },
  denied: {
    title: "You were not signed in",
    text: "The identity provider says that signing in was cancelled or not allowed. Try again, or ask an admin whether you may use Millrace.",
  },
  flow_expired: {
    title: "That took too long",
    text: "Signing in must be finished within ten minutes, in the browser that it was begun with, and cookies must be allowed. Begin again.",
  },
  state_mismatch: {
    title: "That was the answer to another attempt",
    text: "You may have begun to sign in twice, or a page of somebody else has led you here. Begin again.",
  },
  code_expired: {
    title: "The identity provider's answer has expired",
    text: "It works once and for a short time. Begin again.",
  },
  provider_refused: {
    title: "The identity provider refused",
    text: "It does not accept how Millrace asks: an admin finds the reason in the server's log. Nothing is wrong with your account.",
  },
  provider_unavailable: {
    title: "The identity provider can't be reached",
    text: "Nobody can sign in until it answers again. Try again in a moment; API keys go on working meanwhile.",
  },
  not_verified: {
    title: "The identity provider's answer can't be trusted",
    text: "It did not prove to come from the provider, or was meant for somebody else. Begin again; if it stays, an admin finds the reason in the server's log.",
  },
  too_many_attempts: {
    title: "Too many attempts",
    text: "From your network somebody has tried to sign in very often. Wait some minutes, then begin again.",
  },
  busy: {
    title: "Too busy right now",
    text: "You were not signed in, and nothing was changed. Begin again.",
  },
  internal: {
    title: "Something went wrong here",
    text: "It was logged. Begin again; if it stays, tell an admin when it happened.",
  },
};

function Issue({ code }: { code: string }) {
  const known = SignInErrorCode.safeParse(code);
  const { title, text } = ISSUES[known.success ? known.data : "internal"];
  return (
    <Alert role="alert" color="red" icon={<IconAlertTriangle aria-hidden />} title={title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text}</Text>
        {title === REFUSED && (
          <Anchor href={LOGOUT} size="sm">
            Sign out at the identity provider, to come as somebody else
          </Anchor>
        )}
      </Stack>
    </Alert>
  );
}

/** By a click, not by itself: who has just signed out, or was refused, would be led in circles. */
export function SsoSignIn({ to }: { to: string }) {
  const [search] = useSearchParams();
  const issue = search.get("error");
  const isOut = search.has("signed_out");
  useEffect(() => {
    if (isOut) notifyOtherTabs();
  }, [isOut]);
  return (
    <AuthCard
      title="Sign in"
      about={
        isOut ? (
          <span role="status">You are signed out.</span>
        ) : (
          "You sign in at your organisation's identity provider, and come back here."
        )
      }
    >
      {issue !== null && <Issue code={issue} />}
      <Button component="a" href={loginUrl(to)}>
        {issue === null ? "Sign in" : "Sign in again"}
      </Button>
    </AuthCard>
  );
}

/** Behind a load balancer that asks everybody who they are before they reach a page of ours: loading one is enough. */
export function LoadBalancerSignIn({ to }: { to: string }) {
  return (
    <AuthCard
      title="You are not signed in"
      about="Signing in begins when the page is loaded again. If that leads back here, sign out first: the sign-on that your browser remembers is over."
    >
      <Group grow>
        <Button variant="default" component="a" href={LOGOUT}>
          Sign out
        </Button>
        <Button component="a" href={`/ui${to}`}>
          Sign in
        </Button>
      </Group>
    </AuthCard>
  );
}

/** What a tab shows that was opened to sign in again beside another, which goes on by itself. */
export function CloseTabNotice() {
  useEffect(() => {
    notifyOtherTabs();
    // Browsers let only some tabs close themselves: the text is for the others.
    window.close();
  }, []);
  return (
    <AuthCard title="You are signed in">
      <Text size="sm" role="status">
        Go on in the other tab. This one can be closed.
      </Text>
    </AuthCard>
  );
}

/** In place of the pages, for whom the provider knows and the server refuses. */
export function SignInRefused({ children }: { children: ReactNode }) {
  return (
    <AuthCard title="You are not let in here">
      {children}
      <Button variant="default" component="a" href={LOGOUT}>
        Sign out
      </Button>
    </AuthCard>
  );
}
