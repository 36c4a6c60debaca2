/**
 * The Dockerfile's own steps, carried out in an empty directory instead of a container: what it copies is what it
 * starts. Needs npm's registry, as a build does.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** `FROM`, `WORKDIR`, `COPY` and `RUN npm` of each stage; what only a container has is left out. */
function carryOut(dockerfile: string, directory: string): string {
  const stages = new Map<string, string>();
  let stage = "";
  // The base image's own Node, not the one among the dependencies.
  const base = join(directory, "base");
  mkdirSync(base);
  symlinkSync(process.execPath, join(base, "node"));
  const npm = dirname(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
  const env = { ...process.env, PATH: `${base}:${npm}:/usr/bin:/bin` };
  const instructions = dockerfile.replaceAll(/\\\n\s*/g, " ").split("\n");
  for (const line of instructions) {
    const [word, ...rest] = line.split(/\s+/);
    if (word === "FROM") {
      stage = join(directory, rest[2] ?? "final");
      stages.set(rest[2] ?? "final", stage);
      mkdirSync(stage);
    } else if (word === "COPY") {
      const from = rest[0]!.startsWith("--from=") ? stages.get(rest.shift()!.slice(7))! : ROOT;
      const target = rest.pop()!;
      for (const source of rest) {
        const path = source.replace(/^\/app\//, "");
        cpSync(join(from, path), join(stage, target.endsWith("./") ? path : target), { recursive: true });
      }
    } else if (word === "RUN") {
      const command = rest
        .join(" ")
        .split("&&")
        .map((part) => part.trim());
      for (const part of command.filter((one) => one.startsWith("npm ") && !one.includes("cache"))) {
        const { status, stdout, stderr } = spawnSync("sh", ["-c", part], {
          cwd: stage,
          env,
          encoding: "utf8",
        });
        if (status !== 0) throw new Error(`${part}\n${stdout}${stderr}`);
      }
    }
  }
  return stages.get("final")!;
}

describe("the image", () => {
  it("starts from what it copies, and holds no development dependency", async () => {
    const directory = temporaryDirectory();
    const app = carryOut(readFileSync(join(ROOT, "Dockerfile"), "utf8"), directory);
    expect(() => readFileSync(join(app, "node_modules/vitest/package.json"))).toThrow("ENOENT");
    expect(() => readFileSync(join(app, "src/main.ts"))).toThrow("ENOENT");

    const env = {
      PATH: process.env["PATH"],
      MILLRACE_STATE_DIR: join(directory, "state"),
      MILLRACE_HOST: "0.0.0.0",
    };
    const child = spawn(process.execPath, ["bin/millrace.js", "start", "--port", "0", "--mcp-port", "0"], {
      cwd: app,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    });
    let log = "";
    const port = await new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        log += chunk;
        const listening = /serve listens on http:\/\/0\.0\.0\.0:(\d+)/.exec(log);
        if (listening) resolve(listening[1]!);
      });
      child.once("exit", () => reject(new Error(log)));
    });
    const health = await fetch(`http://127.0.0.1:${port}/health`);
    expect(health.status).toBe(200);
    const document = await fetch(`http://127.0.0.1:${port}/apidoc/openapi.json`);
    expect(await document.json()).toMatchObject({ openapi: "3.1.0" });
    const page = await (await fetch(`http://127.0.0.1:${port}/ui/`)).text();
    const script = /src="(\/ui\/assets\/[\w.-]+\.js)"/.exec(page)![1]!;
    expect((await fetch(`http://127.0.0.1:${port}${script}`)).status).toBe(200);

    // The first start has found the samples.
    const ran = spawnSync(process.execPath, ["bin/millrace.js", "run", "weekly-revenue"], {
      cwd: app,
      env,
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    expect(JSON.parse(ran.stdout)).toMatchObject({ best_region: "north" });
  });
});
