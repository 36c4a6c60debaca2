/** The text of the Dockerfile. test/long/deploy/image.test.ts tests the image that it builds. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parseDockerignore, parseDockerfile } from "../support/image.ts";
import { temporaryDirectory } from "../support/instance.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const dockerfile = read("Dockerfile");
const instructions = parseDockerfile(dockerfile);
const package_ = JSON.parse(read("package.json")) as {
  version: string;
  dependencies: Record<string, string>;
};

const argumentsOf = (word: string): string[] =>
  instructions.filter((one) => one.word === word).map((one) => one.rest);

describe("the Dockerfile", () => {
  it("passes the linter", () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate(dockerfile.replace("--interval", "--intervall"))).not.toEqual([]);
  });

  it("checks health every 30 s with a timeout of 3 s, a start period of 5 s and 3 retries", () => {
    expect(argumentsOf("HEALTHCHECK")[0]).toMatch(
      /^--interval=30s --timeout=3s --start-period=5s --retries=3 +CMD \[/,
    );
  });

  it("installs from the lock file only and runs no package's script", () => {
    const installs = argumentsOf("RUN").filter((one) => one.includes("npm ") && !one.startsWith("npm run"));
    expect(installs).toHaveLength(2);
    for (const one of installs) expect(one).toMatch(/^npm ci (?:--omit=dev )?--ignore-scripts(?: |$)/);
  });

  it("has one base image, which can be set by digest, a numeric user, and all writable directories as volumes", () => {
    expect(new Set(argumentsOf("FROM").map((one) => one.split(" ")[0]))).toEqual(new Set(["${NODE_IMAGE}"]));
    expect(argumentsOf("ARG")).toContain("NODE_IMAGE=node:24-bookworm-slim");
    expect(argumentsOf("USER")).toEqual(["1000:1000"]);
    expect(argumentsOf("VOLUME")).toEqual(['["/var/lib/millrace", "/tmp"]']);
    expect(argumentsOf("EXPOSE")).toEqual(["3000 8000"]);
  });

  it("is labelled with the version of the package", () => {
    expect(argumentsOf("ARG")).toContain(`VERSION=${package_.version}`);
    expect(argumentsOf("LABEL").join(" ")).toMatch(/org\.opencontainers\.image\.licenses="Apache-2\.0"/);
  });

  it("has only the copied files in the build context", () => {
    const copied = argumentsOf("COPY")
      .filter((one) => !one.startsWith("--from"))
      .flatMap((one) => one.split(" ").slice(0, -1));
    expect(new Set(parseDockerignore(read(".dockerignore")))).toEqual(new Set(copied));
  });
});

describe("prune", () => {
  it("removes files that nothing can load, and keeps licences and this platform's native modules", () => {
    const directory = temporaryDirectory();
    const native = `better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`;
    const kept = [
      "a/index.js",
      "a/LICENSE.md",
      "a/NOTICE.md",
      "a/data.json",
      "a/node_modules/b/index.mjs",
      native,
      "@opentelemetry/api/build/src/index.js",
      "swagger-ui-dist/swagger-ui-bundle.js",
      "swagger-ui-dist/swagger-ui.css",
      // The same paths in another package.
      "a/src/index.js",
      "a/build/esm/index.js",
    ];
    const gone = [
      "a/index.js.map",
      "a/index.d.ts",
      "a/src/index.ts",
      "a/README.md",
      "a/node_modules/b/types.d.mts",
      "better-sqlite3/deps/sqlite3/sqlite3.c",
      "better-sqlite3/prebuilds/plan9-mips.node",
      "@opentelemetry/api/build/esm/index.js",
      "swagger-ui-dist/swagger-ui-es-bundle.js",
    ];
    const modules = join(directory, "node_modules");
    for (const path of [...kept, ...gone]) {
      mkdirSync(join(modules, dirname(path)), { recursive: true });
      writeFileSync(join(modules, path), "x");
    }
    const out = execFileSync(process.execPath, [join(ROOT, "bin/prune.ts"), "node_modules"], {
      cwd: directory,
      encoding: "utf8",
    });
    const left = readdirSync(modules, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name).slice(modules.length + 1));
    expect(left.toSorted()).toEqual(kept.toSorted());
    expect(out).toBe(`Pruned ${gone.length} files, 0 MB\n`);
  });
});
