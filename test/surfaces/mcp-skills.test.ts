/** Skills over MCP, as the client of the MCP project lists, verifies and reads them. */
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import { skillFile } from "../../src/surfaces/agent-texts.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";

const AUTHORING = "skill://millrace/SKILL.md";
const REVENUE = "skill://run-weekly-revenue/SKILL.md";

const inputs = {
  type: "object",
  properties: {
    region: { type: "string", enum: ["EU", "US"] },
    rows: { type: "integer", minimum: 5 },
    since: { type: "string", format: "date-time" },
    note: { type: "string" },
  },
  required: ["region", "rows", "since"],
};
const definition = {
  expose_as_tool: true,
  inputs,
  steps: [
    { id: "send", type: "http", url: "https://internal.example.com/hook", method: "POST" },
    { id: "ask", type: "approval", needs: ["send"], message: "Go on?" },
  ],
};

const WAYS = {
  "2026-07-28": { path: "/mcp", mode: { pin: "2026-07-28" }, cached: [60_000, "private"] },
  "2025-11-25 over Streamable HTTP": { path: "/mcp", mode: "legacy", cached: [undefined, undefined] },
  "2025-11-25 over SSE": { path: "/sse", mode: "legacy", cached: [undefined, undefined] },
} as const;

const urisOf = async (skills: SkillsClient) => (await skills.list()).skills.map(({ uri }) => uri);

async function open() {
  const instance = await testInstance();
  const { url } = await instance.rest();
  const mcp = await instance.mcp();
  const admin = apiClient(
    url,
    (await instance.key({ name: "admin", scopes: ["write", "publish", "run", "admin"] })).value,
  );
  const allow = async (id: string) => {
    const { body } = await admin("GET", `/workflows/${id}/exposure`);
    const allowed = await admin("POST", `/workflows/${id}/exposure/allow`, { digest: body.digest });
    expect(allowed.status).toBe(200);
  };
  const expose = async (name: string, more: object = {}, fields: object = {}): Promise<string> => {
    const { body } = await admin("POST", "/workflows", {
      name,
      description: "Sums the revenue of a week.",
      definition: { ...definition, ...more },
      ...fields,
    });
    expect(body.issues).toEqual([]);
    expect((await admin("POST", `/workflows/${body.id}/publish`, {})).status).toBe(200);
    await allow(body.id);
    return body.id as string;
  };
  const connect = async (
    scopes: Scope[] = ["read", "run"],
    limits: KeyLimits | null = null,
    { path, mode }: { path: string; mode: "legacy" | { pin: string } } = WAYS["2026-07-28"],
  ) => {
    const { value } = await instance.key({ name: "agent", scopes, limits });
    const options = { requestInit: { headers: { "X-API-Key": value } } };
    const target = new URL(mcp.url + path);
    const client = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(
      path === "/sse"
        ? new SSEClientTransport(target, options)
        : new StreamableHTTPClientTransport(target, options),
    );
    onTestFinished(() => client.close().catch(() => {}));
    return { client, skills: new SkillsClient(client) };
  };
  return { admin, allow, expose, connect };
}

