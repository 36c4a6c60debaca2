/** Random requests by callers of every kind over both surfaces: each answer is the one that a model of the rules says. */
import { expect, it } from "vitest";
import { openInstallation } from "../support/rights/company.ts";
import { OPERATIONS } from "../support/rights/conditions.ts";
import { FOR_PEOPLE, OF_INSTANCE } from "../support/rights/model.ts";
import { REQUESTED } from "../support/rights/operations.ts";
import { playRights } from "../support/rights/play.ts";
import { caseCount, testSeed } from "../support/random.ts";
import { catalogue } from "../../tools/index.ts";

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

/** The operations that no random request uses, each with the reason. */
const NOT_PLAYED: Readonly<Record<string, string>> = {};

it("plays every operation of the catalogue, with the scope and the callers that the model says", () => {
  const needs = new Map(
    catalogue.map(({ name, scope, requiresUser = false, instance = false }) => [
      name,
      { scope, requiresUser, instance },
    ]),
  );
  const said = new Map(
    [...OPERATIONS].map(([name, { scope }]) => [
      name,
      { scope, requiresUser: FOR_PEOPLE.has(name), instance: OF_INSTANCE.has(name) },
    ]),
  );
  const names = catalogue.map(({ name }) => name).filter((name) => !Object.hasOwn(NOT_PLAYED, name));
  expect(names.filter((name) => !REQUESTED.has(name))).toEqual([]);
  expect(names.map((name) => [name, needs.get(name)])).toEqual(names.map((name) => [name, said.get(name)]));
  expect([...REQUESTED, ...said.keys()].filter((name) => !names.includes(name))).toEqual([]);
});
