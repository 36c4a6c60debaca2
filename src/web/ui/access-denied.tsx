/** Shown instead of a page that the user's role does not allow. */
import { Button } from "@mantine/core";
import { Link } from "react-router";
import * as texts from "#texts/ui";
import { useSession } from "../app/session.tsx";
import { EmptyState, Page } from "./page.tsx";

interface AccessDeniedProps {
  title: string;
  /** The lowest role that the page needs. */
  needs?: "editor" | "admin";
}

export function AccessDenied({ title, needs = "admin" }: AccessDeniedProps) {
  const { user } = useSession();
  return (
    <Page title={title}>
      <EmptyState
        title={texts.accessDeniedTitle({ needs })}
        action={
          <Button component={Link} to="/" variant="default">
            {texts.home}
          </Button>
        }
      >
        {texts.accessDeniedHelp({ email: user.email, role: user.role })}
      </EmptyState>
    </Page>
  );
}
