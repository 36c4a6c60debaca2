/** deploy/compose.yaml: validated by docker-compose, which needs no engine, and compared with the requirements. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Config } from "../../schemas/config.ts";
import { readEnvironment } from "../../src/config/environment.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));

interface Service {
  image: string;
  build?: { context: string };
  user: string;
  command?: string[];
  environment?: Record<string, string>;
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
  restart: string;
  tmpfs?: string[];
  volumes: string[];
  ports?: string[];
  secrets?: string[];
  healthcheck?: Record<string, unknown> & { test: string[] };
  logging: { options: Record<string, string> };
  networks: Record<string, { ipv4_address?: string }>;
  stop_grace_period?: string;
  mem_limit: string;
  cpus: number;
  pids_limit: number;
}

function compose(env: Record<string, string>, files = ["compose.yaml"]) {
  const { MILLRACE_BASE_URL: _, ...rest } = process.env;
  const named = files.flatMap((file) => ["--file", file]);
  return spawnSync("docker-compose", [...named, "--profile", "monitoring", "config"], {
    cwd: DEPLOY,
    env: { ...rest, ...env },
    encoding: "utf8",
  });
}

const BASE_URL = "https://millrace.example.com";
// Read from the file, because the output of docker-compose differs between versions.
const source = readFileSync(join(DEPLOY, "compose.yaml"), "utf8").replaceAll(
  /\$\{MILLRACE_BASE_URL[^}]*\}/g,
  BASE_URL,
);
const { services, networks } = parse(source, { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
};
const copies = Object.entries(services).filter(([name]) => /^(web|mcp)-\d$/.test(name));
/** The lines of an nginx configuration file, without comments. */
const linesOf = (file: string) =>
  readFileSync(join(DEPLOY, file), "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("#") && line !== "");
const addressOf = (name: string) => services[name]!.networks["front"]!.ipv4_address;
const drainDelay = (service: Service): number =>
  Number(service.command![service.command!.indexOf("--drain-delay") + 1]);

/** What a service may do or use too much of. */
function unboundedOf(service: Service): string[] {
  const bounds: Record<string, boolean> = {
    read_only: service.read_only,
    cap_drop: service.cap_drop.join() === "ALL",
    security_opt: service.security_opt.join() === "no-new-privileges:true",
    user: Number(service.user.split(":")[0]) > 0,
    restart: service.restart === "unless-stopped",
    logging: service.logging.options["max-size"] === "10m",
    limits: [service.mem_limit, service.cpus, service.pids_limit].every(Boolean),
    image: /:.*\d/.test(service.image),
  };
  return Object.keys(bounds).filter((name) => !bounds[name]);
}

describe("deploy/compose.yaml", () => {
  it("has two copies of each server, nginx and monitoring", () => {
    expect(Object.keys(services).toSorted()).toEqual([
      "grafana",
      "mcp-1",
      "mcp-2",
      "nginx",
      "prometheus",
      "web-1",
      "web-2",
    ]);
  });

  it("is valid", () => {
    const { status, stdout, stderr } = compose({ MILLRACE_BASE_URL: BASE_URL });
    expect([status, stderr]).toEqual([0, ""]);
    const resolved = parse(stdout) as { services: object };
    expect(Object.keys(resolved.services).toSorted()).toEqual(Object.keys(services).toSorted());
  });

  it("reports the missing address", () => {
    const { status, stderr } = compose({});
    expect(status).not.toBe(0);
    expect(stderr).toContain("write it into .env, see env.example");
  });

  it.each(Object.entries(services))("bounds %s, and gives it no more rights than it needs", (_, service) => {
    expect(unboundedOf(service)).toEqual([]);
  });

  it.each(copies)("runs %s as the image and the contract require", (name, service) => {
    const web = name.startsWith("web");
    expect(service.command![0]).toBe(web ? "serve" : "mcp-sse");
    const { test, ...figures } = service.healthcheck!;
    expect(figures).toEqual({ interval: "30s", timeout: "3s", start_period: "5s", retries: 3 });
    expect(test.join(" ")).toContain(`http://127.0.0.1:${web ? 3000 : 8000}/health`);
    expect(Number.parseInt(service.stop_grace_period!, 10)).toBeGreaterThan(drainDelay(service) + 10);
    expect(service.volumes.some((volume) => volume.startsWith("state:/var/lib/millrace"))).toBe(true);
    expect(service.tmpfs!.join()).toMatch(/^\/tmp:size=/);
    // Reachable through nginx only.
    expect(service.ports).toBeUndefined();
  });

  it("sets only known variables, and trusts only nginx's address", () => {
    for (const [, { environment }] of copies) {
      // Secret files are read if they exist.
      const ours = Object.entries(environment!).filter(([name]) => name.startsWith("MILLRACE_"));
      const settings = readEnvironment(Object.fromEntries(ours));
      expect(settings.warnings).toEqual([]);
      expect(settings.trustedProxies).toEqual([services["nginx"]!.networks["front"]!.ipv4_address]);
      expect(settings.mcpUrl?.href).toBe("https://millrace.example.com/mcp");
      const files = Object.entries(environment!).filter(([name]) => name.endsWith("_FILE"));
      expect(files.filter(([, path]) => !path.startsWith("/run/secrets/"))).toEqual([]);
    }
  });

  it("passes a secret for every variable that its configuration names", () => {
    const config = Config.parse(parse(readFileSync(join(DEPLOY, "compose/config.yaml"), "utf8")));
    const named = [
      ...config.models.map((model) => model.key_var),
      config.authentication.basic?.smtp_password_var,
    ].filter((name) => name !== undefined);
    expect(named.length).toBeGreaterThan(1);
    for (const [, { environment, secrets }] of copies)
      for (const name of named) {
        const path = environment![`${name}_FILE`];
        expect(secrets!.map((secret) => `/run/secrets/${secret}`)).toContain(path);
      }
  });

  it("gives nginx the addresses of the copies, and otherwise the same upstreams as on a host", () => {
    const addresses: [string, string][] = [
      ["127.0.0.1:3000", `${addressOf("web-1")}:3000`],
      ["127.0.0.1:3001", `${addressOf("web-2")}:3000`],
      ["127.0.0.1:8000", `${addressOf("mcp-1")}:8000`],
      ["127.0.0.1:8001", `${addressOf("mcp-2")}:8000`],
    ];
    const expected = linesOf("nginx/millrace/upstreams.conf").map((line) =>
      addresses.reduce((text, [from, to]) => text.replace(from, to), line),
    );
    expect(linesOf("compose/upstreams.conf")).toEqual(expected);
    // nginx stops asking a copy for less time than the copy keeps serving.
    const alone = Number(/fail_timeout=(\d+)s/.exec(expected.join("\n"))![1]);
    for (const [, service] of copies) expect(drainDelay(service)).toBeGreaterThan(alone + 1);
  });

  it("mounts existing files, read-only", () => {
    for (const [name, { volumes }] of Object.entries(services)) {
      for (const volume of volumes.filter((one) => one.startsWith("."))) {
        const [from, , mode] = volume.split(":") as [string, string, string];
        // The certificate of a site is not shipped.
        const there = from === "./tls" || existsSync(join(DEPLOY, from));
        expect([name, from, mode, there]).toEqual([name, from, "ro", true]);
      }
    }
  });

  it("publishes nginx's ports, Grafana's on this host only, and the metrics not at all", () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port}`),
    );
    expect(published.toSorted()).toEqual(["grafana 127.0.0.1:3001:3000", "nginx 443:443", "nginx 80:80"]);
    expect(networks["metrics"]!.internal).toBe(true);
    expect(Object.keys(services["nginx"]!.networks)).toEqual(["front"]);
    const { scrape_configs: scraped } = parse(
      readFileSync(join(DEPLOY, "compose/prometheus.yml"), "utf8"),
    ) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = scraped.flatMap((job) => job.static_configs.flatMap((config) => config.targets));
    expect(targets.toSorted()).toEqual(
      copies.map(([name, { environment }]) => `${name}:${environment!["MILLRACE_METRICS_PORT"]}`).toSorted(),
    );
  });
});

describe("deploy/compose.postgres.yaml", () => {
  const added = parse(readFileSync(join(DEPLOY, "compose.postgres.yaml"), "utf8"), { merge: true }) as {
    services: Record<string, Service>;
    networks: Record<string, { internal?: boolean }>;
    secrets: Record<string, object>;
  };
  const postgres = added.services["postgres"]!;

  it("is valid as an addition, which adds only PostgreSQL", () => {
    const { status, stdout, stderr } = compose({ MILLRACE_BASE_URL: BASE_URL }, [
      "compose.yaml",
      "compose.postgres.yaml",
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    const resolved = parse(stdout) as { services: Record<string, Service & { depends_on: object }> };
    expect(Object.keys(resolved.services).toSorted()).toEqual(
      [...Object.keys(services), "postgres"].toSorted(),
    );
    for (const [name, { environment }] of copies) {
      const service = resolved.services[name]!;
      expect(service.environment).toMatchObject({ MILLRACE_BASE_URL: environment!["MILLRACE_BASE_URL"] });
      expect(service.depends_on).toMatchObject({ postgres: { condition: "service_healthy" } });
      expect(Object.keys(service.networks).toSorted()).toEqual(["database", "front", "metrics"]);
    }
  });

  it("bounds PostgreSQL, and lets only the copies reach it", () => {
    expect(unboundedOf(postgres)).toEqual([]);
    expect(postgres.ports).toBeUndefined();
    expect(postgres.networks).toEqual({ database: {} });
    expect(added.networks["database"]!.internal).toBe(true);
    expect(postgres.volumes).toEqual(["postgres:/var/lib/postgresql"]);
  });

  it("gives each copy the address and the password of the database that PostgreSQL creates", async () => {
    expect(Object.keys(added.services).toSorted()).toEqual(
      [...copies.map(([name]) => name), "postgres"].toSorted(),
    );
    const secret = "/run/secrets/database_password";
    expect(Object.keys(added.secrets)).toEqual(["database_password"]);
    const created = postgres.environment!;
    expect(created["POSTGRES_PASSWORD_FILE"]).toBe(secret);
    for (const [name] of copies) {
      const { environment, secrets } = added.services[name]!;
      expect(secrets).toEqual(["database_password"]);
      expect(environment!["MILLRACE_DATABASE_PASSWORD_FILE"]).toBe(secret);
      // The file exists in the container only.
      const { MILLRACE_DATABASE_PASSWORD_FILE: _, ...rest } = environment!;
      const { database, warnings } = readEnvironment(rest);
      expect(warnings).toEqual([]);
      expect(database!.address).toMatchObject({
        host: "postgres",
        port: 5432,
        user: created["POSTGRES_USER"],
        database: created["POSTGRES_DB"],
      });
    }
  });
});
