/** The favourites and saved views of people, and what the home page counts. */
import { expect, it } from "vitest";
import { MAX_FAILING } from "../../schemas/run-statistics.ts";
import { DAY, HOUR } from "../../src/core/clock.ts";
import { getBookmarks } from "../../tools/bookmarks/get-bookmarks.ts";
import { updateBookmarks } from "../../tools/bookmarks/update-bookmarks.ts";
import { getRunStatistics } from "../../tools/runs/get-run-statistics.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const view = (number: number) => ({ page: "runs" as const, name: `View ${number}` });

it("bookmarks belong to one person, and have limits", async () => {
  const instance = await testInstance();
  const person = async (email: string) =>
    callAs(instance, (await signedInUser(instance, { email, role: "editor" })).principal);
  const [ann, ben] = [await person("ann@example.com"), await person("ben@example.com")];
  const ids: string[] = [];
  for (let number = 1; number <= 101; number += 1)
    ids.push((await ann(createWorkflow, { name: `Report ${number}` })).id);
  await ann(updateBookmarks, { add_favorites: [ids[1]!, ids[0]!] });
  const renamed = { workflow_id: ids[0]!, name: "Zebra", if_match: undefined };
  await ann(updateWorkflow, renamed);
  expect((await ann(getBookmarks, {})).favorites).toEqual([
    { workflow_id: "report-2", name: "Report 2", status: "draft" },
    { workflow_id: "report-1", name: "Zebra", status: "draft" },
  ]);
  expect(await ben(getBookmarks, {})).toEqual({ favorites: [], views: [] });
  for (let from = 0; from < 100; from += 20)
    await ann(updateBookmarks, { add_favorites: ids.slice(from, from + 20) });
  await expect(ann(updateBookmarks, { add_favorites: [ids[100]!] })).rejects.toMatchObject({
    code: "invalid_input",
    details: { errors: [{ path: "add_favorites", code: "too_large" }] },
  });
  expect((await ann(getBookmarks, {})).favorites).toHaveLength(100);
});

it("bookmarks beyond the limit can be removed one after the other, and not be added to", async () => {
  const instance = await testInstance();
  const { principal } = await signedInUser(instance, { email: "ann@example.com", role: "editor" });
  const ann = callAs(instance, principal);
  // As parallel requests left them.
  await instance.store.transaction((trx) =>
    trx
      .insertInto("saved_views")
      .values(
        Array.from({ length: 103 }, (_, number) => ({
          owner: "ann@example.com",
          page: "runs" as const,
          name: `View ${number}`,
          query: "",
          created_at: "2026-11-21T08:00:00.000Z",
        })),
      )
      .execute(),
  );
  expect((await ann(updateBookmarks, { remove_views: [view(0)] })).views).toHaveLength(102);
  await expect(ann(updateBookmarks, { save_views: [{ ...view(200), query: "" }] })).rejects.toMatchObject({
    code: "invalid_input",
  });
  const { views } = await ann(updateBookmarks, {
    remove_views: [view(1), view(2), view(3)],
    save_views: [{ ...view(200), query: "" }],
  });
  expect(views).toHaveLength(100);
});

it("bookmarks that are added at the same time count together", async () => {
  const instance = await testInstance();
  const { principal } = await signedInUser(instance, { email: "ann@example.com", role: "editor" });
  const ann = callAs(instance, principal);
  const added = await Promise.allSettled(
    Array.from({ length: 10 }, (_, request) =>
      ann(updateBookmarks, {
        save_views: Array.from({ length: 20 }, (_unused, number) => ({
          page: "runs" as const,
          name: `View ${request}.${number}`,
          query: "",
        })),
      }),
    ),
  );
  expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  expect((await ann(getBookmarks, {})).views).toHaveLength(100);
});

it("runs are counted by days of a time zone, and failures by workflow", async () => {
  // 01:00 in Berlin is the day before in UTC.
  const clock = fakeClock(Date.parse("2026-11-21T00:30:00Z") - HOUR);
  const instance = await testInstance({ clock });
  const { queue } = await instance.executor();
  const ann = callAs(instance, keyPrincipal());
  const workflow = async (name: string, passes: boolean) =>
    (
      await ann(createWorkflow, {
        name,
        definition: { steps: [{ id: "check", type: "assert", that: String(passes), message: "Broken" }] },
      })
    ).id;
  const run = async (id: string) => {
    const { id: runId } = await ann(runWorkflow, { workflow_id: id, wait: 0 });
    queue.wake();
    await queue.waitUntilIdle();
    return runId;
  };
  const [good, bad, worse] = [
    await workflow("Good", true),
    await workflow("Bad", false),
    await workflow("Worse", false),
  ];
  await run(good);
  await run(worse);
  clock.advance(DAY);
  await run(worse);
  const last = await run(bad);
  const statistics = (timezone: string) => ann(getRunStatistics, { days: 2, timezone });
  const found = await statistics("Europe/Berlin");
  expect(found).toEqual({
    days: [
      {
        date: "2026-11-21",
        from: "2026-11-20T23:00:00.000Z",
        to: "2026-11-21T23:00:00.000Z",
        succeeded: 1,
        failed: 1,
      },
      {
        date: "2026-11-22",
        from: "2026-11-21T23:00:00.000Z",
        to: "2026-11-22T23:00:00.000Z",
        succeeded: 0,
        failed: 2,
      },
    ],
    failing: [
      expect.objectContaining({ workflow_id: "worse", name: "Worse", failed: 2, last_status: "failed" }),
      expect.objectContaining({ workflow_id: "bad", failed: 1, last_failed_run: last }),
    ],
  });
  expect((await statistics("UTC")).days.map(({ date, failed }) => [date, failed])).toEqual([
    ["2026-11-20", 1],
    ["2026-11-21", 2],
  ]);
});

it("archived workflows leave room for others among those that fail", async () => {
  const instance = await testInstance({ clock: fakeClock() });
  const { queue } = await instance.executor();
  const ann = callAs(instance, keyPrincipal());
  const failing = async (name: string, runs: number): Promise<string> => {
    const definition = { steps: [{ id: "check", type: "assert", that: "false", message: "Broken" }] };
    const { id } = await ann(createWorkflow, { name, definition });
    for (let count = 0; count < runs; count += 1) await ann(runWorkflow, { workflow_id: id, wait: 0 });
    return id;
  };
  const archived: string[] = [];
  for (let number = 1; number <= MAX_FAILING; number += 1)
    archived.push(await failing(`Archived ${number}`, 2));
  await failing("Kept", 1);
  queue.wake();
  await queue.waitUntilIdle();
  for (const id of archived) await ann(archiveWorkflow, { workflow_id: id });
  const { failing: listed } = await ann(getRunStatistics, { days: 1, timezone: "UTC" });
  expect(listed.map(({ workflow_id: id }) => id)).toEqual(["kept"]);
});
