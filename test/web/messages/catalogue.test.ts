/** Rules for the messages that the compiler does not know. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCatalogue } from "../../../bin/messages/compile.ts";
import { messageModules, readCatalogueFiles } from "../../../bin/messages/files.ts";

const WEB = join(import.meta.dirname, "../../../src/web");

/** English texts whose translation is the same: names, and words that both languages have. */
const SAME_TEXTS = new Set([
  "Backfill",
  "Backfill {id}",
  "Backfills",
  "Body",
  "Browser",
  "Chat",
  "Client",
  "Code",
  "CSV",
  "Definition",
  "Details",
  "Format",
  "Graph",
  "Host",
  "ID (optional)",
  "JSON",
  "Language / Sprache",
  "Name",
  "Operation",
  "Secret",
  "Starts",
  "Status",
  "Tag",
  "Tags",
  "Tags (optional)",
  "Test",
  "Text",
  "Tools",
  "Tools (optional)",
  "Trigger",
  "URL",
  "Version",
  "Version {version}",
  "Webhook",
  "Webhook {id}",
  "Webhooks",
  "Workflow",
  "Workflow {name}",
  "Workflows",
  "Workflows (optional)",
  "if",
  "v{version}",
  "<b>{id}</b>: {effect}",
  "{day} ({timezone})",
  "{event} ({when})",
  "{format, select, yaml {YAML} json {JSON}}",
]);

interface Entry {
  id: string;
  language: string;
  area: string;
  key: string;
  text: string;
}

const entries = readCatalogueFiles().flatMap((file): Entry[] => {
  const { language, area } = file;
  const texts = readCatalogue(file, () => undefined);
  return Array.from(texts, ([key, text]) => ({
    id: `${language}/${area}.json ${key}`,
    language,
    area,
    key,
    text,
  }));
});
const idsOf = (found: readonly Entry[]): string[] => found.map(({ id }) => id);
const german = entries.filter(({ language }) => language === "de");
const english = new Map(
  entries.filter(({ language }) => language === "en").map(({ area, key, text }) => [`${area} ${key}`, text]),
);

describe("the message catalogue", () => {
  it("compiles: every language has every message, with the same arguments", () => {
    expect(Object.keys(messageModules()).length).toBeGreaterThan(3);
  });

  it("is translated", () => {
    const same = german.filter(
      ({ area, key, text }) => english.get(`${area} ${key}`) === text && !SAME_TEXTS.has(text),
    );
    expect(idsOf(same)).toEqual([]);
  });

  it("has no spaces around a text, and no two in a row", () => {
    expect(idsOf(entries.filter(({ text }) => text !== text.trim() || / {2}/.test(text)))).toEqual([]);
  });

  it("has typographic quotation marks in German: „…“", () => {
    const wrong = german.filter(
      ({ text }) => /["”]/.test(text) || (text.match(/„/g) ?? []).length !== (text.match(/“/g) ?? []).length,
    );
    expect(idsOf(wrong)).toEqual([]);
  });

  it("has no message that nothing uses", () => {
    // vite.config.ts writes this one to the page.
    const used = new Set(["locale needsScripts"]);
    for (const name of readdirSync(WEB, { recursive: true, encoding: "utf8" })) {
      if (!/\.tsx?$/.test(name) || name.startsWith("messages")) continue;
      const source = readFileSync(join(WEB, name), "utf8");
      for (const [, variable, area] of source.matchAll(/import \* as (\w+) from "#texts\/([\w-]+)"/g))
        for (const [, key] of source.matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, "g")))
          used.add(`${area} ${key}`);
    }
    expect([...english.keys()].filter((key) => !used.has(key))).toEqual([]);
  });
});
