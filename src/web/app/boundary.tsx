/** When a page breaks: said in words, and the way back. */
import { Button, Container, Stack } from "@mantine/core";
import { useRouteError } from "react-router";
import { Failed } from "../ui/page.tsx";

export function Boundary() {
  const thrown = useRouteError();
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  // A new release has replaced the files that this page was made of.
  const stale = /dynamically imported module|Importing a module/i.test(error.message);
  return (
    <Container size="sm" py="xl">
      <Stack align="flex-start">
        <Failed error={stale ? new Error("Millrace was updated. Load the page again to go on.") : error} />
        <Button onClick={() => location.reload()}>Load the page again</Button>
      </Stack>
    </Container>
  );
}
