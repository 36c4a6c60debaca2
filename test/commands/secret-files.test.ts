import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { testCli } from "../support/command-line.ts";
import { mockModelServer } from "../support/mock-model-server.ts";
import { runCommand, startProgram } from "../support/process.ts";

const ASKS = "name: Asks\nsteps:\n  - { id: say, type: model, model: writer, prompt: Hello? }\n";

/** A model whose key is in a file. */
async function setUp() {
  const { directory, stateDir } = await testCli({ asks: ASKS });
  const peer = await mockModelServer("openai-compatible", { text: "Hello." });
  const config = join(directory, "config.yaml");
  const model = { name: "writer", vendor: "openai-compatible", model_ref: "m", key_var: "WRITER_KEY" };
  writeFileSync(config, JSON.stringify({ models: [{ ...model, base_url: `${peer.url}/v1` }] }));
  const key = join(directory, "key");
  writeFileSync(key, "s3cret\n");
  const env = { MILLRACE_STATE_DIR: stateDir, MILLRACE_CONFIG: config, WRITER_KEY_FILE: key };
  return { stateDir, env, peer };
}

describe("a secret in a file", () => {
  it("is used by commands that execute a run themselves, and by the executors of a server", async () => {
    const { stateDir, env, peer } = await setUp();
    const there = await runCommand(["run", "asks"], env);
    expect(there).toMatchObject({ code: 0 });
    const { out: key } = await runCommand(["keys", "create", "--name", "ci"], env);
    const { url, log } = await startProgram("serve", stateDir, { env });
    const { body } = await apiClient(url, key.trim())("POST", "/workflows/asks/runs", { wait: 30 });
    expect(body.status).toBe("succeeded");
    expect(peer.received.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer s3cret",
      "Bearer s3cret",
    ]);
    expect(log() + there.err + there.out).not.toContain("s3cret");
  });

  it.each(["run asks", "serve --port 0", "worker", "start --port 0"])(
    "that does not exist ends millrace %s with exit code 3 and the name of the variable",
    async (command) => {
      const { env } = await setUp();
      const { code, err } = await runCommand(command.split(" "), { ...env, WRITER_KEY_FILE: "/nowhere/key" });
      expect({ code, err }).toEqual({
        code: 3,
        err: "environment: WRITER_KEY_FILE names /nowhere/key, which cannot be read: there is no such file\n",
      });
    },
  );
});
