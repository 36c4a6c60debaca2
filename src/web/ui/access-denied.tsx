/** Shown instead of a page that the user's role does not allow. */
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useSession } from "../app/session.tsx";
import { EmptyState, Page } from "./page.tsx";

export function AccessDenied({ title, needs = "admins" }: { title: string; needs?: string }) {
  const { user } = useSession();
  return (
    <Page title={title}>
      <EmptyState
        title={`Only ${needs} can open this page`}
        action={
          <Button component={Link} to="/" variant="default">
            Home
          </Button>
        }
      >
        You&apos;re signed in as {user.email} with the role {user.role}. An admin can change your role.
      </EmptyState>
    </Page>
  );
}
