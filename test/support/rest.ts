/** The HTTP API on a new instance, and the check of problem details. */
import { expect } from "vitest";
import { Problem } from "../../schemas/problem.ts";
import { ERRORS, type ErrorCode } from "../../src/core/errors.ts";
import { type ApiResponse, apiClient } from "./http.ts";
import { testInstance } from "./instance.ts";

export async function openRest(options: Parameters<typeof testInstance>[0] & { config?: unknown } = {}) {
  const { config, ...rest } = options;
  const instance = await testInstance(rest);
  const { url } = await instance.rest(config === undefined ? {} : { config });
  const { value: key } = await instance.key();
  return { instance, url, key, call: apiClient(url, key) };
}

/** Expects valid problem details (RFC 9457) with this code, and returns them. */
export function expectProblem({ status, headers, body }: ApiResponse, code: ErrorCode): Problem {
  const problem = Problem.parse(body);
  expect({ ...problem, detail: "", errors: undefined }).toEqual({
    type: `urn:millrace:problem:${code}`,
    title: ERRORS[code].title,
    status: ERRORS[code].status,
    detail: "",
    code,
    request_id: headers.get("x-request-id"),
    errors: undefined,
  });
  expect(problem.detail).not.toBe("");
  expect(status).toBe(problem.status);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("cache-control")).toBe("no-store");
  return problem;
}
