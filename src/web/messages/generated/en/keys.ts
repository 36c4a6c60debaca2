/** Generated from src/web/messages/en/keys.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const pageTitle = "API Keys";
export const pageAbout = "Agents and scripts send a key with every request. A key can do what its scopes and your role allow.";
export const createNew = "Create New API Key";
export const showEveryone = "Show everyone's keys";
export const noKeys = "No keys yet";
export const noKeysHelp = "Agents need a key to connect over MCP, and scripts to use the REST API.";
export const name = "Name";
export const owner = "Owner";
export const key = "Key";
export const scopes = "Scopes";
export const created = "Created";
export const expires = "Expires";
export const lastUsed = "Last used";
export const actions = "Actions";
export const never = "never";
export const keyTimes = ({ created, expiry, expires, use, used }: { created: ReactNode; expiry: "never" | "set"; expires: ReactNode; use: "before" | "never"; used: ReactNode }): ReactNode =>
  rich("Created ", created, ", ", (expiry === "never" ? "never expires" : rich("expires ", expires)), ", ", (use === "never" ? "never used" : rich("used ", used)));
export const keyRevoked = ({ name }: { name: string | number }): string =>
  `Key "${name}" revoked.`;
export const revokeKeyFailed = "Couldn't revoke the key";
export const actionsFor = ({ name }: { name: string | number }): string =>
  `Actions for the key ${name}`;
export const changes = "Changes";
export const rotateMenu = "Rotate…";
export const revokeMenu = "Revoke…";
export const revokeKeyTitle = ({ name }: { name: string | number }): string =>
  `Revoke the key "${name}"?`;
export const revokeKeyConsequence = ({ lastFour }: { lastFour: string | number }): string =>
  `Requests with the key that ends in ${lastFour} are refused from now on. You can't undo this.`;
export const revoke = "Revoke";
export const applications = "Connected applications";
export const applicationsHelp = "Users have connected these by signing in. Their access ends when it is revoked or not used for a while.";
export const applicationAt = ({ host }: { host: string | number }): string =>
  `Application at ${host}`;
export const applicationTimes = ({ created, count, use, used }: { created: ReactNode; count: number; use: "before" | "never"; used: ReactNode }): ReactNode =>
  rich("Connected ", created, (count === 0 ? "" : pluralForm(count) === "one" ? "" : ` (${formatNumber(count)} times)`), ", ", (use === "never" ? "never used" : rich("last used ", used)));
export const accessRevoked = ({ name }: { name: string | number }): string =>
  `Access of "${name}" revoked.`;
export const revokeAccessFailed = "Couldn't revoke the access";
export const revokeAccessOf = ({ name }: { name: string | number }): string =>
  `Revoke the access of ${name}`;
export const revokeAccessTitle = ({ name }: { name: string | number }): string =>
  `Revoke the access of "${name}"?`;
export const revokeAccessConsequence = ({ host }: { host: string | number }): string =>
  `The application at ${host} loses its access now. It can ask for access again.`;
export const state = ({ state }: { state: "active" | "expired" | "expiring" | "owner_inactive" | "owner_unknown" | "revoked" }): string =>
  (state === "active" ? "active" : state === "expiring" ? "expires soon" : state === "expired" ? "expired" : state === "revoked" ? "revoked" : state === "owner_inactive" ? "owner deactivated" : "owner unknown");
export const area = ({ limits }: { limits: string | number }): string =>
  `Only ${limits}`;
export const areaNames = ({ kind, names }: { kind: "databases" | "models" | "projects" | "tools" | "workflows"; names: string | number }): string =>
  `${(kind === "projects" ? "projects" : kind === "workflows" ? "workflows" : kind === "tools" ? "tools" : kind === "databases" ? "databases" : "models")}: ${names}`;
export const createTitle = "Create New API Key";
export const nameHelp = "What the key is for. The audit log and its runs show this name.";
export const expirationDate = "Expiration date";
export const in7Days = "In 7 days";
export const in30Days = "In 30 days";
export const in90Days = "In 90 days";
export const in1Year = "In 1 year";
export const customDate = "Custom date";
export const neverExpires = "Never";
export const lastDay = "Last day";
export const lastDayHelp = "The key expires at the end of this day (UTC).";
export const selectDate = "Select a date";
export const scopesHelp = "What the key can do, within the limits of your role.";
export const scopeRead = "View workflows, runs and approvals. Part of every key.";
export const scopeWrite = "Create and change drafts, and archive them.";
export const scopePublish = "Publish, unpublish and archive what is live; pause and resume schedules.";
export const scopeRun = "Start, cancel and retry runs.";
export const scopeApprove = "Approve or decline approvals.";
export const scopeAdmin = "Read the audit log.";
export const limitFurther = "Limit it further";
export const create = "Create";
export const shownOnce = "The key is shown only once, after you create it.";
export const all = "All";
export const projects = "Projects";
export const projectsHelp = "Default: your only one, else the default project.";
export const workflows = "Workflows";
export const workflowsHelp = "It sees and runs only these, and changes none.";
export const tools = "Tools";
export const toolsHelp = "It uses only these operations, such as run_workflow, get_run.";
export const databases = "Databases";
export const models = "Models";
export const newKeyTitle = ({ name }: { name: string | number }): string =>
  `API key "${name}"`;
export const createdEarlier = "The key was created earlier";
export const createdEarlierHelp = "Its value was already shown. If you didn't save it, revoke the key and create another.";
export const copyNow = "Copy the key now";
export const copyNowHelp = "You won't see it again. Keep it like a password: anyone who has it can act as you.";
export const apiKey = "API key";
export const tryIt = "Try it";
export const curlCommand = "curl command";
export const connectAgent = "Connect an agent";
export const done = "Done";
export const doneSaved = "Done, I've saved it";
export const rotateTitle = ({ name }: { name: string | number }): string =>
  `Rotate the key "${name}"`;
export const rotateHelp = ({ lastFour }: { lastFour: string | number }): string =>
  `You get a new key with the same name and scopes. The old key, which ends in ${lastFour}, can keep working for a while so that you have time to replace it.`;
export const keepOldFor = "Keep the old key active for";
export const overlapNone = "No time: revoke it now";
export const overlap1Hour = "1 hour";
export const overlap24Hours = "24 hours";
export const overlap7Days = "7 days";
export const overlap30Days = "30 days";
export const rotate = "Rotate";
export const keyTitle = "API key";
export const keyTitleOf = ({ name }: { name: string | number }): string =>
  `API key “${name}”`;
export const allKeys = "All API keys";
export const changesTitle = "Changes by a key";
export const changesTitleOf = ({ name }: { name: string | number }): string =>
  `Changes by the key "${name}"`;
export const changesAbout = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("What the key, with those that it was rotated to or from, changed. ", link("API Keys"));
export const since = "Since";
export const lastHour = "Last hour";
export const lastDayPeriod = "Last day";
export const lastWeek = "Last week";
export const program = "Program";
export const allPrograms = "All programs";
export const clearProgram = "Clear program";
export const includeLater = "Include workflows that others changed later";
export const everythingReverted = "Everything is reverted";
export const noWorkflowsChanged = "No workflows changed";
export const alreadyReverted = ({ count }: { count: number }): string =>
  `The changes of ${(pluralForm(count) === "one" ? `${formatNumber(count)} workflow` : `${formatNumber(count)} workflows`)} are reverted already.`;
export const noWorkflowsHelp = "The key changed no workflow that you can see in this time.";
export const revertOne = ({ name }: { name: string | number }): string =>
  `Revert ${name}`;
export const revertTitle = ({ count }: { count: number }): string =>
  `Revert ${(pluralForm(count) === "one" ? `${formatNumber(count)} workflow` : `${formatNumber(count)} workflows`)}?`;
export const revertConsequence = "Each gets back what it was before the key changed it, as a new version. Nothing of the history is lost. Runs that use the published versions are affected at once.";
export const revertConfirm = "Revert";
export const revert = ({ count }: { count: number }): string =>
  `Revert ${(pluralForm(count) === "one" ? `${formatNumber(count)} workflow` : `${formatNumber(count)} workflows`)}`;
export const cantRevert = ({ list }: { list: string | number }): string =>
  `Can't be reverted: ${list}.`;
export const notRevertible = ({ kind, count }: { kind: "approvals_decided" | "runs_cancelled" | "runs_retried" | "runs_started" | "states_set"; count: number }): string =>
  (kind === "runs_started" ? (pluralForm(count) === "one" ? `${formatNumber(count)} run started` : `${formatNumber(count)} runs started`) : kind === "runs_retried" ? (pluralForm(count) === "one" ? `${formatNumber(count)} run retried` : `${formatNumber(count)} runs retried`) : kind === "runs_cancelled" ? (pluralForm(count) === "one" ? `${formatNumber(count)} run cancelled` : `${formatNumber(count)} runs cancelled`) : kind === "approvals_decided" ? (pluralForm(count) === "one" ? `${formatNumber(count)} approval decided` : `${formatNumber(count)} approvals decided`) : (pluralForm(count) === "one" ? `${formatNumber(count)} workflow state set` : `${formatNumber(count)} workflow states set`));
export const matchedByName = "Some changes are matched by name";
export const matchedByNameHelp = ({ owner, name }: { owner: string | number; name: string | number }): string =>
  `An older release recorded them without the key. They were made by ${owner} with a key named "${name}".`;
export const recordsShorter = "The records are shorter";
export const recordsSince = ({ time }: { time: ReactNode }): ReactNode =>
  rich("The audit log begins at ", time, ". Earlier changes are not shown.");
export const remaining = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} more workflow` : `${formatNumber(count)} more workflows`);
export const remainingHelp = "Revert these first. The others are shown then.";
export const outcome = ({ outcome }: { outcome: "reverted" | "revertible" | "skipped" | "unchanged" }): string =>
  (outcome === "revertible" ? "can be reverted" : outcome === "reverted" ? "reverted" : outcome === "skipped" ? "skipped" : "nothing to revert");
export const editedVersion = ({ version }: { version: string | number }): string =>
  `edited version ${version}`;
export const editedVersions = ({ from, to }: { from: string | number; to: string | number }): string =>
  `edited versions ${from}–${to}`;
export const change = ({ change, version, count }: { change: "archived" | "created" | "exposure_allowed" | "exposure_withdrawn" | "moved" | "published" | "restored" | "schedule_paused" | "schedule_resumed" | "unpublished"; version: string | number; count: number }): string =>
  `${(change === "created" ? "created" : change === "archived" ? "archived" : change === "restored" ? "restored" : change === "published" ? `published version ${version}` : change === "unpublished" ? "unpublished" : change === "schedule_paused" ? "schedule paused" : change === "schedule_resumed" ? "schedule resumed" : change === "exposure_allowed" ? "as a tool allowed" : change === "exposure_withdrawn" ? "as a tool withdrawn" : "moved")}${(count === 2 ? " twice" : pluralForm(count) === "one" ? "" : ` ${formatNumber(count)} times`)}`;
export const reverted = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} workflow` : `${formatNumber(count)} workflows`)} reverted`;
export const revertedAll = "Everything that you chose is as it was before.";
export const revertedSome = "Those that were skipped are unchanged. See why below.";
