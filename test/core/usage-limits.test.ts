import { describe, expect, it } from "vitest";
import {
  DEFAULT_PER_KEY_LIMITS,
  limitExceededMessage,
  limitsInForce,
  maxUnfinished,
  METERED_RESOURCES,
  perKeyLimits,
  usageHolders,
  usageLimitFor,
  usageSubjectOf,
  windowEnd,
} from "../../src/core/usage-limits.ts";

describe("the limits in force", () => {
  it("are those of the configuration, else the defaults of a new installation", () => {
    expect(perKeyLimits({}, true)).toEqual(DEFAULT_PER_KEY_LIMITS);
    expect(perKeyLimits({}, false)).toEqual({});
    const configured = { runs_per_hour: null, rows_per_day: 7 };
    expect(perKeyLimits(configured, true)).toEqual({
      unfinished_runs: 20_000,
      rows_per_day: 7,
      stored_bytes: 10_737_418_240,
      mails_per_hour: 2_000,
      mails_to_address_per_hour: 200,
    });
    expect(limitsInForce(configured, true)).toEqual([
      { limit: "runs_per_hour", max: null, source: "configuration" },
      { limit: "unfinished_runs", max: 20_000, source: "default" },
      { limit: "model_tokens_per_day", max: null, source: "default" },
      { limit: "rows_per_day", max: 7, source: "configuration" },
      { limit: "stored_bytes", max: 10_737_418_240, source: "default" },
      { limit: "mails_per_hour", max: 2_000, source: "default" },
      { limit: "mails_to_address_per_hour", max: 200, source: "default" },
    ]);
  });

  it("keep a tenth of a large number of unfinished runs for the runs of runs", () => {
    expect([1, 99, 100, 105, 20_000].map((limit) => maxUnfinished(limit, true))).toEqual([
      1, 99, 110, 115, 22_000,
    ]);
    expect(maxUnfinished(20_000, false)).toBe(20_000);
  });
});

describe("usageLimitFor", () => {
  it("is the limit of a resource and its window; undefined where it is not limited", () => {
    const perKey = { runs_per_hour: 5, rows_per_day: 0, mails_to_address_per_hour: 3 };
    const hour = 3_600_000;
    expect(usageLimitFor(perKey, "runs")).toEqual({
      limit: "runs_per_hour",
      max: 5,
      windowMs: hour,
      label: "runs",
      windowName: "hour",
    });
    expect(usageLimitFor(perKey, "rows")).toMatchObject({ max: 0, windowMs: 24 * hour, windowName: "day" });
    expect(usageLimitFor(perKey, "mails_to_address")).toMatchObject({ max: 3, windowMs: hour });
    expect(usageLimitFor(perKey, "mails")).toBeUndefined();
    expect(usageLimitFor({ model_tokens_per_day: 1 }, "model_tokens")).toMatchObject({ windowMs: 24 * hour });
  });

  it("counts mails to an address for each address, and all other resources for a holder", () => {
    expect(METERED_RESOURCES).toEqual(["runs", "model_tokens", "rows", "mails"]);
  });
});

describe("windowEnd", () => {
  it("is the end of the window that contains the time", () => {
    expect([0, 9, 10, 19].map((now) => windowEnd({ windowMs: 10 }, now))).toEqual([10, 10, 20, 20]);
  });
});

describe("usageHolders", () => {
  const ann = { owner: "ann@example.com", keyName: "laptop", lineage: "key_1" };
  const ci = { owner: "operator", keyName: "ci", lineage: "key_2" };
  const perKey = { runs_per_hour: 5 };
  const reader = (limits: typeof perKey | null) => ({ projectLimits: async () => limits });

  it("usageSubjectOf is the user for all their keys, and each key of the operator for itself", () => {
    expect(usageSubjectOf(ann)).toBe("ann@example.com");
    expect(usageSubjectOf(ci)).toBe("key_2");
  });

  it("are the owner, and the project where it has limits", async () => {
    const holders = await usageHolders(perKey, reader({ runs_per_hour: 9 }))(ann, "finance");
    expect(holders).toMatchObject([
      {
        subject: "ann@example.com",
        limits: perKey,
        label: "ann@example.com (all their keys and sessions together)",
      },
      {
        subject: "project:finance",
        limits: { runs_per_hour: 9 },
        label: 'the project "finance"',
        project: "finance",
      },
    ]);
    expect(holders.map(({ settingName }) => settingName("runs_per_hour"))).toEqual([
      "limits.per_key.runs_per_hour",
      "runs_per_hour of the project",
    ]);
    expect(holders[0]).not.toHaveProperty("project");
    expect(await usageHolders(perKey, reader(null))(ci, "finance")).toMatchObject([
      { subject: "key_2", label: '"ci" of operator' },
    ]);
  });

  it("of the command line are only the project", async () => {
    const commandLine = { owner: "operator", keyName: "command-line", lineage: "command-line" };
    expect(await usageHolders(perKey, reader(null))(commandLine, "finance")).toEqual([]);
    expect(await usageHolders(perKey, reader({ runs_per_hour: 9 }))(commandLine, "finance")).toHaveLength(1);
  });

  it("read the limits of the project in the transaction", async () => {
    const holders = usageHolders(perKey, reader(null));
    expect(await holders(ann, "finance", reader({ runs_per_hour: 9 }))).toHaveLength(2);
  });
});

describe("limitExceededMessage", () => {
  const limit = { ...usageLimitFor({ runs_per_hour: 1_000 }, "runs")! };
  it("names the holder, the limit, its setting and the end of the window", async () => {
    const read = { projectLimits: async () => ({ runs_per_hour: 1_000 }) };
    const caller = { owner: "ann@example.com", keyName: "laptop", lineage: "key_1" };
    const [owner, project] = await usageHolders({}, read)(caller, "finance");
    const endsAt = Date.parse("2026-11-21T09:00:00Z");
    expect(limitExceededMessage(owner!, limit, endsAt)).toBe(
      "ann@example.com (all their keys and sessions together) has used all of its 1,000 runs of this hour " +
        "(limits.per_key.runs_per_hour); more are available from 2026-11-21T09:00:00.000Z.",
    );
    expect(limitExceededMessage(project!, limit, endsAt)).toBe(
      'The project "finance" has used all of its 1,000 runs of this hour (runs_per_hour of the project); ' +
        "more are available from 2026-11-21T09:00:00.000Z.",
    );
  });
});
