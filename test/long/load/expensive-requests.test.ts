import { describe, expect, it } from "vitest";
import { taking } from "../../support/expensive-requests.ts";
import { fuzzHealth, MAX_TURN_MS, startMonitoredServer } from "../../support/health-fuzz.ts";
import { testSeed } from "../../support/random.ts";

/** `many-expensive-requests.test.ts` sends 400. */
const REQUESTS = 15;

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const deep = (depth: number): unknown => (depth === 0 ? {} : { l: deep(depth - 1) });

/** A definition that receives deliveries and an event of any form. */
const RECEIVING = {
  inputs: { type: "object", properties: { a: {} } },
  triggers: [{ id: "in", type: "webhook", payload: {} }],
  steps: [{ id: "event", type: "wait", event: { schema: { required: ["b"], properties: { b: {} } } } }],
};

/** JSON of about a size, in characters. */
const BODIES: Readonly<Record<string, (chars: number) => string>> = {
  "lists in lists": (chars) => "[".repeat(chars / 2) + "]".repeat(chars / 2),
  "objects in objects": (chars) => '{"a":'.repeat(chars / 6) + "1" + "}".repeat(chars / 6),
  "lists that don't end": (chars) => "[".repeat(chars),
  "empty objects": (chars) => `[${"{},".repeat(chars / 3)}{}]`,
  zeros: (chars) => `[${"0,".repeat(chars / 2)}0]`,
  keys: (chars) => JSON.stringify(Object.fromEntries(list(chars / 13, (at) => [`k${at}`, {}]))),
  "one key, often": (chars) => `[${'{"a":{}},'.repeat(chars / 9)}0]`,
  "empty texts": (chars) => `[${'"",'.repeat(chars / 3)}""]`,
  "keys that are indexes": (chars) =>
    JSON.stringify(Object.fromEntries(list(chars / 16, (at) => [at * 61_169, 0]))),
  "sequences of YAML": (chars) => "- ".repeat(chars / 2),
};

describe("expensive requests", () => {
  it("keep a listener from serving others for 0.1 s at most", async () => {
    const { longest, failed, statuses } = await fuzzHealth(testSeed("expensive requests"), REQUESTS);
    console.log("longest turn:", longest, statuses);
    expect(failed).toEqual([]);
    expect(longest.ms).toBeLessThan(MAX_TURN_MS);
  }, 300_000);

  it("include known attacks on validations", async () => {
    const server = await startMonitoredServer();
    const create = async (name: string, definition: unknown): Promise<string> => {
      const { text } = await server.send("POST", "/workflows", JSON.stringify({ name, definition }));
      return (JSON.parse(text) as { id: string }).id;
    };
    const unique = await create(
      "unique",
      taking({ type: "array", items: { type: "object" }, uniqueItems: true }),
    );
    const recursive = await create(
      "recursive",
      taking(
        { $ref: "#/$defs/n" },
        { n: { anyOf: list(3, () => ({ properties: { l: { $ref: "#/$defs/n" } }, required: ["l", "x"] })) } },
      ),
    );
    const state = await create("state", {
      state: { a: { type: "array", uniqueItems: true, default: [] } },
      steps: [{ id: "a", type: "set", values: {} }],
    });
    await server.longestTurn();
    const attacks: [path: string, method: string, body: unknown, status: number[]][] = [
      [
        `/workflows/${unique}/runs`,
        "POST",
        { inputs: { a: list(20_000, (a) => ({ a })) }, wait: 0 },
        [202, 400],
      ],
      [`/workflows/${recursive}/runs`, "POST", { inputs: { a: deep(20) }, wait: 0 }, [400]],
      [`/workflows/${state}/state`, "PUT", { values: { a: list(14_000, (a) => ({ a })) } }, [200, 400]],
    ];
    for (const [path, method, body, expected] of attacks) {
      const { status, text, ms, isStarved } = await server.measure(method, path, JSON.stringify(body));
      expect({ path, status, text }).toMatchObject({
        status: expect.toBeOneOf(isStarved ? [503] : expected) as number,
      });
      expect(ms).toBeLessThan(MAX_TURN_MS);
    }
  }, 120_000);

  it("include bodies of brackets and wide ones, also of senders without a key", async () => {
    const server = await startMonitoredServer();
    const { text } = await server.send(
      "POST",
      "/workflows",
      JSON.stringify({ name: "In", definition: RECEIVING }),
    );
    const { id } = JSON.parse(text) as { id: string };
    await server.send("POST", `/workflows/${id}/publish`, JSON.stringify({ version: 1 }));
    const triggers = await server.send("GET", `/workflows/${id}/triggers`);
    const hook = new URL((JSON.parse(triggers.text) as { items: { url: string }[] }).items[0]!.url).pathname;
    const run = await server.send("POST", `/workflows/${id}/runs`, "{}");
    const shown = await server.send(
      "GET",
      `/runs/${(JSON.parse(run.text) as { id: string }).id}?step_id=event`,
    );
    const event = new URL((JSON.parse(shown.text) as { steps: { event_url: string }[] }).steps[0]!.event_url)
      .pathname;
    await server.longestTurn();
    const turns: Record<string, string> = {};
    for (const [name, make] of Object.entries(BODIES)) {
      const body = make(1024 * 1024 - 100);
      const paths = [
        ["/workflows/validate", body],
        ["/workflows/validate", JSON.stringify({ definition: make(500_000) })],
        ["/workflows/validate", JSON.stringify({ definition: make(8_000) })],
        [`/workflows/${id}/runs`, `{"inputs":{"a":${body.slice(0, -20)}}}`],
        [`/workflows/${id}/runs`, `{"inputs":{"a":${body}}}`],
        [event, `{"a":${body}}`],
        [hook, body],
      ] as const;
      const measured: string[] = [];
      for (const [path, sent] of paths) {
        const { status, ms, isStarved } = await server.measure("POST", path, sent);
        measured.push(`${status} ${ms.toFixed(0)}`);
        expect(ms).toBeLessThan(MAX_TURN_MS);
        expect({ path, status }).toMatchObject({
          status: expect.toBeOneOf(isStarved ? [503] : [200, 202, 400, 413, 429]) as number,
        });
      }
      turns[name] = measured.join(", ");
    }
    console.table(turns);
  }, 600_000);
});
