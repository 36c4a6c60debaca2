import { describe, expect, it } from "vitest";
import { readMoment } from "../../../src/connections/databases/moments.ts";

describe("readMoment", () => {
  it.each([
    ["2026-01-02T03:04:05Z", "2026-01-02 03:04:05", false],
    ["2026-01-02T03:04:05.678901234Z", "2026-01-02 03:04:05.678901234", false],
    ["2026-01-02T03:04:05.678+00:00", "2026-01-02 03:04:05.678", false],
    ["2026-01-01T02:00:00.123456+05:30", "2025-12-31 20:30:00.123456", true],
    ["2024-02-28T23:59:59-00:01", "2024-02-29 00:00:59", true],
    ["0001-01-01T00:00:00Z", "0001-01-01 00:00:00", false],
  ])("reads %s as %s in UTC", (text, utc, isShifted) => {
    const moment = readMoment(text);
    expect(`${moment?.date} ${moment?.time}`).toBe(utc);
    expect(moment?.isShifted).toBe(isShifted);
  });

  it.each([
    "2026-01-02",
    "2026-01-02T03:04:05",
    "2026-01-02 03:04:05Z",
    "2026-02-30T03:04:05Z",
    "2026-01-02T24:00:00Z",
    "2026-01-02T03:04:60Z",
    "2026-01-02T03:04:05+16:00",
    "0000-00-00T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "10000-01-01T00:00:00Z",
    " 2026-01-02T03:04:05Z",
    "at 2026-01-02T03:04:05Z",
    null,
    5,
  ])("does not read %s", (value) => {
    expect(readMoment(value)).toBeUndefined();
  });
});
