import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { type AnyTool, parseRoute, isServedOn } from "../../src/core/tool.ts";
import { RECORDED_OPERATIONS } from "../../src/core/recorded-operations.ts";
import { catalogue } from "../../tools/index.ts";
import { fakeClock } from "../support/instance.ts";
import { lastOutput, parityConfig } from "../support/parity-scenarios.ts";
import { play, PREPARATIONS, SCENARIOS, toolNamed } from "../support/play-scenario.ts";
import { openEverySurface, type CallResult, type SurfaceClient } from "../support/surface-clients.ts";

/** The fields of a backfill or bulk action that change while its runs start. */
const PROGRESS = new Set(["slots", "runs", "next_at", "message", "retries", "result", "retry", "next"]);

/** Replaces everything in which the surfaces may differ. */
function comparable({ output, problem }: CallResult, tool: AnyTool): CallResult {
  return JSON.parse(
    JSON.stringify({ output, problem }, (key, value: unknown) => {
      if (key === "request_id") return "(a request id)";
      // The history records the surface; each instance signs its own cursors.
      if (key === "surface" || key === "trigger") return "(the surface)";
      if (key === "hash" && value !== null) return "(a hash of the entry)";
      if (key === "digest" && /bulk_action/.test(tool.name)) return "(a digest of runs)";
      if (key === "last_four") return "(the end of a key)";
      if (PROGRESS.has(key) && /backfills?$|bulk_action/.test(tool.name)) return "(the progress)";
      if (key === "next_cursor") return value === null ? null : "(a cursor)";
      if (typeof value === "string") {
        return (
          value
            .replaceAll(/\bhttp:\/\/[\w.:]+\/hooks\/[\w.-]+/g, "(the URL of a trigger)")
            .replaceAll(/\brun_[\w-]{12}/g, "(a run)")
            .replaceAll(/\bapr_[\w-]{22}/g, "(an approval)")
            .replaceAll(/\b(bf|blk|bt|int|key|rev|ses|usr|trd|trg|sub|dlv|evt)_[\w-]{12}/g, "(a $1)")
            .replaceAll(/\bdigest: "[\w-]{22}"/g, "(a digest of runs)")
            .replaceAll(/\bwhsec_[\w+/=]{44}/g, "(a signing secret)")
            .replaceAll(/\bmill_\w{36}\b/g, "(a key's value)")
            // Each listener has its own address.
            .replaceAll(/\bhttp:\/\/[\w.:]+\/ui\/link#\w{32}\b/g, "(a link)")
            .replaceAll(/\bhttp:\/\/[\w.:]+(?=\/ui\/workflows\/)/g, "(this server)")
            .replaceAll(/\bhttp:\/\/[\w.:]+\/ui\/reviews\//g, "(the page of)")
        );
      }
      // REST takes some fields of an operation in the path and in headers, so its body has fewer.
      if (key === "allowed" && Array.isArray(value)) {
        const elsewhere = new Set([...Object.keys(tool.headers ?? {}), ...parseRoute(tool).parameters]);
        const here = value.filter((word) => !elsewhere.has(String(word)));
        return here.length === 0 ? undefined : here;
      }
      return value;
    }),
  ) as CallResult;
}

/** Operations with an entry in the audit log that the report of a key's changes has no words for, also if their effect is `read`. */
async function unexplained(way: SurfaceClient): Promise<string[]> {
  const { output } = await way.call(toolNamed("list_audit_log"), { limit: 100 }, "admin");
  const names = (output!["items"] as { operation: string }[]).map(
    ({ operation }) => operation.split(".")[0]!,
  );
  return names.filter((name) => toolNamed(name) !== undefined && !Object.hasOwn(RECORDED_OPERATIONS, name));
}

describe("parity of the surfaces", () => {
  it("is tested for every operation and every error that it declares", () => {
    expect(Object.keys(SCENARIOS).toSorted()).toEqual(catalogue.map((tool) => tool.name).toSorted());
    for (const tool of catalogue) {
      const tested = SCENARIOS[tool.name]!.filter((step) => step.call === tool.name);
      const required = [
        "success",
        "invalid_input",
        ...(tool.scope === "read" ? [] : ["missing_scope"]),
        ...(tool.requiresUser ? ["person_needed"] : []),
      ];
      // An operation without other fields can't be repeated with different input.
      const takesMore = Object.keys((tool.input as z.ZodObject).shape).some(
        (field) => field !== "idempotency_key",
      );
      const errors = tool.errors.filter(
        (code) =>
          (takesMore || code !== "idempotency_key_reused") &&
          // This test uses built-in passwords; cognito.test and oidc.test cover the other modes.
          code !== "sign_on_elsewhere" &&
          // The disk and the stored bytes have no limit in this test; full-disk.test and key-limits.test cover these.
          code !== "storage_full" &&
          code !== "storage_limit_reached" &&
          // No job waits for too long in this test; backtest-rights.test and bulk-action-rights.test cover it.
          !(["backtest_workflow", "start_bulk_action"].includes(tool.name) && code === "too_many_runs") &&
          // Only a caller who waits for a minute gets it; backtest-rule.test covers it.
          !(tool.name === "publish_workflow" && code === "backtest_unfinished") &&
          // No older release runs in this test; older-copies.test covers it.
          code !== "upgrade_unfinished" &&
          // No application has a key in this test; oauth-tokens.test covers it.
          code !== "api_key_of_application" &&
          // No secret has a value in this test, so none holds the URL of a chat; chats.test covers it.
          code !== "subscription_not_signed" &&
          // No key is limited to databases in this test; hook-causes.test covers it.
          !(tool.name === "redeliver_trigger_delivery" && code === "workflow_not_runnable") &&
          // Time does not pass in this test; decide-approval.test covers deadlines.
          code !== "approval_expired",
      );
      expect({ tool: tool.name, codes: tested.map((step) => step.expect ?? "success") }).toEqual({
        tool: tool.name,
        codes: expect.arrayContaining([...required, ...errors]),
      });
    }
  });

  it.each(catalogue.map((tool) => tool.name))(
    "holds for %s: the same results and errors directly, over MCP and over REST",
    async (name) => {
      const steps = SCENARIOS[name]!;
      const ways = await openEverySurface(() => fakeClock(), parityConfig());
      const [direct, ...others] = await Promise.all(
        ways.map(async (way) => ({ way, outcomes: await play(way, steps) })),
      );
      expect(await unexplained(direct!.way)).toEqual([]);
      for (const [index, step] of steps.entries()) {
        if (step.call in PREPARATIONS) continue;
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

  it("records the surface and the client name in the history", async () => {
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
