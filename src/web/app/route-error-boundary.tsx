/** Shown when a page throws or its files cannot be loaded: the error, and a button to reload. */
import { Button, Container, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouteError } from "react-router";
import { serverPath } from "./base-path.ts";
import { ErrorAlert, LoadingSkeleton } from "../ui/page.tsx";

const HEALTH_POLL_MS = 3_000;

export function RouteErrorBoundary() {
  const thrown = useRouteError();
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return (
    <Container size="sm" py="xl">
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
  const isUp = useQuery({
    queryKey: ["health"],
    queryFn: async ({ client, queryKey, signal }) => {
      const wasUp = client.getQueryData<boolean>(queryKey);
      const isUpNow = await isServerUp(signal);
      if (isUpNow && wasUp === false) location.reload();
      return isUpNow;
    },
    refetchInterval: ({ state }) => state.data === false && HEALTH_POLL_MS,
    networkMode: "always",
    gcTime: 0,
  }).data;
  if (isUp === undefined) return <LoadingSkeleton rows={1} />;
  return (
    <ErrorAlert
      error={
        new Error(
          isUp
            ? "Millrace was updated. Reload the page to continue."
            : "The server can't be reached. This page reloads as soon as the server responds.",
        )
      }
    />
  );
}

const isServerUp = async (signal: AbortSignal): Promise<boolean> => {
  try {
    return (await fetch(serverPath("/health"), { signal })).ok;
  } catch {
    return false;
  }
};
