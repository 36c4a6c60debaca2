import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { apiClient, type ApiResponse } from "../../support/http.ts";
import { type Program, spawnCommand, startProgram } from "../../support/process.ts";
import { verifyState } from "../../support/verify-state.ts";

const large = "x".repeat(9_000);

/** A separate small file system. Mounting needs root. */
function mountSmall(): string {
  const path = mkdtempSync(join(tmpdir(), "millrace-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", path]);
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", path]);
    rmSync(path, { recursive: true });
  });
  return path;
}

/** Fills the remaining space, to the last page. */
function fill(path: string): () => void {
  const file = join(path, "filler");
  const free = () => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };
  writeFileSync(file, Buffer.alloc(free()));
  expect(free()).toBe(0);
  return () => unlinkSync(file);
}

async function serving(stateDir: string) {
  const { out } = await spawnCommand(["keys", "create", "--name", "t"], { MILLRACE_STATE_DIR: stateDir });
  const key = out.trim();
  const [serve, mcp] = await Promise.all([
    startProgram("serve", stateDir),
    startProgram("mcp-sse", stateDir),
  ]);
  const call = apiClient(serve.url, key);
  const create = (name: string) =>
    call("POST", "/workflows", { name, description: large }, { "Idempotency-Key": name });
  return { serve, mcp, call, create };
}

function expectUnavailable(
  { status, body, headers }: ApiResponse<{ code?: string; detail?: string }>,
  detail: RegExp,
): void {
  expect({ status, code: body.code }).toEqual({ status: 503, code: "storage_unavailable" });
  expect(body.detail).toMatch(detail);
  expect(headers.get("retry-after")).toBe("30");
}

describe("a full disk", () => {
  it("refuses writes with 503 while reads succeed, and accepts them when there is space again", async () => {
    const stateDir = mountSmall();
    const { serve, mcp, call, create } = await serving(stateDir);
    expect((await create("before")).status).toBe(201);
    const makeRoom = fill(stateDir);

    const acknowledged = ["before"];
    let refusals = 0;
    for (let i = 0; refusals < 10; i += 1) {
      // The write-ahead log has some allocated space before the full disk matters.
      expect(i).toBeLessThan(1_000);
      const answer = await create(`w${i}`);
      if (answer.status === 201) acknowledged.push(`w${i}`);
      else {
        expectUnavailable(answer, /is full. Nothing was changed. Free some space/);
        refusals += 1;
      }
    }
    expect((await call("GET", "/workflows/before")).body.description).toBe(large);
    expect((await call("GET", "/workflows")).body).toHaveLength(acknowledged.length);
    // The state can be read, so there is no reason for a restart.
    for (const { url } of [serve, mcp]) expect((await apiClient(url)("GET", "/health")).status).toBe(200);

    makeRoom();
    expect((await create("after")).status).toBe(201);
    acknowledged.push("after");
    for (const program of [serve, mcp]) expect(await program.stop()).toMatchObject({ code: 0 });
    expect(
      verifyState(stateDir)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(acknowledged.toSorted());
  });

  it("ends a command with 4 and advice", async () => {
    const stateDir = mountSmall();
    fill(stateDir);
    const { code, out, err } = await spawnCommand(["keys", "create", "--name", "x"], {
      MILLRACE_STATE_DIR: stateDir,
    });
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toContain(`The state directory ${stateDir} can't be used.`);
    expect(err).toMatch(/disk/);
    expect(err).not.toMatch(/\n\s+at /);
  });
});

/** Makes every database write of a running process fail with a disk error. Returns a function that ends this. */
async function failWrites({ child }: Program, stateDir: string, error: string): Promise<() => Promise<void>> {
  const changing = "pwrite64,ftruncate,fsync,fdatasync";
  const strace = spawn("strace", [
    "-f",
    "-o",
    "/dev/null",
    "-p",
    String(child.pid),
    "-e",
    `trace=${changing}`,
    "-e",
    `inject=${changing}:error=${error}`,
    ...["", "-wal", "-journal"].flatMap((suffix) => ["-P", join(stateDir, `millrace.db${suffix}`)]),
  ]);
  const exited = once(strace, "exit");
  let said = "";
  strace.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  await eventually(() => (said.includes("attached") ? true : undefined), "strace to attach");
  return async () => {
    strace.kill("SIGINT");
    await exited;
  };
}

describe("a disk that refuses writes", () => {
  it.each(["EROFS", "EIO"])(
    "causes 503 for writes while reads succeed, without partial writes (%s)",
    async (error) => {
      const stateDir = mountSmall();
      const { serve, mcp, call, create } = await serving(stateDir);
      expect((await create("before")).status).toBe(201);
      const restore = await failWrites(serve, stateDir, error);
      for (let i = 0; i < 10; i += 1) expectUnavailable(await create(`w${i}`), /Check the disk|read-only/);
      expect((await call("GET", "/workflows")).body).toHaveLength(1);
      expect((await apiClient(serve.url)("GET", "/health")).status).toBe(200);
      await restore();
      for (let i = 0; i < 10; i += 1) expect((await create(`w${i}`)).status).toBe(201);
      for (const program of [serve, mcp]) expect(await program.stop()).toMatchObject({ code: 0 });
      expect(verifyState(stateDir)).toHaveLength(11);
    },
  );

  it("is reported at the start with 4 and advice if its file system is read-only", async () => {
    const stateDir = mountSmall();
    const env = { MILLRACE_STATE_DIR: stateDir };
    await spawnCommand(["keys", "create", "--name", "t"], env);
    execFileSync("mount", ["-o", "remount,ro", stateDir]);
    for (const command of [["serve", "--port", "0"], ["keys", "create", "--name", "x"], ["start"]]) {
      const { code, out, err } = await spawnCommand(command, env);
      expect({ code, out }).toEqual({ code: 4, out: "" });
      expect(err).toContain(
        `${stateDir} can't be used: its file system is read-only. Set MILLRACE_STATE_DIR`,
      );
    }
  });
});
