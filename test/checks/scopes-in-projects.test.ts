/** The scopes of a caller differ between projects, so no operation decides by the union of them. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../support/documents.ts";

const READS_UNION =
  /principal\.scopes|\{[^}]*\bscopes\b[^}]*\} = (?:ctx\.)?actor\.principal|\{[^}]*\bscopes\b[^}]*\}: Principal/;

it("no operation reads the scopes of a principal over all projects", () => {
  const files = globSync("tools/**/*.ts", { cwd: ROOT }).map(String);
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => READS_UNION.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});
