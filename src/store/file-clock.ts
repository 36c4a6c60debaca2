/**
 * The clock of the file system of the state directory. Every process that shares the directory can read it: on a network file
 * system it is the clock of the server.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { SharedTime } from "../core/agreed-clock.ts";
import { SECOND } from "../core/clock.ts";
import type { StateDirectory } from "./state-directory.ts";

/** File systems take the time of a file from a tick of the kernel, in milliseconds. */
const TICK_MS = 20;
/** The step of file systems that keep whole seconds only, or every other one, in milliseconds. */
const COARSE_MS = 2 * SECOND;

export interface FileClock {
  /** Reads the clock. It writes one byte to a file without a name. */
  read(): Promise<SharedTime>;
  close(): Promise<void>;
}

export function fileClock({ path, local }: Pick<StateDirectory, "path" | "local">): FileClock {
  let file: Promise<FileHandle> | undefined;

  async function openUnnamed(): Promise<FileHandle> {
    const name = join(path, `clock-${randomUUID()}`);
    const handle = await open(name, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    // Nothing is left of it when the process ends.
    await unlink(name);
    return handle;
  }

  return {
    async read() {
      file ??= openUnnamed();
      try {
        const handle = await file;
        await handle.write("0", 0);
        // Until it is written there, the client of a network file system shows its own time.
        if (!local) await handle.datasync();
        const { mtimeMs } = await handle.stat();
        return { at: Math.floor(mtimeMs), resolutionMs: mtimeMs % SECOND === 0 ? COARSE_MS : TICK_MS };
      } catch (error) {
        const failed = file;
        file = undefined;
        await failed.then((handle) => handle.close()).catch(() => {});
        throw error;
      }
    },
    async close() {
      await file?.then((handle) => handle.close()).catch(() => {});
      file = undefined;
    },
  };
}
