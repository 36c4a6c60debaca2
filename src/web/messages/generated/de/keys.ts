/** Generated from src/web/messages/de/keys.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const pageTitle = "API-Schlüssel";
export const pageAbout = "Agenten und Skripte senden mit jeder Anfrage einen Schlüssel. Er darf, was seine Berechtigungen und Ihre Rolle erlauben.";
export const createNew = "API-Schlüssel erstellen";
export const showEveryone = "Schlüssel aller Benutzer anzeigen";
export const noKeys = "Noch keine Schlüssel";
export const noKeysHelp = "Agenten brauchen einen Schlüssel, um sich über MCP zu verbinden, und Skripte für die REST-API.";
export const name = "Name";
export const owner = "Besitzer";
export const key = "Schlüssel";
export const scopes = "Berechtigungen";
export const created = "Erstellt";
export const expires = "Ablauf";
export const lastUsed = "Zuletzt verwendet";
export const actions = "Aktionen";
export const never = "nie";
export const keyTimes = ({ created, expiry, expires, use, used }: { created: ReactNode; expiry: "never" | "set"; expires: ReactNode; use: "before" | "never"; used: ReactNode }): ReactNode =>
  rich("Erstellt ", created, ", ", (expiry === "never" ? "läuft nie ab" : rich("Ablauf ", expires)), ", ", (use === "never" ? "nie verwendet" : rich("verwendet ", used)));
export const keyRevoked = ({ name }: { name: string | number }): string =>
  `Der Schlüssel „${name}“ wurde widerrufen.`;
export const revokeKeyFailed = "Der Schlüssel konnte nicht widerrufen werden";
export const actionsFor = ({ name }: { name: string | number }): string =>
  `Aktionen für den Schlüssel ${name}`;
export const changes = "Änderungen";
export const rotateMenu = "Rotieren …";
export const revokeMenu = "Widerrufen …";
export const revokeKeyTitle = ({ name }: { name: string | number }): string =>
  `Schlüssel „${name}“ widerrufen?`;
export const revokeKeyConsequence = ({ lastFour }: { lastFour: string | number }): string =>
  `Anfragen mit dem Schlüssel, der auf ${lastFour} endet, werden ab jetzt abgelehnt. Das lässt sich nicht rückgängig machen.`;
export const revoke = "Widerrufen";
export const applications = "Verbundene Anwendungen";
export const applicationsHelp = "Benutzer haben diese Anwendungen durch ihre Anmeldung verbunden. Der Zugriff endet, wenn er widerrufen oder eine Zeit lang nicht genutzt wird.";
export const applicationAt = ({ host }: { host: string | number }): string =>
  `Anwendung auf ${host}`;
export const applicationTimes = ({ created, count, use, used }: { created: ReactNode; count: number; use: "before" | "never"; used: ReactNode }): ReactNode =>
  rich("Verbunden ", created, (count === 0 ? "" : pluralForm(count) === "one" ? "" : ` (${formatNumber(count)}-mal)`), ", ", (use === "never" ? "nie verwendet" : rich("zuletzt verwendet ", used)));
export const accessRevoked = ({ name }: { name: string | number }): string =>
  `Der Zugriff von „${name}“ wurde widerrufen.`;
export const revokeAccessFailed = "Der Zugriff konnte nicht widerrufen werden";
export const revokeAccessOf = ({ name }: { name: string | number }): string =>
  `Zugriff von ${name} widerrufen`;
export const revokeAccessTitle = ({ name }: { name: string | number }): string =>
  `Zugriff von „${name}“ widerrufen?`;
export const revokeAccessConsequence = ({ host }: { host: string | number }): string =>
  `Die Anwendung auf ${host} verliert ihren Zugriff sofort. Sie kann erneut um Zugriff bitten.`;
export const state = ({ state }: { state: "active" | "expired" | "expiring" | "owner_inactive" | "owner_unknown" | "revoked" }): string =>
  (state === "active" ? "aktiv" : state === "expiring" ? "läuft bald ab" : state === "expired" ? "abgelaufen" : state === "revoked" ? "widerrufen" : state === "owner_inactive" ? "Besitzer deaktiviert" : "Besitzer unbekannt");
export const area = ({ limits }: { limits: string | number }): string =>
  `Nur ${limits}`;
export const areaNames = ({ kind, names }: { kind: "databases" | "models" | "projects" | "tools" | "workflows"; names: string | number }): string =>
  `${(kind === "projects" ? "Projekte" : kind === "workflows" ? "Workflows" : kind === "tools" ? "Tools" : kind === "databases" ? "Datenbanken" : "Modelle")}: ${names}`;
export const createTitle = "API-Schlüssel erstellen";
export const nameHelp = "Wofür der Schlüssel ist. Das Audit-Log und seine Läufe zeigen diesen Namen.";
export const expirationDate = "Ablaufdatum";
export const in7Days = "In 7 Tagen";
export const in30Days = "In 30 Tagen";
export const in90Days = "In 90 Tagen";
export const in1Year = "In 1 Jahr";
export const customDate = "Eigenes Datum";
export const neverExpires = "Nie";
export const lastDay = "Letzter Tag";
export const lastDayHelp = "Der Schlüssel läuft am Ende dieses Tages (UTC) ab.";
export const selectDate = "Datum wählen";
export const scopesHelp = "Was der Schlüssel darf, in den Grenzen Ihrer Rolle.";
export const scopeRead = "Workflows, Läufe und Freigaben ansehen. Teil jedes Schlüssels.";
export const scopeWrite = "Entwürfe erstellen, ändern und archivieren.";
export const scopePublish = "Veröffentlichen, Veröffentlichungen aufheben, Veröffentlichtes archivieren; Zeitpläne pausieren und fortsetzen.";
export const scopeRun = "Läufe starten, abbrechen und wiederholen.";
export const scopeApprove = "Freigaben erteilen oder ablehnen.";
export const scopeAdmin = "Das Audit-Log lesen.";
export const limitFurther = "Weiter einschränken";
export const create = "Erstellen";
export const shownOnce = "Der Schlüssel wird nur einmal angezeigt, direkt nach dem Erstellen.";
export const all = "Alle";
export const projects = "Projekte";
export const projectsHelp = "Standard: Ihr einziges Projekt, sonst das Standardprojekt.";
export const workflows = "Workflows";
export const workflowsHelp = "Er kann nur diese sehen und ausführen und keine ändern.";
export const tools = "Tools";
export const toolsHelp = "Er kann nur diese Operationen verwenden, zum Beispiel run_workflow, get_run.";
export const databases = "Datenbanken";
export const models = "Modelle";
export const newKeyTitle = ({ name }: { name: string | number }): string =>
  `API-Schlüssel „${name}“`;
export const createdEarlier = "Der Schlüssel wurde bereits erstellt";
export const createdEarlierHelp = "Sein Wert wurde schon angezeigt. Wenn Sie ihn nicht gespeichert haben, widerrufen Sie den Schlüssel und erstellen Sie einen anderen.";
export const copyNow = "Kopieren Sie den Schlüssel jetzt";
export const copyNowHelp = "Sie sehen ihn nicht noch einmal. Bewahren Sie ihn wie ein Passwort auf: Wer ihn hat, kann in Ihrem Namen handeln.";
export const apiKey = "API-Schlüssel";
export const tryIt = "Ausprobieren";
export const curlCommand = "curl-Befehl";
export const connectAgent = "Agent verbinden";
export const done = "Fertig";
export const doneSaved = "Fertig, ich habe ihn gespeichert";
export const rotateTitle = ({ name }: { name: string | number }): string =>
  `Schlüssel „${name}“ rotieren`;
export const rotateHelp = ({ lastFour }: { lastFour: string | number }): string =>
  `Sie erhalten einen neuen Schlüssel mit demselben Namen und denselben Berechtigungen. Der alte, der auf ${lastFour} endet, kann noch eine Weile gültig bleiben, damit Sie Zeit haben, ihn zu ersetzen.`;
export const keepOldFor = "Alter Schlüssel bleibt gültig für";
export const overlapNone = "Gar nicht: sofort widerrufen";
export const overlap1Hour = "1 Stunde";
export const overlap24Hours = "24 Stunden";
export const overlap7Days = "7 Tage";
export const overlap30Days = "30 Tage";
export const rotate = "Rotieren";
export const keyTitle = "API-Schlüssel";
export const keyTitleOf = ({ name }: { name: string | number }): string =>
  `API-Schlüssel „${name}“`;
export const allKeys = "Alle API-Schlüssel";
export const changesTitle = "Änderungen eines Schlüssels";
export const changesTitleOf = ({ name }: { name: string | number }): string =>
  `Änderungen des Schlüssels „${name}“`;
export const changesAbout = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Was der Schlüssel geändert hat, zusammen mit seinen Vorgängern und Nachfolgern. ", link("API-Schlüssel"));
export const since = "Zeitraum";
export const lastHour = "1 Stunde";
export const lastDayPeriod = "1 Tag";
export const lastWeek = "1 Woche";
export const program = "Programm";
export const allPrograms = "Alle Programme";
export const clearProgram = "Programm zurücksetzen";
export const includeLater = "Auch Workflows, die andere später geändert haben";
export const everythingReverted = "Alles ist rückgängig gemacht";
export const noWorkflowsChanged = "Keine Workflows geändert";
export const alreadyReverted = ({ count }: { count: number }): string =>
  `Die Änderungen an ${(pluralForm(count) === "one" ? `${formatNumber(count)} Workflow` : `${formatNumber(count)} Workflows`)} sind bereits rückgängig gemacht.`;
export const noWorkflowsHelp = "Der Schlüssel hat in dieser Zeit keinen Workflow geändert, den Sie sehen können.";
export const revertOne = ({ name }: { name: string | number }): string =>
  `${name} zurücksetzen`;
export const revertTitle = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Workflow` : `${formatNumber(count)} Workflows`)} zurücksetzen?`;
export const revertConsequence = "Jeder erhält als neue Version, was er vor der Änderung durch den Schlüssel war. Vom Verlauf geht nichts verloren. Läufe, die die veröffentlichten Versionen verwenden, sind sofort betroffen.";
export const revertConfirm = "Zurücksetzen";
export const revert = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Workflow` : `${formatNumber(count)} Workflows`)} zurücksetzen`;
export const cantRevert = ({ list }: { list: string | number }): string =>
  `Nicht rückgängig zu machen: ${list}.`;
export const notRevertible = ({ kind, count }: { kind: "approvals_decided" | "runs_cancelled" | "runs_retried" | "runs_started" | "states_set"; count: number }): string =>
  (kind === "runs_started" ? (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf gestartet` : `${formatNumber(count)} Läufe gestartet`) : kind === "runs_retried" ? (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf wiederholt` : `${formatNumber(count)} Läufe wiederholt`) : kind === "runs_cancelled" ? (pluralForm(count) === "one" ? `${formatNumber(count)} Lauf abgebrochen` : `${formatNumber(count)} Läufe abgebrochen`) : kind === "approvals_decided" ? (pluralForm(count) === "one" ? `${formatNumber(count)} Freigabe entschieden` : `${formatNumber(count)} Freigaben entschieden`) : (pluralForm(count) === "one" ? `${formatNumber(count)} Workflow-Zustand gesetzt` : `${formatNumber(count)} Workflow-Zustände gesetzt`));
export const matchedByName = "Einige Änderungen sind über den Namen zugeordnet";
export const matchedByNameHelp = ({ owner, name }: { owner: string | number; name: string | number }): string =>
  `Eine ältere Version von Millrace hat sie ohne den Schlüssel aufgezeichnet. Sie stammen von ${owner} mit einem Schlüssel namens „${name}“.`;
export const recordsShorter = "Die Aufzeichnungen reichen nicht so weit zurück";
export const recordsSince = ({ time }: { time: ReactNode }): ReactNode =>
  rich("Das Audit-Log beginnt am ", time, ". Frühere Änderungen werden nicht angezeigt.");
export const remaining = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} weiterer Workflow` : `${formatNumber(count)} weitere Workflows`);
export const remainingHelp = "Setzen Sie zuerst diese zurück. Danach werden die anderen angezeigt.";
export const outcome = ({ outcome }: { outcome: "reverted" | "revertible" | "skipped" | "unchanged" }): string =>
  (outcome === "revertible" ? "kann zurückgesetzt werden" : outcome === "reverted" ? "zurückgesetzt" : outcome === "skipped" ? "übersprungen" : "nichts zurückzusetzen");
export const editedVersion = ({ version }: { version: string | number }): string =>
  `Version ${version} bearbeitet`;
export const editedVersions = ({ from, to }: { from: string | number; to: string | number }): string =>
  `Versionen ${from}–${to} bearbeitet`;
export const change = ({ change, version, count }: { change: "archived" | "created" | "exposure_allowed" | "exposure_withdrawn" | "moved" | "published" | "restored" | "schedule_paused" | "schedule_resumed" | "unpublished"; version: string | number; count: number }): string =>
  `${(change === "created" ? "erstellt" : change === "archived" ? "archiviert" : change === "restored" ? "wiederhergestellt" : change === "published" ? `Version ${version} veröffentlicht` : change === "unpublished" ? "Veröffentlichung aufgehoben" : change === "schedule_paused" ? "Zeitplan pausiert" : change === "schedule_resumed" ? "Zeitplan fortgesetzt" : change === "exposure_allowed" ? "als Tool erlaubt" : change === "exposure_withdrawn" ? "als Tool zurückgezogen" : "verschoben")}${(count === 2 ? " (zweimal)" : pluralForm(count) === "one" ? "" : ` (${formatNumber(count)}-mal)`)}`;
export const reverted = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Workflow` : `${formatNumber(count)} Workflows`)} zurückgesetzt`;
export const revertedAll = "Alles, was Sie ausgewählt haben, ist wieder wie zuvor.";
export const revertedSome = "Die übersprungenen sind unverändert. Die Gründe stehen unten.";
