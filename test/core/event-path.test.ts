import { describe, expect, it } from "vitest";
import { parseEventPath, readEventPath } from "../../src/core/event-path.ts";

const event = {
  body: { id: "evt_1", items: [{ sku: "a" }], "odd name": 1, nothing: null },
  headers: { "x-request-id": "r1" },
  query: { page: "2" },
};

describe("a path into an event", () => {
  it.each([
    ["event.body.id", "evt_1"],
    ["${{ event.body.id }}", "evt_1"],
    ["event.body.items[0].sku", "a"],
    ['event.body["odd name"]', 1],
    ["event.headers['x-request-id']", "r1"],
    ["event.query.page", "2"],
    ["event.body.nothing", null],
    ["event.body.missing.deeper", undefined],
    ["event.body.items[3].sku", undefined],
    ["event.body.constructor", undefined],
    ["event.body.id.length", undefined],
  ])("%s is %s", (source, value) => {
    expect(readEventPath(event, parseEventPath(source)!)).toEqual(value);
  });

  it.each(["event", "event.id", "event.body.id + 'x'", "body.id", "event.body.", "event.body[x]", "'text'"])(
    "%s is none",
    (source) => {
      expect(parseEventPath(source)).toBeUndefined();
    },
  );
});
