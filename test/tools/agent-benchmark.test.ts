/** The benchmark of agents: a model, and recorded calls that a new instance takes as the old one did. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { letModelSolve } from "../../bench/agents/model-agent.ts";
import { replay, ReplayDiffers } from "../../bench/agents/replay.ts";
import { startHttpPeer } from "../../bench/agents/peers/http-peer.ts";
import { idsOf } from "../../bench/agents/recorder.ts";
import { tasks } from "../../bench/agents/tasks/index.ts";
import { readTranscript } from "../../bench/agents/transcript.ts";
import { openTrial } from "../../bench/agents/trial.ts";

const taskOf = (id: string) => tasks.find((task) => task.id === id)!;

async function open(id: string) {
  const trial = await openTrial(taskOf(id));
  onTestFinished(() => trial.close());
  return trial;
}

interface Calls {
  tool: string;
  args: object;
}

/** A model that calls these tools in turn, and then stops. Returns what it was sent. */
async function scriptedModel(...script: Calls[]) {
  const peer = await startHttpPeer(({ json }) => {
    const { messages } = json as { messages: { role: string }[] };
    const next = script[messages.filter(({ role }) => role === "assistant").length];
    const message =
      next === undefined
        ? { role: "assistant", content: "Done." }
        : {
            role: "assistant",
            content: null,
            tool_calls: [
              {
                id: "c1",
                type: "function",
                function: { name: next.tool, arguments: JSON.stringify(next.args) },
              },
            ],
          };
    return {
      body: {
        id: "c1",
        object: "chat.completion",
        created: 1_790_000_000,
        model: "m-1",
        choices: [{ index: 0, message, finish_reason: next === undefined ? "stop" : "tool_calls" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    };
  });
  onTestFinished(() => peer.close());
  return { options: { url: `${peer.url}/v1`, name: "m-1" }, received: peer.received };
}

const SHARES = {
  inputs: {
    type: "object",
    properties: {
      votes: {
        type: "array",
        items: {
          type: "object",
          properties: { option: { type: "string" }, count: { type: "integer" } },
          required: ["option", "count"],
        },
      },
    },
    required: ["votes"],
  },
  steps: [{ id: "all", type: "set", values: { votes: "${{ inputs.votes.map(v, v.count).sum() }}" } }],
  output: {
    shares:
      "${{ inputs.votes.map(v, {'option': v.option, 'percent': steps.all.votes == 0 ? 0 : round(100 * v.count / steps.all.votes, 1)}) }}",
    winner: "${{ steps.all.votes == 0 ? null : inputs.votes.sort_by(v, v.count, 'desc')[0].option }}",
  },
};

describe("the benchmark of agents", () => {
  it("lets a model call the tools, and judges and counts what it did", async () => {
    const trial = await open("vote-shares");
    const broken = { ...SHARES, output: "${{ steps.al.votes }}" };
    const { options, received } = await scriptedModel(
      { tool: "create_workflow", args: { name: "Vote shares", definition: broken } },
      { tool: "update_workflow", args: { workflow_id: "vote-shares", definition: SHARES } },
      { tool: "publish_workflow", args: { workflow_id: "vote-shares" } },
    );
    await letModelSolve(trial, options);
    const first = received[0]!.json as {
      messages: { content: string }[];
      tools: { function: { name: string } }[];
    };
    expect(first.messages.at(-1)!.content).toBe(trial.request);
    expect(first.tools.map(({ function: { name } }) => name)).toContain("create_workflow");
    const answers = trial.recorder.calls.reduce((sum, { text }) => sum + text.length, 0);
    const verdict = await trial.judge();
    expect(verdict).toEqual({
      task: "vote-shares",
      success: true,
      calls: 3,
      read: trial.recorder.toolsSize + trial.recorder.instructions.length + answers,
      answers,
      drafts: 2,
      firstDraftValid: false,
      effectsBeforePublishing: 0,
    });
  });

  it("fails what was not done", async () => {
    const trial = await open("vote-shares");
    expect(await trial.judge()).toMatchObject({
      success: false,
      reason: expect.stringContaining("no workflow"),
      calls: 0,
      drafts: 0,
    });
  });

  it("fails what had effects before it was published", async () => {
    const trial = await open("transfer-orders");
    const step = {
      id: "s",
      type: "http",
      method: "POST",
      url: `http://${trial.hosts[0]}/orders`,
      body: { id: 1 },
    };
    expect(await trial.recorder.call("run_step", { step })).toMatchObject({ error: false });
    expect(await trial.judge()).toMatchObject({
      success: false,
      reason: expect.stringContaining("POST /orders"),
      effectsBeforePublishing: 1,
    });
  });

  it("takes no word of the language for an id, because a later release lists them in other places", () => {
    const answer = {
      functions: ["start_of"],
      step_types: [{ fields: ["max_rows"] }],
      items: [{ id: "run_12345678" }],
    };
    expect([...idsOf(JSON.stringify(answer))]).toEqual([["/items/0/id", "run_12345678"]]);
  });

  it("replays calls with the ids and addresses of the new instance", async () => {
    const first = await open("stock-value");
    const { recorder } = first;
    const failed = (await recorder.call("list_runs", {})).text;
    const run = (JSON.parse(failed) as { items: { id: string; status: string }[] }).items.find(
      ({ status }) => status === "failed",
    )!;
    const value = "${{ steps.goods.rows.map(g, g.quantity * (g.price ?? 0)).sum() }}";
    const patch = [{ op: "update_top", set: { output: { warehouse: "${{ inputs.warehouse }}", value } } }];
    await recorder.call("update_workflow", { workflow_id: "stock-value", patch });
    await recorder.call("publish_workflow", { workflow_id: "stock-value" });
    await recorder.call("retry_run", { run_id: run.id, patch });
    const transcript = first.transcript("test");
    expect(transcript.calls[0]!.ids).toEqual({ [pointerOf(failed, run.id)]: run.id });
    expect(await first.judge()).toMatchObject({ success: true });

    const second = await open("stock-value");
    await replay(second, transcript);
    expect(second.recorder.calls[3]!.arguments["run_id"]).not.toBe(run.id);
    expect(await second.judge()).toMatchObject({ success: true, calls: 4, firstDraftValid: true });

    const third = await open("stock-value");
    const [call] = transcript.calls;
    // What was refused may be accepted now, but not the other way round.
    await replay(third, { ...transcript, calls: [{ ...call!, error: true }] });
    const unknown = { ...call!, tool: "get_run", arguments: { run_id: "run_unknown" } };
    await expect(replay(third, { ...transcript, calls: [unknown] })).rejects.toThrow(ReplayDiffers);
  });
});

const RECORDED = fileURLToPath(new URL("../../bench/agents/transcripts/", import.meta.url));

describe("the recordings", () => {
  it("are of tasks that exist, in files named after them", () => {
    for (const file of readdirSync(RECORDED))
      expect(`${taskOf(readTranscript(join(RECORDED, file)).task).id}.json`).toBe(file);
  });

  // npm run bench:agents replays all of them.
  it.each(["order-status", "payment-reminder"])("solve %s on a new instance", async (id) => {
    const trial = await open(id);
    await replay(trial, readTranscript(join(RECORDED, `${id}.json`)));
    expect(await trial.judge()).toMatchObject({ success: true, firstDraftValid: true });
  });
});

const pointerOf = (text: string, id: string): string =>
  [...idsOf(text)].find(([, found]) => found === id)![0];
