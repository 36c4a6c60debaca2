/** What is no saved version is new code, also when another caller has brought it, and so are outputs that replace those of a saved one. */
import { scopesIn } from "./access.ts";
import type { Principal } from "./ports.ts";
import { missingScope } from "./scope-refusal.ts";

/** What would run besides a saved version. */
export type Unsaved = "step" | "definition" | "given";

const WORDS: Readonly<Record<Unsaved, { subject: string; instead: string }>> = {
  step: {
    subject: "A run of a single step, which is not saved,",
    instead: "Run a workflow instead (run_workflow).",
  },
  definition: {
    subject: "A run of a changed definition, which is not saved,",
    instead: "Name a version to run a saved one.",
  },
  given: {
    subject: "A run with given outputs, which are not those of the saved workflow,",
    instead: "Run it without given.",
  },
};

/** @throws AppError missing_scope without the scope write in the project */
export function assertMayRunUnsaved(principal: Principal, project: string, unsaved: Unsaved): void {
  if (scopesIn(principal.access, project).has("write")) return;
  throw missingScope(principal, { ...WORDS[unsaved], scope: "write", project });
}
