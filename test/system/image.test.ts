/**
 * The image without a container engine: the Dockerfile's own steps in empty directories, then what they made, as the
 * user that it names, on a read-only root. Needs npm's registry, as a build does, and root.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { buildImage, type Container, type Image, runContainer } from "../support/image.ts";
import { temporaryDirectory } from "../support/instance.ts";

let directory: string;
let image: Image;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "millrace-image-"));
  image = buildImage(directory);
}, 600_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Asks from within, where alone its ports are. */
function fetchIn(container: Container, url: string, init: object = {}): { status: number; body: string } {
  const script = `fetch(process.argv[1], JSON.parse(process.argv[2])).then(async (r) => console.log(JSON.stringify({ status: r.status, body: await r.text() })))`;
  const { out, err } = container.exec(["node", "-e", script, url, JSON.stringify(init)]);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as { status: number; body: string };
}

const healthy = (container: Container, port = "3000") =>
  container.exec(image.healthcheck, { HEALTH_PORT: port }).status;

const untilHealthy = (container: Container, port?: string) =>
  eventually(() => healthy(container, port) === 0 || undefined, `health of\n${container.log()}`, 90_000);

describe("the image", () => {
  it("holds what runs and nothing else: no development dependency, no source, no map, no other system's part", () => {
    const app = join(image.root, "app");
    expect(readdirSync(app).toSorted()).toEqual(
      ["LICENSE", "bin", "dist", "examples", "node_modules", "package.json"].toSorted(),
    );
    for (const path of ["node_modules/vitest", "node_modules/react", "bin/prune.ts"])
      expect(existsSync(join(app, path)), path).toBe(false);
    const packages = readdirSync(join(app, "node_modules"), { recursive: true, encoding: "utf8" });
    const useless = packages.filter(
      (path) => /\.(?:ts|map|md)$/.test(path) && !/licen[cs]e|notice/i.test(path),
    );
    expect(useless).toEqual([]);
    expect(packages.filter((path) => path.endsWith(".node"))).toHaveLength(2);
    const megabytes = Number(execFileSync("du", ["-sm", app], { encoding: "utf8" }).split("\t")[0]);
    expect(megabytes).toBeLessThan(150);
  });

  it("can load every package that the program names", async () => {
    const container = await runContainer(
      image,
      { entrypoint: ["node", "-e", "setInterval(() => {}, 1e6)"], cmd: [] },
      temporaryDirectory(),
    );
    const script = `
      import { readdirSync, readFileSync } from "node:fs";
      const files = readdirSync("dist", { recursive: true }).filter((f) => f.endsWith(".js") && !f.startsWith("web"));
      const texts = files.map((f) => readFileSync("dist/" + f, "utf8"));
      const names = new Set(texts.flatMap((text) => [...text.matchAll(/(?:\\bfrom |\\bimport |\\bimport\\()"(@?[a-z][\\w.@/-]*)"/g)].map((m) => m[1])));
      for (const name of names) await import(name);
      console.log(JSON.stringify([...names]));
      process.exit(0);
    `;
    const { out, err } = container.exec(["node", "--input-type=module", "-e", script]);
    expect(err).toBe("");
    const names = JSON.parse(out) as string[];
    const { dependencies } = JSON.parse(readFileSync(join(image.root, "app/package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const packageOf = (name: string) => name.split("/", name.startsWith("@") ? 2 : 1).join("/");
    expect(names.length).toBeGreaterThan(30);
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([...new Set(names.map(packageOf))]));
  });

  it("starts as nobody's root on a read-only root without a network, and serves, runs and ends", async () => {
    const container = await runContainer(image, {}, temporaryDirectory());
    await untilHealthy(container);
    await untilHealthy(container, "8000");
    expect(healthy(container, "1")).toBe(1);

    const status = readFileSync(`/proc/${container.pid}/status`, "utf8");
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^Gid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapEff:\t0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    const write = `for (const d of ["/", "/app", "/etc", "/usr/local/bin"]) try { require("fs").writeFileSync(d + "/x", ""); console.log(d); } catch (e) { console.log(e.code); }`;
    expect(container.exec(["node", "-e", write]).out.trim().split("\n")).toEqual(Array(4).fill("EROFS"));

    const page = fetchIn(container, "http://127.0.0.1:3000/ui/").body;
    const script = /src="(\/ui\/assets\/[\w.-]+\.js)"/.exec(page)![1]!;
    for (const path of [script, "/apidoc/", "/apidoc/swagger-ui-bundle.js", "/apidoc/swagger-ui.css"])
      expect(fetchIn(container, `http://127.0.0.1:3000${path}`).status, path).toBe(200);
    const document = JSON.parse(
      fetchIn(container, "http://127.0.0.1:3000/apidoc/openapi.json").body,
    ) as object;
    expect(document).toMatchObject({ openapi: "3.1.0" });

    // SQL in SQLite and in DuckDB, over REST, by an executor of its own.
    const key = container.exec(["millrace", "keys", "create", "--name", "t"]).out.trim();
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    for (const id of ["weekly-revenue", "lost-customers", "plan-and-sales"]) {
      const ran = fetchIn(container, `http://127.0.0.1:3000/workflows/${id}/runs`, {
        method: "POST",
        headers,
        body: JSON.stringify({ wait: 50 }),
      });
      expect(JSON.parse(ran.body), id).toMatchObject({ status: "succeeded" });
    }
    const tools = fetchIn(container, "http://127.0.0.1:8000/mcp", {
      method: "POST",
      headers: { ...headers, Accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(tools).toMatchObject({ status: 200, body: expect.stringContaining('"run_workflow"') as string });

    container.stop();
    expect(await container.ended, container.log()).toBe(0);
  });

  it("is not healthy to its own check while it drains", async () => {
    const container = await runContainer(
      image,
      { cmd: ["serve", "--workers", "0", "--drain-delay", "600"] },
      temporaryDirectory(),
    );
    await untilHealthy(container);
    container.stop();
    await eventually(() => healthy(container) === 1 || undefined, "the check to fail", 30_000);
    expect(fetchIn(container, "http://127.0.0.1:3000/apidoc/").status).toBe(200);
  });
});
