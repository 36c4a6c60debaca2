/** Generated from src/web/messages/de/approvals.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const status = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" | "pending" }): string =>
  (status === "pending" ? "ausstehend" : status === "approved" ? "freigegeben" : status === "declined" ? "abgelehnt" : status === "expired" ? "abgelaufen" : "abgebrochen");
export const assignedToYou = "Ihnen zugewiesen";
export const timesAssigned = ({ times, assignees }: { times: ReactNode; assignees: string | number }): ReactNode =>
  rich(times, " · zugewiesen an ", assignees);
export const less = "Weniger";
export const details = "Plan, Eingaben und Kommentar";
export const nothingAfterDecision = "Nach der Entscheidung läuft nichts weiter.";
export const afterDecision = "Nach der Entscheidung können diese Schritte laufen:";
export const canRun = "Was nach der Entscheidung laufen kann";
export const step = ({ b, id, effect }: { b: (children: ReactNode) => ReactNode; id: string | number; effect: string | number }): ReactNode =>
  rich(b(`${id}`), ": ", effect);
export const stepIf = ({ b, id, effect, condition }: { b: (children: ReactNode) => ReactNode; id: string | number; effect: string | number; condition: string | number }): ReactNode =>
  rich(b(`${id}`), ": ", effect, ", wenn ", condition);
export const more = ({ count }: { count: number }): string =>
  `… und ${(pluralForm(count) === "one" ? `${formatNumber(count)} weiterer` : `${formatNumber(count)} weitere`)}`;
export const reviewAndDecide = "Prüfen und entscheiden";
export const origin = ({ item, step, run }: { item: string; step: string | number; run: ReactNode }): ReactNode =>
  rich((item === "none" ? `${step}` : `${step}, Element ${item},`), " · ", run);
export const originInWorkflow = ({ item, step, workflow, run }: { item: string; step: string | number; workflow: ReactNode; run: ReactNode }): ReactNode =>
  rich((item === "none" ? `${step}` : `${step}, Element ${item},`), " in ", workflow, " · ", run);
export const requested = ({ time }: { time: ReactNode }): ReactNode =>
  rich("angefragt ", time);
export const requestedExpires = ({ time, until }: { time: ReactNode; until: ReactNode }): ReactNode =>
  rich("angefragt ", time, " · gültig bis ", until);
export const requestedBy = ({ time, via, by }: { time: ReactNode; via: "api" | "link" | "slack"; by: string | number }): ReactNode =>
  rich("angefragt ", time, ", entschieden ", (via === "api" ? `von ${by}` : via === "link" ? `über den Link an ${by}` : `von ${by} in Slack`));
export const decidedBy = ({ time, via, by }: { time: ReactNode; via: "api" | "link" | "slack"; by: string | number }): ReactNode =>
  rich(time, " ", (via === "api" ? `von ${by}` : via === "link" ? `über den Link an ${by}` : `von ${by} in Slack`));
export const contextTitle = "Bisherige Eingaben und Ausgaben";
export const runInputs = "Eingaben des Laufs";
export const outputOf = ({ step }: { step: string | number }): string =>
  `Ausgabe von ${step}`;
export const decision = ({ by, approved, inPlace, person, override, outdated, commented, comment }: { by: string | number; approved: "false" | "true"; inPlace: "false" | "true"; person: string | number; override: "false" | "true"; outdated: "false" | "true"; commented: "false" | "true"; comment: string | number }): string =>
  `${by} hat ${(inPlace === "true" ? `anstelle von ${person} ` : "")}${(override === "true" ? "als Admin anstelle der zugewiesenen Personen " : "")}${(approved === "true" ? "freigegeben" : "abgelehnt")}${(outdated === "true" ? ", für einen inzwischen geänderten Plan: zählt nicht" : "")}${(commented === "true" ? `: „${comment}“` : "")}`;
export const delegated = ({ known, by, names, noted, note }: { known: "false" | "true"; by: string | number; names: string | number; noted: "false" | "true"; note: string | number }): string =>
  `${(known === "true" ? `${by}` : "Jemand")} hat die Freigabe an ${names} weitergegeben${(noted === "true" ? `: „${note}“` : "")}`;
export const escalated = ({ names, outcome, mailed }: { names: string | number; outcome: "mailed" | "no_mail_server" | "nobody" | "pending"; mailed: string | number }): string =>
  `Eskaliert an ${names} (${(outcome === "mailed" ? `E-Mail an ${mailed}` : outcome === "no_mail_server" ? "keine E-Mail, weil kein Mailserver konfiguriert ist" : outcome === "pending" ? "noch keine E-Mail gesendet" : "keine E-Mail gesendet")})`;
export const reminded = ({ mailed }: { mailed: string | number }): string =>
  `${mailed} per E-Mail erinnert`;
export const reminder = ({ names, reason }: { names: string | number; reason: "no_mail_server" | "nobody" | "pending" }): string =>
  `Erinnerung für ${names}: ${(reason === "no_mail_server" ? "keine E-Mail, weil kein Mailserver konfiguriert ist" : reason === "pending" ? "noch keine E-Mail gesendet" : "keine E-Mail gesendet")}`;
export const outcome = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" }): string =>
  (status === "approved" ? "Freigegeben" : status === "declined" ? "Abgelehnt" : status === "expired" ? "Abgelaufen: Niemand hat rechtzeitig entschieden" : "Abgebrochen: Der Lauf wurde gestoppt");
export const outcomeBy = ({ via, by, time }: { via: "api" | "link" | "slack"; by: string | number; time: ReactNode }): ReactNode =>
  rich((via === "api" ? `Von ${by}` : via === "link" ? `Über den Link an ${by}` : `Von ${by} in Slack`), ", ", time);
export const retryToAsk = ({ time, run }: { time: ReactNode; run: string | number }): ReactNode =>
  rich(time, ". Wiederholen Sie den Lauf ", run, ", um erneut zu fragen.");
export const quotedComment = ({ comment }: { comment: string | number }): string =>
  `„${comment}“`;
export const formAnswers = "Formularantworten";
export const didRun = "Was nach der Entscheidung laufen durfte";
export const nothingElse = "Es läuft nichts weiter.";
export const plannedStepAlone = ({ patched, role }: { patched: "false" | "true"; role: "called" | "parent" | "planned" | "reviewed" | "run" }): string =>
  `Ein Einzelschritt${(patched === "true" ? ", mit geänderter Definition" : "")}: ${(role === "run" ? "der Rest dieses Laufs" : role === "parent" ? "der Rest eines Laufs, der darauf wartet" : role === "called" ? "kann aufgerufen werden" : role === "reviewed" ? "die zu veröffentlichende Version" : "ein Lauf davon")}`;
export const plannedWorkflow = ({ workflow, version, patched, role }: { workflow: ReactNode; version: string; patched: "false" | "true"; role: "called" | "parent" | "planned" | "reviewed" | "run" }): ReactNode =>
  rich(workflow, ", ", (version === "none" ? "nicht vorhanden" : `Version ${version}`), (patched === "true" ? ", mit geänderter Definition" : ""), ": ", (role === "run" ? "der Rest dieses Laufs" : role === "parent" ? "der Rest eines Laufs, der darauf wartet" : role === "called" ? "kann aufgerufen werden" : role === "reviewed" ? "die zu veröffentlichende Version" : "ein Lauf davon"));
export const stepsOf = ({ workflow }: { workflow: string | number }): string =>
  `Schritte von ${workflow}`;
export const stepsOfSingle = "Einzelschritt";
export const plannedStep = ({ b, undo, id, type, effect }: { b: (children: ReactNode) => ReactNode; undo: "false" | "true"; id: string | number; type: string | number; effect: string | number }): ReactNode =>
  rich(b((undo === "true" ? `Rücknahme von ${id}` : `${id}`)), " (", type, "): ", effect);
export const plannedStepIf = ({ b, undo, id, type, effect, condition, expression }: { b: (children: ReactNode) => ReactNode; undo: "false" | "true"; id: string | number; type: string | number; effect: string | number; condition: (children: ReactNode) => ReactNode; expression: string | number }): ReactNode =>
  rich(b((undo === "true" ? `Rücknahme von ${id}` : `${id}`)), " (", type, "): ", effect, condition(`, wenn ${expression}`));
export const ifItFails = ({ workflow }: { workflow: string | number }): string =>
  `Schlägt der Lauf fehl, läuft ${workflow}.`;
export const approvalOf = ({ workflow }: { workflow: string | number }): string =>
  `Freigabe für ${workflow}`;
export const approvalOfStep = "Freigabe für einen Einzelschritt";
export const approval = "Freigabe";
export const notFound = "Freigabe nicht gefunden";
export const notFoundHelp = ({ list }: { list: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Der Lauf dazu wurde möglicherweise gelöscht. ", list("Ausstehende Freigaben"));
export const workflow = "Workflow";
export const noWorkflow = "Keiner: ein Einzelschritt";
export const run = "Lauf";
export const startedBy = "Gestartet von";
export const stepName = "Schritt";
export const stepItem = ({ step, item }: { step: ReactNode; item: string | number }): ReactNode =>
  rich(step, ", Element ", item);
export const requestedAt = "Angefragt";
export const expiresAt = "Läuft ab";
export const assignedTo = "Zugewiesen an";
export const mailLink = "Link in der E-Mail";
export const mailLinkDecides = "Entscheidet ohne Konto";
export const approvals = "Freigaben";
export const escalates = "Eskalation";
export const escalatesTo = ({ time, names }: { time: ReactNode; names: string | number }): ReactNode =>
  rich(time, " an ", names);
export const approve = "Freigeben";
export const decline = "Ablehnen";
export const confirmDecline = ({ step }: { step: string | number }): string =>
  `Freigabe „${step}“ ablehnen?`;
export const declineOfSeveral = ({ count, run }: { count: string | number; run: string | number }): string =>
  `${count} Personen müssen ablehnen, bevor der Lauf ${run} als abgelehnt weiterläuft. Sie können die Entscheidung später nicht ändern.`;
export const declineWorkflow = ({ run, workflow }: { run: string | number; workflow: string | number }): string =>
  `Der Lauf ${run} von ${workflow} läuft als abgelehnt weiter. Sie können die Entscheidung später nicht ändern.`;
export const declineStep = ({ run }: { run: string | number }): string =>
  `Der Lauf ${run} eines Einzelschritts läuft als abgelehnt weiter. Sie können die Entscheidung später nicht ändern.`;
export const yourDecision = "Ihre Entscheidung";
export const comment = "Kommentar";
export const commentHelp = "Optional. Der Lauf kann ihn lesen.";
export const refused = "Sie können hier nicht entscheiden";
export const inPlaceOf = ({ person }: { person: string | number }): string =>
  `Sie entscheiden anstelle von ${person}`;
export const inPlaceHelp = ({ person }: { person: string | number }): string =>
  `Das zählt als Entscheidung einer Person. ${person} kann dann nicht zusätzlich entscheiden.`;
export const notAssigned = "Die Freigabe ist Ihnen nicht zugewiesen";
export const overrideHelp = ({ assignees }: { assignees: string | number }): string =>
  `Als Admin können Sie anstelle von ${assignees} entscheiden. Das wird aufgezeichnet und zählt als Entscheidung einer Person.`;
export const whoDecides = "Editoren und Admins können entscheiden, außer wenn sie den Lauf gestartet oder geschrieben haben, was er ausführt.";
export const whoDecidesAssigned = ({ assignees }: { assignees: string | number }): string =>
  `Editoren und Admins können entscheiden, außer wenn sie den Lauf gestartet oder geschrieben haben, was er ausführt. Zugewiesen an ${assignees}.`;
export const decisions = ({ progress }: { progress: string | number }): string =>
  `Entscheidungen: ${progress}`;
export const happened = "Was bisher geschah";
export const noDecisions = "Bisher hat niemand entschieden.";
export const passOnToSomebody = "An andere Person weitergeben";
export const passOnTitle = "Freigabe weitergeben";
export const passedOn = ({ person }: { person: string | number }): string =>
  `An ${person} weitergegeben.`;
export const passOnHelp = "Die Person entscheidet an Ihrer Stelle und erhält eine E-Mail, wenn ein Mailserver konfiguriert ist. Sie können dann nicht mehr entscheiden.";
export const address = "E-Mail-Adresse";
export const note = "Notiz";
export const noteHelp = "Optional. Die Person liest sie.";
export const passOn = "Weitergeben";
export const events = "Entscheidungen und Ereignisse";
export const evidence = "Entscheidungsgrundlage";
export const evidenceOf = ({ name }: { name: string | number }): string =>
  `Entscheidungsgrundlage: ${name}`;
export const visits = "Wer die Links geöffnet hat";
export const noVisits = "Niemand hat einen Link aus einer E-Mail geöffnet.";
export const visit = ({ b, recipient, address, client, again, time }: { b: (children: ReactNode) => ReactNode; recipient: string | number; address: string | number; client: string | number; again: "false" | "true"; time: ReactNode }): ReactNode =>
  rich("Der Link an ", b(`${recipient}`), " wurde ", time, " von ", address, " mit ", client, " geöffnet", (again === "true" ? ", in einem anderen Browser: Die E-Mail wurde vielleicht weitergeleitet oder von einem Programm geprüft" : ""));
export const title = "Freigaben";
export const about = "Läufe, die auf die Entscheidung einer Person warten.";
export const statusFilter = "Status";
export const statusOption = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" | "pending" }): string =>
  (status === "pending" ? "Ausstehend" : status === "approved" ? "Freigegeben" : status === "declined" ? "Abgelehnt" : status === "expired" ? "Abgelaufen" : "Abgebrochen");
export const whose = "Zuständigkeit";
export const all = "Alle";
export const assignedToMe = "Mir zugewiesen";
export const decidable = "Entscheidbar";
export const clearRunFilter = "Filter nach Lauf zurücksetzen";
export const noneWithStatus = ({ status }: { status: "approved" | "cancelled" | "declined" | "expired" }): string =>
  (status === "approved" ? "Keine erteilten Freigaben" : status === "declined" ? "Keine abgelehnten Freigaben" : status === "expired" ? "Keine abgelaufenen Freigaben" : "Keine abgebrochenen Freigaben");
export const noneAssigned = "Ihnen sind keine Freigaben zugewiesen";
export const noneDecidable = "Keine Freigaben warten auf Ihre Entscheidung";
export const nonePending = "Es stehen keine Freigaben aus";
export const nonePendingHelp = "Ein Schritt vom Typ approval hält seinen Lauf an, bis jemand entscheidet. Neustarts ändern daran nichts. Standardmäßig darf nicht entscheiden, wer den Lauf gestartet oder geschrieben hat, was er ausführt.";
export const approvalStep = "Freigabeschritt";
export const changedSinceQuestion = "Seit der Anfrage geändert";
export const changedSinceDecision = "Seit der Entscheidung geändert";
export const changes = "Was sich geändert hat";
export const decisionIsForNow = "Ihre Entscheidung gilt für das, was jetzt laufen kann.";
export const assignee = ({ assignee }: { assignee: string }): string =>
  (assignee === "editor" ? "Editoren" : assignee === "admin" ? "Admins" : `${assignee}`);
export const progress = ({ approved, required }: { approved: string | number; required: string | number }): string =>
  `${approved} von ${required} freigegeben`;
export const progressWithDeclines = ({ approved, required, declined, requiredDeclines }: { approved: string | number; required: string | number; declined: string | number; requiredDeclines: string | number }): string =>
  `${approved} von ${required} freigegeben, ${declined} von ${requiredDeclines} abgelehnt`;
export const reviewChanged = "Was laufen kann, hat sich seit der Anfrage geändert. Prüfen Sie es, bevor Sie entscheiden.";
export const reviewOverride = ({ assignees }: { assignees: string | number }): string =>
  `Zugewiesen an ${assignees}. Als Admin können Sie an deren Stelle entscheiden.`;
export const reviewForm = "Zum Freigeben muss ein Formular ausgefüllt werden.";
export const reviewSteps = "Dann laufen mehr Schritte, als hier gezeigt werden.";
export const reviewHidden = "Dann läuft mehr, als hier gezeigt wird: ein Workflow eines anderen Projekts oder einer, der bei einem Fehlschlag läuft.";
export const outdated = ({ count, names }: { count: number; names: string | number }): string =>
  (pluralForm(count) === "one" ? `Die Entscheidung von ${names} zählt nicht mehr und kann neu getroffen werden.` : `Die Entscheidungen von ${names} zählen nicht mehr und können neu getroffen werden.`);
export const done = ({ choice }: { choice: "approve" | "decline" }): string =>
  `${(choice === "approve" ? "Freigegeben." : "Abgelehnt.")} Der Lauf geht weiter.`;
export const doneSoFar = ({ choice, progress }: { choice: "approve" | "decline"; progress: string | number }): string =>
  `${(choice === "approve" ? "Freigegeben." : "Abgelehnt.")} ${progress}.`;
