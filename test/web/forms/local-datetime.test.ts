import { describe, expect, it } from "vitest";
import { fromLocalDateTime, isDate, toLocalDateTime } from "../../../src/web/forms/local-datetime.ts";

describe("timestamps in a form", () => {
  it("keep their time in both directions", () => {
    for (const timestamp of ["2026-11-21T08:00:00Z", "2026-07-01T08:00:30Z", "2026-11-21T08:00:00+02:00"]) {
      expect(Date.parse(fromLocalDateTime(toLocalDateTime(timestamp)!))).toBe(Date.parse(timestamp));
    }
  });

  it("are not converted if a datetime-local or date input cannot show them", () => {
    expect([
      toLocalDateTime("2026-11-21"),
      toLocalDateTime("2026-11-21T08:00"),
      toLocalDateTime("soon"),
    ]).toEqual([undefined, undefined, undefined]);
    expect([isDate("2026-02-28"), isDate("2026-13-01"), isDate("today")]).toEqual([true, false, false]);
  });
});
