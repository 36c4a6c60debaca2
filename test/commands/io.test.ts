import { describe, expect, it } from "vitest";
import { describeError, EXIT } from "../../src/commands/io.ts";

const denied = (fields: object): Error =>
  Object.assign(new Error("EACCES: permission denied, open '/x/a.yaml'"), { code: "EACCES", ...fields });

describe("describeError", () => {
  it("names the port or the file that this user may not use", () => {
    expect(describeError(denied({ syscall: "listen", port: 80 }))).toMatchObject({
      exitCode: EXIT.port,
      message: expect.stringContaining("port 80"),
    });
    expect(describeError(denied({ syscall: "open" }))).toMatchObject({
      exitCode: EXIT.failed,
      message: expect.stringContaining("/x/a.yaml"),
    });
  });
});
