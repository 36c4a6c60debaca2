import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import type { RunSummary } from "../../../schemas/run.ts";
import { readFilters } from "../../../src/web/runs/filters.ts";
import { recentRunsQuery } from "../../../src/web/workflows/queries.ts";
import { RecentRuns } from "../../../src/web/workflows/recent-runs.tsx";

// The clock of the page has no snapshot for server rendering.
vi.mock("../../../src/web/ui/now.ts", () => ({ useNow: () => Date.parse("2026-11-21T09:00:00.000Z") }));

const RUN: RunSummary & { workflow_id: string } = {
  id: "run_1",
  workflow_id: "weekly-revenue",
  version: 1,
  status: "succeeded",
  trigger: "rest",
  created_at: "2026-11-21T08:00:00.000Z",
  started_at: "2026-11-21T08:00:00.000Z",
  finished_at: "2026-11-21T08:00:01.000Z",
  error: null,
};

/** The recent runs as HTML. */
function render(runs: (typeof RUN)[]): string {
  const client = new QueryClient();
  client.setQueryData(recentRunsQuery(RUN.workflow_id).queryKey, runs);
  const page = createElement(
    QueryClientProvider,
    { client },
    createElement(MemoryRouter, null, createElement(RecentRuns, { workflowId: RUN.workflow_id })),
  );
  return renderToStaticMarkup(createElement(MantineProvider, null, page));
}

it("links to the run list with a filter that the list understands", () => {
  const query = /href="\/runs(\?[^"]*)"/.exec(render([RUN]))?.[1];
  expect(readFilters(new URLSearchParams(query))).toEqual({ workflow: RUN.workflow_id, status: [] });
});

it("marks a run with open interruptions", () => {
  const label = 'aria-label="1 open interruption: nobody knows whether its effect happened"';
  expect(render([{ ...RUN, open_interruptions: 1 }])).toContain(label);
  expect(render([RUN])).not.toContain("interruption");
});
