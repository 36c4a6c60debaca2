/** What stands before the pages: who is not signed in is asked to, and is brought back to where they were. */
import { Center, Container, Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import type { SessionInfo } from "../../../schemas/user.ts";
import { SignInRefused } from "../account/sso-sign-in.tsx";
import { ApiError } from "../api/client.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { type SignOutTarget, purgeUserQueries, SessionProvider, useSessionQuery } from "./session.tsx";
import { Shell } from "./shell.tsx";
import { ReauthenticationDialog } from "./reauthentication-dialog.tsx";

/**
 * Who was signed in stays on their page when the session ends by itself or elsewhere: what they were writing is kept
 * for when they are back. Somebody else sees nothing of it.
 */
export function AuthenticatedLayout() {
  const session = useSessionQuery();
  const { pathname, search, hash } = useLocation();
  const [seen, setSeen] = useState<SessionInfo>();
  const [leavingTo, leave] = useState<SignOutTarget>();
  const now = session.data;
  const isAnother = Boolean(now && seen && now.user.id !== seen.user.id);
  if (now && now !== seen && !isAnother) setSeen(now);
  if (leavingTo !== undefined) {
    const then = leavingTo === "/logout" ? <Outward to={leavingTo} /> : <Navigate to={leavingTo} replace />;
    return <Forgetting then={then} />;
  }
  if (isAnother) return <Forgetting onForgotten={() => setSeen(undefined)} />;
  if (now === undefined) {
    if (session.error instanceof ApiError && session.error.code === "sign_on_refused") {
      return (
        <Alone>
          <SignInRefused>
            <ErrorAlert error={session.error} />
          </SignInRefused>
        </Alone>
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
  const shown = now ?? seen;
  if (shown === undefined) {
    const back = pathname + search + hash;
    return <Navigate to={back === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(back)}`} replace />;
  }
  return (
    <SessionProvider session={shown} signOutTo={leave}>
      <Shell>
        <Outlet />
      </Shell>
      {now === null && <ReauthenticationDialog email={shown.user.email} mode={shown.mode} />}
    </SessionProvider>
  );
}

/** In place of the pages, so that none still shows it: takes out what the one before was given. */
function Forgetting({ onForgotten, then }: { onForgotten?: () => void; then?: ReactNode }) {
  const client = useQueryClient();
  const forgotten = useEffectEvent(() => onForgotten?.());
  useEffect(() => {
    purgeUserQueries(client);
    forgotten();
  }, [client]);
  return then ?? <FullPageLoader />;
}

/** Leaves the application, for a page of the server's. */
function Outward({ to }: { to: string }) {
  useEffect(() => location.replace(to), [to]);
  return <FullPageLoader />;
}

/** The pages that stand alone: signing in, the first visit, links out of mails. */
export function PublicLayout() {
  return (
    <Alone>
      <Outlet />
    </Alone>
  );
}

function Alone({ children }: { children: ReactNode }) {
  return (
    <Container component="main" size={460} py={{ base: "md", sm: 64 }}>
      {children}
    </Container>
  );
}

/** While it is not known yet what to show. */
export function FullPageLoader() {
  return (
    <Center h="100vh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}
