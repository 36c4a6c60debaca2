import { describe, expect, it } from "vitest";
import { HOUR } from "../../../src/core/clock.ts";
import { createSubscription } from "../../../tools/subscriptions/create-subscription.ts";
import { exampleEnvironment } from "../../support/example-environment.ts";

interface SlackMessage {
  text: string;
  blocks: { type: "section"; text?: { text: string }; fields?: { text: string }[] }[];
}

describe("everyday alerts", () => {
  it("tells a Slack channel when a nightly sync fails, and once when it is overdue", async () => {
    const messages: SlackMessage[] = [];
    let contacts: unknown[] = [{ id: 1 }];
    const environment = await exampleEnvironment({
      http: ({ path, json }) => {
        if (path === "/contacts") return { body: { contacts } };
        expect(path).toBe("/services/T00/B00/alerts");
        messages.push(json as SlackMessage);
        return { body: "ok" };
      },
    });
    const { executor, clock, call, run } = environment;
    const id = await environment.publish("nightly-sync-with-alerts");
    await call(createSubscription, {
      name: "Alerts of the night",
      format: "slack",
      url_secret: "slack_alerts",
      events: ["run.failed", "workflow.overdue"],
      tags: ["nightly"],
    });
    const deliver = async (): Promise<string[]> => {
      do await executor.deliverer.idle();
      while ((await executor.deliverer.deliverDue()) > 0);
      return messages.map(({ text }) => text);
    };
    expect(await run(id)).toMatchObject({ status: "succeeded", output: { contacts: 1 } });
    expect(await deliver()).toEqual([]);
    contacts = [];
    clock.advance(24 * HOUR);
    const failed = await run(id);
    expect(await deliver()).toEqual(["Nightly sync with alerts failed"]);
    const [title, fields] = messages[0]!.blocks;
    expect(title!.text!.text).toContain(`/ui/runs/${failed.id}|`);
    expect(fields!.fields!.map(({ text }) => text)).toContain("*Error*\nassert_failed in complete");
    clock.advance(2 * HOUR);
    expect([await executor.raiseOverdue(), await executor.raiseOverdue()]).toEqual([1, 0]);
    expect(await deliver()).toEqual([
      "Nightly sync with alerts failed",
      "Nightly sync with alerts is overdue",
    ]);
  });
});
