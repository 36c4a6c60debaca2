/** `millrace export`: writes everything except secrets to one file. */
import { VERSION } from "../app/build.ts";
import { exportLines } from "./archive/write.ts";
import type { Io } from "./io.ts";
import { withOperator } from "./operator.ts";
import { plural } from "./plural.ts";
import { assertNewFile, writeLines } from "./write-lines.ts";

export interface ExportOptions {
  withRuns?: boolean;
  withAudit?: boolean;
}

export async function exportAll(io: Io, file: string, options: ExportOptions): Promise<void> {
  assertNewFile(file);
  const counts = new Map<string, number>();
  await withOperator(io, { requiresStateFor: "export" }, ({ instance }) => {
    const choice = { runs: options.withRuns === true, audit: options.withAudit === true };
    async function* counted(): AsyncGenerator<object> {
      for await (const line of exportLines(instance.read, VERSION, choice)) {
        counts.set(line.kind, (counts.get(line.kind) ?? 0) + 1);
        yield line;
      }
    }
    return writeLines(file, counted());
  });
  const labels = [
    ["project", "project"],
    ["user", "user"],
    ["workflow", "workflow"],
    ["version", "version"],
    ["subscription", "subscription (without its secret)", "subscriptions (without their secrets)"],
    ["api_key", "API key (without its secret)", "API keys (without their secrets)"],
    ["run", "run"],
    ["audit_entry", "audit entry", "audit entries"],
  ] as const;
  io.out(
    `${labels.flatMap(([kind, noun, many]) => (counts.has(kind) ? [plural(counts.get(kind)!, noun, many)] : [])).join(", ") || "nothing"} written to ${file}\n`,
  );
}
