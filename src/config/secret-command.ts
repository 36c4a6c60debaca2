/** Runs the configured command that prints the values of secrets. Nothing of what it prints is logged or shown. */
import { spawn } from "node:child_process";
import { NAME_PLACEHOLDER, type SecretCommand } from "../../schemas/secret-command.ts";
import { durationMs } from "../core/duration.ts";
import { decodeSecret, MAX_SECRET_BYTES, type Reading } from "./secret-text.ts";

/** Variables that the command gets besides those that its configuration names. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

const START_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "its program was not found",
  EACCES: "this user has no permission to run it",
};

/**
 * Runs the command for one variable.
 * @param env the environment of the server
 * @param signal ends the command
 * @returns the value, or a problem as a clause that follows "secret_command"; never rejects
 */
export async function runSecretCommand(
  command: Omit<SecretCommand, "refresh">,
  variable: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Reading> {
  try {
    return await run(command, variable, env, signal);
  } catch (error) {
    // For example, an argument with a NUL.
    return couldNotStart(error as NodeJS.ErrnoException);
  }
}

const couldNotStart = ({ code = "unknown" }: NodeJS.ErrnoException): Reading => ({
  problem: `could not be started: ${START_ERRORS[code] ?? code}`,
});

function run(
  { command, args, env: names, timeout }: Omit<SecretCommand, "refresh">,
  variable: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Reading> {
  return new Promise((resolve) => {
    const child = spawn(
      command,
      args.map((arg) => arg.replaceAll(NAME_PLACEHOLDER, variable)),
      {
        env: Object.fromEntries([...INHERITED, ...names].map((name) => [name, env[name]])),
        // Its error output may contain the secret, for example that of a script with `set -x`.
        stdio: ["ignore", "pipe", "ignore"],
        windowsHide: true,
      },
    );
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (reading: Reading): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(reading);
    };
    /** Without waiting for the end of the output, which a program that the command started may keep open. */
    const end = (problem: string): void => {
      child.kill("SIGKILL");
      child.stdout.destroy();
      settle({ problem });
    };
    const onAbort = (): void => end("was ended, because Millrace is shutting down");
    const timer = setTimeout(() => end(`did not end within ${timeout}`), durationMs(timeout));
    signal.addEventListener("abort", onAbort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_SECRET_BYTES) end(`printed more than ${MAX_SECRET_BYTES / 1024} KiB`);
    });
    child.on("error", (error) => settle(couldNotStart(error)));
    child.once("close", (code, ending) => {
      if (code !== 0) {
        settle({ problem: code === null ? `was ended by ${ending}` : `ended with exit code ${code}` });
        return;
      }
      const reading = decodeSecret(Buffer.concat(chunks));
      settle("value" in reading ? reading : { problem: `printed a value that ${reading.problem}` });
    });
    if (signal.aborted) onAbort();
  });
}
