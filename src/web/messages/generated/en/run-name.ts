/** Generated from src/web/messages/en/run-name.json by `npm run generate`. Edit that file instead. */

export const namedStepRun = ({ type, step }: { type: string | number; step: string | number }): string =>
  `${type} step ${step}`;
export const singleStep = "single step";
