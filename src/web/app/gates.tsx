/** What stands before the pages: who is not signed in is asked to, and is brought back to where they were. */
import { Center, Container, Loader } from "@mantine/core";
import { Navigate, Outlet, useLocation } from "react-router";
import { Failed } from "../ui/page.tsx";
import { SessionProvider, useSessionQuery } from "./session.tsx";
import { Shell } from "./shell.tsx";

export function SignedIn() {
  const session = useSessionQuery();
  const { pathname, search, hash } = useLocation();
  if (session.data === undefined) {
    return session.isError ? (
      <Container size="sm" py="xl">
        <Failed error={session.error} retry={() => void session.refetch()} />
      </Container>
    ) : (
      <Blank />
    );
  }
  if (session.data === null) {
    const back = pathname + search + hash;
    return <Navigate to={back === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(back)}`} replace />;
  }
  return (
    <SessionProvider session={session.data}>
      <Shell>
        <Outlet />
      </Shell>
    </SessionProvider>
  );
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
