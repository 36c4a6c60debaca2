import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const typeScriptIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file));

/** The ports as the transactions and stores name them. */
const PORTS =
  "jobs|runs|approvals|approvalLinks|approvalMessages|triggers|triggerDeliveries|backfills|backtests|bulkActions|interruptions|outbox|schedules|usage|workflowStates|events|reviews|subscriptions|expectations|keyNotices|deliveryQueue|apiKeys|sessions|links|keys|engine";

/** The methods of the ports that report whether they were applied. */
function compareAndSetMethods(): string[] {
  const sources = typeScriptIn("src/core").map((file) => readFileSync(join(ROOT, file), "utf8"));
  const declarations = sources.flatMap((source) => source.split(/^ {2}(?=\w+\()/m).slice(1));
  return declarations
    .filter((declaration) => declaration.includes("): Promise<Applied>;"))
    .map((declaration) => declaration.split("(")[0]!);
}

/** The calls in a source whose result is discarded. */
function discardedResults(source: string, methods: readonly string[]): string[] {
  const call = new RegExp(
    `(?<=[;{}]\\s*)(?:void |await )*[\\w.!?]*\\b(?:${PORTS})\\.(?:${methods.join("|")})\\(`,
    "g",
  );
  return [...source.replaceAll(/\/\/.*$/gm, "").matchAll(call)].map(([found]) => found.trim());
}

describe("the result of a compare-and-set", () => {
  const methods = compareAndSetMethods();

  it("is what these methods of the ports return", () => {
    expect(new Set(methods)).toEqual(
      new Set([
        "lockClaim",
        "complete",
        "release",
        "decide",
        "addDecision",
        "addVisit",
        "advance",
        "replace",
        "receive",
        "reserve",
        "revoke",
        "rotate",
        "saveClaims",
        "consume",
        "insertUnlessTaken",
        "endPending",
        "endRunning",
        "setReason",
        "setRun",
        "setResult",
        "renew",
        "endClaimed",
        "postponeClaimed",
        "recordAttempt",
        "recordNotice",
        "pauseSubscription",
        "raiseAlert",
        "redeliver",
        "open",
        "settle",
        "settleInterruption",
      ]),
    );
  });

  it("is recognized as discarded when the call is a statement", () => {
    const source = `
      async function f(tx) {
        await tx.approvals.decide(id, answer);
        // a comment
        await tx.jobs.complete(job, executor);
        if (!(await tx.links.consume(digest))) throw gone();
        return tx.jobs.release(job, executor, next);
      }
      const g = (tx) => tx.usage.reserve(subject);
    `;
    expect(discardedResults(source, methods)).toEqual([
      "await tx.approvals.decide(",
      "await tx.jobs.complete(",
    ]);
  });

  it("is used by every caller", () => {
    const discarded = ["src", "tools"]
      .flatMap(typeScriptIn)
      .flatMap((file) =>
        discardedResults(readFileSync(join(ROOT, file), "utf8"), methods).map((call) => `${file}: ${call}`),
      );
    expect(discarded).toEqual([]);
  });
});
