/**
 * Writes the files of schemas/generated, the generated pages of docs, and the skill. With --check it writes nothing, and names the
 * files that are out of date. The files are committed so that a review shows every change of a public interface.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { pino } from "pino";
import { z } from "zod";
import { VERSION } from "../src/app/build.ts";
import { openInstance } from "../src/app/instance.ts";
import { systemClock } from "../src/core/clock.ts";
import { definitionJsonSchema } from "../src/engine/definition/definition-schema.ts";
import { stepTypes } from "../src/steps/index.ts";
import { skillFile } from "../src/surfaces/agent-texts.ts";
import { listTools } from "../src/surfaces/mcp/tool-list.ts";
import { openApiDocument } from "../src/surfaces/rest/openapi.ts";
import { catalogue } from "../tools/index.ts";
import { Config } from "../schemas/config.ts";
import { errorTables, keyChangesPage, mcpPage, restPage } from "./reference/pages.ts";

async function databaseSchema(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "millrace-schema-"));
  try {
    const instance = await openInstance({ stateDir: directory }, systemClock, pino({ level: "silent" }));
    await instance.close();
    const db = new Database(join(directory, "millrace.db"), { readonly: true });
    const statements = db
      .prepare(
        "select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by tbl_name, type desc, name",
      )
      .pluck()
      .all() as string[];
    db.close();
    return statements
      .map((sql) => `${sql.replace(/, (?=")/g, ",\n  ").replace(/\((?=")/, "(\n  ")};\n`)
      .join("\n");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Generates the web interface's API types from the OpenAPI document. */
function endpointTypes(document: string): string {
  const directory = mkdtempSync(join(tmpdir(), "millrace-endpoints-"));
  try {
    writeFileSync(join(directory, "openapi.json"), document);
    const command = fileURLToPath(new URL("../node_modules/typed-openapi/bin.js", import.meta.url));
    const options = [
      "openapi.json",
      "--output",
      "endpoints.ts",
      "--include-client",
      "false",
      "--jsdoc",
      "false",
    ];
    const generated = spawnSync(process.execPath, [command, ...options], {
      cwd: directory,
      encoding: "utf8",
    });
    if (generated.status !== 0) throw new Error(generated.stdout + generated.stderr);
    // typed-openapi writes the null of a nullable enumeration as a string.
    return readFileSync(join(directory, "endpoints.ts"), "utf8").replaceAll(' | "null")', ")");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The names of all operations, which the web interface leaves out of texts for people. */
const toolNames = (): string =>
  `export const TOOL_NAMES: readonly string[] = ${json(catalogue.map(({ name }) => name).toSorted()).trim()};\n`;

const openApi = json(openApiDocument(catalogue, VERSION));
const artefacts: Record<string, string> = {
  "openapi.json": openApi,
  "endpoints.ts": endpointTypes(openApi),
  "tools.json": json(listTools(catalogue)),
  "tool-names.ts": toolNames(),
  "config.schema.json": json(z.toJSONSchema(Config, { io: "input" })),
  "workflow.schema.json": json(definitionJsonSchema(stepTypes)),
  "database.sql": await databaseSchema(),
};

/** Replaces the generated part of a handwritten page, between its two markers. */
function replaceGeneratedPart(page: string, text: string): string {
  const content = readFileSync(new URL(`../${page}`, import.meta.url), "utf8");
  const markers = /(<!-- generated -->\n)[^]*(\n<!-- \/generated -->)/;
  if (!markers.test(content)) throw new Error(`${page} lacks the markers of its generated part`);
  return content.replace(markers, (_, begin: string, end: string) => `${begin}\n${text}\n${end}`);
}

const files: Record<string, string> = {
  ...Object.fromEntries(Object.entries(artefacts).map(([name, text]) => [`schemas/generated/${name}`, text])),
  "docs/reference/rest.md": restPage(catalogue),
  "docs/reference/mcp.md": mcpPage(catalogue),
  "docs/reference/key-changes.md": keyChangesPage(),
  "skills/millrace/SKILL.md": skillFile(),
  "docs/troubleshooting.md": replaceGeneratedPart("docs/troubleshooting.md", errorTables()),
};

const checking = process.argv.includes("--check");
for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!checking) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${name} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}
