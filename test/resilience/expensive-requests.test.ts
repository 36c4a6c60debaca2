import { describe, expect, it } from "vitest";
import { taking } from "../support/expensive-requests.ts";
import { fuzzHealth, MAX_TURN_MS, startMonitoredServer } from "../support/health-fuzz.ts";
import { testSeed } from "../support/random.ts";

/** The system tests send 100; 1,000 with `MILLRACE_TEST_ROUNDS=1000`. */
const REQUESTS = 15;

const list = (count: number, make: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, index) => make(index));

const deep = (depth: number): unknown => (depth === 0 ? {} : { l: deep(depth - 1) });

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
      [`/workflows/${recursive}/runs`, "POST", { inputs: { a: list(333_000, () => []) }, wait: 0 }, [202]],
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
});
