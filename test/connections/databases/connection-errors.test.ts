import { describe, expect, it } from "vitest";
import { mysqlStepError } from "../../../src/connections/databases/mysql-errors.ts";
import { pgStepError } from "../../../src/connections/databases/postgres-errors.ts";

const driverError = (message: string, fields: object = {}): Error =>
  Object.assign(new Error(message), fields);

describe.each([
  ["pgStepError", pgStepError],
  ["mysqlStepError", mysqlStepError],
])("%s", (_, toStepError) => {
  it.each([
    [
      driverError("connect ECONNREFUSED 10.0.0.7:5432", { code: "ECONNREFUSED" }),
      "(ECONNREFUSED)",
      "the address",
    ],
    [
      driverError("Connection terminated unexpectedly"),
      "(Connection terminated unexpectedly)",
      "the address",
    ],
    [driverError("The server does not support SSL connections"), "does not support SSL", "encrypted"],
    [
      driverError("self-signed certificate", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
      "SELF_SIGNED",
      "certificate",
    ],
  ])("says what to do if the server can't be reached: %s", (error, reason, fix) => {
    const { code, message, options } = toStepError(error);
    expect(code).toBe("database_unavailable");
    expect(message).toMatch(/^The server can't be reached, or closed the connection \(.+\)\.$/);
    expect(message).toContain(reason);
    expect(message).not.toContain("10.0.0.7");
    expect(options.fix).toContain(fix);
  });
});

describe("a user that the server refuses", () => {
  it.each([
    pgStepError(driverError('password authentication failed for user "x"', { code: "28P01" })),
    mysqlStepError(driverError("Access denied for user 'x'", { errno: 1045 })),
  ])("is for the operator: %s", (error) => {
    expect(error).toMatchObject({
      code: "environment",
      options: { fix: expect.stringContaining("operator") as string },
    });
  });
});
