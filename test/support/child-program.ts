/**
 * The program of the child processes of embedded databases. Tests start hundreds of them: from the sources a start takes 0.2 s of a
 * processor, most of it for removing types, and a release does without. test/connections/databases/child-pool.test.ts starts both.
 */
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether this run of vitest has built the program (built.ts). */
    isBuilt?: boolean;
  }
}

const BUILT = fileURLToPath(new URL("../../dist/program/child.js", import.meta.url));

/** The built program; undefined, for that of the sources, in a run that has built nothing. */
export const childProgram = (): string | undefined => (inject("isBuilt") ? BUILT : undefined);
