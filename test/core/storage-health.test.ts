import { describe, expect, it } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { storageHealth } from "../../src/core/storage-health.ts";

const gone = (reason = "It is gone.") => new AppError("storage_unavailable", reason);

function recordingHealth() {
  const lines: unknown[] = [];
  const health = storageHealth({
    warn: (fields, message) => void lines.push([message, fields]),
    info: (message) => void lines.push(message),
  });
  return { ...health, lines };
}

describe("a failure of the storage", () => {
  it("is logged once, whatever fails because of it, and again when the reason changes", () => {
    const { reportFailure, lines } = recordingHealth();
    reportFailure(gone(), "claim failed");
    reportFailure(gone(), "claim failed");
    reportFailure(gone(), "heartbeat failed");
    reportFailure(gone("It is full."), "heartbeat failed");
    expect(lines).toEqual([
      ["claim failed", { code: "storage_unavailable", reason: "It is gone." }],
      ["heartbeat failed", { code: "storage_unavailable", reason: "It is full." }],
    ]);
  });

  it("is logged again after a recovery, which is logged once", () => {
    const { reportFailure, reportRecovery, lines } = recordingHealth();
    reportRecovery();
    reportFailure(gone(), "claim failed");
    reportRecovery();
    reportRecovery();
    reportFailure(gone(), "heartbeat failed");
    const fields = { code: "storage_unavailable", reason: "It is gone." };
    expect(lines).toEqual([
      ["claim failed", fields],
      "storage available again",
      ["heartbeat failed", fields],
    ]);
  });

  it("differs from other failures, which are logged each time with their stack", () => {
    const { reportFailure, lines } = recordingHealth();
    const err = new TypeError("a bug");
    reportFailure(err, "claim failed");
    reportFailure(err, "claim failed");
    expect(lines).toEqual([
      ["claim failed", { err }],
      ["claim failed", { err }],
    ]);
  });
});
