/** What stands before the pages: who is not signed in is asked to, and is brought back to where they were. */
import { Center, Container, Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import type { SessionInfo } from "../../../schemas/user.ts";
import { NotLetIn } from "../account/sign-on.tsx";
import { ApiError } from "../api/client.ts";
import { Failed } from "../ui/page.tsx";
import { type Exit, forget, SessionProvider, useSessionQuery } from "./session.tsx";
import { Shell } from "./shell.tsx";
import { SignedOutDialog } from "./signed-out-dialog.tsx";

/**
 * Who was signed in stays on their page when the session ends by itself or elsewhere: what they were writing is kept
 * for when they are back. Somebody else sees nothing of it.
 */
export function SignedIn() {
  const session = useSessionQuery();
  const { pathname, search, hash } = useLocation();
  const [seen, setSeen] = useState<SessionInfo>();
  const [leavingTo, leave] = useState<Exit>();
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
          <NotLetIn>
            <Failed error={session.error} />
          </NotLetIn>
        </Alone>
      );
    }
    return session.isError ? (
      <Container size="sm" py="xl">
        <Failed error={session.error} retry={() => void session.refetch()} />
      </Container>
    ) : (
      <Blank />
    );
  }
  const shown = now ?? seen;
  if (shown === undefined) {
    const back = pathname + search + hash;
    return <Navigate to={back === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(back)}`} replace />;
  }
  return (
    <SessionProvider session={shown} leave={leave}>
      <Shell>
        <Outlet />
      </Shell>
      {now === null && <SignedOutDialog email={shown.user.email} mode={shown.mode} />}
    </SessionProvider>
  );
}

/** In place of the pages, so that none still shows it: takes out what the one before was given. */
function Forgetting({ onForgotten, then }: { onForgotten?: () => void; then?: ReactNode }) {
  const client = useQueryClient();
  const forgotten = useEffectEvent(() => onForgotten?.());
  useEffect(() => {
    forget(client);
    forgotten();
  }, [client]);
  return then ?? <Blank />;
}

/** Leaves the application, for a page of the server's. */
function Outward({ to }: { to: string }) {
  useEffect(() => location.replace(to), [to]);
  return <Blank />;
}

/** The pages that stand alone: signing in, the first visit, links out of mails. */
export function SignedOut() {
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
export function Blank() {
  return (
    <Center h="100vh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}
