/** A run is repeated with other inputs or another definition, which can be kept; the editor publishes only what is right. */
import { expect, it } from "vitest";
import type { Run } from "../../../schemas/run.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { eventually } from "../../support/eventually.ts";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

const LIMITED = {
  inputs: {
    type: "object",
    properties: { region: { type: "string", default: "north" }, limit: { type: "integer", default: 9 } },
  },
  steps: [
    { id: "load", type: "set", values: { rows: "${{ range(4) }}", region: "${{ inputs.region }}" } },
    { id: "enough", type: "assert", that: "size(steps.load.rows) < inputs.limit", message: "Too many rows." },
  ],
  output: { length: "${{ size(steps.load.region) }}", limit: "${{ inputs.limit }}" },
};

/** A failed run of `LIMITED`, and a window of the person who started it. */
async function failedRun() {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Limited", definition: LIMITED });
  const failed = await requestApi<Run>(ann, "POST", "/workflows/limited/runs", {
    inputs: { region: "south".repeat(5_000), limit: 2 },
    wait: 30,
  });
  expect(failed.status).toBe("failed");
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  /** The run whose page is open, once it has ended. */
  const runOnPage = async (): Promise<Run> => {
    await page.waitForURL(
      (url) => /\/runs\/run_[^/]+$/.test(url.pathname) && !url.pathname.endsWith(failed.id),
    );
    const path = new URL(page.url()).pathname.split("/").slice(-2).join("/");
    const read = (): Promise<Run> => requestApi<Run>(ann, "GET", `/${path}?detail=steps`);
    return eventually(async () => {
      const run = await read();
      return run.finished_at === null ? undefined : run;
    }, "the end of the run");
  };
  return { ann, failed, page, visit, runOnPage };
}

it("a failed run runs again with its whole inputs, of which one is changed", async () => {
  const { failed, page, visit, runOnPage } = await failedRun();
  await visit(`/runs/${failed.id}`);
  await page.getByRole("link", { name: "Run again" }).click();
  await page.getByText("Filled in with the inputs of").waitFor();
  expect(await page.getByLabel("Region").inputValue()).toBe("south".repeat(5_000));
  await page.getByLabel("Limit", { exact: true }).fill("5");
  await takeScreenshot(page, "run-again");
  await page.getByRole("button", { name: "Run version 1" }).click();
  expect(await runOnPage()).toMatchObject({ status: "succeeded", output: { length: 25_000, limit: 5 } });
});

it("a retry takes other inputs, and says before what it reuses", async () => {
  const { failed, page, visit, runOnPage } = await failedRun();
  await visit(`/runs/${failed.id}/retry`);
  await page.getByRole("button", { name: "Change inputs" }).click();
  await page.getByLabel("Limit", { exact: true }).fill("5");
  await page.getByRole("list", { name: "Retry preview" }).getByText("load").waitFor();
  await takeScreenshot(page, "retry-inputs");
  await page.getByRole("button", { name: "Retry with these changes" }).click();
  const retry = await runOnPage();
  expect(retry).toMatchObject({
    status: "succeeded",
    retry_of: failed.id,
    output: { length: 25_000, limit: 5 },
  });
  // Its input is the same: it reads the region alone.
  expect(retry.steps![0]).toMatchObject({ id: "load", reused_from: failed.id });
});

it("the changed definition of a retry is kept as a version", async () => {
  const { ann, failed, page, visit, runOnPage } = await failedRun();
  await visit(`/runs/${failed.id}/retry`);
  await page.locator(".cm-line", { hasText: "that:" }).click();
  await page.keyboard.press("End");
  await page.keyboard.insertText(" || true");
  await page.getByRole("button", { name: "Retry with these changes" }).click();
  expect(await runOnPage()).toMatchObject({ status: "succeeded", patched: true });
  await page.getByRole("link", { name: "Save as a version" }).click();
  await heading(page, "Edit Limited").waitFor();
  await page.getByText("Save it to keep it as version 2.").waitFor();
  await takeScreenshot(page, "keep-definition");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved as version 2.").waitFor();
  const { definition } = await requestApi<WorkflowWithDefinition>(ann, "GET", "/workflows/limited");
  expect(definition).toMatchObject({
    steps: [{ id: "load" }, { that: "size(steps.load.rows) < inputs.limit || true" }],
  });
});

it("the editor marks the wrong word, keeps the issues in view, and publishes nothing while there are any", async () => {
  const { ann, page, visit } = await failedRun();
  await visit("/workflows/limited/edit");
  const query = "SELECT id,\n        status\n      FROM orders\n      WHERE ordred_on > 'x'";
  const step = `  - id: orders\n    type: sql\n    query: |\n      ${query}\n`;
  const others = Array.from({ length: 40 }, (_, n) => `  - { id: s${n}, type: set, values: { n: ${n} } }\n`);
  await page.getByRole("textbox", { name: /^Definition of / }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(`steps:\n${step}${others.join("")}`);
  await page.getByText("1 error", { exact: true }).waitFor();
  const issue = page.getByRole("button", { name: /no such column: ordred_on/ }).first();
  const box = (await issue.boundingBox())!;
  expect(box.y + box.height).toBeLessThanOrEqual(900);
  await issue.click();
  expect(await page.locator(".cm-lintRange-error").allInnerTexts()).toEqual(["ordred_on"]);
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("Nothing was saved or published. Fix the error in the text").waitFor();
  await takeScreenshot(page, "publish-refused");
  expect(await requestApi(ann, "GET", "/workflows/limited")).toMatchObject({
    version: 1,
    published_version: null,
  });
  await page.getByRole("button", { name: /^Apply fix/ }).click();
  await page.getByText("Valid. Ready to run.").waitFor();
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published version 2 of “Limited”.").waitFor();
});
