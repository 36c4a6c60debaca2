import { describe, expect, it } from "vitest";
import { connect, outputOf } from "../support/mcp.ts";
import { openRest } from "../support/rest.ts";

const TEXT = `# Grüße 🦄 von der Redaktion.\r
steps:\r
  # Says it.\r
  - id: hello   # first\r
    type: set\r
    values: { ratio: 3.10 }\r
  # Says it again.\r
  - id: again\r
    type: set\r
    values: { n: 1 }\r
`;

/** A workflow that was saved as text, with what reads the text of its newest version. */
async function saved() {
  const rest = await openRest();
  const { call } = rest;
  const created = await call("POST", "/workflows", { name: "Hello", definition: TEXT });
  expect(created.status).toBe(201);
  const patch = (body: object) => call("PATCH", "/workflows/hello", body);
  const read = async () => {
    const { body } = await call("GET", "/workflows/hello?include=text");
    return body as { version: number; definition: object; definition_text: string | null };
  };
  return { ...rest, created, patch, read };
}

describe("the text of a definition", () => {
  it("is returned as it was written, when it is asked for", async () => {
    const { call, created, read } = await saved();
    expect(created.body).not.toHaveProperty("definition_text");
    expect((await call("GET", "/workflows/hello")).body).not.toHaveProperty("definition_text");
    expect(await read()).toMatchObject({ version: 1, definition_text: TEXT });
    expect((await call("GET", "/workflows/hello/versions/1")).body).toMatchObject({
      definition_text: TEXT,
      definition: (await read()).definition,
    });
  });

  it("keeps its comments when a patch, an object or another name changes the workflow", async () => {
    const { patch, read } = await saved();
    const step = { id: "last", type: "set", values: { ok: true } };
    await patch({
      patch: [
        { op: "remove_step", id: "hello" },
        { op: "add_step", step },
      ],
    });
    const second = await read();
    expect(second.definition_text).toBe(
      TEXT.replace(/  # Says it\.[^]*(?=  # Says it again)/, "") +
        "  - id: last\r\n    type: set\r\n    values:\r\n      ok: true\r\n",
    );
    await patch({ name: "Hello again" });
    expect(await read()).toMatchObject({ version: 3, definition_text: second.definition_text });
    await patch({ definition: { ...second.definition, timeout: "1m" } });
    expect((await read()).definition_text).toContain("# Says it again.\r\n  - id: again\r\n");
    expect((await read()).definition_text).toContain("\r\ntimeout: 1m\r\n");
  });

  it("keeps its comments when the patches of issues are applied", async () => {
    const { patch, read } = await saved();
    await patch({ definition: TEXT.replaceAll("type: set", "type: sett"), apply_fixes: true });
    expect((await read()).definition_text).toBe(TEXT);
    const broken = { op: "update_step", id: "again", set: { type: "sett" } };
    await patch({ patch: [broken] });
    expect((await read()).definition_text).toContain("type: sett\r\n");
    await patch({ apply_fixes: true });
    expect((await read()).definition_text).toBe(TEXT);
  });

  it("makes a version of its own, whose ETag differs, only if it differs", async () => {
    const { call, patch, read } = await saved();
    const { definition } = await read();
    for (const same of [TEXT, definition, JSON.stringify(definition)])
      expect((await patch({ definition: same })).body).toMatchObject({ version: 1 });
    const before = (await call("GET", "/workflows/hello")).headers.get("etag");
    const other = TEXT.replace("Says it again.", "Repeats it.");
    expect((await patch({ definition: other })).body).toMatchObject({ version: 2, definition });
    const after = await call("GET", "/workflows/hello");
    expect([after.headers.get("etag"), (await read()).definition_text]).not.toContain(before);
    expect((await read()).definition_text).toBe(other);
    const late = await call("PATCH", "/workflows/hello", { definition: TEXT }, { "If-Match": before! });
    expect(late.status).toBe(412);
  });

  it("is null for an object, for JSON text, and for generated YAML", async () => {
    const { patch, read } = await saved();
    await patch({ definition: "steps:\n  - id: a\n    type: set\n    values: {}\n" });
    expect((await read()).definition_text).toBeNull();
    await patch({ definition: null });
    expect(await read()).toMatchObject({ definition: null, definition_text: null });
    await patch({ definition: '{"steps":[]}' });
    expect((await read()).definition_text).toBeNull();
  });

  it("refuses hidden characters in comments, where they are", async () => {
    const { patch } = await saved();
    const { status, body } = await patch({ definition: TEXT.replace("Says it again", "Says\u202e it") });
    expect([status, body]).toMatchObject([
      400,
      { errors: [{ path: "definition", code: "hidden_characters", line: 7, column: 3 }] },
    ]);
    const text =
      '\ufeff# \u{1f469}\u200d\u{1f4bb}\nsteps:\n  - id: a\n    type: set\n    values:\n      a: "# \\u202e"\n      b: |\n        # \u202e\n';
    expect((await patch({ definition: text })).status).toBe(200);
  });

  it("keeps its comments where it is so long that threads check it", async () => {
    const { patch, read } = await saved();
    const long = TEXT.replace("# Says it.", `# Says it. ${"é".repeat(20_000)}`);
    await patch({ definition: long });
    await patch({ patch: [{ op: "update_step", id: "again", set: { values: { n: 2 } } }] });
    expect((await read()).definition_text).toBe(long.replace("n: 1", "n: 2"));
  });

  it("is kept and shown over MCP too", async () => {
    const { instance, key, read } = await saved();
    const client = await connect("v2 pinned to 2026-07-28", (await instance.mcp()).url, key);
    const patch = [{ op: "update_step", id: "again", set: { values: { n: 2 } } }];
    await client.call("update_workflow", { workflow_id: "hello", patch });
    const changed = TEXT.replace("n: 1", "n: 2");
    expect((await read()).definition_text).toBe(changed);
    const shown = async (include: string[]) =>
      outputOf(await client.call("get_workflow", { workflow_id: "hello", include }));
    expect(await shown([])).not.toHaveProperty("definition_text");
    expect(await shown(["text"])).toMatchObject({ definition_text: changed });
  });
});
