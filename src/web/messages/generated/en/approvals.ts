/** Generated from src/web/messages/en/approvals.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const status = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" | "pending" }): string =>
  (status === "pending" ? "pending" : status === "approved" ? "approved" : status === "declined" ? "declined" : status === "expired" ? "expired" : "cancelled");
export const assignedToYou = "assigned to you";
export const timesAssigned = ({ times, assignees }: { times: ReactNode; assignees: string | number }): ReactNode =>
  rich(times, " · assigned to ", assignees);
export const less = "Less";
export const details = "Plan, inputs and comment";
export const nothingAfterDecision = "Nothing else runs after the decision.";
export const afterDecision = "After the decision these can run:";
export const canRun = "What can run after the decision";
export const step = ({ b, id, effect }: { b: (children: ReactNode) => ReactNode; id: string | number; effect: string | number }): ReactNode =>
  rich(b(`${id}`), ": ", effect);
export const stepIf = ({ b, id, effect, condition }: { b: (children: ReactNode) => ReactNode; id: string | number; effect: string | number; condition: string | number }): ReactNode =>
  rich(b(`${id}`), ": ", effect, ", if ", condition);
export const more = ({ count }: { count: number }): string =>
  `… and ${formatNumber(count)} more`;
export const reviewAndDecide = "Review and decide";
export const origin = ({ item, step, run }: { item: string; step: string | number; run: ReactNode }): ReactNode =>
  rich((item === "none" ? `${step}` : `${step}, item ${item},`), " · ", run);
export const originInWorkflow = ({ item, step, workflow, run }: { item: string; step: string | number; workflow: ReactNode; run: ReactNode }): ReactNode =>
  rich((item === "none" ? `${step}` : `${step}, item ${item},`), " in ", workflow, " · ", run);
export const requested = ({ time }: { time: ReactNode }): ReactNode =>
  rich("requested ", time);
export const requestedExpires = ({ time, until }: { time: ReactNode; until: ReactNode }): ReactNode =>
  rich("requested ", time, " · expires ", until);
export const requestedBy = ({ time, via, by }: { time: ReactNode; via: "api" | "link" | "slack"; by: string | number }): ReactNode =>
  rich("requested ", time, " by ", (via === "api" ? `${by}` : via === "link" ? `the link that was sent to ${by}` : `${by} in Slack`));
export const decidedBy = ({ time, via, by }: { time: ReactNode; via: "api" | "link" | "slack"; by: string | number }): ReactNode =>
  rich(time, " by ", (via === "api" ? `${by}` : via === "link" ? `the link that was sent to ${by}` : `${by} in Slack`));
export const contextTitle = "Inputs and outputs so far";
export const runInputs = "Run inputs";
export const outputOf = ({ step }: { step: string | number }): string =>
  `Output of ${step}`;
export const decision = ({ by, approved, inPlace, person, override, outdated, commented, comment }: { by: string | number; approved: "false" | "true"; inPlace: "false" | "true"; person: string | number; override: "false" | "true"; outdated: "false" | "true"; commented: "false" | "true"; comment: string | number }): string =>
  `${by} ${(approved === "true" ? "approved" : "declined")}${(inPlace === "true" ? ` in the place of ${person}` : "")}${(override === "true" ? " as an admin, in place of the assignees" : "")}${(outdated === "true" ? ", for a plan that has changed since: it doesn’t count" : "")}${(commented === "true" ? `: “${comment}”` : "")}`;
export const delegated = ({ known, by, names, noted, note }: { known: "false" | "true"; by: string | number; names: string | number; noted: "false" | "true"; note: string | number }): string =>
  `${(known === "true" ? `${by}` : "Somebody")} passed it on to ${names}${(noted === "true" ? `: “${note}”` : "")}`;
export const escalated = ({ names, outcome, mailed }: { names: string | number; outcome: "mailed" | "no_mail_server" | "nobody" | "pending"; mailed: string | number }): string =>
  `Escalated to ${names} (${(outcome === "mailed" ? `mailed to ${mailed}` : outcome === "no_mail_server" ? "nobody was mailed, because no mail server is configured" : outcome === "pending" ? "no mail has been sent yet" : "nobody was mailed")})`;
export const reminded = ({ mailed }: { mailed: string | number }): string =>
  `Reminded ${mailed} by mail`;
export const reminder = ({ names, reason }: { names: string | number; reason: "no_mail_server" | "nobody" | "pending" }): string =>
  `Reminder for ${names}: ${(reason === "no_mail_server" ? "nobody was mailed, because no mail server is configured" : reason === "pending" ? "no mail has been sent yet" : "nobody was mailed")}`;
export const outcome = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" }): string =>
  (status === "approved" ? "Approved" : status === "declined" ? "Declined" : status === "expired" ? "Expired: nobody decided in time" : "Cancelled: the run was stopped");
export const outcomeBy = ({ via, by, time }: { via: "api" | "link" | "slack"; by: string | number; time: ReactNode }): ReactNode =>
  rich("By ", (via === "api" ? `${by}` : via === "link" ? `the link that was sent to ${by}` : `${by} in Slack`), ", ", time);
export const retryToAsk = ({ time, run }: { time: ReactNode; run: string | number }): ReactNode =>
  rich(time, ". Retry the run ", run, " to ask again.");
export const quotedComment = ({ comment }: { comment: string | number }): string =>
  `“${comment}”`;
export const formAnswers = "Form answers";
export const didRun = "What the decision let run";
export const nothingElse = "Nothing else runs.";
export const plannedStepAlone = ({ patched, role }: { patched: "false" | "true"; role: "called" | "parent" | "planned" | "reviewed" | "run" }): string =>
  `A single step${(patched === "true" ? ", with a changed definition" : "")}: ${(role === "run" ? "the rest of this run" : role === "parent" ? "the rest of a run that waits for it" : role === "called" ? "can be called" : role === "reviewed" ? "the version to publish" : "a run of it")}`;
export const plannedWorkflow = ({ workflow, version, patched, role }: { workflow: ReactNode; version: string; patched: "false" | "true"; role: "called" | "parent" | "planned" | "reviewed" | "run" }): ReactNode =>
  rich(workflow, ", ", (version === "none" ? "does not exist" : `version ${version}`), (patched === "true" ? ", with a changed definition" : ""), ": ", (role === "run" ? "the rest of this run" : role === "parent" ? "the rest of a run that waits for it" : role === "called" ? "can be called" : role === "reviewed" ? "the version to publish" : "a run of it"));
export const stepsOf = ({ workflow }: { workflow: string | number }): string =>
  `Steps of ${workflow}`;
export const stepsOfSingle = "Steps of a single step";
export const plannedStep = ({ b, undo, id, type, effect }: { b: (children: ReactNode) => ReactNode; undo: "false" | "true"; id: string | number; type: string | number; effect: string | number }): ReactNode =>
  rich(b((undo === "true" ? `Undo of ${id}` : `${id}`)), " (", type, "): ", effect);
export const plannedStepIf = ({ b, undo, id, type, effect, condition, expression }: { b: (children: ReactNode) => ReactNode; undo: "false" | "true"; id: string | number; type: string | number; effect: string | number; condition: (children: ReactNode) => ReactNode; expression: string | number }): ReactNode =>
  rich(b((undo === "true" ? `Undo of ${id}` : `${id}`)), " (", type, "): ", effect, condition(`, if ${expression}`));
export const ifItFails = ({ workflow }: { workflow: string | number }): string =>
  `If it fails, ${workflow} runs.`;
export const approvalOf = ({ workflow }: { workflow: string | number }): string =>
  `Approval for ${workflow}`;
export const approvalOfStep = "Approval for a single step";
export const approval = "Approval";
export const notFound = "Approval not found";
export const notFoundHelp = ({ list }: { list: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Its run may have been purged. ", list("Pending approvals"));
export const workflow = "Workflow";
export const noWorkflow = "None: a single step";
export const run = "Run";
export const startedBy = "Started by";
export const stepName = "Step";
export const stepItem = ({ step, item }: { step: ReactNode; item: string | number }): ReactNode =>
  rich(step, ", item ", item);
export const requestedAt = "Requested";
export const expiresAt = "Expires";
export const assignedTo = "Assigned to";
export const mailLink = "Link in the mail";
export const mailLinkDecides = "Decides without an account";
export const approvals = "Approvals";
export const escalates = "Escalates";
export const escalatesTo = ({ time, names }: { time: ReactNode; names: string | number }): ReactNode =>
  rich(time, " to ", names);
export const approve = "Approve";
export const decline = "Decline";
export const confirmDecline = ({ step }: { step: string | number }): string =>
  `Decline the approval "${step}"?`;
export const declineOfSeveral = ({ count, run }: { count: string | number; run: string | number }): string =>
  `${count} people must decline before the run ${run} continues as declined. You can't change the decision later.`;
export const declineWorkflow = ({ run, workflow }: { run: string | number; workflow: string | number }): string =>
  `The run ${run} of ${workflow} continues as declined. You can't change the decision later.`;
export const declineStep = ({ run }: { run: string | number }): string =>
  `The run ${run} of a single step continues as declined. You can't change the decision later.`;
export const yourDecision = "Your decision";
export const comment = "Comment";
export const commentHelp = "Optional. The run can read it.";
export const refused = "You can't decide this";
export const inPlaceOf = ({ person }: { person: string | number }): string =>
  `You decide in the place of ${person}`;
export const inPlaceHelp = ({ person }: { person: string | number }): string =>
  `It counts as the decision of one person. ${person} can't decide it as well then.`;
export const notAssigned = "It isn't assigned to you";
export const overrideHelp = ({ assignees }: { assignees: string | number }): string =>
  `As an admin you can decide in place of ${assignees}. Your override is recorded, and counts as the decision of one person.`;
export const whoDecides = "Editors and admins can, except those who started the run or wrote what it runs.";
export const whoDecidesAssigned = ({ assignees }: { assignees: string | number }): string =>
  `Editors and admins can, except those who started the run or wrote what it runs. It is assigned to ${assignees}.`;
export const decisions = ({ progress }: { progress: string | number }): string =>
  `Decisions: ${progress}`;
export const happened = "What happened so far";
export const noDecisions = "Nobody has decided yet.";
export const passOnToSomebody = "Pass on to somebody else";
export const passOnTitle = "Pass on the approval";
export const passedOn = ({ person }: { person: string | number }): string =>
  `Passed on to ${person}.`;
export const passOnHelp = "The person decides in your place, and gets a mail if a mail server is configured. You can't decide any more then.";
export const address = "E-mail address";
export const note = "Note";
export const noteHelp = "Optional. The person reads it.";
export const passOn = "Pass on";
export const events = "Decisions and events";
export const evidence = "Evidence";
export const evidenceOf = ({ name }: { name: string | number }): string =>
  `Evidence: ${name}`;
export const visits = "Who opened the links";
export const noVisits = "Nobody has opened a link from a mail.";
export const visit = ({ b, recipient, address, client, again, time }: { b: (children: ReactNode) => ReactNode; recipient: string | number; address: string | number; client: string | number; again: "false" | "true"; time: ReactNode }): ReactNode =>
  rich("The link to ", b(`${recipient}`), " was opened from ", address, " with ", client, (again === "true" ? ", another browser: the mail may have been forwarded, or checked by a program" : ""), " ", time);
export const title = "Approvals";
export const about = "Runs that wait for a person's decision.";
export const statusFilter = "Status";
export const statusOption = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" | "pending" }): string =>
  (status === "pending" ? "Pending" : status === "approved" ? "Approved" : status === "declined" ? "Declined" : status === "expired" ? "Expired" : "Cancelled");
export const whose = "Whose";
export const all = "All";
export const assignedToMe = "Assigned to me";
export const decidable = "I may decide";
export const clearRunFilter = "Clear run filter";
export const noneWithStatus = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" }): string =>
  (status === "approved" ? "No approved approvals" : status === "declined" ? "No declined approvals" : status === "expired" ? "No expired approvals" : "No cancelled approvals");
export const noneAssigned = "No approvals are assigned to you";
export const noneDecidable = "No approvals wait for your decision";
export const nonePending = "No approvals are pending";
export const nonePendingHelp = "A step of type approval pauses its run until somebody decides. Restarts don't affect it. By default, neither the user who started the run nor those who wrote what it runs can decide.";
export const approvalStep = "approval step";
export const changedSinceQuestion = "This has changed since the question";
export const changedSinceDecision = "This has changed since the decision";
export const changes = "What has changed";
export const decisionIsForNow = "Your decision is for what can run now.";
export const assignee = ({ assignee }: { assignee: string }): string =>
  (assignee === "editor" ? "editors" : assignee === "admin" ? "admins" : `${assignee}`);
export const progress = ({ approved, required }: { approved: string | number; required: string | number }): string =>
  `${approved} of ${required} approved`;
export const progressWithDeclines = ({ approved, required, declined, requiredDeclines }: { approved: string | number; required: string | number; declined: string | number; requiredDeclines: string | number }): string =>
  `${approved} of ${required} approved, ${declined} of ${requiredDeclines} declined`;
export const reviewChanged = "What can run has changed since the question, so review it before you decide.";
export const reviewOverride = ({ assignees }: { assignees: string | number }): string =>
  `It is assigned to ${assignees}. As an admin you can decide in their place.`;
export const reviewForm = "Approving needs a form to be filled in.";
export const reviewSteps = "It lets more steps run than are shown here.";
export const reviewHidden = "It lets more run than is shown here: a workflow of another project, or one that runs on failure.";
export const outdated = ({ count, names }: { count: number; names: string | number }): string =>
  (pluralForm(count) === "one" ? `The decision of ${names} no longer counts, and they can decide again.` : `The decisions of ${names} no longer count, and they can decide again.`);
export const done = ({ choice }: { choice: "approve" | "decline" }): string =>
  `${(choice === "approve" ? "Approved." : "Declined.")} The run continues.`;
export const doneSoFar = ({ choice, progress }: { choice: "approve" | "decline"; progress: string | number }): string =>
  `${(choice === "approve" ? "Approved." : "Declined.")} ${progress}.`;
