/** Generated from src/web/messages/en/trials.json by `npm run generate`. Edit that file instead. */

export const effectsTitle = ({ steps }: { steps: string | number }): string =>
  `Let the effects of ${steps} happen?`;
export const effectsConsequence = "The steps write, send or start what they say, for real. This can’t be undone by the test.";
export const effectsConfirm = "Test with effects";
export const whatToTest = "What to test";
export const wholeDraft = "The whole draft";
export const onlyStep = ({ step }: { step: string | number }): string =>
  `Only ${step}`;
export const reuseOutputs = ({ steps }: { steps: string | number }): string =>
  `Reuse the last outputs of ${steps}`;
export const leftOut = ({ steps }: { steps: string | number }): string =>
  `Left out, because they have effects: ${steps}.`;
export const letEffects = ({ steps }: { steps: string | number }): string =>
  `Let the effects of ${steps} happen`;
export const letEffectsHint = "Otherwise the test stops there and shows what would be sent.";
export const testDraft = "Test the draft";
export const testStep = ({ step }: { step: string | number }): string =>
  `Test ${step}`;
export const fixSyntax = "Fix the syntax errors to test the draft.";
export const addStep = "Add a step to test the draft.";
export const fixInputs = "Not started. Fix the inputs above.";
export const inputsOf = "Inputs of:";
export const loading = "Loading the test";
export const result = "Result of the test";
export const draft = "The draft";
export const openRun = "Open the run";
export const draftOutput = "Output of the draft";
export const notRun = "not run";
export const heldBack = "Held back";
export const heldBackHelp = ({ message }: { message: string | number }): string =>
  `${message} This is what it would use:`;
export const stepInput = ({ step }: { step: string | number }): string =>
  `Input of ${step}`;
export const conditionFalse = "Its condition was false.";
export const noOutput = "No output.";
export const stepOutput = ({ step }: { step: string | number }): string =>
  `Output of ${step}`;
