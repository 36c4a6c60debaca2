/** The page of a failed run shows the step that failed at once, beside the graph. */
import { expect, it } from "vitest";
import type { Run } from "../../../schemas/run.ts";
import {
  createFirstAdmin,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

const REGIONS = ["north", "south", "east", "west"];

/** Loads, sums up each region and compares the sum, which is wrong. */
const REPORT = {
  inputs: { type: "object", properties: { rows: { type: "array", items: { type: "integer" } } } },
  steps: [
    { id: "load", type: "set", values: { rows: "${{ inputs.rows }}" } },
    ...REGIONS.map((region) => ({
      id: region,
      type: "set",
      values: { sum: "${{ sum(steps.load.rows) }}" },
      needs: ["load"],
    })),
    {
      id: "compare",
      type: "assert",
      that: "steps.north.sum < steps.south.sum",
      message: "The north has not sold less than the south.",
      needs: REGIONS,
    },
    { id: "send", type: "set", values: { text: "Report" } },
  ],
  output: "${{ steps.send.text }}",
};

const VIEWPORT = { width: 1440, height: 900 };

async function failedRun(viewport = VIEWPORT) {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Report", definition: REPORT });
  const inputs = { rows: Array.from({ length: 200 }, (_, index) => index) };
  const run = await requestApi<Run>(ann, "POST", "/workflows/report/runs", { inputs, wait: 30 });
  expect(run.status).toBe("failed");
  const { page, visit } = await openWindow(await openBrowser(), site, ann, { viewport });
  await visit(`/runs/${run.id}`);
  const graph = page.getByRole("application", { name: /^Graph of/ });
  await graph.waitFor();
  const panel = page.getByRole("region", { name: "compare" });
  await panel.getByText("The north has not sold less than the south.", { exact: true }).waitFor();
  const boxOf = async (locator: typeof graph) => (await locator.boundingBox())!;
  return { page, graph, panel, boxOf };
}

it("opens at the failed step, beside the graph and above the fold, with the inputs folded", async () => {
  const { page, graph, panel, boxOf } = await failedRun();
  await takeScreenshot(page, "failed-run");
  const [left, right] = [await boxOf(graph), await boxOf(panel)];
  expect(right.x).toBeGreaterThan(left.x + left.width);
  expect(right.y).toBeLessThan(VIEWPORT.height - 200);
  expect(await page.getByRole("region", { name: "Inputs of the run" }).count()).toBe(0);
  await page.getByRole("button", { name: "Inputs" }).click();
  await page.getByRole("region", { name: "Inputs of the run" }).waitFor();
  await takeScreenshot(page, "failed-run-inputs");
});

it("shows the failed step below the graph in a narrow window", async () => {
  const { page, graph, panel, boxOf } = await failedRun({ width: 390, height: 844 });
  await takeScreenshot(page, "failed-run-narrow");
  const [above, below] = [await boxOf(graph), await boxOf(panel)];
  expect(below.y).toBeGreaterThan(above.y + above.height);
  expect(below.x + below.width).toBeLessThanOrEqual(390);
});
