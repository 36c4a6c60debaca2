/** Output that is written part by part: a file is complete, or does not exist. */
import fs, { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { describeError } from "../../src/commands/io.ts";
import { writeLines } from "../../src/commands/write-lines.ts";
import { temporaryDirectory } from "../support/directories.ts";

const MARK = "does not fit";

/** Fails to write any text that contains `MARK`. @returns resolves when the file that it was meant for is closed */
function fillDisk(): Promise<void> {
  const { write, close } = fs;
  let full: number | undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  const writing = vi.spyOn(fs, "write").mockImplementation(((...args: unknown[]) => {
    const [fd, data] = args as [number, Uint8Array];
    if (!Buffer.from(data).includes(MARK)) return Reflect.apply(write, fs, args);
    full = fd;
    const error = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    setImmediate(args.at(-1) as (error: Error) => void, error);
  }) as typeof fs.write);
  const closing = vi.spyOn(fs, "close").mockImplementation((fd, done) =>
    close(fd, (error) => {
      done?.(error);
      // The stream reports the error in a later tick.
      if (fd === full) setImmediate(resolve);
    }),
  );
  onTestFinished(() => {
    writing.mockRestore();
    closing.mockRestore();
  });
  return promise;
}

/** The first one is larger than the buffer of the stream. */
async function* largeValues() {
  yield { text: `${MARK}${"x".repeat(100_000)}` };
  yield { text: "next" };
}

async function* twoPages(isBroken: boolean) {
  yield { n: 1 };
  if (isBroken) throw new Error("The next page can't be read.");
  yield { n: 2 };
}

describe("writeLines", () => {
  it.each([
    ["while the next value is read", [{ text: "next" }]],
    ["after the last value", []],
  ])("says that the disk is full, and leaves no file, where that happens %s", async (_, next) => {
    const file = join(temporaryDirectory(), "runs.jsonl");
    const failed = fillDisk();
    async function* values() {
      yield { text: MARK };
      await failed;
      yield* next;
    }
    expect(await writeLines(file, values()).catch(describeError)).toEqual({
      exitCode: 1,
      message: `The disk is full. ${file} was not written. Free some space, then try again.`,
    });
    expect(existsSync(`${file}.part`)).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  it("closes the source of the values when the disk is full", async () => {
    const file = join(temporaryDirectory(), "runs.jsonl");
    const failed = fillDisk();
    let isClosed = false;
    async function* values() {
      try {
        yield { text: MARK };
        await failed;
        yield { text: "next" };
      } finally {
        isClosed = true;
      }
    }
    await expect(writeLines(file, values())).rejects.toThrow("The disk is full.");
    expect(isClosed).toBe(true);
  });

  it("says that the disk is full where it waits until more can be written", async () => {
    const file = join(temporaryDirectory(), "runs.jsonl");
    void fillDisk();
    await expect(writeLines(file, largeValues())).rejects.toThrow("The disk is full.");
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  it("leaves no file when the source of the values fails, and writes the file the next time", async () => {
    const file = join(temporaryDirectory(), "runs.jsonl");
    await expect(writeLines(file, twoPages(true))).rejects.toThrow("The next page can't be read.");
    expect(existsSync(`${file}.part`)).toBe(false);
    await writeLines(file, twoPages(false));
    expect(readFileSync(file, "utf8")).toBe('{"n":1}\n{"n":2}\n');
  });
});
