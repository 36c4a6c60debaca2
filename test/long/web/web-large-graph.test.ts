/** A graph of 120 steps: it opens at the failed step, steps are found by search, and what needs no attention is folded. */
import { expect, it } from "vitest";
import type { Run } from "../../../schemas/run.ts";
import { violations } from "../../support/axe.ts";
import {
  createFirstAdmin,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

const step = (id: string, needs: string[]) => ({ id, type: "set", values: { done: true }, needs });
const parts = Array.from({ length: 40 }, (_, index) => `part_${index}`);
const chain = (from: string, prefix: string, length: number) =>
  Array.from({ length }, (_, index) =>
    step(`${prefix}_${index}`, [index === 0 ? from : `${prefix}_${index - 1}`]),
  );

/** Loads, works on 40 parts beside each other, joins them, goes on for 30 steps, and fails before the last 47. */
const LARGE = {
  steps: [
    step("load", []),
    ...parts.map((id) => step(id, ["load"])),
    step("join", parts),
    ...chain("join", "clean", 30),
    { id: "check", type: "assert", that: "false", message: "The sums differ.", needs: ["clean_29"] },
    ...chain("check", "report", 47),
  ],
  output: "${{ steps.load.done }}",
};

it("finds and folds the steps of a large graph", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Large", definition: LARGE });
  const run = await requestApi<Run>(ann, "POST", "/workflows/large/runs", { wait: 30 });
  expect(run.status).toBe("failed");
  const { page, visit } = await openWindow(await openBrowser(), site, ann, {
    viewport: { width: 1440, height: 900 },
  });
  await visit(`/runs/${run.id}`);
  const graph = page.getByRole("application", { name: /^Graph of/ });
  const card = (name: RegExp) => graph.getByRole("button", { name });
  await page.getByRole("application", { name: "Graph of 120 steps" }).waitFor();
  await card(/^check, /).waitFor();
  await graph.getByRole("img", { name: "Overview of the graph" }).waitFor();
  await takeScreenshot(page, "large-graph");

  const search = page.getByLabel("Find a step in the graph by id, type or status");
  await search.fill("part_1");
  await page.getByText("1 of 11").waitFor();
  await search.press("ArrowDown");
  await page.getByText("2 of 11").waitFor();
  await card(/^part_10, /).waitFor();
  await takeScreenshot(page, "large-graph-search");
  await search.press("Enter");
  await page.getByRole("heading", { level: 2, name: "part_10" }).waitFor();
  await search.press("Escape");
  expect(await search.inputValue()).toBe("");

  await page.getByRole("button", { name: "Fold" }).click();
  // The first step, 39 parts, the selected one, what joins and cleans, the check, and the report.
  await page.getByRole("application", { name: "Graph of 6 steps" }).waitFor();
  await card(/^39 steps, part_0 to part_39, succeeded, folded$/).waitFor();
  await takeScreenshot(page, "large-graph-folded");
  expect(await violations(page)).toEqual([]);
  await card(/^31 steps, join to clean_29, succeeded, folded$/).click();
  await page.getByRole("application", { name: "Graph of 36 steps" }).waitFor();
  await search.fill("report_40");
  await page.getByText("1 of 1", { exact: true }).waitFor();
  await card(/^report_40, /).waitFor();
});
