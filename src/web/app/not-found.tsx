import { Button } from "@mantine/core";
import { Link } from "react-router";
import { EmptyState, Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        title="There is no such page"
        action={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        The address may be mistyped, or what it showed is gone.
      </EmptyState>
    </Page>
  );
}
