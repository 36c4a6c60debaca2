/** Shown when a page throws or its files cannot be loaded: the error, and a button to reload. */
import { Button, Container, Stack, Text } from "@mantine/core";
import { useEffect, useLayoutEffect, useState } from "react";
import { useRouteError } from "react-router";
import { connection, useConnection } from "../api/connection.ts";
import { ErrorAlert, LoadingSkeleton } from "../ui/page.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";

export function RouteErrorBoundary() {
  const thrown = useRouteError();
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return (
    <Container size="sm" py="xl">
      <ConnectionBanner />
      <Stack align="flex-start">
        {isChunkLoadError(error) ? <ChunkLoadError /> : <ErrorAlert error={error} />}
        <Button onClick={() => location.reload()}>Reload page</Button>
      </Stack>
    </Container>
  );
}

/** Matches the messages of Chrome, Firefox and Safari for a module that failed to load. */
const isChunkLoadError = ({ message }: Error): boolean =>
  /dynamically imported module|Importing a module|Unable to preload/i.test(message);

/** A missing file means that a new release replaced it, or that the server is down. */
function ChunkLoadError() {
  const { isReachable, isSuspected } = useConnection();
  const [wasAway, setWasAway] = useState(false);
  if (!isReachable && !wasAway) setWasAway(true);
  useLayoutEffect(() => connection.reportFailure(), []);
  useEffect(() => {
    if (isReachable && wasAway) location.reload();
  }, [isReachable, wasAway]);
  if (isSuspected) return <LoadingSkeleton rows={1} />;
  return isReachable ? (
    <ErrorAlert error={new Error("Millrace was updated. Reload the page to continue.")} />
  ) : (
    <Text c="dimmed">This page loads as soon as the server answers.</Text>
  );
}
