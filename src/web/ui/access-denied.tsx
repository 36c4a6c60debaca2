/** A page that one's role does not open. */
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useSession } from "../app/session.tsx";
import { EmptyState, Page } from "./page.tsx";

export function AccessDenied({ title, needs = "an admin" }: { title: string; needs?: string }) {
  const { user } = useSession();
  return (
    <Page title={title}>
      <EmptyState
        title={`This is for ${needs}`}
        action={
          <Button component={Link} to="/" variant="default">
            Home
          </Button>
        }
      >
        You are signed in as {user.email}, with the role {user.role}. An admin can change it.
      </EmptyState>
    </Page>
  );
}
