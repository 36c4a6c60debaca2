/** Reads response bodies: within the memory that their owners share, and large ones without blocking the event loop. */
import { availableParallelism } from "node:os";
import type { Readable } from "node:stream";
import { MINUTE, SECOND } from "../../core/clock.ts";
import type { CallContext } from "../../core/connections.ts";
import { EncodedJson } from "../../core/encoded-json.ts";
import { lazy } from "../../core/lazy.ts";
import { StepError } from "../../core/step-errors.ts";
import { ThreadError, workerFile, workerThreads } from "../../core/worker-thread.ts";
import { createFairPool } from "../fair-pool.ts";
import type { Masker } from "../masking.ts";
import { parseBody, type ParseOptions } from "./parse-body.ts";
import { discardBody, expectedBytes, readBody } from "./response.ts";
import type { RawHeaders } from "./response-headers.ts";
import type { ResponseResult, ResponseTask } from "./response-thread.ts";

/** Maximum size of a body that is parsed and masked on the event loop, in bytes: a few milliseconds of work. */
const INLINE_BYTES = 32 * 1024;
/** Maximum size of all bodies in memory, in places of PLACE_BYTES. */
const PLACES = 1_024;
const PLACE_BYTES = 64 * 1024;

interface ReadOptions extends ParseOptions {
  maxBytes: number;
}

export interface BodyReader {
  /**
   * Reads a body, parses it, and masks secrets.
   * @returns the value, or its JSON if it is large
   * @throws StepError output_too_large, http_failed; what the streams throw
   */
  read(body: Readable, headers: RawHeaders, options: ReadOptions, call: CallContext): Promise<unknown>;
  /** Returns a body that has no bytes. */
  empty(headers: RawHeaders, options: ParseOptions): unknown;
  /** Ends the threads. */
  close(): Promise<void>;
}

export function createBodyReader(mask: Masker): BodyReader {
  const memory = createFairPool(PLACES);
  let isStarted = false;
  const threads = lazy(() => {
    isStarted = true;
    return workerThreads<ResponseTask, ResponseResult>({
      file: workerFile("response-thread", import.meta.url),
      // One processor is left for the event loop.
      threads: availableParallelism() > 2 ? 2 : 1,
      memoryMb: 512,
      cpuMs: 20 * SECOND,
      wallMs: MINUTE,
      // The slots of the executor limit how many wait.
      maxWaitingPerOwner: Infinity,
    });
  });

  async function parseInThread(
    bytes: Buffer,
    headers: RawHeaders,
    options: ParseOptions,
    { owner, signal }: CallContext,
  ): Promise<EncodedJson> {
    const task = { bytes, headers, options, secrets: mask.secrets() };
    const result = await threads()
      .run(task, { owner, signal })
      .catch((error: unknown) => {
        throw error instanceof ThreadError ? threadFailure(error) : error;
      });
    if ("json" in result) return new EncodedJson(result.json);
    const { error } = result;
    throw new StepError(error.code, error.message, error.options);
  }

  return {
    async read(body, headers, { maxBytes, ...options }, call) {
      const places = Math.max(1, Math.ceil(expectedBytes(headers, maxBytes) / PLACE_BYTES));
      const readAndParse = async (): Promise<unknown> => {
        const bytes = await readBody(body, headers, { maxBytes, mask, signal: call.signal });
        return bytes.length > INLINE_BYTES
          ? parseInThread(bytes, headers, options, call)
          : mask.json(parseBody(bytes, headers, mask, options));
      };
      try {
        return await memory.run(call, readAndParse, places);
      } catch (error) {
        discardBody(body);
        throw error;
      }
    },
    empty: (headers, options) => mask.json(parseBody(Buffer.alloc(0), headers, mask, options)),
    close: async () => {
      if (isStarted) await threads().close();
    },
  };
}

function threadFailure({ reason }: ThreadError): StepError {
  switch (reason) {
    case "memory_limit":
    case "cpu_limit":
      return new StepError("output_too_large", "The response needs too much work or memory to be read.", {
        fix: "Request less data (a filter, a page).",
      });
    case "closed":
      return new StepError("interrupted", "The executor is shutting down.");
    default:
      return new StepError(
        "http_failed",
        "The response could not be read in time, because the machine is busy.",
      );
  }
}
