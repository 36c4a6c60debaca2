/**
 * The image without a container engine: the Dockerfile's own steps in empty directories, then what they made, as the
 * user that it names, on a read-only root. Needs npm's registry, as a build does, and root.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { buildImage, type Container, type Image, runContainer } from "../support/image.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { type YamlData, DEPLOY_DIRECTORY, parseYamlFile, parseCloudFormation } from "../support/manifests.ts";

let directory: string;
let image: Image;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "millrace-image-"));
  image = buildImage(directory);
}, 600_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }), 300_000);

const packageJson = () =>
  JSON.parse(readFileSync(join(image.root, "app/package.json"), "utf8")) as {
    version: string;
    dependencies: Record<string, string>;
  };

/** `pg` of `pg/lib/x`, `@a/b` of `@a/b/c`. */
const packageOf = (name: string) => name.split("/", name.startsWith("@") ? 2 : 1).join("/");

/** Sends a request from inside the container, because its ports are not published. */
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

/** What is loaded with `require` when it is first needed. */
const REQUIRED = ["ajv/dist/2020.js", "ajv-formats", "swagger-ui-dist/absolute-path.js", "undici"];
/** Packages that a dependency brings along. */
const OF_DEPENDENCIES = ["swagger-ui-dist"];

describe("the image", () => {
  it("contains no development dependency, source, source map or file of another platform", () => {
    const app = join(image.root, "app");
    expect(readdirSync(app).toSorted()).toEqual(
      ["LICENSE", "bin", "dist", "examples", "node_modules", "package.json", "sbom.cdx.json"].toSorted(),
    );
    for (const path of ["node_modules/vitest", "node_modules/react", "bin/prune.ts"])
      expect({ path, there: existsSync(join(app, path)) }).toEqual({ path, there: false });
    const packages = readdirSync(join(app, "node_modules"), { recursive: true, encoding: "utf8" });
    const useless = packages.filter(
      (path) => /\.(?:ts|map|md)$/.test(path) && !/licen[cs]e|notice/i.test(path),
    );
    expect(useless).toEqual([]);
    expect(packages.filter((path) => path.endsWith(".node"))).toHaveLength(2);
    const megabytes = Number(execFileSync("du", ["-sm", app], { encoding: "utf8" }).split("\t")[0]);
    expect(megabytes).toBeLessThan(160);
  });

  it("contains a bill of materials (CycloneDX) that names exactly its packages", () => {
    const app = join(image.root, "app");
    const bill = JSON.parse(readFileSync(join(app, "sbom.cdx.json"), "utf8")) as {
      bomFormat: string;
      specVersion: string;
      metadata: { component: { name: string; version: string } };
      components: { name: string; version: string; purl: string; hashes: object[] }[];
    };
    const { version, dependencies } = packageJson();
    expect(bill).toMatchObject({
      bomFormat: "CycloneDX",
      metadata: { component: { name: "millrace", version } },
    });
    expect(bill.specVersion).toMatch(/^1\.\d$/);
    const installed = readdirSync(join(app, "node_modules"), { recursive: true, encoding: "utf8" })
      .filter((path) => /^(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map((path) => {
        const own = JSON.parse(readFileSync(join(app, "node_modules", path), "utf8")) as Record<
          string,
          string
        >;
        return `${own["name"]}@${own["version"]}`;
      });
    const named = bill.components.map((one) => `${one.name}@${one.version}`);
    expect(named.toSorted()).toEqual([...new Set(installed)].toSorted());
    expect(bill.components.map((one) => one.name)).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    for (const { name, version: its, purl, hashes } of bill.components) {
      expect(decodeURIComponent(purl)).toBe(`pkg:npm/${name}@${its}`);
      expect({ name, hashes: hashes.length }).toEqual({ name, hashes: 1 });
    }
  });

  it("can load every package that is not in the bundle of the program", async () => {
    const container = await runContainer(
      image,
      { entrypoint: ["node", "-e", "setInterval(() => {}, 1e6)"], cmd: [] },
      temporaryDirectory(),
    );
    const script = `
      import { readdirSync, readFileSync } from "node:fs";
      import { builtinModules, createRequire } from "node:module";
      const directory = "dist/program/";
      const texts = readdirSync(directory).map((file) => readFileSync(directory + file, "utf8"));
      const imported = texts.flatMap((text) => [...text.matchAll(/(?:^import\\b[^"'();]*|\\bimport\\()"([^"'.][^"']*)"/gm)].map((m) => m[1]));
      const names = [...new Set(imported)].filter((name) => !name.startsWith("node:") && !builtinModules.includes(name));
      for (const name of names) await import(name);
      const require = createRequire(process.cwd() + "/" + directory);
      for (const name of ${JSON.stringify(REQUIRED)}) require(name);
      console.log(JSON.stringify(names));
      process.exit(0);
    `;
    const { out, err } = container.exec(["node", "--input-type=module", "-e", script]);
    expect(err).toBe("");
    const names = [...(JSON.parse(out) as string[]), ...REQUIRED];
    expect(names).toEqual(expect.arrayContaining(["better-sqlite3", "@duckdb/node-api", "pino"]));
    const { dependencies } = packageJson();
    expect([...Object.keys(dependencies), ...OF_DEPENDENCIES]).toEqual(
      expect.arrayContaining([...new Set(names.map(packageOf))]),
    );
  });

  it("serves, runs and stops as a user without privileges, on a read-only root without a network", async () => {
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
      expect(fetchIn(container, `http://127.0.0.1:3000${path}`)).toMatchObject({ status: 200 });
    const document = JSON.parse(
      fetchIn(container, "http://127.0.0.1:3000/apidoc/openapi.json").body,
    ) as object;
    expect(document).toMatchObject({ openapi: "3.1.0" });

    // SQL on SQLite and DuckDB, over REST, by its own executor.
    const key = container.exec(["millrace", "keys", "create", "--name", "t"]).out.trim();
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    for (const id of ["weekly-revenue", "lost-customers", "plan-and-sales"]) {
      const ran = fetchIn(container, `http://127.0.0.1:3000/workflows/${id}/runs`, {
        method: "POST",
        headers,
        body: JSON.stringify({ wait: 50 }),
      });
      expect(JSON.parse(ran.body)).toMatchObject({ workflow_id: id, status: "succeeded" });
    }
    const tools = fetchIn(container, "http://127.0.0.1:8000/mcp", {
      method: "POST",
      headers: { ...headers, Accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(tools).toMatchObject({ status: 200, body: expect.stringContaining('"run_workflow"') as string });

    container.stop();
    expect(await container.ended).toBe(0);
  });

  it("is unhealthy to its own check while it drains", async () => {
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

  it.each(["WebTask", "McpTask"])("is healthy as the %s of the reference deployment on AWS", async (task) => {
    const template = parseCloudFormation(readFileSync(join(DEPLOY_DIRECTORY, "aws/millrace.yaml"), "utf8"));
    const definition = template.Resources[task].Properties.ContainerDefinitions[0];
    expect(definition.User).toBe(image.user);
    const container = await runContainer(
      image,
      {
        entrypoint: definition.EntryPoint,
        cmd: definition.Command,
        env: Object.fromEntries(
          definition.Environment.map(({ Name, Value }: YamlData) => [
            Name,
            RESOLVED[Value as string] ?? Value,
          ]),
        ),
      },
      temporaryDirectory(),
    );
    const [, ...check] = definition.HealthCheck.Command as string[];
    await eventually(() => container.exec(check).status === 0 || undefined, container.log(), 90_000);
    // Millrace knows each variable.
    expect(container.log()).not.toContain("is not a known variable");
    expect(container.exec(["node", "-p", "require('fs').readFileSync('/tmp/config.yaml', 'utf8')"]).out).toBe(
      `${RESOLVED["!Ref Configuration"]}\n`,
    );
  });

  it.each([
    ["web", 3000],
    ["mcp", 8000],
  ])("is healthy as the Kubernetes pod %s, and serves metrics", async (name, port) => {
    const folder = join(DEPLOY_DIRECTORY, "kubernetes");
    const [{ spec }] = parseYamlFile(join(folder, `${name}.yaml`)) as [YamlData];
    const [{ args, env }] = spec.template.spec.containers as [YamlData];
    const configuration = temporaryDirectory();
    const [{ data }] = parseYamlFile(join(folder, "configuration.yaml")) as [YamlData];
    writeFileSync(join(configuration, "config.yaml"), data["config.yaml"]);
    chmodSync(configuration, 0o755);
    const container = await runContainer(
      image,
      {
        cmd: args,
        env: Object.fromEntries(env.map((one: YamlData) => [one.name, one.value])),
        mounts: [[configuration, "/etc/millrace"]],
      },
      temporaryDirectory(),
    );
    await untilHealthy(container, String(port));
    expect(container.log()).not.toContain("is not a known variable");
    const metrics = fetchIn(container, "http://127.0.0.1:9464/metrics");
    expect(metrics).toMatchObject({
      status: 200,
      body: expect.stringContaining("millrace_build_info") as string,
    });
  });
});

/** The values that CloudFormation would insert for the template's references. */
const RESOLVED: Record<string, string> = {
  "!Ref Configuration": "retention:\n  runs: 30d # it's 'quoted' \"here\" $HOME %s",
  "!Sub https://${DomainName}": "https://millrace.example.com",
  "!Ref VpcCidr": "10.0.0.0/16",
  "!Ref UserPool": "eu-central-1_AbCdEfGhI",
  "!Ref UserPoolClient": "1example23456789",
  "!Sub https://${UserPoolDomain}.auth.${AWS::Region}.amazoncognito.com":
    "https://example.auth.eu-central-1.amazoncognito.com",
  "!Ref LoadBalancer":
    "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/millrace/0123456789abcdef",
  "!Ref AdminEmails": "ann@example.com",
};
