import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusedPublication, withCommands } from "../../src/commands/command-ways.ts";
import { describeError, type Io } from "../../src/commands/io.ts";
import type { Operator } from "../../src/commands/operator.ts";
import { publishWhenTested } from "../../src/commands/publish.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Progress } from "../../src/core/tool.ts";
import { testCli } from "../support/command-line.ts";

const workflow = (total: string, note: string) => `id: orders
name: Orders
inputs: { type: object, properties: { count: { type: integer } } }
steps:
  - { id: total, type: set, values: { amount: "\${{ ${total} }}" } }
output: { total: "\${{ steps.total.amount }}", note: ${note} }
backtest: { last: 10, allow: [output.note] }
`;

describe("millrace workflows publish", () => {
  it("publishes what a backtest finds only once it is accepted by name, without an executor of its own", async () => {
    const { cli, directory } = await testCli({ orders: workflow("inputs.count * 10", "net") });
    const apply = (text: string) => {
      writeFileSync(join(directory, "orders.yaml"), text);
      return cli("workflows", "apply", directory, "--yes", "--publish");
    };
    await cli("workflows", "publish", "orders");
    expect(await cli("run", "orders", "--input", "count=1")).toMatchObject({ code: 0 });
    expect(await apply(workflow("10 * inputs.count", "gross"))).toMatchObject({
      code: 0,
      out: expect.stringContaining("published: orders\n"),
    });
    const refused = await apply(workflow("inputs.count * 11", "gross"));
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /not published: orders: .* differs in output\.total \(1 of the last 1 runs, backtest bt_[\w-]+\)\. .*: millrace workflows publish orders --accept-difference output\.total\. .* The runs are on http/,
    );
    // The version is saved, so the same command finds nothing to publish.
    expect(await cli("workflows", "apply", directory, "--accept-difference", "output.total")).toMatchObject({
      code: 2,
      err: expect.stringContaining("unknown option '--accept-difference'"),
    });
    expect(await cli("workflows", "publish", "orders", "--accept-difference", "output.total")).toEqual({
      code: 0,
      out: "Published version 3 of orders.\n",
      err: expect.any(String),
    });
    const back = await cli("workflows", "publish", "orders", "--version", "1", "--json");
    expect(JSON.parse(back.out)).toMatchObject({ id: "orders", published_version: 1 });
  });
});

const unfinished = (done: number, why: string): AppError => {
  const fix =
    'Wait for it with backtest_workflow, workflow_id: "orders", backtest_id: "bt_1", then publish again.';
  return new AppError(
    "backtest_unfinished",
    `Nothing was published. Version 2 needs a backtest: bt_1 has compared ${done} of 20 runs.${why} ${fix}`,
    { errors: [{ path: "version", code: "backtest_unfinished", message: "is being tested by bt_1", fix }] },
  );
};

/** Publishes with answers that are given: what happens in each turn before the error, which ends it. */
async function publishWith(
  turns: readonly { done?: readonly number[]; error?: AppError }[],
  terminal = false,
) {
  const lines: string[] = [];
  const events: string[] = [];
  const io = {
    err: (text: string) => void lines.push(text),
    eraseLines: (count: number) => void lines.splice(-count),
    errTerminal: terminal,
  } as unknown as Io;
  const rest = [...turns];
  const call = (async (_tool, _input, progress?: (progress: Progress) => void) => {
    events.push("asked");
    const { done = [], error } = rest.shift()!;
    for (const count of done) progress?.({ done: count, total: 20, message: `${count} of 20 runs compared` });
    if (error !== undefined) throw error;
    return { id: "orders" };
  }) as Operator["call"];
  const pause = () => Promise.resolve(void events.push("paused"));
  const answer = await publishWhenTested(io, { call }, { workflow_id: "orders" }, pause).catch(
    (error: unknown) => error,
  );
  return { answer, events, text: lines.join("") };
}

describe("publishWhenTested", () => {
  const slot = " Waits for a slot.";
  const turns = [
    { done: [0, 1, 2], error: unfinished(2, slot) },
    { done: [2, 3], error: unfinished(3, slot) },
    { done: [4], error: unfinished(4, "") },
    {},
  ];

  it("says how far the backtest is and what it waits for, each once, and pauses between its requests", async () => {
    const { answer, events, text } = await publishWith(turns);
    expect(answer).toEqual({ id: "orders" });
    expect(events).toEqual(["asked", "paused", "asked", "paused", "asked", "paused", "asked"]);
    expect(text).toBe(
      `Backtest of orders: 0 of 20 runs compared
Backtest of orders: 2 of 20 runs compared
Version 2 needs a backtest: bt_1 has compared 2 of 20 runs. Waits for a slot.
Backtest of orders: 2 of 20 runs compared
Backtest of orders: 4 of 20 runs compared
Version 2 needs a backtest: bt_1 has compared 4 of 20 runs.
`,
    );
  });

  it("redraws its line on a terminal, and no other one", async () => {
    const { text } = await publishWith(turns, true);
    expect(text).toBe(
      `Backtest of orders: 2 of 20 runs compared
Version 2 needs a backtest: bt_1 has compared 2 of 20 runs. Waits for a slot.
Backtest of orders: 4 of 20 runs compared
Version 2 needs a backtest: bt_1 has compared 4 of 20 runs.
`,
    );
  });

  it("throws what is no waiting", async () => {
    const error = new AppError("backtest_unfinished", "Nothing was published. No executor is running.");
    expect(await publishWith([{ error }])).toEqual({ answer: error, events: ["asked"], text: "" });
  });
});

describe("withCommands", () => {
  it("writes names to accept as arguments of a shell", () => {
    expect(
      withCommands(`Accept it: accept_differences: ["output.a","output.it's \\"b\\""]. Else change it.`),
    ).toBe(`Accept it: --accept-difference output.a 'output.it'\\''s "b"'. Else change it.`);
  });

  it("has the commands of publishing and of a backtest that reads", () => {
    expect(
      withCommands(
        'publish_workflow (POST /workflows/orders/publish) runs it; backtest_workflow with version: 2, reads: "live" counts.',
      ),
    ).toBe(
      "millrace workflows publish <workflow> runs it; millrace workflows backtest <workflow> --version 2 --reads live counts.",
    );
  });
});

const differing = (names: readonly string[], listed: string): AppError =>
  new AppError(
    "backtest_differs",
    `Accept it by name: accept_differences: ${listed}. backtest_workflow with version: 2, reads: "live" counts.`,
    {
      errors: [
        {
          path: "accept_differences",
          code: "not_accepted",
          message: "does not name all",
          allowed: [...names],
        },
      ],
    },
  );

const MANY = ["output.a", "output.b", "output.c", "output.d", "output.e", "status"];
const BELOW = differing(MANY, "the names in `errors`");

describe("a refusal", () => {
  it("lists the names that are too many for its sentence, one a line", () => {
    expect(describeError(BELOW).message).toBe(
      `Accept it by name: --accept-difference with the names below. millrace workflows backtest <workflow> --version 2 --reads live counts.
${MANY.map((name) => `- ${name}`).join("\n")}`,
    );
    expect(describeError(differing(["status"], '["status"]')).message).toMatch(/^Accept .*live counts\.$/);
  });

  it("has the whole command with the id of the workflow, where several are applied", () => {
    expect(refusedPublication(BELOW, "orders")).toMatch(
      /: millrace workflows publish orders --accept-difference with the names below\. millrace workflows backtest orders --version 2 .*\n- output\.a\n/,
    );
  });
});
