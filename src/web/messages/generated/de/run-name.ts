/** Generated from src/web/messages/de/run-name.json by `npm run generate`. Edit that file instead. */

export const namedStepRun = ({ type, step }: { type: string | number; step: string | number }): string =>
  `${type}-Schritt ${step}`;
export const singleStep = "Einzelschritt";
