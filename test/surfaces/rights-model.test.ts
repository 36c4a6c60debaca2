/** Random requests by callers of every kind over both surfaces: each answer is the one that a model of the rules says. */
import { expect, it } from "vitest";
import { openInstallation } from "../support/rights/company.ts";
import { playRights } from "../support/rights/play.ts";
import { caseCount, testSeed } from "../support/random.ts";

/** Each of these is answered, or the comparison would mean little. */
const CODES = [
  "ok",
  "unauthorized",
  "person_needed",
  "not_permitted",
  "missing_scope",
  "project_not_found",
  "workflow_not_found",
  "run_not_found",
  "approval_not_found",
  "approval_not_yours",
];

it("answers every request as the model of the rules says", async () => {
  const seed = testSeed("rights against a model");
  const installation = await openInstallation();
  const { mismatch, answers } = await playRights(installation, seed, caseCount(750, 20_000));
  expect(mismatch && { seed, ...mismatch }).toBeUndefined();
  const given = new Set([...answers.keys()].map((answer) => answer.split(" ")[1]));
  expect(CODES.filter((code) => !given.has(code))).toEqual([]);
});
