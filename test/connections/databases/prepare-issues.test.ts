import { expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { issueOf } from "../../../src/connections/databases/prepare-issues.ts";

it("issueOf advises to try again where the database can't be reached, and its driver has no fix", () => {
  const path = ["database"];
  const code = "database_unavailable";
  expect(issueOf(new StepError(code, "Too many connections"))).toMatchObject({
    path,
    code,
    fix: expect.stringMatching(/^Try again later\./),
  });
  const fix = "Close it.";
  expect(issueOf(new StepError(code, "Locked", { fix }))).toMatchObject({ path, code, fix });
  expect(issueOf(new StepError("database_failed", "No such table"))).not.toHaveProperty("fix");
});
