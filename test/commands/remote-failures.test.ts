/** Commands with MILLRACE_URL, on a server or a network that fails. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MillraceError } from "../../packages/client/src/index.ts";
import { newKeyValue } from "../../src/auth/key-format.ts";
import { continueReading } from "../../src/commands/remote/continue-reading.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { runHere } from "../support/process.ts";

type Answer = { status?: number; body: unknown; headers?: Record<string, string> } | "drop" | "cut";

const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: {
    type: `urn:millrace:problem:${code}`,
    title: code,
    status,
    detail: `It is ${code}.`,
    code,
    request_id: "r",
  },
  headers: { "Content-Type": "application/problem+json", ...headers },
});

/** A server, and a command line that uses it. @param answer to `GET /path?query`; "drop" closes the connection, "cut" after the headers */
async function open(answer: (request: string, body: unknown) => Answer | undefined) {
  const requests: string[] = [];
  const listener = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const request = `${req.method} ${req.url}`;
    requests.push(request);
    const answered =
      answer(request, text === "" ? undefined : JSON.parse(text)) ?? problem(404, "workflow_not_found");
    if (answered === "drop") return void req.socket.destroy();
    if (answered === "cut") {
      res.writeHead(200, { "Content-Length": "100" }).write("{", () => req.socket.destroy());
      return;
    }
    const { status = 200, body, headers } = answered;
    res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  };
  const server = createServer((req, res) => void listener(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const directory = temporaryDirectory();
  const env = {
    MILLRACE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MILLRACE_API_KEY: newKeyValue(),
    MILLRACE_STATE_DIR: join(directory, "none"),
  };
  return {
    requests,
    directory,
    env,
    cli: (...args: string[]) => runHere(args, env),
    stopped: (...args: string[]) => runHere(args, env, { onStop: (stop) => stop() }),
  };
}

const FILES = {
  "a.yaml": "name: A\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n",
  "b.yaml": "name: B\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n",
};

function writeFiles(directory: string): string {
  const path = join(directory, "files");
  mkdirSync(path);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(path, name), text);
  return path;
}

const run = (index: number) => ({
  id: `run_${index}`,
  workflow_id: "good",
  status: "succeeded",
  trigger: "api",
  error: null,
  created_at: "2026-11-21T08:00:00.000Z",
});

/** Fails with these answers of a server, then reads. @returns the pauses between, in milliseconds */
async function pausesOf(errors: Error[], stop = new AbortController()) {
  const pauses: number[] = [];
  let time = 0;
  const rest = [...errors];
  const outages: Error[] = [];
  const read = continueReading(
    async () => {
      const error = rest.length > 1 || errors.length > 1 ? rest.shift() : errors[0];
      if (error !== undefined) throw error;
      return "read";
    },
    {
      stop: stop.signal,
      onOutage: (error) => outages.push(error),
      now: () => time,
      pause: async (ms) => {
        pauses.push(ms);
        time += ms;
      },
    },
  );
  return { result: await read.catch((error: unknown) => error), pauses, outages };
}

const failure = (status: number, code: string, retryAfter?: number): Error => {
  const details = { type: "", title: "", status, detail: "", code, request_id: "" };
  return new Error(code, { cause: new MillraceError(details, retryAfter) });
};

