/** The layouts around all pages. A visitor without a session goes to the sign-in page, and returns after sign-in. */
import { Center, Container, Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import type { SessionInfo } from "../../../schemas/user.ts";
import { SignInRefused } from "../account/sso-sign-in.tsx";
import { ApiError } from "../api/client.ts";
import { ProjectsProvider } from "../projects/use-projects.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { serverPath } from "./base-path.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { type SignOutTarget, purgeUserQueries, SessionProvider, useSessionQuery } from "./session.tsx";
import { Shell } from "./shell.tsx";
import { ReauthenticationDialog } from "./reauthentication-dialog.tsx";

/**
 * When the session ends, the page stays mounted behind a sign-in dialog, so that unsaved input is not lost. If another
 * user signs in, the page is discarded first.
 */
export function AuthenticatedLayout() {
  const session = useSessionQuery();
  const { pathname, search, hash } = useLocation();
  const [lastSession, setLastSession] = useState<SessionInfo>();
  const [signOutTarget, signOutTo] = useState<SignOutTarget>();
  const current = session.data;
  const isOtherUser = Boolean(current && lastSession && current.user.id !== lastSession.user.id);
  if (current && current !== lastSession && !isOtherUser) setLastSession(current);
  if (signOutTarget !== undefined) {
    const next =
      signOutTarget === "/logout" ? (
        <ServerRedirect to={signOutTarget} />
      ) : (
        <Navigate to={signOutTarget} replace />
      );
    return <PurgeUserData>{next}</PurgeUserData>;
  }
  if (isOtherUser) return <PurgeUserData onPurged={() => setLastSession(undefined)} />;
  if (current === undefined) {
    if (session.error instanceof ApiError && session.error.code === "sign_on_refused") {
      return (
        <CenteredColumn>
          <SignInRefused>
            <ErrorAlert error={session.error} />
          </SignInRefused>
        </CenteredColumn>
      );
    }
    return session.isError ? (
      <Container size="sm" py="xl">
        <ErrorAlert error={session.error} retry={() => void session.refetch()} />
      </Container>
    ) : (
      <FullPageLoader />
    );
  }
  const effective = current ?? lastSession;
  if (effective === undefined) {
    const returnPath = pathname + search + hash;
    return (
      <Navigate
        to={returnPath === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(returnPath)}`}
        replace
      />
    );
  }
  return (
    <SessionProvider session={effective} signOutTo={signOutTo}>
      <ProjectsProvider>
        <Shell>
          <Outlet />
        </Shell>
      </ProjectsProvider>
      {current === null && <ReauthenticationDialog email={effective.user.email} mode={effective.mode} />}
    </SessionProvider>
  );
}

/** Clears what the cache holds of the user. Rendered instead of the pages, so that none of them still shows the data. */
function PurgeUserData({ onPurged, children }: { onPurged?: () => void; children?: ReactNode }) {
  const client = useQueryClient();
  const notifyPurged = useEffectEvent(() => onPurged?.());
  useEffect(() => {
    purgeUserQueries(client);
    notifyPurged();
  }, [client]);
  return children ?? <FullPageLoader />;
}

/** Leaves the application for a page that the server renders. */
function ServerRedirect({ to }: { to: string }) {
  useEffect(() => location.replace(serverPath(to)), [to]);
  return <FullPageLoader />;
}

/** The layout of pages that need no session: sign-in, setup, links in e-mails. */
export function PublicLayout() {
  return (
    <CenteredColumn>
      <Outlet />
    </CenteredColumn>
  );
}

function CenteredColumn({ children }: { children: ReactNode }) {
  return (
    <Container component="main" size={460} py={{ base: "md", sm: 64 }}>
      <ConnectionBanner />
      {children}
    </Container>
  );
}

export function FullPageLoader() {
  return (
    <Center h="100vh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}