describe("skills/list", () => {
  it.each(Object.entries(WAYS))("has skills that the client verifies and reads: %s", async (_way, way) => {
    const { expose, connect } = await open();
    await expose("Weekly revenue");
    const { client, skills } = await connect(undefined, null, way);
    expect(skills.supported).toBe(true);
    // Nothing notifies of changed lists of resources.
    expect(client.getServerCapabilities()?.resources?.listChanged).toBeFalsy();
    const { skills: entries, ttlMs, cacheScope } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual([AUTHORING, REVENUE]);
    expect([ttlMs, cacheScope]).toEqual(way.cached);
    const [authoring, revenue] = entries;
    expect((await skills.read(authoring!)).text).toBe(skillFile());
    const file = await skills.read(revenue!);
    expect(file).toMatchObject({
      verified: true,
      mimeType: "text/markdown",
      frontmatter: {
        name: "run-weekly-revenue",
        description: expect.stringMatching(
          /^Runs the workflow weekly-revenue.*"Sums the revenue of a week\."$/,
        ),
      },
    });
    expect(file.text).toContain("Call the tool `run_weekly_revenue`");
    expect(file.text).toContain("a person decides an approval");
    expect((await skills.get(REVENUE)).skill).toEqual(revenue);
    await expect(skills.read(revenue!, "references/more.md")).rejects.toThrow("references/more.md");
  });

  it("has an example of a call that the tool takes, and says what a run does but not where", async () => {
    const { admin, expose, connect } = await open();
    await expose("Weekly revenue");
    const { skills } = await connect();
    const { text = "" } = await skills.read((await skills.get(REVENUE)).skill);
    const [, example] = /An example of a call\..*\n\n```json\n([^`]*)\n```/.exec(text)!;
    const call = JSON.parse(example!);
    expect(call).toEqual({
      name: "run_weekly_revenue",
      arguments: { region: "EU", rows: 5, since: "2026-01-31T09:00:00Z" },
    });
    expect(text).toContain("by steps of the type `http`.");
    expect(text).not.toContain("internal.example.com");
    const { status } = await admin("POST", "/workflows/weekly-revenue/runs", {
      inputs: call.arguments,
      wait: 0,
    });
    expect(status).toBe(202);
  });

  it("changes a digest exactly when the text changes", async () => {
    const { admin, allow, expose, connect } = await open();
    await expose("Weekly revenue");
    await expose("Other");
    const { skills } = await connect();
    const digests = async () =>
      Object.fromEntries(
        (await skills.list()).skills.map(({ uri, resources }) => [
          uri,
          (resources as { digest: string }[])[0]!.digest,
        ]),
      );
    const before = await digests();
    const publish = async (change: object) => {
      await admin("PATCH", "/workflows/weekly-revenue", change);
      await admin("POST", "/workflows/weekly-revenue/publish", {});
      await allow("weekly-revenue");
    };
    const [send, ask] = definition.steps;
    await publish({ definition: { ...definition, steps: [{ ...send, timeout: "5s" }, ask] } });
    expect(await digests()).toEqual(before);
    await publish({ description: "Sums the revenue of a month." });
    const { [REVENUE]: revenue, ...others } = await digests();
    expect(revenue).not.toBe(before[REVENUE]);
    expect({ ...others, [REVENUE]: before[REVENUE] }).toEqual(before);
  });
});

describe("a caller", () => {
  it("has only the skills of workflows that it can run, of its projects and within the limits of its key", async () => {
    const { expose, connect } = await open();
    await expose("Weekly revenue");
    await expose("Other");
    const limited = await connect(["read", "run"], { tools: ["run_other"] });
    expect(await urisOf(limited.skills)).toEqual(["skill://run-other/SKILL.md"]);
    const reader = await connect(["read"]);
    expect(await urisOf(reader.skills)).toEqual([AUTHORING]);
    const one = await connect(["read", "run"], { workflows: ["other"] });
    expect(await urisOf(one.skills)).toEqual([AUTHORING, "skill://run-other/SKILL.md"]);
    for (const { client, skills } of [limited, reader, one]) {
      await expect(skills.get(REVENUE)).rejects.toThrow("No skill is served");
      await expect(client.readResource({ uri: REVENUE })).rejects.toThrow("skills/list lists");
    }
    await expect(limited.client.readResource({ uri: AUTHORING })).rejects.toThrow("skills/list lists");
  });

  it("gets no file by another spelling, outside of a skill, or of no skill", async () => {
    const { expose, connect } = await open();
    await expose("Weekly revenue");
    const { client, skills } = await connect();
    for (const uri of [
      "skill://",
      "skill://millrace",
      "skill://millrace/",
      "skill://millrace/../run-weekly-revenue/SKILL.md",
      "skill://millrace/%2e%2e/run-weekly-revenue/SKILL.md",
      "skill://millrace/..%2F..%2Fpackage.json",
      "skill://millrace//SKILL.md",
      "skill://MILLRACE/SKILL.md",
      "skill://millrace/SKILL.md?x=1",
      "skill://millrace/SKILL.md%00",
      "skill://constructor/SKILL.md",
      "skill://run-none/SKILL.md",
      "skill://../../etc/passwd",
    ]) {
      await expect(client.readResource({ uri })).rejects.toThrow(/There is no file .* of a skill/);
      await expect(skills.get(uri)).rejects.toThrow("No skill is served");
    }
    await expect(skills.get("millrace://guide/sql")).rejects.toThrow("No skill is served");
    await expect(skills.list({ cursor: "bogus" })).rejects.toThrow("This cursor is not one of skills/list");
  });
});
