import { Button } from "@mantine/core";
import { Link } from "react-router";
import { EmptyState, Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        title="This page doesn't exist"
        action={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        Check the address. What it showed may have been removed.
      </EmptyState>
    </Page>
  );
}
