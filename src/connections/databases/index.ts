// Stands in until the real one is written.
import type { Databases } from "../../core/connections.ts";
export const databases = (..._all: unknown[]): Databases & { close(): Promise<void> } => ({ list: () => [], concurrencyOf: () => null, query: () => Promise.reject(new Error("none")), prepare: () => Promise.resolve({ faults: [] }), describe: () => Promise.resolve([]), close: () => Promise.resolve() });
