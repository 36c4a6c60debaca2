/** The plan of a retry counts the items of a fan-out that it reuses and runs, and the retry does what the plan says. */
import { describe, expect, it } from "vitest";
import { getRun } from "../../tools/runs/get-run.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { stepLine } from "../../src/commands/run-view.ts";
import type { RunStep } from "../../schemas/run.ts";
import { exampleEnvironment } from "../support/example-environment.ts";

interface Plan {
  reused: string[];
  run: string[];
  items?: Record<string, { reused: number; run: number; first: number[] }>;
}

/** A run that sent one request for each of 40 items, to a peer that refuses some of them. */
async function sendRun(fields: object, refuses: (item: number) => boolean) {
  const peer = { refuses };
  const here = await exampleEnvironment({
    http: ({ json }) => {
      const { n } = json as { n: number };
      return peer.refuses(n) ? { status: 422, body: {} } : { body: { sent: n } };
    },
  });
  const definition = {
    inputs: { type: "object", properties: { more: { type: "integer", default: 0 } } },
    steps: [
      { id: "list", type: "set", values: { to: "${{ range(40) }}", url: here.url } },
      {
        id: "send",
        type: "http",
        method: "POST",
        url: here.url,
        for_each: "steps.list.to",
        body: { n: "${{ item }}" },
        ...fields,
      },
      { id: "check", type: "assert", that: "steps.send.items.all(i, i.status == 'succeeded')" },
    ],
  };
  await here.call(createWorkflow, { name: "Send", definition });
  const { id } = await here.run("send");
  const retry = (input: object, from = id) =>
    here.call<{ id: string; status: string; next: string; retry: Plan }>(retryRun, {
      run_id: from,
      wait: 20,
      ...input,
    });
  /** Retries the run, and counts the requests. */
  const retryAndCount = async (from = id) => {
    const before = here.requests.length;
    const answer = await retry({ confirm: true }, from);
    return { answer, sent: here.requests.slice(before).map(({ body }) => Number(/\d+/.exec(body)![0])) };
  };
  return { here, id, peer, retry, retryAndCount };
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);
const never = () => false;
const from17 = Array.from({ length: 23 }, (_, index) => index + 17);

describe("a retry of a fan-out that stopped at its 18th item", () => {
  it("sends for the items that the plan names, and for no other", async () => {
    const { here, peer, retry, retryAndCount } = await sendRun({ concurrency: 1 }, (n) => n >= 17);
    const { retry: plan, next } = await retry({ dry_run: true });
    expect(plan).toEqual({
      reused: ["list"],
      run: ["send", "check"],
      effects: ["send"],
      items: { send: { reused: 17, run: 23, first: [17, 18, 19, 20, 21] } },
    });
    expect(next).toContain(
      "run send (23 of 40 items: 17, 18, 19, 20, 21, …; the outputs of 17 are reused), check",
    );
    peer.refuses = never;
    const { answer, sent } = await retryAndCount();
    expect(sorted(sent)).toEqual(from17);
    expect(answer).toMatchObject({ status: "succeeded", retry: plan });
    const shown = await here.call<{ steps: RunStep[] }>(getRun, { run_id: answer.id, detail: "steps" });
    expect(shown).toMatchObject({
      retry: plan,
      steps: [{}, { id: "send", items: { total: 40, done: 40, failed: 0, reused: 17 } }, {}],
    });
    expect(stepLine(shown.steps[1]!, 0)).toMatch(/^send +succeeded  40\/40 items, 17 reused  /);
  });

  it("is refused without confirm, with the number of items that would be repeated", async () => {
    const { retry } = await sendRun({ concurrency: 1 }, (n) => n >= 17);
    await expect(retry({})).rejects.toMatchObject({
      code: "confirmation_needed",
      message: expect.stringMatching(
        /"send" \(http\) ran for 18 items .*would run for 23 of 40 items: 17, 18, 19, 20, 21, …; the outputs of 17 are reused/,
      ),
    });
  });

  it("says while it has not ended what it will do", async () => {
    const { retry } = await sendRun({ concurrency: 1 }, (n) => n >= 17);
    const { retry: planned } = await retry({ confirm: true, wait: 0 });
    expect(planned.items).toEqual({ send: { reused: 17, run: 23, first: [17, 18, 19, 20, 21] } });
  });
});

