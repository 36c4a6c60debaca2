/** Generated from src/web/messages/de/reviews.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Prüfungen";
export const about = "Versionen, deren Veröffentlichung jemand vorschlägt. Eine andere Person entscheidet.";
export const statusFilter = "Status";
export const statusOption = ({ status }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "pending" ? "Ausstehend" : status === "approved" ? "Freigegeben" : status === "rejected" ? "Abgelehnt" : status === "withdrawn" ? "Zurückgezogen" : status === "replaced" ? "Ersetzt" : "Überholt");
export const noRequests = ({ status }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "pending" ? "Keine ausstehenden Änderungsvorschläge" : status === "approved" ? "Keine freigegebenen Änderungsvorschläge" : status === "rejected" ? "Keine abgelehnten Änderungsvorschläge" : status === "withdrawn" ? "Keine zurückgezogenen Änderungsvorschläge" : status === "replaced" ? "Keine ersetzten Änderungsvorschläge" : "Keine überholten Änderungsvorschläge");
export const noRequestsHelp = "Wo eine Prüfung verlangt wird, warten Veröffentlichungen von Agenten und Autoren hier auf eine andere Person.";
export const changeRequests = "Änderungsvorschläge";
export const publishVersion = ({ version, workflow }: { version: string | number; workflow: string | number }): string =>
  `Version ${version} von ${workflow} veröffentlichen`;
export const requested = ({ time }: { time: ReactNode }): ReactNode =>
  rich("vorgeschlagen ", time);
export const decidedBy = ({ status, person }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn"; person: string | number }): string =>
  (status === "pending" ? `ausstehend, ${person}` : status === "approved" ? `freigegeben von ${person}` : status === "rejected" ? `abgelehnt von ${person}` : status === "withdrawn" ? `zurückgezogen von ${person}` : status === "replaced" ? `ersetzt von ${person}` : `überholt durch ${person}`);
export const status = ({ status }: { status: "approved" | "outdated" | "pending" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "pending" ? "ausstehend" : status === "approved" ? "freigegeben" : status === "rejected" ? "abgelehnt" : status === "withdrawn" ? "zurückgezogen" : status === "replaced" ? "ersetzt" : "überholt");
export const waitsForReview = ({ version }: { version: string | number }): string =>
  `Version ${version} wartet auf Prüfung`;
export const asksToPublish = ({ person, link }: { person: string | number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(person, " schlägt vor, sie zu veröffentlichen. ", link("Änderung prüfen"));
export const changeRequest = "Änderungsvorschlag";
export const notFound = "Änderungsvorschlag nicht gefunden";
export const pendingRequests = "Ausstehende Änderungsvorschläge";
export const noReason = "Kein Grund angegeben.";
export const hasChanged = "Seit dem Vorschlag hat sich etwas geändert";
export const hasChangedHelp = "Ein aufgerufener Workflow, die Konfiguration oder die veröffentlichte Version ist inzwischen eine andere. Ihre Entscheidung gilt für das, was diese Seite zeigt.";
export const allNew = "Der ganze Workflow ist neu";
export const tooLong = "Er ist zu lang, um ihn hier anzuzeigen. Öffnen Sie den Workflow, um ihn zu lesen.";
export const workflow = "Workflow";
export const project = "Projekt";
export const publishedWhenRequested = "Beim Vorschlag veröffentlicht";
export const nothing = "nichts";
export const versionNumber = ({ version }: { version: string | number }): string =>
  `Version ${version}`;
export const requestedBy = "Vorgeschlagen von";
export const requestedAt = "Vorgeschlagen";
export const runsCanDo = "Was die Läufe tun können";
export const goesLive = "Was aktiv wird";
export const noSchedule = "Kein Zeitplan: Er läuft nur, wenn er gestartet oder aufgerufen wird.";
export const schedule = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich("Er läuft von selbst: ", cron, " (", timezone, ").");
export const trigger = ({ name, signed, scheme, conditional, condition }: { name: ReactNode; signed: "no" | "yes"; scheme: string | number; conditional: "no" | "yes"; condition: ReactNode }): ReactNode =>
  rich("Der Webhook ", name, " startet ihn: ", (signed === "no" ? "Jeder, der die URL hat, kann ihn auslösen" : `Zustellungen brauchen eine Signatur (${scheme})`), (conditional === "no" ? "" : rich("; ein Lauf startet nur, wenn ", condition)), ".");
export const mustSucceed = ({ every, others, mails }: { every: string | number; others: "no" | "yes"; mails: string | number }): string =>
  `Er muss alle ${every} erfolgreich laufen: Sonst gibt es einen Alarm, mit einer E-Mail an die Person, die ihn veröffentlicht${(others === "no" ? "" : `, und an ${mails}`)}.`;
export const savesState = ({ names }: { names: string | number }): string =>
  `Er speichert Workflow-Zustand: ${names}.`;
export const asTool = ({ reaches, effects }: { reaches: "no" | "yes"; effects: string | number }): string =>
  `Agenten erhalten ihn als eigenes Tool, sobald ein Admin das erlaubt; die Freigabe durch einen Admin genügt.${(reaches === "no" ? "" : ` Seine Läufe erreichen: ${effects}.`)}`;
export const breaksCallers = ({ workflows }: { workflows: string | number }): string =>
  `Diese Aufrufer funktionieren danach nicht mehr: ${workflows}.`;
export const examples = "Beispiele";
export const noExamples = "Er hat keine Beispiele.";
export const exampleNumber = ({ number }: { number: string | number }): string =>
  `Beispiel ${number}`;
export const exampleResult = ({ name, result, step, run }: { name: string | number; result: "compared" | "partial" | "succeeded"; step: string | number; run: ReactNode }): ReactNode =>
  rich(name, ": ", (result === "partial" ? `geprüft bis ${step}, der Effekte hat` : result === "compared" ? "lieferte, was es erwartet" : "erfolgreich"), " (", run, ")");
export const outcome = ({ status }: { status: "approved" | "outdated" | "rejected" | "replaced" | "withdrawn" }): string =>
  (status === "approved" ? "Freigegeben: Die Version wurde veröffentlicht" : status === "rejected" ? "Abgelehnt" : status === "withdrawn" ? "Zurückgezogen" : status === "replaced" ? "Durch einen neueren Vorschlag ersetzt" : "Überholt: Die Veröffentlichung des Workflows wurde aufgehoben, er wurde archiviert oder verschoben, oder er wurde ohne diesen Vorschlag veröffentlicht");
export const decidedByAt = ({ person, time }: { person: string | number; time: ReactNode }): ReactNode =>
  rich("Von ", person, ", ", time);
export const quoted = ({ comment }: { comment: string | number }): string =>
  `„${comment}“`;
export const published = ({ version }: { version: string | number }): string =>
  `Version ${version} ist veröffentlicht.`;
export const rejected = "Abgelehnt. Es wurde nichts veröffentlicht.";
export const withdrawn = "Der Änderungsvorschlag ist zurückgezogen.";
export const yourDecision = "Ihre Entscheidung";
export const cantDecide = "Sie können hier nicht entscheiden";
export const anotherDecides = ({ reason }: { reason: string | number }): string =>
  `${reason} Eine andere Person, die veröffentlichen darf, entscheidet.`;
export const comment = "Kommentar";
export const commentHelp = "Für eine Ablehnung nötig: Der Kommentar sagt, was zu ändern ist.";
export const approve = "Freigeben und veröffentlichen";
export const reject = "Ablehnen";
export const withdraw = "Zurückziehen";
