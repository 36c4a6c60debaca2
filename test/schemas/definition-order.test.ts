import { describe, expect, it } from "vitest";
import { rankOfKey } from "../../schemas/definition-order.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";

describe("rankOfKey", () => {
  it("has a place for every field of a definition", () => {
    expect(Object.keys(TOP_FIELDS).filter((key) => rankOfKey("top", key) === 0)).toEqual([]);
  });
});
