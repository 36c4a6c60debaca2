/** Generated from src/web/messages/en/workflows.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const cancel = "Cancel";
export const close = "Close";
export const save = "Save";
export const edit = "Edit";
export const publish = "Publish";
export const restore = "Restore";
export const run = "Run";
export const runButton = "Run";
export const newWorkflow = "New workflow";
export const backToWorkflow = "Back to the workflow";
export const changeNote = "Change note (optional)";
export const changeNoteHelp = "Kept in the history.";
export const versionLabel = ({ version }: { version: string | number }): string =>
  `Version ${version}`;
export const definitionOf = ({ name }: { name: string | number }): string =>
  `Definition of ${name}`;
export const noDefinition = "No definition yet";
export const archivedWorkflow = "Archived workflow";
export const status = ({ status }: { status: "archived" | "draft" | "published" }): string =>
  (status === "draft" ? "draft" : status === "published" ? "published" : "archived");
export const inProjectsYouCantSee = "workflows in projects that you can’t see";
export const existing = ({ existing }: { existing: "repeat" | "repeat_failed" | "skip" }): string =>
  (existing === "skip" ? "Skip them" : existing === "repeat_failed" ? "Run them again if they failed" : "Run them again");
export const backfillStarted = ({ count, name }: { count: number; name: string | number }): string =>
  `Started ${(pluralForm(count) === "one" ? `${formatNumber(count)} past time` : `${formatNumber(count)} past times`)} of “${name}”.`;
export const backfillTitle = "Run for past times";
export const backfillHelp = "Starts one run for each time of the schedule in this range, oldest first. Each run reads its time as run.scheduled_for. Other runs go first.";
export const backfillFrom = ({ timezone }: { timezone: string | number }): string =>
  `From (${timezone})`;
export const backfillTo = ({ timezone }: { timezone: string | number }): string =>
  `To, included (${timezone})`;
export const runsAtATime = "Runs at a time";
export const timesWithRun = "Times that have a run";
export const checkRange = "Check the range";
export const showTimes = "Show the times";
export const startRuns = ({ count }: { count: number }): string =>
  `Start ${(pluralForm(count) === "one" ? `${formatNumber(count)} run` : `${formatNumber(count)} runs`)}`;
export const backfillPreview = ({ total, starts, version }: { total: number; starts: number; version: string | number }): string =>
  `${(pluralForm(total) === "one" ? `${formatNumber(total)} time` : `${formatNumber(total)} times`)} in this range; ${(pluralForm(starts) === "one" ? `${formatNumber(starts)} run` : `${formatNumber(starts)} runs`)} of version ${version} would start.`;
export const beforeYouStart = "Before you start";
export const times = "Times";
export const timeColumn = ({ timezone }: { timezone: string | number }): string =>
  `Time (${timezone})`;
export const slotAction = ({ action }: { action: "skip" | "start" }): string =>
  (action === "start" ? "Starts" : "Skipped");
export const slotActionOfRun = ({ action, run }: { action: "skip" | "start"; run: ReactNode }): ReactNode =>
  rich((action === "start" ? "Starts" : "Skipped"), ": ", run);
export const moreTimes = ({ count }: { count: number }): string =>
  `And ${formatNumber(count)} more.`;
export const backfills = "Backfills";
export const pastRuns = ({ range }: { range: string | number }): string =>
  `Past runs: ${range}`;
export const rangeText = ({ from, to, timezone }: { from: string | number; to: string | number; timezone: string | number }): string =>
  `${from} to ${to} (${timezone})`;
export const dayText = ({ day, timezone }: { day: string | number; timezone: string | number }): string =>
  `${day} (${timezone})`;
export const backfillStatus = ({ status }: { status: "cancelled" | "failed" | "finished" | "running" }): string =>
  (status === "running" ? "running" : status === "finished" ? "finished" : status === "failed" ? "failed" : "cancelled");
export const timesHandled = ({ handled, total }: { handled: number; total: number }): string =>
  `${formatNumber(handled)} of ${(pluralForm(total) === "one" ? `${formatNumber(total)} times` : `${formatNumber(total)} times`)} handled`;
export const backfillProgress = ({ started, total, skipped, failed, link }: { started: number; total: number; skipped: number; failed: number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(formatNumber(started), " of ", (pluralForm(total) === "one" ? `${formatNumber(total)} run` : `${formatNumber(total)} runs`), " started", (skipped === 0 ? "" : pluralForm(skipped) === "one" ? `, ${formatNumber(skipped)} skipped` : `, ${formatNumber(skipped)} skipped`), (failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${formatNumber(failed)} failed` : `, ${formatNumber(failed)} failed`), ". ", link("Show runs"));
export const backfillStopped = "No more past runs start.";
export const backfillStopFailed = "Could not stop the past runs";
export const stopBackfillTitle = "Start no more past runs?";
export const stopBackfillHelp = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} run` : `${formatNumber(count)} runs`)} will not start. Runs that have started go on.`;
export const startNoMore = "Start no more";
export const stop = "Stop";
export const wouldBreak = ({ refused, count }: { refused: string | number; count: number }): string =>
  `${refused}: ${(pluralForm(count) === "one" ? `${formatNumber(count)} workflow` : `${formatNumber(count)} workflows`)} would break`;
export const wouldBreakHelp = "They run this workflow and don’t fit this change. Keep what they rely on, or confirm each one.";
export const breakHidden = "Break workflows in projects that you can’t see";
export const errorsOf = ({ id }: { id: string | number }): string =>
  `Errors of ${id}`;
export const breakCaller = ({ id }: { id: string | number }): string =>
  `Break ${id}`;
export const discardTitle = "Discard your changes?";
export const discardHelp = ({ name, version }: { name: string | number; version: string | number }): string =>
  `Your changes to the definition of “${name}” will be lost and replaced by version ${version}.`;
export const discardChanges = "Discard changes";
export const conflictTitle = "Conflicting changes";
export const conflictHelp = ({ base, version }: { base: string | number; version: string | number }): string =>
  `You started from version ${base}, but version ${version} has been saved since. Your changes are not saved yet.`;
export const yourDraft = "Your draft";
export const conflictLines = ({ version }: { version: string | number }): string =>
  `Lines marked as removed exist only in version ${version}. Copy the ones you need into your draft, then save it as the next version.`;
export const discardMyChanges = "Discard my changes";
export const keepEditing = "Keep editing";
export const versionAuthor = ({ version, author, time }: { version: string | number; author: string | number; time: ReactNode }): ReactNode =>
  rich("Version ", version, " by ", author, ", ", time, ". No change note.");
export const versionAuthorNote = ({ version, author, time, reason }: { version: string | number; author: string | number; time: ReactNode; reason: string | number }): ReactNode =>
  rich("Version ", version, " by ", author, ", ", time, ": “", reason, "”");
export const template = "Template";
export const createAndEdit = "Create and edit";
export const savedAsDraft = "Saved as a draft. Nothing runs until you start or publish it.";
export const noDefinitionHelp = "Edit the workflow to write one.";
export const definitionNoun = "definition";
export const download = "Download";
export const format = "Format";
export const formatName = ({ format }: { format: "json" | "yaml" }): string =>
  (format === "yaml" ? "YAML" : "JSON");
export const nameChanged = ({ before, after }: { before: string | number; after: string | number }): string =>
  `Name changed from “${before}” to “${after}”.`;
export const tagsAdded = ({ count, tags }: { count: number; tags: string | number }): string =>
  `${(pluralForm(count) === "one" ? "Tag" : "Tags")} added: ${tags}.`;
export const tagsRemoved = ({ count, tags }: { count: number; tags: string | number }): string =>
  `${(pluralForm(count) === "one" ? "Tag" : "Tags")} removed: ${tags}.`;
export const tagsReordered = "Tags reordered.";
export const descriptionAdded = ({ after }: { after: string | number }): string =>
  `Description added: “${after}”`;
export const descriptionRemoved = ({ before }: { before: string | number }): string =>
  `Description removed: “${before}”`;
export const descriptionChanged = ({ before, after }: { before: string | number; after: string | number }): string =>
  `Description changed from “${before}” to “${after}”`;
export const quoted = ({ text }: { text: string | number }): string =>
  `“${text}”`;
export const savedAs = ({ version }: { version: string | number }): string =>
  `Saved as version ${version}.`;
export const editDetails = "Edit details";
export const saveAnyway = "Save anyway";
export const name = "Name";
export const description = "Description";
export const descriptionHelp = "What the workflow does, in one or two sentences. Agents and people choose workflows by it.";
export const tags = "Tags";
export const tagsHelp = "Labels to filter by. Press Enter to add one.";
export const changedByOther = "Changed by someone else";
export const changedByOtherHelp = "Your changes are not saved yet. Since you opened this dialog:";
export const definitionChanged = "The definition was changed. Saving keeps it.";
export const workflowIsNow = ({ status, version }: { status: "archived" | "draft" | "published"; version: string | number }): string =>
  `The workflow is now ${(status === "draft" ? "draft" : status === "published" ? "published" : "archived")}, version ${version}.`;
export const editTitle = ({ name }: { name: string | number }): string =>
  `Edit ${name}`;
export const restoreToEdit = "Restore the workflow to edit it.";
export const draftState = ({ version, state }: { version: string | number; state: "changed" | "saved" }): string =>
  `Version ${version}, ${(state === "changed" ? "unsaved changes" : "saved")}`;
export const draftStateWithPublished = ({ version, state, published }: { version: string | number; state: "changed" | "saved"; published: string | number }): string =>
  `Version ${version}, ${(state === "changed" ? "unsaved changes" : "saved")}; version ${published} is published`;
export const back = "Back";
export const notSavedSyntax = "Not saved: the definition has syntax errors. They are marked in the text and listed below it.";
export const formatButton = "Format";
export const fixSyntaxFirst = "Fix the syntax errors first.";
export const graph = "Graph";
export const steps = "Steps";
export const graphFailedInEditor = "The graph could not be drawn. Your text is not affected.";
export const showsLastValid = "Shows the last version without syntax errors.";
export const changesToDefinition = ({ name }: { name: string | number }): string =>
  `your changes to the definition of “${name}”`;
export const dataTool = "Data";
export const dataToolTitle = "Databases";
export const testTool = "Test";
export const besideEditor = "Beside the editor";
export const placeCursorInQuery = "Place the cursor in the query of an sql step, or add a step that reads the table.";
export const nothingInserted = "Nothing was inserted";
export const exposureRequested = "Not yet a tool for agents";
export const exposureRequestedHelp = ({ author, version }: { author: string | number; version: string | number }): string =>
  `${author} asks to give version ${version} to agents as a tool of its own. They would read these texts. Allow it only if they describe the workflow and instruct nobody.`;
export const allowAsTool = "Allow as a tool";
export const exposureNotAllowed = "It is published, but agents don’t get it as a tool of its own until an admin allows it.";
export const exposureAllowed = "A tool for agents";
export const exposureAllowedBy = ({ by }: { by: string | number }): string =>
  `Agents get it as a tool of its own. Allowed by ${by}.`;
export const exposureAllowedByAt = ({ by, time }: { by: string | number; time: ReactNode }): ReactNode =>
  rich("Agents get it as a tool of its own. Allowed by ", by, " ", time, ".");
export const withdraw = "Withdraw";
export const inputs = "Inputs";
export const none = "none";
export const noEffects = "Its runs reach nothing outside of Millrace.";
export const readOnlyEffects = "It is announced as read-only. Its runs reach:";
export const effects = "Its runs reach, also through workflows that it runs:";
export const allowedAsTool = "Agents now get this workflow as a tool.";
export const allowFailed = "Could not allow it";
export const withdrawn = "Agents no longer get this workflow as a tool.";
export const withdrawFailed = "Could not withdraw it";
export const sortUpdated = "Recently updated";
export const sortNewest = "Newest first";
export const sortOldest = "Oldest first";
export const sortNameUp = "Name, A to Z";
export const sortNameDown = "Name, Z to A";
export const tooManyWords = ({ max }: { max: number }): string =>
  `At most ${formatNumber(max)} different words`;
export const tooManyCharacters = ({ max }: { max: number }): string =>
  `At most ${formatNumber(max)} characters`;
export const onlyFirstGrouped = ({ count }: { count: string | number }): string =>
  `Only the first ${count} workflows are grouped. Search or filter to find others.`;
export const noTag = "No tag";
export const exampleName = ({ number }: { number: string | number }): string =>
  `Example ${number}`;
export const didYouMean = ({ name }: { name: string | number }): string =>
  `Did you mean ${name}?`;
export const searchWorkflows = "Search workflows";
export const search = "Search";
export const filterByTag = "Filter by tag";
export const tag = "Tag";
export const clearTag = "Clear tag";
export const statusFilter = "Status";
export const notArchived = "Not archived";
export const statusOption = ({ status }: { status: "archived" | "draft" | "published" }): string =>
  (status === "draft" ? "Draft" : status === "published" ? "Published" : "Archived");
export const sortBy = "Sort by";
export const groupByTag = "Group by tag";
export const workflows = "Workflows";
export const noDescription = "No description";
export const filterByThisTag = ({ tag }: { tag: string | number }): string =>
  `Filter by tag ${tag}`;
export const noRuns = "No runs yet";
export const workflowCount = ({ count, total }: { count: number; total: string | number }): string =>
  (pluralForm(count) === "one" ? `${total} workflow` : `${total} workflows`);
export const noMatches = "No matching workflows";
export const clearFilters = "Clear filters";
export const noMatchesHelp = "The search covers names, IDs, descriptions and tags. To see archived workflows, choose the status Archived.";
export const agentPrompt = "Create a workflow in Millrace that queries the sample shop\nfor one week's revenue by region, validate it, run it,\nand publish it if the numbers look right.";
export const noWorkflowsHelp = "No workflows yet. A workflow is a list of steps (queries, model calls, HTTP requests, approvals) that is validated before it runs and runs the same way every time.";
export const askAgent = "Ask an agent";
export const agentPromptLabel = "prompt for an agent";
export const connectAgentFirst = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(link("Connect an agent"), " first; it takes a minute.");
export const apiOption = "Use the API";
export const curlCommand = "curl command";
export const createKeyFirst = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(link("Create an API key"), " with the write scope.");
export const editorOption = "Use the editor";
export const editorOptionHelp = "Start from a template or from scratch. The editor completes and validates as you type.";
export const mayNotCreate = "Your role can’t create workflows. An admin can change it.";
export const publishWarning = ({ path, message, more }: { path: string | number; message: string | number; more: number }): string =>
  `${path} ${message}${(more === 0 ? "" : pluralForm(more) === "one" ? ` And ${formatNumber(more)} more.` : ` And ${formatNumber(more)} more.`)}`;
export const publishedVersion = ({ version, name }: { version: string | number; name: string | number }): string =>
  `Published version ${version} of “${name}”.`;
export const reviewFirst = "Nothing is published yet: another person reviews the version first.";
export const nothingToPublish = "This version has no definition to publish.";
export const checking = "Checking databases, models and servers…";
export const fixErrorsFirst = ({ count }: { count: number }): string =>
  `Fix ${(pluralForm(count) === "one" ? `${formatNumber(count)} error` : `${formatNumber(count)} errors`)} first`;
export const errors = "Errors";
export const notPublished = "Not published";
export const publishConflict = "Someone else changed this workflow. Nothing was published. Close this dialog and review the changes.";
export const publishAnyway = "Publish anyway";
export const runningExamples = "Running the examples. This can take up to a minute.";
export const publishTitle = ({ version, name }: { version: string | number; name: string | number }): string =>
  `Publish version ${version} of “${name}”`;
export const newRunsInstead = ({ version, published }: { version: string | number; published: string | number }): string =>
  `New runs use version ${version} instead of version ${published}. Active runs continue with their version.`;
export const newRuns = ({ version }: { version: string | number }): string =>
  `New runs use version ${version}, even if the workflow is changed later.`;
export const examplesRunFirst = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "The example runs first, without effects, and must return the expected output." : `The ${formatNumber(count)} examples run first, without effects, and must return the expected output.`);
export const allowsAgents = "You thereby allow agents to get it as a tool of its own: they read its name, description and inputs.";
export const agentsOnceAllowed = "Agents get it as a tool of its own once an admin allows it.";
export const mayNotPublish = "Your role does not allow you to publish in this project.";
export const beingSaved = "Your changes are being saved.";
export const emptyDefinition = "There is no definition to publish.";
export const alreadyPublished = "The newest version is already published.";
export const fixErrorsToPublish = ({ count }: { count: number }): string =>
  `Fix ${(pluralForm(count) === "one" ? `${formatNumber(count)} error` : `${formatNumber(count)} errors`)} first.`;
export const notChecked = ({ reason }: { reason: string | number }): string =>
  `Not checked: ${reason}`;
export const noAnswer = "no answer from the server";
export const startsNothing = "No schedule and no webhook: it runs only when somebody starts it.";
export const publishedSchedule = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich("Schedule: ", cron, " (", timezone, ").");
export const publishedWebhook = ({ code, id }: { code: (children: ReactNode) => ReactNode; id: string | number }): ReactNode =>
  rich("The webhook ", code(`${id}`), " starts runs. Its URL is on the page of the workflow.");
export const starts = "Starts";
export const scheduleLine = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich("Schedule: ", cron, " (", timezone, ")");
export const mustSucceed = ({ every }: { every: string | number }): string =>
  `Must succeed every ${every}`;
export const noRunsYet = "No runs yet.";
export const recentRuns = "Recent runs";
export const statusColumn = "Status";
export const trigger = "Trigger";
export const duration = "Duration";
export const actions = "Actions";
export const allRuns = "All runs";
export const shortVersion = ({ version }: { version: string | number }): string =>
  `v${version}`;
export const scheduledFor = ({ time }: { time: ReactNode }): ReactNode =>
  rich("for ", time);
export const stateReset = "Reset the state.";
export const resetStateTitle = "Reset state";
export const resetStateHelp = "The chosen keys get their defaults again. A run that is still running can’t commit any more: it fails with state_conflict.";
export const keys = "Keys";
export const reason = "Reason";
export const reasonHelp = "Kept in the history and the audit log.";
export const stateConflict = "Written in the meantime";
export const stateConflictHelp = "A run or another person wrote the state since you opened this dialog. Nothing was changed. Close it to see the new values.";
export const reset = "Reset";
export const stateSaved = "Saved the state.";
export const editState = "Edit state";
export const editStateHelp = "Runs that start from now on read these values. A run that is still running can’t commit any more: it fails with state_conflict.";
export const values = "Values";
export const valuesHelp = "A key that you leave out gets its default.";
export const reasonOptional = "Reason (optional)";
export const runTitle = ({ name }: { name: string | number }): string =>
  `Run ${name}`;
export const restoreToRun = "Restore the workflow to run it.";
export const version = "Version";
export const defaultVersion = ({ version, which }: { version: string | number; which: "latest" | "published" }): string =>
  `Default: version ${version} (${(which === "latest" ? "latest" : "published")})`;
export const versionOption = ({ version, published, latest }: { version: string | number; published: "no" | "yes"; latest: "no" | "yes" }): string =>
  `${version}${(published === "yes" ? " (published)" : "")}${(latest === "yes" ? " (latest)" : "")}`;
export const versionHasNoDefinition = ({ version }: { version: string | number }): string =>
  `Version ${version} has no definition.`;
export const earlierInputs = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("With the inputs of ", link("an earlier run"), ". Change what should be different.");
export const inputsLeftOut = ({ version, names }: { version: string | number; names: string | number }): string =>
  `Version ${version} has no input named ${names}: left out.`;
export const examples = "Examples:";
export const notStarted = ({ count }: { count: number }): string =>
  `Not started. Fix ${(pluralForm(count) === "one" ? `${formatNumber(count)} input` : `${formatNumber(count)} inputs`)} above.`;
export const editDefinition = "Edit the definition";
export const runVersion = ({ version }: { version: string | number }): string =>
  `Run version ${version}`;
export const sameName = ({ workflows, more }: { workflows: ReactNode; more: number }): ReactNode =>
  rich("Another workflow has this name: ", workflows, (more === 0 ? "" : pluralForm(more) === "one" ? ` and ${formatNumber(more)} more` : ` and ${formatNumber(more)} more`), ". You can keep it, but a name of its own is easier to find.");
export const noSchedule = ({ code }: { code: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("No schedule. Add a ", code("schedule"), " to the definition to run the workflow automatically.");
export const inactiveSchedule = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich(cron, " (", timezone, "). Starts when the workflow is published.");
export const scheduleHelp = ({ code, cron, timezone, overlap }: { code: (children: ReactNode) => ReactNode; cron: string | number; timezone: string | number; overlap: "queue" | "skip" }): ReactNode =>
  rich(code(`${cron}`), " in ", timezone, ". ", (overlap === "skip" ? "Skips a run while the previous one is still running." : "Queues a run while the previous one is still running."));
export const paused = "Paused";
export const pausedHelp = "No runs start until you resume it.";
export const nextRunsHere = "Next runs (your time zone):";
export const nextRuns = "Next runs";
export const lastRun = ({ time }: { time: ReactNode }): ReactNode =>
  rich("Last run: ", time);
export const runsLessOften = "Runs less often than it says";
export const scheduledRunFailed = "A scheduled run could not start";
export const runsSkipped = ({ count, reason, first, last }: { count: number; reason: "failed" | "limit" | "missed" | "overlap"; first: ReactNode; last: ReactNode }): ReactNode =>
  rich((pluralForm(count) === "one" ? `${formatNumber(count)} run was skipped` : `${formatNumber(count)} runs were skipped`), " because ", (reason === "overlap" ? "the previous run was still running" : reason === "missed" ? "the service was not running" : reason === "failed" ? "the run could not start" : "a limit of runs was reached"), ": ", first, (pluralForm(count) === "one" ? "" : rich(" to ", last)), ".");
export const schedulePaused = ({ name }: { name: string | number }): string =>
  `Paused the schedule of “${name}”.`;
export const scheduleResumed = ({ name }: { name: string | number }): string =>
  `Resumed the schedule of “${name}”.`;
export const pauseFailed = ({ name }: { name: string | number }): string =>
  `Could not pause the schedule of “${name}”`;
export const resumeFailed = ({ name }: { name: string | number }): string =>
  `Could not resume the schedule of “${name}”`;
export const pause = "Pause";
export const resume = "Resume";
export const signatureName = ({ scheme }: { scheme: "github" | "shared_secret" | "slack" | "standard_webhooks" | "stripe" }): string =>
  (scheme === "standard_webhooks" ? "Standard Webhooks" : scheme === "github" ? "GitHub" : scheme === "stripe" ? "Stripe" : scheme === "slack" ? "Slack" : "Shared secret");
export const signatureHelp = ({ scheme, header }: { scheme: "github" | "shared_secret" | "slack" | "standard_webhooks" | "stripe"; header: string | number }): string =>
  (scheme === "standard_webhooks" ? "The sender signs with webhook-id, webhook-timestamp and webhook-signature, and the secret begins with whsec_." : scheme === "github" ? "In the repository under Settings, Webhooks: enter the URL, choose application/json, and enter the secret." : scheme === "stripe" ? "In the Stripe dashboard under Developers, Webhooks: add the URL as an endpoint. Its signing secret (whsec_…) is the secret." : scheme === "slack" ? "In the settings of the Slack app under Event Subscriptions: enter the URL. The app’s signing secret is the secret." : `The sender sends the secret itself in the header ${header}.`);
export const noStateChanges = "No changes are recorded yet.";
export const stateChanges = "Changes of the state";
export const stateChange = ({ kind, time, author }: { kind: "commit" | "import" | "reset" | "set"; time: ReactNode; author: ReactNode }): ReactNode =>
  rich((kind === "commit" ? "Committed" : kind === "set" ? "Set" : kind === "reset" ? "Reset" : "Imported"), " ", time, " by ", author);
export const stateChangeWithKey = ({ kind, time, author, key }: { kind: "commit" | "import" | "reset" | "set"; time: ReactNode; author: ReactNode; key: string | number }): ReactNode =>
  rich((kind === "commit" ? "Committed" : kind === "set" ? "Set" : kind === "reset" ? "Reset" : "Imported"), " ", time, " by ", author, " (key ", key, ")");
export const revision = ({ revision }: { revision: string | number }): string =>
  `revision ${revision}`;
export const notWritten = "not written";
export const itsDefault = "its default";
export const noState = "The published version declares no state.";
export const stateOfWorkflow = "State of the workflow";
export const hideHistory = "Hide history";
export const showHistory = "Show history";
export const stateNotWritten = "No run has written it yet: these are the defaults.";
export const stateRevised = ({ time, author }: { time: ReactNode; author: ReactNode }): ReactNode =>
  rich("Revised ", time, " by ", author);
export const noSteps = "No steps yet";
export const noStepsHelp = "Edit the workflow to add the first step.";
export const graphFailed = "The graph could not be drawn.";
export const selectStep = "Select a step, or what starts the workflow, to see its definition.";
export const step = "Step";
export const definitionOfStep = ({ id }: { id: string | number }): string =>
  `definition of ${id}`;
export const blankTitle = "Blank";
export const blankAbout = "A single step to start from.";
export const queryTitle = "Revenue by region";
export const queryAbout = "Queries a database, checks that the result is not empty, and returns the best region.";
export const dailyTitle = "Unpaid orders every morning";
export const dailyAbout = "Runs on weekday mornings and lists the unpaid orders.";
export const modelTitle = "Revenue in two sentences";
export const modelAbout = "Summarizes the rows of a query with a model, and validates the model's output.";
export const modelNeeds = "Requires a model named writer in the configuration.";
export const approvalTitle = "Ask for approval";
export const approvalAbout = "A person reviews the query result, fills in a form and decides. The next step depends on the decision.";
export const notifyTitle = "Notify the team";
export const notifyAbout = "Posts to a webhook with a secret, retries on failure, and sends an e-mail if every attempt fails.";
export const notifyNeeds = "Requires a secret named team_hook for hooks.example.com, and e-mail to example.com.";
export const webhookTitle = "New orders by webhook";
export const webhookAbout = "Starts a run for each order that a shop sends to the URL of the webhook, once, however often it is sent.";
export const webhookNeeds = "Requires a secret named orders_hook, which the sender puts into the header X-Webhook-Secret.";
export const joinTitle = "Join two queries";
export const joinAbout = "Runs two queries in parallel and joins their rows in memory, even across databases.";
export const deliveryStatus = ({ status }: { status: "failed" | "filtered" | "received" | "refused" | "started" }): string =>
  (status === "received" ? "Received" : status === "started" ? "Started a run" : status === "filtered" ? "Left out by if" : status === "failed" ? "Could not start a run" : "Refused");
export const recentDeliveries = "Recent deliveries";
export const noDeliveries = "Nothing was received yet.";
export const received = "Received";
export const webhook = "Webhook";
export const outcome = "Outcome";
export const deliveredAgainTimes = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "delivered again" : `delivered again ${formatNumber(count)} times`);
export const moreLikeIt = ({ count }: { count: number }): string =>
  `and ${formatNumber(count)} more like it`;
export const sentTimes = ({ count }: { count: number }): string =>
  (count === 2 ? "sent twice" : pluralForm(count) === "one" ? `sent ${formatNumber(count)} time` : `sent ${formatNumber(count)} times`);
export const redeliveryOf = ({ delivery }: { delivery: ReactNode }): ReactNode =>
  rich("Redelivery of ", delivery);
export const deliveredAgain = "Delivered again.";
export const redeliverFailed = "Could not deliver it again";
export const delivery = "Delivery";
export const deliveryFacts = ({ trigger, time, outcome }: { trigger: string | number; time: ReactNode; outcome: string | number }): ReactNode =>
  rich("To ", trigger, ", ", time, ". ", outcome, ".");
export const deliveryFactsSender = ({ trigger, time, sender, outcome }: { trigger: string | number; time: ReactNode; sender: string | number; outcome: string | number }): ReactNode =>
  rich("To ", trigger, ", ", time, ", ", sender, ". ", outcome, ".");
export const deliveredAgainAs = ({ deliveries }: { deliveries: ReactNode }): ReactNode =>
  rich("Delivered again as ", deliveries);
export const body = "Body";
export const headers = "Headers";
export const bodyNotStored = "The body is not stored: refused deliveries have none, and old ones lose it after 7 days.";
export const deliverAgain = "Deliver again";
export const webhooksGetUrls = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? "The webhook gets its URL" : "The webhooks get their URLs")} when the workflow is published.`;
export const webhookLabel = ({ id }: { id: string | number }): string =>
  `Webhook ${id}`;
export const notSigned = "Not signed";
export const urlHidden = "Only those who may change the workflow see the URL.";
export const urlOf = ({ id }: { id: string | number }): string =>
  `URL of ${id}`;
export const unsignedHelp = "Anybody who has the URL can start runs. Add a signature to the trigger if the sender can sign.";
export const startsVersion = ({ version, owner }: { version: string | number; owner: string | number }): string =>
  `Starts runs of version ${version}, in the name of ${owner}.`;
export const secretInConfiguration = ({ code, names }: { code: (children: ReactNode) => ReactNode; names: string | number }): ReactNode =>
  rich("Secret in the configuration: ", code(`${names}`));
export const urlReplaced = ({ id }: { id: string | number }): string =>
  `The webhook “${id}” has another URL. Give it to the sender.`;
export const replaceUrlFailed = ({ id }: { id: string | number }): string =>
  `Could not replace the URL of “${id}”`;
export const replaceUrlTitle = ({ id }: { id: string | number }): string =>
  `Replace the URL of “${id}”?`;
export const replaceUrlHelp = "The old URL is refused at once, until its senders have the new one. This can’t be undone.";
export const replaceUrl = "Replace URL";
export const leaveTitle = "Leave without saving?";
export const unsavedLoss = ({ what }: { what: string | number }): string =>
  `You will lose ${what}.`;
export const stay = "Stay";
export const leave = "Leave without saving";
export const noChangesSince = ({ version, errors }: { version: string | number; errors: number }): string =>
  `No changes since version ${version}.${(errors === 0 ? "" : pluralForm(errors) === "one" ? ` Fix ${formatNumber(errors)} error before you run it.` : ` Fix ${formatNumber(errors)} errors before you run it.`)}`;
export const savedDraft = ({ version, errors }: { version: string | number; errors: number }): string =>
  `Saved as version ${version}.${(errors === 0 ? "" : pluralForm(errors) === "one" ? ` Fix ${formatNumber(errors)} error before you run it.` : ` Fix ${formatNumber(errors)} errors before you run it.`)}`;
export const switchToJsonTitle = "Switch to JSON without comments?";
export const switchToJsonHelp = "JSON has no comments. The comments in this definition will be lost.";
export const switchToJson = "Switch to JSON";
export const sameAsLatest = ({ version }: { version: string | number }): string =>
  `Version ${version} is identical to the latest version.`;
export const restoredVersion = ({ version, latest }: { version: string | number; latest: string | number }): string =>
  `Restored version ${version} as version ${latest}.`;
export const restoreVersionFailed = ({ version }: { version: string | number }): string =>
  `Could not restore version ${version}`;
export const archiveAlthoughUsed = ({ name }: { name: string | number }): string =>
  `Archive “${name}” although others run it?`;
export const unpublishAlthoughUsed = ({ name }: { name: string | number }): string =>
  `Unpublish “${name}” although others run it?`;
export const runsWouldFail = ({ callers }: { callers: string | number }): string =>
  `Runs of these workflows would fail: ${callers}.`;
export const archiveAnyway = "Archive anyway";
export const unpublishAnyway = "Unpublish anyway";
export const restored = ({ name, status }: { name: string | number; status: "archived" | "draft" | "published" }): string =>
  `Restored “${name}” (${(status === "draft" ? "draft" : status === "published" ? "published" : "archived")}).`;
export const restoreFailed = ({ name }: { name: string | number }): string =>
  `Could not restore “${name}”`;
export const archived = ({ name }: { name: string | number }): string =>
  `Archived “${name}”.`;
export const undo = "Undo";
export const archiveFailed = ({ name }: { name: string | number }): string =>
  `Could not archive “${name}”`;
export const unpublished = ({ name }: { name: string | number }): string =>
  `Unpublished “${name}”.`;
export const unpublishFailed = ({ name }: { name: string | number }): string =>
  `Could not unpublish “${name}”`;
export const changesBetween = ({ from, to }: { from: string | number; to: string | number }): string =>
  `Changes from version ${from} to ${to}`;
export const changedDetails = "Changed details";
export const history = "History";
export const versions = "Versions";
export const compare = "Compare";
export const created = "Created";
export const author = "Author";
export const changeNoteColumn = "Change note";
export const compareFrom = ({ version }: { version: string | number }): string =>
  `Compare from version ${version}`;
export const compareTo = ({ version }: { version: string | number }): string =>
  `Compare to version ${version}`;
export const versionChange = ({ change }: { change: "archived" | "created" | "restored" | "updated" }): string =>
  (change === "created" ? "created" : change === "updated" ? "updated" : change === "archived" ? "archived" : "restored");
export const prunedHelp = "The operator deleted the definition.";
export const pruned = "pruned";
export const publishedBadge = "published";
export const actionsForVersion = ({ version }: { version: string | number }): string =>
  `Actions for version ${version}`;
export const versionsOf = ({ name }: { name: string | number }): string =>
  `Versions of ${name}`;
export const firstVersion = "This is the first version, so there is nothing to compare.";
export const selectTwo = "Select two versions to compare.";
export const unpublishTitle = ({ name }: { name: string | number }): string =>
  `Unpublish “${name}”?`;
export const unpublishHelp = "The workflow becomes a draft and its schedule stops. Active runs continue.";
export const unpublish = "Unpublish";
export const moreActions = ({ name }: { name: string | number }): string =>
  `More actions for ${name}`;
export const offerToProjects = "Offer to projects…";
export const moveToProject = "Move to another project…";
export const archiveButton = "Archive";
export const versionAndLatest = ({ version, latest }: { version: string | number; latest: string | number }): string =>
  `v${version} (latest v${latest})`;
export const notFoundTitle = "Workflow not found";
export const noSuchWorkflow = "There is no such workflow";
export const mayBeMisspelt = "The ID may be misspelt.";
export const schedule = "Schedule";
export const webhooks = "Webhooks";
export const state = "State";
export const updatedCreated = ({ updated, created, by }: { updated: ReactNode; created: ReactNode; by: string | number }): ReactNode =>
  rich("Updated ", updated, ", created ", created, " by ", by);
export const usedBy = ({ workflows }: { workflows: ReactNode }): ReactNode =>
  rich("Used by ", workflows);
export const archivedTitle = "Archived";
export const archivedHelp = "This workflow can’t run. Its ID and history are kept.";
export const restoreToUse = "Restore it to use it again.";
export const unpublishedChanges = "Unpublished changes";
export const unpublishedChangesHelp = ({ version, published, link }: { version: string | number; published: string | number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("You see version ", version, ". Runs and the schedule use version ", published, " until you publish version ", version, ". ", link("Compare versions"));
export const views = "Views";
export const definition = "Definition";
