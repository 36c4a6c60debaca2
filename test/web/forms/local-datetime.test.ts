import { describe, expect, it } from "vitest";
import { fromLocalDateTime, isDate, toLocalDateTime } from "../../../src/web/forms/local-datetime.ts";

describe("moments in a form", () => {
  it("come back as the same moment", () => {
    for (const moment of ["2026-11-21T08:00:00Z", "2026-07-01T08:00:30Z", "2026-11-21T08:00:00+02:00"]) {
      expect(Date.parse(fromLocalDateTime(toLocalDateTime(moment)!))).toBe(Date.parse(moment));
    }
  });

  it("are text where the field could not show them as they are", () => {
    expect([
      toLocalDateTime("2026-11-21"),
      toLocalDateTime("2026-11-21T08:00"),
      toLocalDateTime("soon"),
    ]).toEqual([undefined, undefined, undefined]);
    expect([isDate("2026-02-28"), isDate("2026-13-01"), isDate("today")]).toEqual([true, false, false]);
  });
});
