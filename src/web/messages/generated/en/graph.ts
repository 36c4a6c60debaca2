/** Generated from src/web/messages/en/graph.json by `npm run generate`. Edit that file instead. */
import { pluralForm } from "../../format.ts";

export const groupName = ({ kind, count }: { kind: "parallel" | "sequence"; count: string | number }): string =>
  (kind === "parallel" ? `${count} steps side by side` : `${count} steps in sequence`);
export const findStep = "Find a step";
export const noSuchStep = "No such step";
export const collapseGroups = "Collapse groups";
export const startRole = "start";
export const stepRole = "step";
export const startCount = ({ count }: { count: string | number }): string =>
  `${count} starts`;
export const keyboardHelp = "Use the arrow keys to move between steps, and Home and End for the first and last step.";
export const keyboardHelpSelect = "Use the arrow keys to move between steps, and Home and End for the first and last step. Press Enter to select a step.";
export const graphLabel = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Graph of ${count} step` : `Graph of ${count} steps`);
export const viewControls = "View controls";
export const zoomIn = "Zoom In";
export const zoomOut = "Zoom Out";
export const fitView = "Fit the graph to the view";
export const map = "Map of the graph";
export const moveHint = "Use two fingers to move and zoom";
export const conditionMark = "if";
export const conditionHint = "Runs only if its condition is true";
export const fanOutHint = "Runs once per item";
export const repeatsHint = "Runs repeatedly";
export const rateHint = ({ rate }: { rate: string | number }): string =>
  `Starts at most ${rate}`;
export const undoableHint = "Is undone if the run does not succeed";
export const noSteps = "No steps yet.";
export const tooManySteps = ({ count }: { count: string | number }): string =>
  `${count} steps are too many to draw. This is the list of them.`;
export const drawingFailed = "The graph could not be drawn. This is the list of its steps.";
export const drawing = "Drawing the graph";
export const noType = "no type";
export const startType = ({ type }: { type: string }): string =>
  (type === "schedule" ? "schedule" : type === "webhook" ? "webhook" : type === "start" ? "start" : `${type}`);
export const conditional = "conditional";
export const fanOut = "runs once per item";
export const repeats = "runs repeatedly";
export const rate = ({ rate }: { rate: string | number }): string =>
  `starts at most ${rate}`;
export const required = ({ required }: { required: string | number }): string =>
  `${required} people must approve`;
export const undoable = "is undone if the run does not succeed";
export const attempts = ({ attempts }: { attempts: string | number }): string =>
  `${attempts} attempts`;
export const startsRuns = "starts runs";
export const needsNothing = "needs no other step";
export const needs = ({ names, more }: { names: string | number; more: number }): string =>
  `needs: ${names}${(more === 0 ? "" : pluralForm(more) === "one" ? ` and ${more} more` : ` and ${more} more`)}`;
export const both = ({ first, second }: { first: string | number; second: string | number }): string =>
  `${first} and ${second}`;
export const range = ({ from, to }: { from: string | number; to: string | number }): string =>
  `from ${from} to ${to}`;
export const collapsed = "collapsed";
export const itemsCompleted = ({ done, total, failed }: { done: string | number; total: number; failed: number }): string =>
  `${done} of ${total} items completed${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const iterationsCompleted = ({ done, failed }: { done: number; failed: number }): string =>
  `${(pluralForm(done) === "one" ? `${done} iteration` : `${done} iterations`)} completed${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const iterationsCompletedOf = ({ done, max, failed }: { done: number; max: string | number; failed: number }): string =>
  `${(pluralForm(done) === "one" ? `${done} iteration` : `${done} iterations`)} completed, at most ${max}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const filterSteps = "Filter steps";
export const stepCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${count} step` : `${count} steps`);
export const foundSteps = ({ found, total }: { found: string | number; total: number }): string =>
  `${found} of ${total} steps`;
export const steps = "Steps";
export const noId = "(no id)";
