import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OXLINT = join(ROOT, "node_modules/oxlint/bin/oxlint");

/** Lints files in a temporary checkout with the project's configuration. */
function lint(files: Record<string, string>): {
  code: number | null;
  issues: { file: string; rule: string }[];
} {
  const checkout = temporaryDirectory();
  cpSync(join(ROOT, ".oxlintrc.json"), join(checkout, ".oxlintrc.json"));
  symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  for (const [file, source] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    writeFileSync(join(checkout, file), source);
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [OXLINT, "--format", "json", ...Object.keys(files)],
    { cwd: checkout, encoding: "utf8" },
  );
  if (!stdout.startsWith("{")) throw new Error(`oxlint printed:\n${stdout}${stderr}`);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] };
  return { code: status, issues: diagnostics.map(({ filename, code }) => ({ file: filename, rule: code })) };
}

const importing = (specifier: string): string =>
  `import { thing } from "${specifier}";\n\nexport const alias = thing;\n`;

// schemas ← core ← {config, store, queue, auth, connections, telemetry} ← steps ← engine ← tools ← surfaces ← app ←
// commands ← main; siblings never import each other.
const FORBIDDEN: readonly (readonly [from: string, to: string])[] = [
  ["schemas/probe.ts", "../src/core/clock.ts"],
  ["schemas/probe.ts", "../tools/index.ts"],
  ["src/core/probe.ts", "../store/database.ts"],
  ["src/core/probe.ts", "../auth/api-keys.ts"],
  ["src/core/probe.ts", "../config/environment.ts"],
  ["src/core/probe.ts", "../surfaces/invoke.ts"],
  ["src/core/probe.ts", "../../tools/index.ts"],
  ["src/core/probe.ts", "../app/instance.ts"],
  ["src/config/probe.ts", "../store/database.ts"],
  ["src/config/probe.ts", "../auth/api-keys.ts"],
  ["src/store/probe.ts", "../auth/api-keys.ts"],
  ["src/store/probe.ts", "../config/environment.ts"],
  ["src/store/probe.ts", "../surfaces/invoke.ts"],
  ["src/store/migrations/probe.ts", "../../auth/api-keys.ts"],
  ["src/auth/probe.ts", "../store/api-keys.ts"],
  ["src/auth/probe.ts", "../config/environment.ts"],
  ["src/auth/probe.ts", "../surfaces/invoke.ts"],
  ["src/queue/probe.ts", "../store/jobs.ts"],
  ["src/queue/probe.ts", "../engine/engine.ts"],
  ["src/queue/probe.ts", "../connections/index.ts"],
  ["src/connections/probe.ts", "../config/config-file.ts"],
  ["src/connections/probe.ts", "../store/database.ts"],
  ["src/connections/probe.ts", "../steps/index.ts"],
  ["src/connections/databases/probe.ts", "../../engine/engine.ts"],
  ["src/store/probe.ts", "../queue/types.ts"],
  ["src/store/probe.ts", "../connections/index.ts"],
  ["src/core/probe.ts", "../engine/engine.ts"],
  ["src/core/probe.ts", "../steps/index.ts"],
  ["src/telemetry/probe.ts", "../store/database.ts"],
  ["src/telemetry/probe.ts", "../connections/index.ts"],
  ["src/telemetry/probe.ts", "../engine/engine.ts"],
  ["src/core/probe.ts", "../telemetry/metrics.ts"],
  ["src/config/probe.ts", "../telemetry/metrics.ts"],
  ["src/store/probe.ts", "../telemetry/metrics.ts"],
  ["src/queue/probe.ts", "../telemetry/metrics.ts"],
  ["src/auth/probe.ts", "../telemetry/metrics.ts"],
  ["src/connections/probe.ts", "../telemetry/metrics.ts"],
  ["src/steps/probe.ts", "../telemetry/metrics.ts"],
  ["src/engine/probe.ts", "../telemetry/metrics.ts"],
  ["tools/runs/probe.ts", "../../src/telemetry/metrics.ts"],
  ["src/surfaces/probe.ts", "../telemetry/metrics.ts"],
  ["src/steps/probe.ts", "../engine/engine.ts"],
  ["src/steps/probe.ts", "../queue/types.ts"],
  ["src/steps/probe.ts", "../store/run-reader.ts"],
  ["src/steps/probe.ts", "../../tools/index.ts"],
  ["src/engine/probe.ts", "../queue/worker.ts"],
  ["src/engine/probe.ts", "../store/run-reader.ts"],
  ["src/engine/probe.ts", "../connections/index.ts"],
  ["src/engine/check/probe.ts", "../../../tools/index.ts"],
  ["src/engine/check/probe.ts", "../../surfaces/invoke.ts"],
  ["tools/runs/probe.ts", "../../src/queue/types.ts"],
  ["tools/runs/probe.ts", "../../src/connections/index.ts"],
  ["src/surfaces/probe.ts", "../queue/types.ts"],
  ["tools/probe.ts", "../src/store/workflows.ts"],
  ["tools/workflows/probe.ts", "../../src/store/workflows.ts"],
  ["tools/workflows/probe.ts", "../../src/surfaces/invoke.ts"],
  ["tools/workflows/probe.ts", "../../src/auth/api-keys.ts"],
  ["src/surfaces/probe.ts", "../store/database.ts"],
  ["src/surfaces/rest/probe.ts", "../../store/database.ts"],
  ["src/surfaces/mcp/probe.ts", "../../app/instance.ts"],
  ["src/surfaces/mcp/probe.ts", "../../commands/io.ts"],
  ["src/web/runs/probe.ts", "../../core/errors.ts"],
  ["src/web/runs/probe.ts", "../../engine/graph.ts"],
  ["src/web/runs/probe.ts", "../../surfaces/invoke.ts"],
  ["src/web/probe.ts", "../core/errors.ts"],
  ["src/web/probe.ts", "../store/users.ts"],
  ["src/web/runs/probe.ts", "../../../tools/index.ts"],
  ["src/web/runs/probe.ts", "../../app/instance.ts"],
  ["src/web/runs/probe.ts", "../../telemetry/metrics.ts"],
  ["src/web/probe.ts", "../app/instance.ts"],
  ["src/app/probe.ts", "../commands/io.ts"],
  // Nothing that is shipped imports from the tests.
  ["schemas/probe.ts", "../test/support/json.ts"],
  ["src/core/probe.ts", "../../test/support/json.ts"],
  ["src/config/probe.ts", "../../test/support/json.ts"],
  ["src/store/probe.ts", "../../test/support/json.ts"],
  ["src/auth/probe.ts", "../../test/support/json.ts"],
  ["src/queue/probe.ts", "../../test/support/json.ts"],
  ["src/connections/probe.ts", "../../test/support/json.ts"],
  ["src/telemetry/probe.ts", "../../test/support/json.ts"],
  ["src/steps/probe.ts", "../../test/support/json.ts"],
  ["src/engine/probe.ts", "../../test/support/json.ts"],
  ["tools/runs/probe.ts", "../../test/support/json.ts"],
  ["src/surfaces/probe.ts", "../../test/support/json.ts"],
  ["src/surfaces/mcp/probe.ts", "../../../test/support/conformance-fixtures.ts"],
  ["src/app/probe.ts", "../../test/support/json.ts"],
  ["src/commands/probe.ts", "../../test/support/json.ts"],
  ["src/web/probe.ts", "../../test/support/json.ts"],
  ["src/web/runs/probe.ts", "../../../test/support/json.ts"],
  ["packages/client/src/probe.ts", "../../../src/core/errors.ts"],
  ["packages/client/src/probe.ts", "../../../schemas/problem.ts"],
  ["packages/client/src/probe.ts", "../../../tools/index.ts"],
];

