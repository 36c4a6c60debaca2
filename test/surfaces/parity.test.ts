import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { type AnyTool, parseRoute, isServedOn } from "../../src/core/tool.ts";
import { catalogue } from "../../tools/index.ts";
import { fakeClock } from "../support/instance.ts";
import { ACCOUNT_SCENARIOS } from "../support/parity-accounts.ts";
import {
  lastOutput,
  parityConfig,
  SCENARIOS as OTHERS,
  type ParityCall,
} from "../support/parity-scenarios.ts";
import { openEverySurface, type CallResult, type SurfaceClient } from "../support/surface-clients.ts";

const SCENARIOS = { ...OTHERS, ...ACCOUNT_SCENARIOS };
const toolNamed = (name: string): AnyTool => catalogue.find((tool) => tool.name === name)!;

/** What the ways in are allowed to differ in, and nothing else. */
function comparable({ output, problem }: CallResult, tool: AnyTool): CallResult {
  return JSON.parse(
    JSON.stringify({ output, problem }, (key, value: unknown) => {
      if (key === "request_id") return "(one of its own)";
      // The history tells the way in that was taken; cursors are signed by each instance.
      if (key === "surface" || key === "trigger") return "(the way in)";
      if (key === "last_four") return "(the end of a key)";
      if (key === "next_cursor") return value === null ? null : "(a cursor)";
      if (typeof value === "string") {
        return (
          value
            .replaceAll(/\brun_[\w-]{12}/g, "(a run)")
            .replaceAll(/\bapr_[\w-]{22}/g, "(an approval)")
            .replaceAll(/\b(key|ses|usr)_[\w-]{12}/g, "(a $1)")
            .replaceAll(/\bmill_\w{36}\b/g, "(a key's value)")
            // Each listener is at an address of its own.
            .replaceAll(/\bhttp:\/\/[\w.:]+\/ui\/link#\w{32}\b/g, "(a link)")
        );
      }
      // A body's words are fewer than an operation's: REST has some in the path and in headers.
      if (key === "allowed" && Array.isArray(value)) {
        const elsewhere = new Set([...Object.keys(tool.headers ?? {}), ...parseRoute(tool).parameters]);
        const here = value.filter((word) => !elsewhere.has(String(word)));
        return here.length === 0 ? undefined : here;
      }
      return value;
    }),
  ) as CallResult;
}

async function play(way: SurfaceClient, steps: readonly ParityCall[]): Promise<CallResult[]> {
  const outcomes: CallResult[] = [];
  for (const step of steps) {
    const input = typeof step.with === "function" ? step.with(outcomes) : (step.with ?? {});
    const by = step.by ?? (step.readOnly ? "readOnly" : "full");
    outcomes.push(await way.call(toolNamed(step.call), input, by));
    way.clock.advance(60_000);
  }
  return outcomes;
}

describe("parity of the surfaces", () => {
  it("is tried for every operation, and for every error that it declares", () => {
    expect(Object.keys(SCENARIOS).toSorted()).toEqual(catalogue.map((tool) => tool.name).toSorted());
    for (const tool of catalogue) {
      const tried = SCENARIOS[tool.name]!.filter((step) => step.call === tool.name);
      const wanted = [
        "success",
        "invalid_input",
        ...(tool.scope === "read" ? [] : ["missing_scope"]),
        ...(tool.requiresUser ? ["person_needed"] : []),
      ];
      // What takes nothing else can't come with another input.
      const takesMore = Object.keys((tool.input as z.ZodObject).shape).some(
        (field) => field !== "idempotency_key",
      );
      const errors = tool.errors.filter(
        (code) =>
          (takesMore || code !== "idempotency_key_reused") &&
          // People have their passwords here in this test: cognito.test and oidc.test have those of the other modes.
          code !== "sign_on_elsewhere",
      );
      expect({ tool: tool.name, codes: tried.map((step) => step.expect ?? "success") }).toEqual({
        tool: tool.name,
        codes: expect.arrayContaining([...wanted, ...errors]),
      });
    }
  });

  it.each(catalogue.map((tool) => tool.name))(
    "holds for %s: directly, over MCP and over REST, the same results and the same errors",
    async (name) => {
      const steps = SCENARIOS[name]!;
      const ways = await openEverySurface(() => fakeClock(), parityConfig());
      const [direct, ...others] = await Promise.all(
        ways.map(async (way) => ({ way, outcomes: await play(way, steps) })),
      );
      for (const [index, step] of steps.entries()) {
        const tool = toolNamed(step.call);
        const expected = direct!.outcomes[index]!;
        expect({ index, ...step, expect: expected.problem?.code }).toEqual({
          expect: undefined,
          ...step,
          index,
        });
        for (const { way, outcomes } of others) {
          if (way.surface !== "direct" && !isServedOn(tool, way.surface)) continue;
          const at = { step: index, call: step.call, surface: way.surface };
          expect({ ...at, ...comparable(outcomes[index]!, tool) }).toEqual({
            ...at,
            ...comparable(expected, tool),
          });
        }
      }
    },
  );

  it("leaves the way in and the program's name in the history, each its own", async () => {
    for (const way of await openEverySurface(() => fakeClock())) {
      const steps = [
        { call: "create_workflow", with: { name: "Weekly revenue" } },
        { call: "list_workflow_versions", with: { workflow_id: "weekly-revenue" } },
      ];
      const { items } = lastOutput(await play(way, steps));
      expect(items).toMatchObject([
        { surface: way.surface === "direct" ? "cli" : way.surface, client: "parity/1", key_name: "parity" },
      ]);
    }
  });
});
