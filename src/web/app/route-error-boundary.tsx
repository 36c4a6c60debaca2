/** When a page breaks: said in words, and the way back. */
import { Button, Container, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouteError } from "react-router";
import { ErrorAlert, LoadingSkeleton } from "../ui/page.tsx";

const ASK_AGAIN_MS = 3_000;

export function RouteErrorBoundary() {
  const thrown = useRouteError();
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return (
    <Container size="sm" py="xl">
      <Stack align="flex-start">
        {isMissingFile(error) ? <MissingFile /> : <ErrorAlert error={error} />}
        <Button onClick={() => location.reload()}>Load the page again</Button>
      </Stack>
    </Container>
  );
}

/** As the browsers say it of a part of the page that did not come. */
const isMissingFile = ({ message }: Error): boolean =>
  /dynamically imported module|Importing a module|Unable to preload/i.test(message);

/** Either a new release has replaced the files that this page was made of, or the server gives none at all. */
function MissingFile() {
  const isUp = useQuery({
    queryKey: ["health"],
    queryFn: async ({ client, queryKey, signal }) => {
      const before = client.getQueryData<boolean>(queryKey);
      const now = await isServerUp(signal);
      if (now && before === false) location.reload();
      return now;
    },
    refetchInterval: ({ state }) => state.data === false && ASK_AGAIN_MS,
    networkMode: "always",
    gcTime: 0,
  }).data;
  if (isUp === undefined) return <LoadingSkeleton rows={1} />;
  return (
    <ErrorAlert
      error={
        new Error(
          isUp
            ? "Millrace was updated. Load the page again to go on."
            : "The server can't be reached. It is asked again every few seconds; once it answers, the page is loaded.",
        )
      }
    />
  );
}

const isServerUp = async (signal: AbortSignal): Promise<boolean> => {
  try {
    return (await fetch("/health", { signal })).ok;
  } catch {
    return false;
  }
};
