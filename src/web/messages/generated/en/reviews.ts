/** Generated from src/web/messages/en/reviews.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Reviews";
export const about = "Versions that somebody asks to publish. Another person decides.";
export const statusFilter = "Status";
export const statusOption = ({ status }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "pending" ? "Pending" : status === "approved" ? "Approved" : status === "rejected" ? "Rejected" : status === "withdrawn" ? "Withdrawn" : status === "replaced" ? "Replaced" : "Outdated");
export const noRequests = ({ status }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "pending" ? "No pending change requests" : status === "approved" ? "No approved change requests" : status === "rejected" ? "No rejected change requests" : status === "withdrawn" ? "No withdrawn change requests" : status === "replaced" ? "No replaced change requests" : "No outdated change requests");
export const noRequestsHelp = "Where reviews are required, what agents and authors publish waits here for another person.";
export const changeRequests = "Change requests";
export const publishVersion = ({ version, workflow }: { version: string | number; workflow: string | number }): string =>
  `Publish version ${version} of ${workflow}`;
export const requested = ({ time }: { time: ReactNode }): ReactNode =>
  rich("requested ", time);
export const decidedBy = ({ status, person }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn"; person: string | number }): string =>
  (status === "pending" ? `pending by ${person}` : status === "approved" ? `approved by ${person}` : status === "rejected" ? `rejected by ${person}` : status === "withdrawn" ? `withdrawn by ${person}` : status === "replaced" ? `replaced by ${person}` : `outdated by ${person}`);
export const status = ({ status }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "pending" ? "pending" : status === "approved" ? "approved" : status === "rejected" ? "rejected" : status === "withdrawn" ? "withdrawn" : status === "replaced" ? "replaced" : "outdated");
export const waitsForReview = ({ version }: { version: string | number }): string =>
  `Version ${version} waits for review`;
export const asksToPublish = ({ person, link }: { person: string | number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(person, " asks to publish it. ", link("Review the change"));
export const changeRequest = "Change request";
export const notFound = "Change request not found";
export const pendingRequests = "Pending change requests";
export const noReason = "No reason given.";
export const hasChanged = "This has changed since it was requested";
export const hasChangedHelp = "A called workflow, the configuration or the published version is a different one now. Your decision is for what this page shows.";
export const allNew = "The whole workflow is new";
export const tooLong = "It is too long to show here. Open the workflow to read it.";
export const workflow = "Workflow";
export const project = "Project";
export const publishedWhenRequested = "Published when requested";
export const nothing = "nothing";
export const versionNumber = ({ version }: { version: string | number }): string =>
  `version ${version}`;
export const requestedBy = "Requested by";
export const requestedAt = "Requested";
export const runsCanDo = "What its runs can do";
export const goesLive = "What goes live";
export const noSchedule = "No schedule: it runs only when it is started or called.";
export const schedule = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich("It runs by itself: ", cron, " (", timezone, ").");
export const trigger = ({ name, signed, scheme, conditional, condition }: { name: ReactNode; signed: "no" | "yes"; scheme: string | number; conditional: "no" | "yes"; condition: ReactNode }): ReactNode =>
  rich("The webhook ", name, " starts it: ", (signed === "no" ? "anybody who has its URL can send it" : `deliveries need a signature (${scheme})`), (conditional === "no" ? "" : rich(", and start a run if ", condition)), ".");
export const mustSucceed = ({ every, others, mails }: { every: string | number; others: "no" | "yes"; mails: string | number }): string =>
  `It must succeed every ${every}: else there is an alert, with a mail to who publishes it${(others === "no" ? "" : ` and to ${mails}`)}.`;
export const savesState = ({ names }: { names: string | number }): string =>
  `It saves workflow state: ${names}.`;
export const asTool = ({ reaches, effects }: { reaches: "no" | "yes"; effects: string | number }): string =>
  `Agents get it as a tool of its own once an admin allows it; the approval of an admin does.${(reaches === "no" ? "" : ` Its runs reach: ${effects}.`)}`;
export const breaksCallers = ({ workflows }: { workflows: string | number }): string =>
  `It breaks these callers: ${workflows}.`;
export const examples = "Examples";
export const noExamples = "It has no examples.";
export const exampleNumber = ({ number }: { number: string | number }): string =>
  `Example ${number}`;
export const exampleResult = ({ name, result, step, run }: { name: string | number; result: "compared" | "partial" | "succeeded"; step: string | number; run: ReactNode }): ReactNode =>
  rich(name, ": ", (result === "partial" ? `checked up to ${step}, which has effects` : result === "compared" ? "returned what it expects" : "succeeded"), " (", run, ")");
export const outcome = ({ status }: { status: "approved" | "outdated" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "approved" ? "Approved: the version was published" : status === "rejected" ? "Rejected" : status === "withdrawn" ? "Withdrawn" : status === "replaced" ? "Replaced by a newer request" : "Outdated: the workflow was unpublished, archived or moved, or published without it");
export const decidedByAt = ({ person, time }: { person: string | number; time: ReactNode }): ReactNode =>
  rich("By ", person, ", ", time);
export const quoted = ({ comment }: { comment: string | number }): string =>
  `“${comment}”`;
export const published = ({ version }: { version: string | number }): string =>
  `Version ${version} is published.`;
export const rejected = "Rejected. Nothing was published.";
export const withdrawn = "The change request is withdrawn.";
export const yourDecision = "Your decision";
export const cantDecide = "You can't decide this";
export const anotherDecides = ({ reason }: { reason: string | number }): string =>
  `${reason} Another person with the right to publish decides.`;
export const comment = "Comment";
export const commentHelp = "Needed to reject: the author reads what to change.";
export const approve = "Approve and publish";
export const reject = "Reject";
export const withdraw = "Withdraw";
