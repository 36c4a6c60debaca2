/** `millrace export`: writes everything except secrets to one file. */
import { once } from "node:events";
import { createWriteStream, existsSync, renameSync, rmSync } from "node:fs";
import { finished } from "node:stream/promises";
import { VERSION } from "../app/build.ts";
import { exportLines } from "./archive/write.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { withOperator } from "./operator.ts";
import { plural } from "./plural.ts";

export interface ExportOptions {
  withRuns?: boolean;
  withAudit?: boolean;
}

/** Writes to `<file>.part` first, so that an incomplete export never has the final name. */
export async function exportAll(io: Io, file: string, options: ExportOptions): Promise<void> {
  if (existsSync(file))
    throw new CommandError(`${file} already exists. Nothing was written. Choose another name.`, EXIT.usage);
  const part = `${file}.part`;
  const counts = new Map<string, number>();
  await withOperator(io, { requiresStateFor: "export" }, async ({ instance }) => {
    // "wx": a second export to the same file fails here.
    const out = createWriteStream(part, { flags: "wx", mode: 0o600 });
    await once(out, "open").catch((error: Error) => {
      throw new CommandError(`${part} cannot be written: ${error.message}`, EXIT.usage);
    });
    try {
      const choice = { runs: options.withRuns === true, audit: options.withAudit === true };
      for await (const line of exportLines(instance.read, VERSION, choice)) {
        counts.set(line.kind, (counts.get(line.kind) ?? 0) + 1);
        if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, "drain");
      }
      out.end();
      await finished(out);
      renameSync(part, file);
    } catch (error) {
      out.destroy();
      rmSync(part, { force: true });
      if ((error as NodeJS.ErrnoException).code === "ENOSPC")
        throw new CommandError(`The disk is full. ${file} was not written. Free some space, then try again.`);
      throw error;
    }
  });
  const labels = [
    ["user", "user"],
    ["workflow", "workflow"],
    ["version", "version"],
    ["api_key", "API key (without its secret)", "API keys (without their secrets)"],
    ["run", "run"],
    ["audit_entry", "audit entry", "audit entries"],
  ] as const;
  io.out(
    `${labels.flatMap(([kind, noun, many]) => (counts.has(kind) ? [plural(counts.get(kind)!, noun, many)] : [])).join(", ") || "nothing"} written to ${file}\n`,
  );
}
