import { describe, expect, it } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { stateTrouble } from "../../src/core/state-trouble.ts";

const gone = (reason = "It is gone.") => new AppError("storage_unavailable", reason);

function told() {
  const lines: unknown[] = [];
  const trouble = stateTrouble({
    warn: (fields, message) => void lines.push([message, fields]),
    info: (message) => void lines.push(message),
  });
  return { ...trouble, lines };
}

describe("trouble with the state", () => {
  it("is told once, whatever fails of it, and anew where it is another", () => {
    const { failed, lines } = told();
    failed(gone(), "no claim");
    failed(gone(), "no claim");
    failed(gone(), "no beat");
    failed(gone("It is full."), "no beat");
    expect(lines).toEqual([
      ["no claim", { code: "storage_unavailable", reason: "It is gone." }],
      ["no beat", { code: "storage_unavailable", reason: "It is full." }],
    ]);
  });

  it("is told to be over once, and is a new one after that", () => {
    const { failed, over, lines } = told();
    over();
    failed(gone(), "no claim");
    over();
    over();
    failed(gone(), "no beat");
    const fields = { code: "storage_unavailable", reason: "It is gone." };
    expect(lines).toEqual([["no claim", fields], "the state can be used again", ["no beat", fields]]);
  });

  it("is nothing else that fails: that is told each time, with its stack", () => {
    const { failed, lines } = told();
    const err = new TypeError("a bug");
    failed(err, "no claim");
    failed(err, "no claim");
    expect(lines).toEqual([
      ["no claim", { err }],
      ["no claim", { err }],
    ]);
  });
});