describe("a retry of a fan-out that went on after items that failed", () => {
  it("runs the items that failed, although the step succeeded", async () => {
    const { peer, retry, retryAndCount } = await sendRun({ on_error: "continue" }, (n) => n % 10 === 3);
    const { retry: plan } = await retry({ dry_run: true });
    expect(plan).toMatchObject({
      reused: ["list"],
      run: ["send", "check"],
      items: { send: { reused: 36, run: 4, first: [3, 13, 23, 33] } },
    });
    await expect(retry({})).rejects.toMatchObject({ code: "confirmation_needed" });
    peer.refuses = never;
    const { answer, sent } = await retryAndCount();
    expect(sorted(sent)).toEqual([3, 13, 23, 33]);
    expect(answer.retry).toEqual(plan);
  });
});

describe("a retry of a fan-out whose items were undone", () => {
  it("runs all of them", async () => {
    const undo = {
      type: "http",
      method: "POST",
      url: "${{ steps.list.url }}",
      body: { n: "${{ -1 - item }}" },
    };
    const { peer, retry, retryAndCount } = await sendRun({ concurrency: 1, undo }, (n) => n >= 17);
    const { retry: plan } = await retry({ dry_run: true });
    expect(plan.items).toEqual({ send: { reused: 0, run: 40, first: [0, 1, 2, 3, 4] } });
    peer.refuses = never;
    const { answer, sent } = await retryAndCount();
    expect(sent).toHaveLength(40);
    expect(answer.retry).toEqual(plan);
  });
});

describe("a retry of a retry", () => {
  it("also counts outputs that only an earlier run has", async () => {
    const { peer, retry, retryAndCount } = await sendRun({ concurrency: 40 }, (n) => n === 20);
    peer.refuses = (n) => n <= 20;
    const second = await retryAndCount();
    expect(second.answer.status).toBe("failed");
    peer.refuses = never;
    const { retry: plan } = await retry({ dry_run: true }, second.answer.id);
    const { answer, sent } = await retryAndCount(second.answer.id);
    expect(plan.items!["send"]).toMatchObject({ run: sent.length, first: sorted(sent).slice(0, 5) });
    expect(answer.retry).toEqual(plan);
  });
});

describe("a retry of a retry with other inputs", () => {
  it("takes no item for reused that had another input in the run between", async () => {
    let refused: readonly number[] = [];
    const here = await exampleEnvironment({
      http({ method, path, json }) {
        if (method === "GET") return { body: { rows: [1, 2, 3].map((n) => n + Number(path.slice(-2))) } };
        return refused.includes((json as { n: number }).n) ? { status: 422, body: {} } : { body: {} };
      },
    });
    const url = `${here.url}/rows`;
    const definition = {
      inputs: { type: "object", properties: { from: { type: "integer", default: 10 } } },
      steps: [
        { id: "fetch", type: "http", url: `${url}?from=\${{ inputs.from }}` },
        {
          id: "send",
          type: "http",
          method: "POST",
          url,
          for_each: "steps.fetch.body.rows",
          concurrency: 1,
          body: { n: "${{ item }}" },
        },
        { id: "check", type: "assert", that: "1 > 2" },
      ],
    };
    await here.call(createWorkflow, { name: "Send", definition });
    const retry = (from: string, input: object) =>
      here.call<{ id: string; retry: Plan }>(retryRun, { run_id: from, wait: 20, confirm: true, ...input });
    refused = [11];
    const first = await here.run("send");
    const second = await retry(first.id, { inputs: { from: 20 } });
    refused = [12];
    const third = await retry(second.id, { inputs: { from: 10 } });
    refused = [];
    const { retry: plan } = await retry(third.id, { dry_run: true });
    expect(plan.items).toEqual({ send: { reused: 1, run: 2, first: [1, 2] } });
    const before = here.requests.length;
    await retry(third.id, {});
    expect(here.requests.slice(before).map(({ body }) => body)).toEqual(['{"n":12}', '{"n":13}']);
  });
});

describe("a retry whose items may differ", () => {
  it("does not count them", async () => {
    const { retry } = await sendRun(
      { concurrency: 1, query: { more: "${{ inputs.more }}" } },
      (n) => n >= 17,
    );
    const { retry: plan } = await retry({ dry_run: true, inputs: { more: 1 } });
    expect(plan.run).toContain("send");
    expect(plan).not.toHaveProperty("items");
  });
});
