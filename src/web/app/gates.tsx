/** What stands before the pages: who is not signed in is asked to, and is brought back to where they were. */
import { Center, Container, Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useState } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import type { SessionInfo } from "../../../schemas/user.ts";
import { Failed } from "../ui/page.tsx";
import { forget, SessionProvider, useSessionQuery } from "./session.tsx";
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
  const [isLeaving, setLeaving] = useState(false);
  const now = session.data;
  const isAnother = Boolean(now && seen && now.user.id !== seen.user.id);
  if (now && now !== seen && !isAnother) setSeen(now);
  const leave = useCallback(() => setLeaving(true), []);
  if (isLeaving) return <Forgetting then={<Navigate to="/sign-in" replace />} />;
  if (isAnother) return <Forgetting onForgotten={() => setSeen(undefined)} />;
  if (now === undefined) {
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
      {now === null && <SignedOutDialog email={shown.user.email} />}
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

/** The pages that stand alone: signing in, the first visit, links out of mails. */
export function SignedOut() {
  return (
    <Container component="main" size={460} py={{ base: "md", sm: 64 }}>
      <Outlet />
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
