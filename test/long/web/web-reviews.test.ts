/** A change request in the browser: the author sees why they may not decide, another person approves it. */
import { expect, it } from "vitest";
import {
  addPerson,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

const report = (greeting: string) => ({
  steps: [
    { id: "hello", type: "set", values: { greeting } },
    { id: "hook", type: "http", method: "POST", url: "https://example.com/hook", body: { a: 1 } },
  ],
  output: "${{ steps.hello.greeting }}",
  schedule: { cron: "0 7 * * 1", timezone: "Europe/Berlin" },
});

it("is found beside the approvals, read, and approved by another person than its author", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const ben = await addPerson(site, ann, "ben@example.com", "editor");
  await requestApi(ben, "POST", "/workflows", { name: "Report", definition: report("Good morning") });
  await requestApi(ben, "POST", "/workflows/report/publish", {});
  await requestApi(ann, "PATCH", "/projects/default", { review: true });
  await requestApi(ben, "PATCH", "/workflows/report", { definition: report("Good evening") });
  const { review } = await requestApi<{ review: { id: string } }>(ben, "POST", "/workflows/report/publish", {
    reason: "It runs in the evening now.",
  });
  const browser = await openBrowser();

  const author = await openWindow(browser, site, ben);
  await author.visit("/workflows/report");
  await author.page.getByText("Version 2 waits for review").waitFor();
  await takeScreenshot(author.page, "workflow-notice");
  await author.page.getByRole("link", { name: "Review the change" }).click();
  await author.page.getByText("You asked for it.").waitFor();
  expect(await author.page.getByRole("button", { name: "Approve and publish" }).isDisabled()).toBe(true);
  await takeScreenshot(author.page, "author");

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 400]) {
      const view = await openWindow(browser, site, ann, { viewport: { width, height: 900 }, colorScheme });
      for (const [name, path] of [
        ["list", "/reviews"],
        ["review", `/reviews/${review.id}`],
      ] as const) {
        await view.visit(path);
        await view.page.getByText("It runs in the evening now.").waitFor();
        const overflow = await view.page.evaluate<number>(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect({ name, width, overflow }).toEqual({ name, width, overflow: 0 });
        await takeScreenshot(view.page, `${name}-${width}-${colorScheme}`);
      }
    }

  const reviewer = await openWindow(browser, site, ann);
  await reviewer.visit("/");
  await reviewer.page.getByRole("link", { name: /^Reviews/ }).click();
  await reviewer.page.getByRole("link", { name: "Publish version 2 of report" }).click();
  await heading(reviewer.page, "Publish version 2 of report").waitFor();
  await reviewer.page.getByText("Sends POST to example.com").waitFor();
  await reviewer.page.getByRole("button", { name: "Approve and publish" }).click();
  await reviewer.page.getByText("Approved: the version was published").waitFor();
  expect(await requestApi(ben, "GET", "/workflows/report")).toMatchObject({ published_version: 2 });
});
