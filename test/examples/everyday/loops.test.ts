import { describe, expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";

describe("everyday loops", () => {
  it("paginates until there is no next page", async () => {
    const pages: Record<string, unknown> = {
      "": { orders: [1, 2], next: "b" },
      b: { orders: [3], next: "c" },
      c: { orders: [4, 5], next: null },
    };
    let failures = 1;
    const environment = await exampleEnvironment({
      http: ({ path, headers }) => {
        if (headers.authorization !== "Bearer secret-token") return { status: 401 };
        const cursor = new URL(path, "http://x").searchParams.get("cursor")!;
        // One temporary failure in the middle.
        if (cursor === "b" && failures-- > 0) return { status: 503 };
        return { body: pages[cursor] };
      },
    });
    const run = await environment.run(await environment.publish("paginate-until-done"));
    expect({ error: run.error, output: run.output }).toEqual({
      error: null,
      output: { orders: [1, 2, 3, 4, 5], pages: 3 },
    });
    expect(environment.requests).toHaveLength(4);
  });

  it("polls until an export is ready, with pauses in which the run waits", async () => {
    const statuses = ["queued", "running", "running", "done"];
    let polls = 0;
    const environment = await exampleEnvironment({
      http: ({ method }) => {
        if (method === "POST") return { body: { id: "e-1" } };
        const status = statuses[polls++];
        return { body: { status, url: status === "done" ? "https://files.example.com/e-1" : null } };
      },
    });
    const begin = environment.clock.now();
    const waiting: (string | undefined)[] = [];
    const run = await environment.run(await environment.publish("poll-until-ready"), {}, async (idle) => {
      waiting.push(idle.status, idle.steps!.find(({ id }) => id === "poll")!.waits_until);
      return false;
    });
    expect(run.error).toBeNull();
    expect(run.output).toEqual({ url: expect.stringContaining("/e-1"), polls: 4 });
    expect(environment.clock.now() - begin).toBe(45_000);
    expect(waiting.slice(0, 2)).toEqual(["waiting", new Date(begin + 15_000).toISOString()]);
  });

  it("goes on polling after the executor and the service have restarted", async () => {
    let polls = 0;
    const environment = await exampleEnvironment({
      http: ({ method }) => {
        if (method === "POST") return { body: { id: "e-3" } };
        polls += 1;
        // The service restarts between the second and the fourth question.
        if (polls === 2 || polls === 3) return { status: 503 };
        return { body: { status: polls < 5 ? "running" : "done", url: "https://files.example.com/e-3" } };
      },
    });
    const id = await environment.publish("poll-until-ready");
    let restarts = 0;
    const run = await environment.run(id, {}, async () => {
      if (restarts === 2) return false;
      restarts += 1;
      await environment.restart();
      return false;
    });
    expect({ error: run.error, output: run.output }).toEqual({
      error: null,
      output: { url: expect.stringContaining("/e-3"), polls: 3 },
    });
    expect(restarts).toBe(2);
    // The export was begun once.
    expect(environment.requests.map(({ method }) => method)).toEqual(["POST", ...Array(5).fill("GET")]);
  });

  it("fails a poll whose export failed", async () => {
    const environment = await exampleEnvironment({
      http: ({ method }) =>
        method === "POST" ? { body: { id: "e-2" } } : { body: { status: "failed", message: "no disk" } },
    });
    const run = await environment.run(await environment.publish("poll-until-ready"));
    expect(run.error).toMatchObject({ code: "assert_failed", message: "The export failed: no disk" });
  });

  it("corrects a draft until the review accepts it", async () => {
    const environment = await exampleEnvironment({
      model: ({ model, prompt }) => {
        if (model === "writer")
          return /correct this:\s+(?<feedback>.*)/i.exec(prompt)?.groups?.["feedback"] ?? "a draft";
        const accepted = prompt.includes("name the day");
        return JSON.stringify({
          accepted,
          feedback: prompt.includes("be brief") ? "name the day" : "be brief",
        });
      },
    });
    await environment.publish("draft-and-review");
    const run = await environment.run(await environment.publish("correction-loop"));
    expect({ error: run.error, output: run.output }).toEqual({
      error: null,
      output: { text: "name the day", rounds: 3 },
    });
  });

  it("fails when the review never accepts, and says so", async () => {
    const environment = await exampleEnvironment({
      model: ({ model }) =>
        model === "writer" ? "a draft" : JSON.stringify({ accepted: false, feedback: "no" }),
    });
    await environment.publish("draft-and-review");
    const run = await environment.run(await environment.publish("correction-loop"));
    expect(run.error).toMatchObject({ code: "repeat_exhausted", step_id: "rounds" });
    expect(environment.prompts).toHaveLength(8);
  });

  it("summarizes texts until the budget is used up", async () => {
    const environment = await exampleEnvironment({
      model: ({ prompt }) => (prompt.startsWith("Summarize") ? `about ${prompt.at(-1)}` : "the whole"),
    });
    const id = await environment.publish("map-reduce-under-a-budget");
    const texts = ["text 0", "text 1", "text 2", "text 3", "text 4"];
    // The mock model uses 120 tokens per call.
    const limited = await environment.run(id, { texts, budget: 300 });
    expect(limited.output).toEqual({ summary: "the whole", texts_read: 3, texts_left: 2 });
    expect(environment.prompts.at(-1)!.prompt).toContain("about 0\nabout 1\nabout 2");
    const all = await environment.run(id, { texts });
    expect(all.output).toMatchObject({ texts_read: 5, texts_left: 0 });
  });
});