describe("commands with MILLRACE_URL, when something fails", () => {
  it("never send the value of a key as the name of one", async () => {
    const { cli, requests, env } = await open(() => undefined);
    const value = newKeyValue();
    // Also one that was not copied whole, or is not the one in use.
    for (const key of [value, value.slice(0, -3), ` ${value}`, env.MILLRACE_API_KEY]) {
      const { code, err } = await cli("keys", "show", key);
      expect(code).toBe(2);
      expect(err).toMatch(/self.*id of the key/);
      expect(err).not.toContain(key.trim());
    }
    expect(requests).toEqual([]);
  });

  it("workflows create sends nothing when a field of the file is invalid", async () => {
    const { cli, requests, directory } = await open((request) =>
      request.startsWith("POST") ? { body: { valid: true, errors: [] } } : undefined,
    );
    const file = join(directory, "wrong.yaml");
    writeFileSync(file, `${FILES["a.yaml"]}tags: 7\ndescription: [x]\n`);
    const { code, err } = await cli("workflows", "create", "--file", file);
    expect(code).toBe(1);
    expect(err).toContain("- tags");
    expect(err).toContain("- description");
    expect(requests.filter((request) => request === "POST /workflows")).toEqual([]);
  });

  it("workflows apply says how many changes were written before the connection was lost", async () => {
    let created = 0;
    const { cli, directory } = await open((request) => {
      if (request.startsWith("POST /workflows/validate")) return { body: { valid: true, errors: [] } };
      if (request !== "POST /workflows") return undefined;
      created += 1;
      return created === 1 ? { status: 201, body: { id: "a" } } : "drop";
    });
    const { code, err } = await cli("workflows", "apply", writeFiles(directory), "--yes");
    expect(code).toBe(1);
    expect(err).toContain("can't be reached");
    expect(err).toContain("At least 1 of 2 changes were applied. Run the command again");
  });

  it("workflows apply names the workflows that were not published", async () => {
    const { cli, directory } = await open((request) => {
      if (request.startsWith("POST /workflows/validate")) return { body: { valid: true, errors: [] } };
      if (request === "POST /workflows") return { status: 201, body: { id: "a" } };
      return request.includes("publish") ? "drop" : undefined;
    });
    const { code, err } = await cli("workflows", "apply", writeFiles(directory), "--yes", "--publish");
    expect(code).toBe(1);
    expect(err).toMatch(/^not published: a: .*can't be reached.*\nnot published: b: /m);
  });

  it("workflows apply recommends no option that is refused", async () => {
    const { cli, directory } = await open((request) =>
      request.startsWith("POST /workflows/validate")
        ? { body: { valid: false, errors: [{ path: "steps[0].type", code: "x", message: "is wrong" }] } }
        : undefined,
    );
    const { err } = await cli("workflows", "apply", writeFiles(directory), "--yes");
    expect(err).toContain("Nothing was applied.");
    expect(err).not.toContain("--no-bind");
  });

  it("runs list reads pages until it has the number that --limit names", async () => {
    const { cli, requests, env } = await open((request) => {
      const { searchParams } = new URL(request.split(" ")[1]!, "http://localhost");
      const limit = Number(searchParams.get("limit"));
      const first = Number(searchParams.get("cursor") ?? 0);
      const items = Array.from({ length: limit }, (_, index) => run(first + index));
      const next = `<${env.MILLRACE_URL}/runs?cursor=${first + limit}>; rel="next"`;
      return { body: items, headers: { "X-Total-Count": "1000", Link: next } };
    });
    const { out } = await cli("runs", "list", "--limit", "450");
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(452);
    expect(lines.at(-2)).toContain("run_449 ");
    expect(lines.at(-1)).toContain("550 more");
    expect(requests.map((request) => new URLSearchParams(request.split("?")[1]).get("limit"))).toEqual([
      "200",
      "200",
      "50",
    ]);
  });
});

describe("millrace run with MILLRACE_URL", () => {
  const started = { id: "run_1", workflow_id: "good", status: "queued" };
  const ended = { ...started, status: "succeeded", output: { a: 1 }, steps: [] };

  /** A server that answers reads of the run with these answers, then with its end. */
  const openRun = (answers: Answer[]) => {
    const rest = [...answers];
    return open((request) => {
      if (request.startsWith("GET /workflows/good")) return { body: { definition: null } };
      if (request === "POST /workflows/good/runs") return { status: 202, body: started };
      if (request.startsWith("GET /runs/run_1/events")) return problem(404, "run_not_found");
      return request.startsWith("GET /runs/run_1") ? (rest.shift() ?? { body: ended }) : undefined;
    });
  };

  it("continues after an interruption that is longer than one request's repetitions", async () => {
    const { cli } = await openRun(["drop", "drop", "drop", "cut"]);
    expect(await cli("run", "good")).toMatchObject({
      code: 0,
      out: '{\n  "a": 1\n}\n',
      err: expect.stringMatching(/^http:\S+ \(MILLRACE_URL\) can't be reached: .* Trying again\.\n$/),
    });
  });

  it("names the run when it can't be read any more", async () => {
    const { cli } = await openRun([problem(401, "unauthorized")]);
    const { code, err } = await cli("run", "good");
    expect(code).toBe(1);
    expect(err).toContain("refuses the key");
    expect(err).toContain("The run run_1 continues. Show it with: millrace runs show run_1\n");
  });

  it("names the run when it is interrupted while the server can't be reached", async () => {
    const { stopped } = await openRun(Array.from({ length: 9 }, () => "drop" as const));
    expect(await stopped("run", "good")).toMatchObject({
      code: 130,
      err: expect.stringMatching(/^The run run_1 continues\. Show it with: millrace runs show run_1$/m),
    });
  });

  it("waits with growing pauses, and as long as the server asks for", async () => {
    const down = failure(0, "unreachable");
    const limited = failure(429, "rate_limited", 30);
    const { result, pauses, outages } = await pausesOf([
      down,
      down,
      failure(503, "busy"),
      limited,
      failure(502, "unreadable_response"),
      down,
    ]);
    expect(result).toBe("read");
    expect(pauses).toEqual([500, 1_000, 2_000, 30_000, 8_000, 8_000]);
    expect(outages).toEqual([down]);
  });

  it("gives up after 10 minutes without an answer, at once for other errors, and when it is stopped", async () => {
    const down = failure(0, "unreachable");
    const { result, pauses } = await pausesOf([down]);
    expect(result).toBe(down);
    expect(pauses.reduce((sum, ms) => sum + ms)).toBe(600_000);
    const gone = failure(404, "run_not_found");
    expect(await pausesOf([gone])).toMatchObject({ result: gone, pauses: [] });
    const stop = new AbortController();
    stop.abort();
    expect(await pausesOf([down], stop)).toMatchObject({ result: down, pauses: [] });
  });
});
