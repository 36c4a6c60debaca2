import { expect, it } from "vitest";
import { savedQuery, withSavedQuery } from "../../../src/web/bookmarks/saved-query.ts";

it("saved filters are the query without the project, which stays as it is chosen", () => {
  const params = new URLSearchParams("status=failed&project=sales&workflow=nightly");
  expect(savedQuery(params)).toBe("status=failed&workflow=nightly");
  expect(savedQuery(new URLSearchParams("workflow=nightly&status=failed"))).toBe(savedQuery(params));
  expect(withSavedQuery(params, "trigger=schedule")).toBe("?trigger=schedule&project=sales");
  expect(withSavedQuery(new URLSearchParams(), "trigger=schedule")).toBe("?trigger=schedule");
});
