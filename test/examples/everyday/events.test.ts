import { describe, expect, it } from "vitest";
import { type ExampleEnvironment, exampleEnvironment } from "../../support/example-environment.ts";

/** Sends an event as the system does that got the URL. */
async function send({ services }: ExampleEnvironment, url: string, body: unknown): Promise<void> {
  await services.engine.events.receive(await services.engine.events.find(url.split("/").at(-1)!), body);
}

/** The JSON of a request, in which a step has handed out the URL. */
const bodyOf = (environment: ExampleEnvironment, at: number): Record<string, unknown> =>
  JSON.parse(environment.requests.at(at)!.body) as Record<string, unknown>;

describe("everyday work that waits for others", () => {
  it("refunds after somebody has pressed a button in the chat", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("approve-by-webhook");
    const decide = (button: string) =>
      environment.run(id, { order: 17, amount: 9.9 }, async () => {
        await send(environment, bodyOf(environment, -1)["answer_to"] as string, { button, by: "ann" });
        return true;
      });
    expect((await decide("no")).output).toEqual({ refunded: false, decided_by: "ann" });
    expect((await decide("yes")).output).toEqual({ refunded: true, decided_by: "ann" });
    expect(environment.requests).toHaveLength(3);
    expect(bodyOf(environment, -1)).toEqual({ order: 17, amount: 9.9 });
  });

  it("fails when nobody has answered in time", async () => {
    const environment = await exampleEnvironment();
    const run = await environment.run(await environment.publish("approve-by-webhook"), {
      order: 17,
      amount: 9.9,
    });
    expect(run).toMatchObject({ status: "failed", error: { code: "event_timeout", step_id: "answer" } });
  });

  it("continues with the file that a job has made, even if it ends before the run waits", async () => {
    const environment: ExampleEnvironment = await exampleEnvironment({
      http: () => ({ body: { id: "job-1" } }),
    });
    const id = await environment.publish("submit-and-await-callback");
    const run = await environment.run(id, {}, async () => {
      await send(environment, bodyOf(environment, 0)["callback"] as string, { state: "done", file: "a.csv" });
      return true;
    });
    expect(run).toMatchObject({ status: "succeeded", output: "a.csv" });
    const failed = await environment.run(id, {}, async () => {
      await send(environment, bodyOf(environment, 1)["callback"] as string, { state: "failed" });
      return true;
    });
    expect(failed.error).toMatchObject({ code: "assert_failed", message: "The job job-1 has failed." });
  });
});
