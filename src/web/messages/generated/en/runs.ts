/** Generated from src/web/messages/en/runs.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const cancel = "Cancel";
export const retry = "Retry";
export const runAgain = "Run again";
export const runWithOtherInputs = "Run with other inputs";
export const compareWithGood = "Compare with the last good run";
export const editAndRetry = "Edit and retry";
export const createWorkflow = "Create workflow";
export const keepRunning = "Keep running";
export const backToRun = "Back to the run";
export const review = "Review";
export const view = "View";
export const status = "Status";
export const workflow = "Workflow";
export const created = "Created";
export const started = "Started";
export const elapsed = "Elapsed";
export const duration = "Duration";
export const trigger = "Trigger";
export const steps = "Steps";
export const attempts = "Attempts";
export const error = "Error";
export const input = "Input";
export const inputs = "Inputs";
export const output = "Output";
export const value = "Value";
export const childRun = "Child run";
export const needsApproval = "Needs approval";
export const lastGoodRun = "Last good run";
export const thisRun = "This run";
export const clearFilters = "Clear filters";
export const searchOlder = "Search older runs";
export const savedAsDraft = "Saved as a draft. Nothing runs until you start or publish it.";
export const howToFix = ({ strong, fix }: { strong: (children: ReactNode) => ReactNode; fix: string | number }): ReactNode =>
  rich(strong("How to fix:"), " ", fix);
export const modelUsage = ({ usage }: { usage: string | number }): string =>
  `Model usage: ${usage}`;
export const scheduledAt = ({ time }: { time: ReactNode }): ReactNode =>
  rich("for ", time);
export const triggerKind = ({ trigger }: { trigger: "backfill" | "cli" | "example" | "mcp" | "on_failure" | "rest" | "schedule" | "web" | "webhook" | "workflow" }): string =>
  (trigger === "web" ? "Web interface" : trigger === "mcp" ? "MCP" : trigger === "rest" ? "REST API" : trigger === "cli" ? "Command line" : trigger === "schedule" ? "Schedule" : trigger === "webhook" ? "Webhook" : trigger === "backfill" ? "Backfill" : trigger === "workflow" ? "Parent run" : trigger === "on_failure" ? "Failure of a run" : "Example");
export const triggerOfTrial = ({ trigger }: { trigger: string | number }): string =>
  `${trigger}, trial`;
export const reuseGiven = "Given: the step did not run, because this trial was given its output.";
export const reuseCached = "Cached: an earlier output is reused because the inputs are unchanged.";
export const reuseOf = ({ run }: { run: ReactNode }): ReactNode =>
  rich("Reused: the output comes from ", run, ".");
export const usage = ({ input, output }: { input: number; output: number }): string =>
  `${formatNumber(input)} input tokens, ${formatNumber(output)} output tokens`;
export const usageWithCost = ({ input, output, cost }: { input: number; output: number; cost: string | number }): string =>
  `${formatNumber(input)} input tokens, ${formatNumber(output)} output tokens, cost ${cost}`;
export const characters = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} character` : `${formatNumber(count)} characters`);
export const items = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} item` : `${formatNumber(count)} items`);
export const none = "none";
export const fieldsAndMore = ({ names, more }: { names: string | number; more: number }): string =>
  `${names} and ${more} more`;
export const shortened = ({ text, chars }: { text: string | number; chars: number }): string =>
  `${text}… (${formatNumber(chars)} characters)`;
export const runFailure = ({ message }: { message: string | number }): string =>
  `The run failed: ${message}`;
export const stepFailure = ({ attempts, step, message }: { attempts: number; step: string | number; message: string | number }): string =>
  (pluralForm(attempts) === "one" ? `${step} failed: ${message}` : `${step} failed after ${formatNumber(attempts)} attempts: ${message}`);
export const itemFailure = ({ attempts, step, item, message }: { attempts: number; step: string | number; item: string | number; message: string | number }): string =>
  (pluralForm(attempts) === "one" ? `${step}, item ${item}, failed: ${message}` : `${step}, item ${item}, failed after ${formatNumber(attempts)} attempts: ${message}`);
export const fixRun = "Fix the cause, then retry the run.";
export const fixStep = ({ step }: { step: string | number }): string =>
  `Check the input of ${step}, fix the cause, then retry from ${step}.`;
export const runFailed = "Run failed";
export const failedAt = ({ step, type }: { step: string | number; type: string | number }): string =>
  `Failed at ${step} (${type})`;
export const summaryAndFix = ({ summary, strong, fix }: { summary: string | number; strong: (children: ReactNode) => ReactNode; fix: string | number }): ReactNode =>
  rich(summary, " ", strong("How to fix:"), " ", fix);
export const showInputAndAttempts = "Show its input and attempts";
export const detailsOf = ({ code }: { code: string | number }): string =>
  `Details of ${code}`;
export const conditionValues = "Values in the condition";
export const inCondition = "In the condition";
export const moreValues = ({ more }: { more: number }): string =>
  (pluralForm(more) === "one" ? `The condition has ${more} more value.` : `The condition has ${more} more values.`);
export const noValue = ({ reason }: { reason: string | number }): string =>
  `No value: ${reason}`;
export const firstCharacters = ({ shown, chars }: { shown: number; chars: number }): string =>
  `The first ${formatNumber(shown)} of ${formatNumber(chars)} characters`;
export const trialTitle = "Trial";
export const trialHelp = "This run executes no step with effects, and changes no state.";
export const handlerFailed = ({ workflow }: { workflow: string | number }): string =>
  `“${workflow}” could not start`;
export const handlerFailedHelp = ({ message }: { message: string | number }): string =>
  `It should have run because this run failed. ${message}`;
export const runCancelled = "Run cancelled";
export const completedStay = "Completed steps stay as they are, unless they have an undo.";
export const retryReuses = "A retry reuses the steps that succeeded.";
export const reviewStep = ({ step }: { step: string | number }): string =>
  `Review ${step}`;
export const viewStep = ({ step }: { step: string | number }): string =>
  `View ${step}`;
export const saveDefinitionFailed = "Could not save the definition";
export const savedAsVersion = ({ version, name }: { version: string | number; name: string | number }): string =>
  `Saved as version ${version} of ${name}.`;
export const replaceNewest = ({ name }: { name: string | number }): string =>
  `Replace the newest version of ${name}?`;
export const replaceNewestHelp = ({ base, newest }: { base: string | number; newest: string | number }): string =>
  `This run changed version ${base}. Version ${newest} is newer, and its changes are not in what is saved. It stays in the history.`;
export const saveAnyway = "Save anyway";
export const loadWorkflowFailed = "Could not load the workflow";
export const definitionWorks = "The changed definition works";
export const definitionWorksHelp = ({ name }: { name: string | number }): string =>
  `This run used a definition that was changed for it only. ${name} itself is unchanged.`;
export const savedHelp = ({ version }: { version: string | number }): string =>
  `Saved as version ${version}. It runs by default once it is published.`;
export const saveNewVersion = "Save as a new version";
export const openNamed = ({ name }: { name: string | number }): string =>
  `Open ${name}`;
export const runNotFound = "Run not found";
export const noSuchRun = "There is no such run";
export const runsArePurged = "Runs are purged some time after their end.";
export const runId = ({ id }: { id: string | number }): string =>
  `Run ${id}`;
export const runOf = ({ name }: { name: string | number }): string =>
  `Run of ${name}`;
export const runIdLabel = "run ID";
export const outputOfRun = "Output of the run";
export const inputsOfRun = "Inputs of the run";
export const stateRead = "State read";
export const stateReadLabel = "State that the run read";
export const stateCommitted = "State committed";
export const stateCommittedLabel = "State that the run committed";
export const connection = ({ connection }: { connection: "connecting" | "live" | "polling" | "reconnecting" }): string =>
  (connection === "connecting" ? "Connecting…" : connection === "live" ? "Live" : connection === "reconnecting" ? "Reconnecting…" : "Updates every 3 s");
export const undoing = "Undoing its steps…";
export const stopping = "Stopping…";
export const stepsCompleted = ({ done, total }: { done: string | number; total: string | number }): string =>
  `${done} of ${total} steps completed`;
export const runWasCancelled = ({ name }: { name: string | number }): string =>
  `Run of ${name} cancelled.`;
export const cancelFailed = "Could not cancel the run";
export const cancelTitle = ({ name }: { name: string | number }): string =>
  `Cancel the run of ${name}?`;
export const cancelHelp = ({ id }: { id: string | number }): string =>
  `This stops ${id} and the runs it started. Completed steps are not undone. You can retry the run afterwards.`;
export const cancelRun = "Cancel run";
export const more = "More";
export const retryFrom = ({ step }: { step: string | number }): string =>
  `Retry from ${step}`;
export const newRunStarted = ({ name }: { name: string | number }): string =>
  `New run of ${name} started.`;
export const retryFailed = "Could not retry the run";
export const repeatEffectsTitle = ({ name }: { name: string | number }): string =>
  `Repeat side effects of ${name}?`;
export const repeatEffects = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "This step has side effects that may already have happened:" : "These steps have side effects that may already have happened:");
export const repeatEffectsHelp = "Check whether they happened before you retry. No run has been started yet.";
export const retryAnyway = "Retry anyway";
export const newVersionRunStarted = ({ name, version }: { name: string | number; version: string | number }): string =>
  `New run of ${name} started (version ${version}).`;
export const startFailed = "Could not start the run";
export const runAgainTitle = ({ name }: { name: string | number }): string =>
  `Run ${name} again?`;
export const loadInputsFailed = "Could not load the inputs of the run";
export const noInputsHelp = "It starts now, with the version that runs by default, and has no inputs.";
export const sameInputsHelp = "It starts now, with the version that runs by default, and with the same inputs:";
export const actionsOn = ({ name, ago }: { name: string | number; ago: string | number }): string =>
  `Actions on the run of ${name}, ${ago}`;
export const copyRunId = "Copy run ID";
export const delivery = "Delivery";
export const deliveredTo = ({ trigger, time }: { trigger: string | number; time: ReactNode }): ReactNode =>
  rich("to ", trigger, ", received ", time);
export const scheduledFor = "Scheduled for";
export const backfill = "Backfill";
export const workflowNone = "None: a single step";
export const workflowVersion = ({ modified, workflow, name, link, version }: { modified: "no" | "yes"; workflow: (children: ReactNode) => ReactNode; name: string | number; link: (children: ReactNode) => ReactNode; version: string | number }): ReactNode =>
  (modified === "yes" ? rich(workflow(`${name}`), ", ", link(`version ${version}`), ", modified for this run") : rich(workflow(`${name}`), ", ", link(`version ${version}`)));
export const startedByName = "Started by";
export const keyNamed = ({ name }: { name: string | number }): string =>
  `key ${name}`;
export const browser = "Browser";
export const queuedFor = ({ elapsed, queued }: { elapsed: string | number; queued: string | number }): string =>
  `${elapsed} (queued for ${queued})`;
export const retryOf = "Retry of";
export const retriedBy = "Retried by";
export const parentRun = "Parent run";
export const onFailure = "On failure";
export const handlerStarting = ({ workflow }: { workflow: string | number }): string =>
  `${workflow}, starting`;
export const handlerNotStarted = ({ workflow }: { workflow: string | number }): string =>
  `${workflow}, could not start`;
export const childRuns = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "Child run" : "Child runs");
export const childRunsAndMore = ({ runs, more }: { runs: ReactNode; more: number }): ReactNode =>
  rich(runs, ", and ", more, " more in its steps");
export const modelUsageName = "Model usage";
export const stepViews = "Step views";
export const graph = "Graph";
export const timeline = "Timeline";
export const stepsTab = ({ count }: { count: number }): string =>
  `Steps (${formatNumber(count)})`;
export const events = "Events";
export const selectStep = "Select a step to see its input and output.";
export const runHasNoStep = ({ step }: { step: string | number }): string =>
  `This run has no step ${step}.`;
export const graphFailed = "The graph could not be drawn. Use the timeline or the list instead.";
export const startedBy = ({ trigger }: { trigger: string | number }): string =>
  `Started by: ${trigger}`;
export const startedByDelivery = ({ trigger, delivery, target }: { trigger: string | number; delivery: string | number; target: string | number }): string =>
  `Started by: ${trigger}, delivery ${delivery} to ${target}`;
export const startedFor = ({ started, time }: { started: string | number; time: ReactNode }): ReactNode =>
  rich(started, ", for ", time);
export const findStep = "Find a step by id, type or status";
export const stepsFound = ({ count, total }: { count: number; total: string | number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} step` : `${formatNumber(count)} steps`)} of ${total}`;
export const attemptCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} attempt` : `${formatNumber(count)} attempts`);
export const given = "given";
export const reused = "reused";
export const logKind = ({ kind }: { kind: "approval_approved" | "approval_asked" | "approval_cancelled" | "approval_declined" | "approval_delegated" | "approval_escalated" | "approval_expired" | "approval_pending" | "approval_reminded" | "approval_requested" | "attempt_failed" | "attempt_interrupted" | "attempt_started" | "child_started" | "on_failure_started" | "run_cancelled" | "run_created" | "run_failed" | "run_started" | "run_succeeded" | "step_cancelled" | "step_failed" | "step_reused" | "step_skipped" | "step_started" | "step_succeeded" | "step_waiting" }): string =>
  (kind === "run_created" ? "Run created" : kind === "run_started" ? "Run started" : kind === "run_succeeded" ? "Run succeeded" : kind === "run_failed" ? "Run failed" : kind === "run_cancelled" ? "Run cancelled" : kind === "on_failure_started" ? "Workflow for failures started" : kind === "step_started" ? "started" : kind === "step_waiting" ? "waits" : kind === "child_started" ? "started a run" : kind === "attempt_started" ? "started again" : kind === "attempt_failed" ? "attempt failed" : kind === "attempt_interrupted" ? "attempt interrupted: its process ended" : kind === "step_succeeded" ? "succeeded" : kind === "step_failed" ? "failed" : kind === "step_skipped" ? "skipped: its condition was false" : kind === "step_cancelled" ? "cancelled" : kind === "step_reused" ? "reused an earlier output" : kind === "approval_requested" ? "asked for approval" : kind === "approval_asked" ? "assignees notified" : kind === "approval_reminded" ? "assignees reminded" : kind === "approval_escalated" ? "escalated to others" : kind === "approval_delegated" ? "passed on" : kind === "approval_pending" ? "asked for approval" : kind === "approval_approved" ? "approved" : kind === "approval_declined" ? "declined" : kind === "approval_expired" ? "approval expired: nobody decided" : "approval cancelled with the run");
export const logAttempt = ({ event, attempt }: { event: string | number; attempt: string | number }): string =>
  `${event} (attempt ${attempt})`;
export const logItems = ({ failed, event, total }: { failed: number; event: string | number; total: number }): string =>
  (failed === 0 ? `${event}, ${formatNumber(total)} items` : pluralForm(failed) === "one" ? `${event}, ${formatNumber(total)} items, ${formatNumber(failed)} failed` : `${event}, ${formatNumber(total)} items, ${formatNumber(failed)} failed`);
export const logBy = ({ event, by }: { event: string | number; by: string | number }): string =>
  `${event} by ${by}`;
export const logUntil = ({ event, time }: { event: string | number; time: ReactNode }): ReactNode =>
  rich(event, " until ", time);
export const viewApproval = "View approval";
export const eventsOfRun = "Events of the run";
export const eventsShown = ({ shown, total }: { shown: number; total: number }): string =>
  `${formatNumber(shown)} of ${(pluralForm(total) === "one" ? `${formatNumber(total)} event` : `${formatNumber(total)} events`)}`;
export const loadMore = "Load more";
export const closeStep = ({ step }: { step: string | number }): string =>
  `Close ${step}`;
export const shownItem = ({ kind, all, item }: { kind: "item" | "iteration"; all: (children: ReactNode) => ReactNode; item: string | number }): ReactNode =>
  (kind === "item" ? rich(all("All items"), " › item ", item) : rich(all("All iterations"), " › iteration ", item));
export const needsApprovalProgress = ({ progress }: { progress: string | number }): string =>
  `Needs approval: ${progress}`;
export const waitEnd = ({ type }: { type: string }): string =>
  (type === "approval" ? "Approval expires" : "Waiting until");
export const itemsName = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Items" : "Iterations");
export const itemsCompleted = ({ failed, done, total }: { failed: number; done: number; total: number }): string =>
  (failed === 0 ? `${formatNumber(done)} of ${formatNumber(total)} completed` : pluralForm(failed) === "one" ? `${formatNumber(done)} of ${formatNumber(total)} completed, ${formatNumber(failed)} failed` : `${formatNumber(done)} of ${formatNumber(total)} completed, ${formatNumber(failed)} failed`);
export const iterationsCompleted = ({ failed, done, max }: { failed: number; done: number; max: number }): string =>
  (failed === 0 ? `${formatNumber(done)} completed, at most ${formatNumber(max)}` : pluralForm(failed) === "one" ? `${formatNumber(done)} completed, at most ${formatNumber(max)}, ${formatNumber(failed)} failed` : `${formatNumber(done)} completed, at most ${formatNumber(max)}, ${formatNumber(failed)} failed`);
export const itemOfStep = ({ step, item }: { step: string | number; item: string | number }): string =>
  `${step}, item ${item}`;
export const decisionsAndEvents = "Decisions and events";
export const outputOf = ({ owner }: { owner: string | number }): string =>
  `Output of ${owner}`;
export const expectsEvent = "Expects an event";
export const expectsEventHelp = "It continues when JSON is posted to this URL. Anyone who has the URL can do that, once.";
export const eventUrl = "event URL";
export const noDetails = ({ status }: { status: "cancelled" | "failed" | "pending" | "running" | "skipped" | "succeeded" | "waiting" }): string =>
  (status === "pending" ? "Pending: the steps that it needs have not ended." : status === "running" ? "Running. The input appears when it is recorded." : status === "waiting" ? "Waiting. It continues automatically." : status === "succeeded" ? "No details were recorded." : status === "failed" ? "No other details were recorded." : status === "skipped" ? "Skipped: its condition was false." : "Cancelled: the run ended before this step started.");
export const attemptsTitle = ({ count }: { count: string | number }): string =>
  `Attempts (${count})`;
export const showingLast = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Showing the last ${count}.` : `Showing the last ${count}.`);
export const processEnded = "The process that ran this attempt ended, so the step was retried.";
export const inputOf = ({ owner, attempt }: { owner: string | number; attempt: string | number }): string =>
  `Input of ${owner}, attempt ${attempt}`;
export const attempt = ({ attempt }: { attempt: string | number }): string =>
  `Attempt ${attempt}`;
export const interrupted = "interrupted";
export const listEmpty = "The list is empty.";
export const noneStarted = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "No items have started." : "No iterations have started.");
export const itemsOf = ({ kind, step }: { kind: "item" | "iteration"; step: string | number }): string =>
  (kind === "item" ? `Items of ${step}` : `Iterations of ${step}`);
export const itemName = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Item" : "Iteration");
export const itemNumbered = ({ kind, item }: { kind: "item" | "iteration"; item: string | number }): string =>
  (kind === "item" ? `Item ${item}` : `Iteration ${item}`);
export const previous = "Previous";
export const next = "Next";
export const itemRange = ({ kind, from, to, total }: { kind: "item" | "iteration"; from: string | number; to: string | number; total: number }): string =>
  (kind === "item" ? `Items ${from}–${to} (${formatNumber(total)} in total)` : `Iterations ${from}–${to} (${formatNumber(total)} in total)`);
export const itemNumber = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Item number" : "Iteration number");
export const goToItem = ({ kind }: { kind: "item" | "iteration" }): string =>
  (kind === "item" ? "Go to item" : "Go to iteration");
export const compareRuns = "Compare runs";
export const compareRunOf = ({ name }: { name: string | number }): string =>
  `Compare a run of ${name}`;
export const besideGood = ({ run }: { run: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(run("This run"), " beside the last good one");
export const noGoodRun = "No good run to compare with";
export const noGoodRunHelp = "No run of this workflow succeeded before this one, or it was deleted.";
export const workflowChanged = ({ link, before, after }: { link: (children: ReactNode) => ReactNode; before: string | number; after: string | number }): ReactNode =>
  rich("The workflow has changed in between: ", link(`version ${before} and version ${after}`), ".");
export const version = "Version";
export const versionModified = ({ version }: { version: string | number }): string =>
  `${version}, modified`;
export const inputDifferences = "Differences of the inputs";
export const stepsOfBoth = "Steps of both runs";
export const step = "Step";
export const hide = "Hide";
export const compare = "Compare";
export const hideOutputs = ({ step }: { step: string | number }): string =>
  `Hide the outputs of ${step}`;
export const compareOutputs = ({ step }: { step: string | number }): string =>
  `Compare the outputs of ${step}`;
export const noSuchStep = "No such step";
export const noDifferences = "No differences.";
export const noDifferencesInPart = "No differences in the part that was compared: the values are too large.";
export const whole = "the whole";
export const firstDifferences = ({ total, listed }: { total: number; listed: string | number }): string =>
  (pluralForm(total) === "one" ? `The first ${listed} of ${formatNumber(total)} difference.` : `The first ${listed} of ${formatNumber(total)} differences.`);
export const firstDifferencesCapped = ({ total, listed }: { total: number; listed: string | number }): string =>
  (pluralForm(total) === "one" ? `The first ${listed} of at least ${formatNumber(total)} difference.` : `The first ${listed} of at least ${formatNumber(total)} differences.`);
export const notThere = "not there";
export const outputDifferences = ({ step }: { step: string | number }): string =>
  `Differences of the output of ${step}`;
export const tooLargeToCompare = ({ chars }: { chars: number }): string =>
  `${(pluralForm(chars) === "one" ? `Too large to compare here: ${formatNumber(chars)} character.` : `Too large to compare here: ${formatNumber(chars)} characters.`)} Download both outputs from the pages of the runs.`;
export const editAndRetryNamed = ({ name }: { name: string | number }): string =>
  `Edit and retry ${name}`;
export const editAndRetryHelp = ({ run }: { run: ReactNode }): ReactNode =>
  rich("Retries ", run, " with a changed definition. The changes apply to the new run only. To keep them, edit the workflow.");
export const noWorkflow = "This run has no workflow";
export const noWorkflowHelp = ({ back }: { back: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("A single step can only be retried as it was. ", back("Back to the run"));
export const stillActive = "This run is still active";
export const stillActiveHelp = ({ back }: { back: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Wait until it ends, or cancel it before you retry. ", back("Back to the run"));
export const unsavedChanges = "your changes to the definition";
export const definitionLabel = ({ workflow }: { workflow: string | number }): string =>
  `Definition of ${workflow} for the new run`;
export const yourChanges = "Your changes";
export const versionNumber = ({ version }: { version: string | number }): string =>
  `Version ${version}`;
export const versionNumberModified = ({ version }: { version: string | number }): string =>
  `Version ${version}, modified`;
export const retryPreview = "Retry preview";
export const retryWithChanges = "Retry with these changes";
export const noChanges = "No changes yet.";
export const fixErrors = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Fix ${formatNumber(count)} error first.` : `Fix ${formatNumber(count)} errors first.`);
export const changedSteps = ({ steps }: { steps: string | number }): string =>
  `Changed, will run again: ${steps}.`;
export const addedSteps = ({ steps }: { steps: string | number }): string =>
  `Added: ${steps}.`;
export const removedSteps = ({ steps }: { steps: string | number }): string =>
  `Removed: ${steps}.`;
export const undoneSteps = ({ steps }: { steps: string | number }): string =>
  `Undone, will run again: ${steps}.`;
export const unfinishedSteps = ({ steps }: { steps: string | number }): string =>
  `Not succeeded, will run: ${steps}.`;
export const stepsAndMore = ({ steps, more }: { steps: string | number; more: number }): string =>
  `${steps} and ${more} more`;
export const otherSteps = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} other step succeeded.` : `${formatNumber(count)} other steps succeeded.`)} Outputs are reused where the inputs are unchanged.`;
export const newFromSteps = "New workflow from single steps";
export const newFromStepsHelp = "Steps that you tried become the steps of a workflow";
export const stepsInOrder = "Steps, in the order in which they ran";
export const stepsInOrderHelp = "Values that come from the output of an earlier step are read from there.";
export const checkNamed = ({ name }: { name: string | number }): string =>
  `Check ${name}`;
export const toFix = "To fix before it can run";
export const issues = "Issues";
export const guessed = "Guessed from the runs: is it right?";
export const guesses = "Guesses";
export const nothingGuessed = "The runs left nothing to guess.";
export const editDefinition = "Edit definition";
export const openWorkflow = "Open workflow";
export const runs = "Runs";
export const allRuns = "All runs, newest first";
export const noMatchesYet = "No matches yet";
export const noMatchesYetHelp = "Only the newest runs of this filter have been searched. A shorter time range, a workflow or a status makes a search reach further.";
export const foundSoFar = ({ shown }: { shown: string | number }): string =>
  `${shown} found so far. Older runs have not been searched.`;
export const found = ({ shown }: { shown: string | number }): string =>
  `${shown} found`;
export const noMatchingRuns = "No matching runs";
export const noMatchingRunsHelp = "Remove a filter, or choose a longer time range.";
export const noRuns = "No runs yet";
export const chooseWorkflow = "Choose a workflow";
export const noRunsHelp = "A run executes one version of a workflow. You can start one here, on a schedule, from an agent with the tool run_workflow, or from a script with one request:";
export const curlCommand = "curl command that starts a run";
export const filters = "Filters";
export const removeBackfill = ({ id }: { id: string | number }): string =>
  `Backfill ${id}: remove the filter`;
export const backfillFilter = ({ id }: { id: string | number }): string =>
  `Backfill ${id}`;
export const any = "Any";
export const clearStatus = "Clear status";
export const clearTrigger = "Clear trigger";
export const clearWorkflow = "Clear workflow";
export const since = "Since";
export const until = "Until";
export const search = "Search";
export const searchPlaceholder = "ID, input, output or error";
export const searching = "Searching…";
export const noMatchingWorkflows = "No matching workflows";
export const selectAll = "Select all shown runs";
export const actions = "Actions";
export const selectRun = ({ name, id }: { name: string | number; id: string | number }): string =>
  `Select the run of ${name}, ${id}`;
export const runWithoutWorkflow = ({ id }: { id: string | number }): string =>
  `${id} · no workflow`;
export const runOfVersion = ({ id, version, link }: { id: string | number; version: string | number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(id, " · v", version, " · ", link("workflow"));
export const workflowNamed = ({ name }: { name: string | number }): string =>
  `Workflow ${name}`;
export const continuedFailures = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "A step failed, and the run continued." : `${count} steps failed, and the run continued.`);
export const notStarted = "not started";
export const cancelRunsTitle = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Cancel ${formatNumber(count)} run?` : `Cancel ${formatNumber(count)} runs?`);
export const cancelRunsHelp = "This stops them and the runs that they started. Completed steps are not undone, unless they have an undo.";
export const cancelRuns = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Cancel ${formatNumber(count)} run` : `Cancel ${formatNumber(count)} runs`);
export const retryRunsTitle = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Retry ${formatNumber(count)} run?` : `Retry ${formatNumber(count)} runs?`);
export const retryRunsHelp = "Each starts a new run that reuses the outputs of succeeded steps. Those that would repeat an effect are listed first, and not started.";
export const retryRuns = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Retry ${formatNumber(count)} run` : `Retry ${formatNumber(count)} runs`);
export const selectedRuns = "Selected runs";
export const runsSelected = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} run selected` : `${formatNumber(count)} runs selected`);
export const cancelCount = ({ count }: { count: string | number }): string =>
  `Cancel (${count})`;
export const retryCount = ({ count }: { count: string | number }): string =>
  `Retry (${count})`;
export const clearSelection = "Clear selection";
export const atMost = ({ max }: { max: string | number }): string =>
  `At most ${max} at a time.`;
export const exportedNewest = ({ max }: { max: number }): string =>
  `Exported the newest ${formatNumber(max)} runs. There are more: choose a shorter time range to export them.`;
export const exported = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Exported ${formatNumber(count)} run.` : `Exported ${formatNumber(count)} runs.`);
export const exportFailed = "Could not export the runs";
export const exportButton = "Export";
export const exporting = ({ count }: { count: number }): string =>
  `Exporting… ${formatNumber(count)}`;
export const exportSelected = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} selected run` : `${formatNumber(count)} selected runs`);
export const exportAll = ({ max }: { max: number }): string =>
  `All runs of the filter, at most ${formatNumber(max)}`;
export const csv = "CSV";
export const json = "JSON";
export const bulkTitle = ({ action, count }: { action: "cancel" | "retry"; count: number }): string =>
  (action === "cancel" ? (pluralForm(count) === "one" ? `Cancelling ${formatNumber(count)} run` : `Cancelling ${formatNumber(count)} runs`) : (pluralForm(count) === "one" ? `Retrying ${formatNumber(count)} run` : `Retrying ${formatNumber(count)} runs`));
export const bulkLabel = ({ action }: { action: "cancel" | "retry" }): string =>
  (action === "cancel" ? "Cancelling runs" : "Retrying runs");
export const bulkProgress = ({ action, ended, total, done }: { action: "cancel" | "retry"; ended: string | number; total: string | number; done: string | number }): string =>
  (action === "cancel" ? `${ended} of ${total} · ${done} cancelled` : `${ended} of ${total} · ${done} retried`);
export const bulkProgressRefused = ({ action, ended, total, done, others }: { action: "cancel" | "retry"; ended: string | number; total: string | number; done: string | number; others: string | number }): string =>
  (action === "cancel" ? `${ended} of ${total} · ${done} cancelled, ${others} not` : `${ended} of ${total} · ${done} retried, ${others} not`);
export const bulkRefused = ({ action }: { action: "cancel" | "retry" }): string =>
  (action === "cancel" ? "Runs that were not cancelled" : "Runs that were not retried");
export const wouldRepeatEffects = ({ reason }: { reason: string | number }): string =>
  `It would repeat effects: ${reason}`;
export const startedRuns = "Started runs";
export const retryWithEffects = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `Retry ${formatNumber(count)} run with effects anyway` : `Retry ${formatNumber(count)} runs with effects anyway`);
export const stop = "Stop";
export const done = "Done";
