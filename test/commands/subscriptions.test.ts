import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";

const CREATE = ["subscriptions", "create", "--name", "Alerts", "--event", "run.failed"];
const URL = "https://example.com/hook";
const SECRET = /^whsec_[\w+/]{43}=\n$/;

describe("millrace subscriptions", () => {
  it("creates one, and writes nothing but the signing secret to the standard output", async () => {
    const { cli } = await testCli();
    expect((await cli("subscriptions", "list")).out).toBe("There are no subscriptions.\n");
    const { out, err } = await cli(
      ...CREATE,
      "--event",
      "workflow.overdue",
      "--url",
      URL,
      "--tag",
      "nightly",
    );
    expect(out).toMatch(SECRET);
    const [, id] = /Created (sub_[\w-]+) \(Alerts\)/.exec(err)!;
    // Nothing mentions projects where there is one.
    expect((await cli("subscriptions", "list")).out).toMatch(
      /^ID +NAME +FORMAT +TO +EVENTS +PENDING +FAILED +STATE\nsub_\S+ +Alerts +standard_webhooks +https:\/\/example\.com\/hook +run\.failed,workflow\.overdue +0 +0 +active\n$/,
    );
    const [listed] = JSON.parse((await cli("subscriptions", "list", "--json")).out) as [{ id: string }];
    expect(listed).toMatchObject({ id, tags: ["nightly"], created_by: "operator" });
  });

  it("names the options of what is wrong", async () => {
    const { cli } = await testCli();
    expect(await cli(...CREATE)).toMatchObject({ code: 1, err: expect.stringContaining("--url") });
    expect(await cli(...CREATE, "--url", "http://127.0.0.1/")).toMatchObject({
      code: 1,
      err: expect.stringContaining("private network"),
    });
    expect(await cli("subscriptions", "create", "--name", "A", "--event", "run.ended")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Allowed choices are"),
    });
    expect(await cli("subscriptions", "delete", "sub_none")).toMatchObject({ code: 1 });
  });

  it("pauses, resumes, tests, rotates, shows deliveries, and deletes", async () => {
    const { cli } = await testCli();
    const { err } = await cli(...CREATE, "--url", URL);
    const id = /sub_[\w-]+/.exec(err)![0];
    expect((await cli("subscriptions", "change", id, "--pause", "--name", "Other")).out).toBe(
      `${id} (Other) is paused.\n`,
    );
    expect(await cli("subscriptions", "test", id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("is paused"),
    });
    expect((await cli("subscriptions", "change", id, "--resume")).out).toBe(`${id} (Other) is active.\n`);
    expect((await cli("subscriptions", "deliveries", id)).out).toBe("There are no such deliveries.\n");
    expect((await cli("subscriptions", "test", id)).out).toMatch(/^dlv_/);
    const { out } = await cli("subscriptions", "deliveries", id);
    expect(out).toMatch(/\ndlv_\S+ .* subscription\.test +- +pending +0 +- /);
    const delivery = /dlv_[\w-]+/.exec(out)![0];
    expect(await cli("subscriptions", "redeliver", delivery)).toMatchObject({
      code: 1,
      err: expect.stringContaining("pending already"),
    });
    const rotated = await cli("subscriptions", "rotate", id, "--overlap", "0s");
    expect(rotated.out).toMatch(SECRET);
    expect(rotated.err).toContain("The secret before no longer signs.");
    expect((await cli("subscriptions", "delete", id)).out).toBe(`Deleted ${id} (Other).\n`);
  });
});
