import { describe, expect, it } from "vitest";
import { clientName, userAgentName } from "../../src/surfaces/client-name.ts";
import { testInstance } from "../support/instance.ts";
import { apiClient } from "../support/http.ts";
import { connect } from "../support/mcp.ts";

describe("a client's name", () => {
  it.each([
    ["curl/8.5", "curl/8.5"],
    [undefined, "unknown"],
    [null, "unknown"],
    ["", "unknown"],
    ["a\u0000b\u001b[31mc\u007f\u0085\n", "a\u{FFFD}b\u{FFFD}[31mc\u{FFFD}\u{FFFD}\u{FFFD}"],
    ["a\ud800b", "a\u{FFFD}b"],
    ["x".repeat(201), "x".repeat(200)],
    ["😀".repeat(201), "😀".repeat(200)],
    [`x${"😀".repeat(100_000)}`, `x${"😀".repeat(199)}`],
  ])("given as %j is kept as text that can be stored and shown", (claimed, kept) => {
    expect(clientName(claimed)).toBe(kept);
  });

  it("is that of User-Agent in UTF-8, or else in Latin-1", () => {
    const sent = [Buffer.from("Müller/1"), Buffer.from("Müller/1", "latin1")];
    expect(sent.map((bytes) => userAgentName(bytes.toString("latin1")))).toEqual(["Müller/1", "Müller/1"]);
    expect([undefined, null].map(userAgentName)).toEqual(["unknown", "unknown"]);
  });

  it("is recorded the same way on every surface", async () => {
    const instance = await testInstance();
    const [rest, mcp, { value }] = await Promise.all([instance.rest(), instance.mcp(), instance.key()]);
    const call = apiClient(rest.url, value);
    const client = await connect("v2 over Streamable HTTP, legacy", mcp.url, value, {
      name: "evil\u0000\u001b[2J",
      version: "\ud800",
    });
    await client.call("create_workflow", { name: "Over MCP" });
    await call("POST", "/workflows", { name: "Over REST", description: "" }, { "User-Agent": "evil\u0085" });
    const nameIn = async (id: string) => (await call("GET", `/workflows/${id}/versions`)).body[0].client;
    expect(await nameIn("over-mcp")).toBe("evil\u{FFFD}\u{FFFD}[2J/\u{FFFD}");
    expect(await nameIn("over-rest")).toBe("evil\u{FFFD}");
  });
});
