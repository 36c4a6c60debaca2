/** While the modules of a test file are imported, the mutant of the run before is not active any more. */
const { __stryker__: stryker } = globalThis as { __stryker__?: { activeMutant?: string } };
if (stryker !== undefined) delete stryker.activeMutant;
