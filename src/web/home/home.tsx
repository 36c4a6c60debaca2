/** Home: what failed, what waits for you, what ran, what comes next; and the ways in while there is nothing yet. */
import { SimpleGrid } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Page } from "../ui/page.tsx";
import { useNow } from "../ui/now.ts";
import { ComesNext, FailedLately, RanLately, WaitsForYou } from "./lists.tsx";
import { anyWorkflow, dayAgo, runsIn } from "./queries.ts";
import { Figures } from "./figures.tsx";
import { WaysIn } from "./ways-in.tsx";

export default function Home() {
  const since = dayAgo(useNow());
  const runs = useQuery(runsIn([]));
  const workflows = useQuery(anyWorkflow);
  const nothingRan = runs.data?.data.length === 0;
  return (
    <Page title="Home">
      {nothingRan && workflows.data !== undefined && <WaysIn workflows={workflows.data.data} />}
      {!nothingRan && (
        <>
          <Figures since={since} />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <WaitsForYou />
            <FailedLately since={since} />
            <RanLately />
            <ComesNext />
          </SimpleGrid>
        </>
      )}
    </Page>
  );
}
