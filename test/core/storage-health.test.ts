import { describe, expect, it } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { storageHealth } from "../../src/core/storage-health.ts";

const gone = (reason = "It is gone.") => new AppError("storage_unavailable", reason);

function told() {
  const lines: unknown[] = [];
  const trouble = storageHealth({
    warn: (fields, message) => void lines.push([message, fields]),
    info: (message) => void lines.push(message),
  });
  return { ...trouble, lines };
}

describe("trouble with the state", () => {
  it("is told once, whatever fails of it, and anew where it is another", () => {
    const { reportFailure, lines } = told();
    reportFailure(gone(), "no claim");
    reportFailure(gone(), "no claim");
    reportFailure(gone(), "no beat");
    reportFailure(gone("It is full."), "no beat");
    expect(lines).toEqual([
      ["no claim", { code: "storage_unavailable", reason: "It is gone." }],
      ["no beat", { code: "storage_unavailable", reason: "It is full." }],
    ]);
  });

  it("is told to be over once, and is a new one after that", () => {
    const { reportFailure, reportRecovery, lines } = told();
    reportRecovery();
    reportFailure(gone(), "no claim");
    reportRecovery();
    reportRecovery();
    reportFailure(gone(), "no beat");
    const fields = { code: "storage_unavailable", reason: "It is gone." };
    expect(lines).toEqual([["no claim", fields], "the state can be used again", ["no beat", fields]]);
  });

  it("is nothing else that fails: that is told each time, with its stack", () => {
    const { reportFailure, lines } = told();
    const err = new TypeError("a bug");
    reportFailure(err, "no claim");
    reportFailure(err, "no claim");
    expect(lines).toEqual([
      ["no claim", { err }],
      ["no claim", { err }],
    ]);
  });
});