const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  ["src/core/probe.ts", "../../schemas/text.ts"],
  ["src/core/probe.ts", "../../schemas/config.ts"],
  ["src/store/probe.ts", "../core/ports.ts"],
  ["src/auth/probe.ts", "../core/ports.ts"],
  ["src/queue/probe.ts", "../core/run-ports.ts"],
  ["src/connections/probe.ts", "../core/connections.ts"],
  ["src/telemetry/probe.ts", "../core/meter.ts"],
  ["src/steps/probe.ts", "../connections/http/retry-after.ts"],
  ["src/engine/probe.ts", "../queue/types.ts"],
  ["src/engine/probe.ts", "../steps/index.ts"],
  ["tools/workflows/probe.ts", "../../src/core/tool.ts"],
  ["tools/runs/probe.ts", "../../src/engine/executor/expression-scopes.ts"],
  ["src/surfaces/rest/probe.ts", "../../core/tool.ts"],
  ["src/app/probe.ts", "../store/database.ts"],
  ["src/commands/probe.ts", "../app/instance.ts"],
  ["src/web/runs/probe.ts", "../../../schemas/run.ts"],
  ["src/web/runs/probe.ts", "../api/client.ts"],
  ["src/web/runs/probe.ts", "../app/session.tsx"],
  ["src/web/probe.ts", "./app/session.tsx"],
  ["src/web/probe.ts", "../../schemas/run.ts"],
  ["src/web/api/probe.ts", "../../../packages/client/src/index.ts"],
  ["src/commands/remote/probe.ts", "../../../packages/client/src/index.ts"],
  ["packages/client/src/probe.ts", "../../../schemas/generated/endpoints.ts"],
];

describe("the import restrictions between folders", () => {
  it("reject every import against the direction of dependencies", () => {
    const files = Object.fromEntries(
      FORBIDDEN.map(([from, to], i) => [from.replace("probe", `probe-${i}`), importing(to)]),
    );
    const { code, issues } = lint(files);
    expect(code).toBe(1);
    const rejected = issues
      .filter((issue) => issue.rule.includes("no-restricted-imports"))
      .map((issue) => issue.file);
    expect(rejected.toSorted()).toEqual(Object.keys(files).toSorted());
  });

  it("reject imports of types as well", () => {
    const { issues } = lint({
      "src/core/probe.ts":
        'import type { Store } from "../store/database.ts";\n\nexport type Alias = Store;\n',
    });
    expect(issues).toEqual([
      expect.objectContaining({ rule: expect.stringContaining("no-restricted-imports") }),
    ]);
  });

  it("accept imports in the direction of dependencies", () => {
    const files = Object.fromEntries(
      ALLOWED.map(([from, to], i) => [from.replace("probe", `probe-${i}`), importing(to)]),
    );
    expect(lint(files)).toEqual({ code: 0, issues: [] });
  });

  it("allow the process global only in src/main.ts", () => {
    const source = 'export const home = process.env["HOME"];\n';
    const { issues } = lint({
      "src/store/probe.ts": source,
      "tools/probe.ts": source,
      "src/main.ts": source,
    });
    expect(issues.map(({ file }) => file).toSorted()).toEqual(["src/store/probe.ts", "tools/probe.ts"]);
  });

  it("cover every folder of src", () => {
    const restricted = new Set(FORBIDDEN.map(([from]) => from.split("/")[1]));
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map((entry) => entry.name).filter((name) => !restricted.has(name))).toEqual([]);
  });
});
