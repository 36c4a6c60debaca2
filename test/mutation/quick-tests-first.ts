/** The order of the test files for a mutant: the first test that fails ends its run. */
import { readFileSync, statSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that open a store take ten times as long as the others. */
const OPENS_STORE = /support\/(?:engine|executor|instance|queue|rest|store|users)\.ts"/;

const cost = ({ moduleId }: TestSpecification): number =>
  statSync(moduleId).size * (OPENS_STORE.test(readFileSync(moduleId, "utf8")) ? 1_000 : 1);

export class QuickTestsFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => cost(a) - cost(b)));
  }
}
