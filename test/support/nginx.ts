/** Debian's nginx with the shipped configuration, in which only site-specific values are changed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setDefaultCACertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";
import { temporaryDirectory } from "./instance.ts";

const SHIPPED = fileURLToPath(new URL("../../deploy/nginx/", import.meta.url));
/** The id of the user nobody on Debian. */
const NOBODY = 65_534;

/** A line of nginx's access log. */
interface AccessLine {
  request_id: string;
  client: string;
  method: string;
  path: string;
  status: string;
  /** The addresses of the servers that were tried, in order. */
  copy: string;
  /** The time of the response. */
  time: string;
}

export interface Nginx {
  /** The https address. */
  url: string;
  /** The http address, which only redirects. */
  plainUrl: string;
  accessLog(): AccessLine[];
  errorLog(): string;
}

/**
 * Reserves free ports below the range that the system gives to clients, so that a restarted server gets the same port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, "127.0.0.1");
    const free = await Promise.race([
      once(server, "listening").then(() => true),
      once(server, "error").then(() => false),
    ]);
    if (!free) continue;
    ports.add(port);
    server.close();
    await once(server, "close");
  }
  return [...ports];
}

/**
 * Starts nginx in front of two processes of each server, as an unprivileged user. This process trusts its certificate from
 * then on.
 * @param at its own ports, and those of the servers
 */
export async function startNginx(at: {
  https: number;
  http: number;
  web: readonly number[];
  mcp: readonly number[];
}): Promise<Nginx> {
  const directory = temporaryDirectory();
  const prefix = join(directory, "nginx");
  cpSync(SHIPPED, prefix, { recursive: true });
  const change = (file: string, changes: readonly (readonly [string, string])[]): void => {
    const path = join(prefix, file);
    let text = readFileSync(path, "utf8");
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      text = text.replaceAll(from, to);
    }
    writeFileSync(path, text);
  };
  change("nginx.conf", [
    ["/tmp/nginx", join(prefix, "tmp")],
    ["/dev/stdout", join(prefix, "access.log")],
    // Tests look for connections that nginx closes.
    ["error_log stderr warn", "error_log stderr info"],
  ]);
  change("millrace.conf", [
    ["listen 80;", `listen 127.0.0.1:${at.http};`],
    ["listen 443 ", `listen 127.0.0.1:${at.https} `],
    ["millrace.example.com", "localhost"],
  ]);
  change("millrace/upstreams.conf", [
    ...at.web.map((port, index) => [`127.0.0.1:${3000 + index} `, `127.0.0.1:${port} `] as const),
    ...at.mcp.map((port, index) => [`127.0.0.1:${8000 + index} `, `127.0.0.1:${port} `] as const),
  ]);
  mkdirSync(join(prefix, "tls"));
  const [key, certificate] = ["privkey", "fullchain"].map((name) => join(prefix, `tls/${name}.pem`)) as [
    string,
    string,
  ];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
      ...subject,
      "-keyout",
      key,
      "-out",
      certificate,
    ],
    { stdio: "ignore" },
  );
  setDefaultCACertificates([readFileSync(certificate, "utf8")]);

  const root = process.getuid?.() === 0;
  if (root) {
    chmodSync(directory, 0o755);
    for (const path of ["", ...(readdirSync(prefix, { recursive: true }) as string[])])
      chownSync(join(prefix, path), NOBODY, NOBODY);
  }
  const errorLog = join(directory, "errors.log");
  const errors = openSync(errorLog, "w");
  const child: ChildProcess = spawn(
    "nginx",
    ["-p", prefix, "-c", join(prefix, "nginx.conf"), "-g", "daemon off;"],
    {
      stdio: ["ignore", errors, errors],
      ...(root && { uid: NOBODY, gid: NOBODY }),
    },
  );
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(errorLog, "utf8"));
      return fetch(`http://127.0.0.1:${at.http}/`, { redirect: "manual" }).catch(() => undefined);
    },
    "nginx",
    20_000,
  );
  return {
    url: `https://localhost:${at.https}`,
    plainUrl: `http://localhost:${at.http}`,
    accessLog: () =>
      readFileSync(join(prefix, "access.log"), "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AccessLine),
    errorLog: () => readFileSync(errorLog, "utf8"),
  };
}
