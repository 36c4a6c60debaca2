import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

it("has one writer of audit entries, which adds each to the hash chain", () => {
  const files = globSync("{src,tools,bin}/**/*.ts", { cwd: ROOT }).map(String);
  const writers = files.filter((file) =>
    /(?:insertInto|updateTable|preparedInsert)\(\s*"audit_log"|(?:insert into|update) audit_log/.test(
      readFileSync(join(ROOT, file), "utf8"),
    ),
  );
  // The others: a migration that sets what no hash covers, and backups of releases that know no chain.
  expect(writers.toSorted()).toEqual([
    "src/store/audit-entries.ts",
    "src/store/migrations/0042-folded-texts.ts",
    "src/store/restore-cleanup.ts",
  ]);
});
