/** Generated from src/web/messages/de/workflows.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const cancel = "Abbrechen";
export const close = "Schließen";
export const save = "Speichern";
export const edit = "Bearbeiten";
export const publish = "Veröffentlichen";
export const restore = "Wiederherstellen";
export const run = "Lauf";
export const runButton = "Ausführen";
export const newWorkflow = "Neuer Workflow";
export const backToWorkflow = "Zurück zum Workflow";
export const changeNote = "Änderungsnotiz (optional)";
export const changeNoteHelp = "Steht im Verlauf.";
export const versionLabel = ({ version }: { version: string | number }): string =>
  `Version ${version}`;
export const definitionOf = ({ name }: { name: string | number }): string =>
  `Definition von ${name}`;
export const noDefinition = "Noch keine Definition";
export const archivedWorkflow = "Archivierter Workflow";
export const status = ({ status }: { status: "archived" | "draft" | "published" }): string =>
  (status === "draft" ? "Entwurf" : status === "published" ? "veröffentlicht" : "archiviert");
export const inProjectsYouCantSee = "Workflows in Projekten, die Sie nicht sehen können";
export const existing = ({ existing }: { existing: "repeat" | "repeat_failed" | "skip" }): string =>
  (existing === "skip" ? "Überspringen" : existing === "repeat_failed" ? "Erneut ausführen, wenn fehlgeschlagen" : "Erneut ausführen");
export const backfillStarted = ({ count, name }: { count: number; name: string | number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} vergangener Termin` : `${formatNumber(count)} vergangene Termine`)} von „${name}“ gestartet.`;
export const backfillTitle = "Vergangene Termine nachholen";
export const backfillHelp = "Startet einen Lauf für jeden Termin des Zeitplans in diesem Zeitraum, den ältesten zuerst. Jeder Lauf liest seinen Termin als run.scheduled_for. Andere Läufe haben Vorrang.";
export const backfillFrom = ({ timezone }: { timezone: string | number }): string =>
  `Von (${timezone})`;
export const backfillTo = ({ timezone }: { timezone: string | number }): string =>
  `Bis einschließlich (${timezone})`;
export const runsAtATime = "Gleichzeitige Läufe";
export const timesWithRun = "Termine mit einem Lauf";
export const checkRange = "Prüfen Sie den Zeitraum";
export const showTimes = "Termine anzeigen";
export const startRuns = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Lauf` : `${formatNumber(count)} Läufe`)} starten`;
export const backfillPreview = ({ total, starts, version }: { total: number; starts: number; version: string | number }): string =>
  `${(pluralForm(total) === "one" ? `${formatNumber(total)} Termin` : `${formatNumber(total)} Termine`)} in diesem Zeitraum; ${(pluralForm(starts) === "one" ? `${formatNumber(starts)} Lauf` : `${formatNumber(starts)} Läufe`)} von Version ${version} würden starten.`;
export const beforeYouStart = "Vor dem Start";
export const times = "Termine";
export const timeColumn = ({ timezone }: { timezone: string | number }): string =>
  `Termin (${timezone})`;
export const slotAction = ({ action }: { action: "skip" | "start" }): string =>
  (action === "start" ? "Startet" : "Übersprungen");
export const slotActionOfRun = ({ action, run }: { action: "skip" | "start"; run: ReactNode }): ReactNode =>
  rich((action === "start" ? "Startet" : "Übersprungen"), ": ", run);
export const moreTimes = ({ count }: { count: number }): string =>
  `Und ${formatNumber(count)} weitere.`;
export const backfills = "Backfills";
export const pastRuns = ({ range }: { range: string | number }): string =>
  `Nachgeholte Läufe: ${range}`;
export const rangeText = ({ from, to, timezone }: { from: string | number; to: string | number; timezone: string | number }): string =>
  `${from} bis ${to} (${timezone})`;
export const dayText = ({ day, timezone }: { day: string | number; timezone: string | number }): string =>
  `${day} (${timezone})`;
export const backfillStatus = ({ status }: { status: "cancelled" | "failed" | "finished" | "running" }): string =>
  (status === "running" ? "läuft" : status === "finished" ? "beendet" : status === "failed" ? "fehlgeschlagen" : "abgebrochen");
export const timesHandled = ({ handled, total }: { handled: number; total: number }): string =>
  `${formatNumber(handled)} von ${(pluralForm(total) === "one" ? `${formatNumber(total)} Termin` : `${formatNumber(total)} Terminen`)} bearbeitet`;
export const backfillProgress = ({ started, total, skipped, failed, link }: { started: number; total: number; skipped: number; failed: number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(formatNumber(started), " von ", (pluralForm(total) === "one" ? `${formatNumber(total)} Lauf` : `${formatNumber(total)} Läufen`), " gestartet", (skipped === 0 ? "" : pluralForm(skipped) === "one" ? `, ${formatNumber(skipped)} übersprungen` : `, ${formatNumber(skipped)} übersprungen`), (failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${formatNumber(failed)} fehlgeschlagen` : `, ${formatNumber(failed)} fehlgeschlagen`), ". ", link("Läufe anzeigen"));
export const backfillStopped = "Es werden keine weiteren Läufe nachgeholt.";
export const backfillStopFailed = "Das Nachholen konnte nicht gestoppt werden";
export const stopBackfillTitle = "Keine weiteren Läufe nachholen?";
export const stopBackfillHelp = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Lauf startet` : `${formatNumber(count)} Läufe starten`)} nicht. Bereits gestartete Läufe werden fortgesetzt.`;
export const startNoMore = "Nicht weiter nachholen";
export const stop = "Stoppen";
export const wouldBreak = ({ refused, count }: { refused: string | number; count: number }): string =>
  `${refused}: ${(pluralForm(count) === "one" ? `${formatNumber(count)} Workflow würde` : `${formatNumber(count)} Workflows würden`)} nicht mehr funktionieren`;
export const wouldBreakHelp = "Sie führen diesen Workflow aus und passen nicht zu dieser Änderung. Behalten Sie bei, was sie benötigen, oder bestätigen Sie jeden einzeln.";
export const breakHidden = "Workflows in Projekten, die Sie nicht sehen können, dürfen ausfallen";
export const errorsOf = ({ id }: { id: string | number }): string =>
  `Fehler von ${id}`;
export const breakCaller = ({ id }: { id: string | number }): string =>
  `${id} darf ausfallen`;
export const discardTitle = "Ihre Änderungen verwerfen?";
export const discardHelp = ({ name, version }: { name: string | number; version: string | number }): string =>
  `Ihre Änderungen an der Definition von „${name}“ gehen verloren und werden durch Version ${version} ersetzt.`;
export const discardChanges = "Änderungen verwerfen";
export const conflictTitle = "Widersprüchliche Änderungen";
export const conflictHelp = ({ base, version }: { base: string | number; version: string | number }): string =>
  `Sie haben mit Version ${base} begonnen, inzwischen wurde jedoch Version ${version} gespeichert. Ihre Änderungen sind noch nicht gespeichert.`;
export const yourDraft = "Ihr Entwurf";
export const conflictLines = ({ version }: { version: string | number }): string =>
  `Als entfernt markierte Zeilen gibt es nur in Version ${version}. Kopieren Sie die benötigten Zeilen in Ihren Entwurf und speichern Sie ihn dann als nächste Version.`;
export const discardMyChanges = "Meine Änderungen verwerfen";
export const keepEditing = "Weiter bearbeiten";
export const versionAuthor = ({ version, author, time }: { version: string | number; author: string | number; time: ReactNode }): ReactNode =>
  rich("Version ", version, " von ", author, ", ", time, ". Keine Änderungsnotiz.");
export const versionAuthorNote = ({ version, author, time, reason }: { version: string | number; author: string | number; time: ReactNode; reason: string | number }): ReactNode =>
  rich("Version ", version, " von ", author, ", ", time, ": „", reason, "“");
export const template = "Vorlage";
export const createAndEdit = "Erstellen und bearbeiten";
export const savedAsDraft = "Wird als Entwurf gespeichert. Es läuft nichts, bis Sie ihn starten oder veröffentlichen.";
export const noDefinitionHelp = "Bearbeiten Sie den Workflow, um eine zu schreiben.";
export const definitionNoun = "Definition";
export const download = "Herunterladen";
export const format = "Format";
export const formatName = ({ format }: { format: "json" | "yaml" }): string =>
  (format === "yaml" ? "YAML" : "JSON");
export const nameChanged = ({ before, after }: { before: string | number; after: string | number }): string =>
  `Name von „${before}“ zu „${after}“ geändert.`;
export const tagsAdded = ({ count, tags }: { count: number; tags: string | number }): string =>
  `${(pluralForm(count) === "one" ? "Tag" : "Tags")} hinzugefügt: ${tags}.`;
export const tagsRemoved = ({ count, tags }: { count: number; tags: string | number }): string =>
  `${(pluralForm(count) === "one" ? "Tag" : "Tags")} entfernt: ${tags}.`;
export const tagsReordered = "Reihenfolge der Tags geändert.";
export const descriptionAdded = ({ after }: { after: string | number }): string =>
  `Beschreibung hinzugefügt: „${after}“`;
export const descriptionRemoved = ({ before }: { before: string | number }): string =>
  `Beschreibung entfernt: „${before}“`;
export const descriptionChanged = ({ before, after }: { before: string | number; after: string | number }): string =>
  `Beschreibung von „${before}“ zu „${after}“ geändert`;
export const quoted = ({ text }: { text: string | number }): string =>
  `„${text}“`;
export const savedAs = ({ version }: { version: string | number }): string =>
  `Als Version ${version} gespeichert.`;
export const editDetails = "Details bearbeiten";
export const saveAnyway = "Trotzdem speichern";
export const name = "Name";
export const description = "Beschreibung";
export const descriptionHelp = "Was der Workflow tut, in ein oder zwei Sätzen. Danach wählen Agenten und Menschen Workflows aus.";
export const tags = "Tags";
export const tagsHelp = "Zum Filtern. Mit Enter fügen Sie ein Tag hinzu.";
export const changedByOther = "Von jemand anderem geändert";
export const changedByOtherHelp = "Ihre Änderungen sind noch nicht gespeichert. Seit Sie diesen Dialog geöffnet haben:";
export const definitionChanged = "Die Definition wurde geändert. Beim Speichern bleibt sie erhalten.";
export const workflowIsNow = ({ status, version }: { status: "archived" | "draft" | "published"; version: string | number }): string =>
  `Der Workflow ist jetzt ${(status === "draft" ? "ein Entwurf" : status === "published" ? "veröffentlicht" : "archiviert")}, Version ${version}.`;
export const editTitle = ({ name }: { name: string | number }): string =>
  `${name} bearbeiten`;
export const restoreToEdit = "Stellen Sie den Workflow wieder her, um ihn zu bearbeiten.";
export const draftState = ({ version, state }: { version: string | number; state: "changed" | "saved" }): string =>
  `Version ${version}, ${(state === "changed" ? "nicht gespeicherte Änderungen" : "gespeichert")}`;
export const draftStateWithPublished = ({ version, state, published }: { version: string | number; state: "changed" | "saved"; published: string | number }): string =>
  `Version ${version}, ${(state === "changed" ? "nicht gespeicherte Änderungen" : "gespeichert")}; Version ${published} ist veröffentlicht`;
export const back = "Zurück";
export const notSavedSyntax = "Nicht gespeichert: Die Definition hat Syntaxfehler. Sie sind im Text markiert und darunter aufgelistet.";
export const formatButton = "Formatieren";
export const fixSyntaxFirst = "Beheben Sie zuerst die Syntaxfehler.";
export const graph = "Graph";
export const steps = "Schritte";
export const graphFailedInEditor = "Der Graph konnte nicht gezeichnet werden. Ihr Text ist davon nicht betroffen.";
export const showsLastValid = "Zeigt den letzten Stand ohne Syntaxfehler.";
export const changesToDefinition = ({ name }: { name: string | number }): string =>
  `Ihre Änderungen an der Definition von „${name}“`;
export const dataTool = "Daten";
export const dataToolTitle = "Datenbanken";
export const testTool = "Test";
export const besideEditor = "Neben dem Editor";
export const placeCursorInQuery = "Setzen Sie den Cursor in die Abfrage eines sql-Schritts, oder fügen Sie einen Schritt hinzu, der die Tabelle liest.";
export const nothingInserted = "Es wurde nichts eingefügt";
export const exposureRequested = "Noch kein Tool für Agenten";
export const exposureRequestedHelp = ({ author, version }: { author: string | number; version: string | number }): string =>
  `${author} möchte Version ${version} als eigenes Tool für Agenten bereitstellen. Sie würden diese Texte lesen. Erlauben Sie es nur, wenn die Texte den Workflow beschreiben und niemandem Anweisungen geben.`;
export const allowAsTool = "Als Tool erlauben";
export const exposureNotAllowed = "Er ist veröffentlicht, aber Agenten erhalten ihn erst als eigenes Tool, wenn ein Admin es erlaubt.";
export const exposureAllowed = "Ein Tool für Agenten";
export const exposureAllowedBy = ({ by }: { by: string | number }): string =>
  `Agenten erhalten ihn als eigenes Tool. Erlaubt von ${by}.`;
export const exposureAllowedByAt = ({ by, time }: { by: string | number; time: ReactNode }): ReactNode =>
  rich("Agenten erhalten ihn als eigenes Tool. Erlaubt von ", by, " ", time, ".");
export const withdraw = "Zurückziehen";
export const inputs = "Eingaben";
export const none = "keine";
export const noEffects = "Seine Läufe erreichen nichts außerhalb von Millrace.";
export const readOnlyEffects = "Er ist als nur lesend angekündigt. Seine Läufe erreichen:";
export const effects = "Seine Läufe erreichen, auch über Workflows, die er ausführt:";
export const allowedAsTool = "Agenten erhalten diesen Workflow jetzt als Tool.";
export const allowFailed = "Die Bereitstellung konnte nicht erlaubt werden";
export const withdrawn = "Agenten erhalten diesen Workflow nicht mehr als Tool.";
export const withdrawFailed = "Die Bereitstellung konnte nicht zurückgezogen werden";
export const sortUpdated = "Zuletzt geändert";
export const sortNewest = "Neueste zuerst";
export const sortOldest = "Älteste zuerst";
export const sortNameUp = "Name, A bis Z";
export const sortNameDown = "Name, Z bis A";
export const tooManyWords = ({ max }: { max: number }): string =>
  `Höchstens ${formatNumber(max)} verschiedene Wörter`;
export const tooManyCharacters = ({ max }: { max: number }): string =>
  `Höchstens ${formatNumber(max)} Zeichen`;
export const onlyFirstGrouped = ({ count }: { count: string | number }): string =>
  `Nur die ersten ${count} Workflows sind gruppiert. Suchen oder filtern Sie, um andere zu finden.`;
export const noTag = "Ohne Tag";
export const exampleName = ({ number }: { number: string | number }): string =>
  `Beispiel ${number}`;
export const didYouMean = ({ name }: { name: string | number }): string =>
  `Meinten Sie ${name}?`;
export const searchWorkflows = "Workflows suchen";
export const search = "Suchen";
export const filterByTag = "Nach Tag filtern";
export const tag = "Tag";
export const clearTag = "Tag zurücksetzen";
export const statusFilter = "Status";
export const notArchived = "Nicht archiviert";
export const statusOption = ({ status }: { status: "archived" | "draft" | "published" }): string =>
  (status === "draft" ? "Entwurf" : status === "published" ? "Veröffentlicht" : "Archiviert");
export const sortBy = "Sortieren nach";
export const groupByTag = "Nach Tag gruppieren";
export const workflows = "Workflows";
export const noDescription = "Keine Beschreibung";
export const filterByThisTag = ({ tag }: { tag: string | number }): string =>
  `Nach Tag ${tag} filtern`;
export const noRuns = "Noch keine Läufe";
export const workflowCount = ({ count, total }: { count: number; total: string | number }): string =>
  (pluralForm(count) === "one" ? `${total} Workflow` : `${total} Workflows`);
export const noMatches = "Keine passenden Workflows";
export const clearFilters = "Filter zurücksetzen";
export const noMatchesHelp = "Durchsucht werden Namen, IDs, Beschreibungen und Tags. Um archivierte Workflows zu sehen, wählen Sie den Status „Archiviert“.";
export const agentPrompt = "Erstelle in Millrace einen Workflow, der im Beispiel-Shop\nden Umsatz einer Woche nach Region abfragt, prüfe ihn, führe ihn aus,\nund veröffentliche ihn, wenn die Zahlen stimmen.";
export const noWorkflowsHelp = "Noch keine Workflows. Ein Workflow ist eine Liste von Schritten (Abfragen, Modellaufrufe, HTTP-Anfragen, Freigaben), die vor dem Lauf geprüft wird und jedes Mal gleich abläuft.";
export const askAgent = "Einen Agenten bitten";
export const agentPromptLabel = "Prompt für einen Agenten";
export const connectAgentFirst = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(link("Verbinden Sie zuerst einen Agenten"), "; das dauert eine Minute.");
export const apiOption = "Die API verwenden";
export const curlCommand = "curl-Befehl";
export const createKeyFirst = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich(link("Erstellen Sie einen API-Schlüssel"), " mit der Berechtigung write.");
export const editorOption = "Den Editor verwenden";
export const editorOptionHelp = "Beginnen Sie mit einer Vorlage oder ganz von vorn. Der Editor ergänzt und prüft während der Eingabe.";
export const mayNotCreate = "Mit Ihrer Rolle können Sie keine Workflows erstellen. Ein Admin kann sie ändern.";
export const publishWarning = ({ path, message, more }: { path: string | number; message: string | number; more: number }): string =>
  `${path} ${message}${(more === 0 ? "" : pluralForm(more) === "one" ? ` Und ${formatNumber(more)} weitere.` : ` Und ${formatNumber(more)} weitere.`)}`;
export const publishedVersion = ({ version, name }: { version: string | number; name: string | number }): string =>
  `Version ${version} von „${name}“ veröffentlicht.`;
export const reviewFirst = "Noch ist nichts veröffentlicht: Zuerst prüft eine andere Person die Version.";
export const nothingToPublish = "Diese Version hat keine Definition, die veröffentlicht werden kann.";
export const checking = "Datenbanken, Modelle und Server werden geprüft …";
export const fixErrorsFirst = ({ count }: { count: number }): string =>
  `Beheben Sie zuerst ${(pluralForm(count) === "one" ? `${formatNumber(count)} Fehler` : `${formatNumber(count)} Fehler`)}`;
export const errors = "Fehler";
export const notPublished = "Nicht veröffentlicht";
export const publishConflict = "Jemand anderes hat diesen Workflow geändert. Es wurde nichts veröffentlicht. Schließen Sie diesen Dialog und prüfen Sie die Änderungen.";
export const publishAnyway = "Trotzdem veröffentlichen";
export const runningExamples = "Die Beispiele werden ausgeführt. Das kann bis zu einer Minute dauern.";
export const publishTitle = ({ version, name }: { version: string | number; name: string | number }): string =>
  `Version ${version} von „${name}“ veröffentlichen`;
export const newRunsInstead = ({ version, published }: { version: string | number; published: string | number }): string =>
  `Neue Läufe verwenden Version ${version} statt Version ${published}. Aktive Läufe behalten ihre Version.`;
export const newRuns = ({ version }: { version: string | number }): string =>
  `Neue Läufe verwenden Version ${version}, auch wenn der Workflow später geändert wird.`;
export const examplesRunFirst = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "Zuerst läuft das Beispiel ohne Effekte und muss die erwartete Ausgabe liefern." : `Zuerst laufen die ${formatNumber(count)} Beispiele ohne Effekte und müssen die erwartete Ausgabe liefern.`);
export const allowsAgents = "Damit erlauben Sie, dass Agenten ihn als eigenes Tool erhalten: Sie lesen seinen Namen, seine Beschreibung und seine Eingaben.";
export const agentsOnceAllowed = "Agenten erhalten ihn als eigenes Tool, sobald ein Admin es erlaubt.";
export const mayNotPublish = "Mit Ihrer Rolle dürfen Sie in diesem Projekt nicht veröffentlichen.";
export const beingSaved = "Ihre Änderungen werden gespeichert.";
export const emptyDefinition = "Es gibt keine Definition, die veröffentlicht werden kann.";
export const alreadyPublished = "Die neueste Version ist bereits veröffentlicht.";
export const fixErrorsToPublish = ({ count }: { count: number }): string =>
  `Beheben Sie zuerst ${(pluralForm(count) === "one" ? `${formatNumber(count)} Fehler` : `${formatNumber(count)} Fehler`)}.`;
export const notChecked = ({ reason }: { reason: string | number }): string =>
  `Nicht geprüft: ${reason}`;
export const noAnswer = "keine Antwort vom Server";
export const startsNothing = "Kein Zeitplan und kein Webhook: Er läuft nur, wenn ihn jemand startet.";
export const publishedSchedule = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich("Zeitplan: ", cron, " (", timezone, ").");
export const publishedWebhook = ({ code, id }: { code: (children: ReactNode) => ReactNode; id: string | number }): ReactNode =>
  rich("Der Webhook ", code(`${id}`), " startet Läufe. Seine URL steht auf der Seite des Workflows.");
export const starts = "Starts";
export const scheduleLine = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich("Zeitplan: ", cron, " (", timezone, ")");
export const mustSucceed = ({ every }: { every: string | number }): string =>
  `Muss alle ${every} erfolgreich laufen`;
export const noRunsYet = "Noch keine Läufe.";
export const recentRuns = "Letzte Läufe";
export const statusColumn = "Status";
export const trigger = "Trigger";
export const duration = "Dauer";
export const actions = "Aktionen";
export const allRuns = "Alle Läufe";
export const shortVersion = ({ version }: { version: string | number }): string =>
  `v${version}`;
export const scheduledFor = ({ time }: { time: ReactNode }): ReactNode =>
  rich("für ", time);
export const stateReset = "Der Zustand wurde zurückgesetzt.";
export const resetStateTitle = "Zustand zurücksetzen";
export const resetStateHelp = "Die gewählten Schlüssel erhalten wieder ihre Standardwerte. Ein noch laufender Lauf kann den Zustand nicht mehr schreiben: Er schlägt mit state_conflict fehl.";
export const keys = "Schlüssel";
export const reason = "Grund";
export const reasonHelp = "Steht im Verlauf und im Audit-Log.";
export const stateConflict = "Inzwischen geschrieben";
export const stateConflictHelp = "Ein Lauf oder eine andere Person hat den Zustand geschrieben, seit Sie diesen Dialog geöffnet haben. Es wurde nichts geändert. Schließen Sie ihn, um die neuen Werte zu sehen.";
export const reset = "Zurücksetzen";
export const stateSaved = "Der Zustand wurde gespeichert.";
export const editState = "Zustand bearbeiten";
export const editStateHelp = "Läufe, die ab jetzt starten, lesen diese Werte. Ein noch laufender Lauf kann den Zustand nicht mehr schreiben: Er schlägt mit state_conflict fehl.";
export const values = "Werte";
export const valuesHelp = "Ein weggelassener Schlüssel erhält seinen Standardwert.";
export const reasonOptional = "Grund (optional)";
export const runTitle = ({ name }: { name: string | number }): string =>
  `${name} ausführen`;
export const restoreToRun = "Stellen Sie den Workflow wieder her, um ihn auszuführen.";
export const version = "Version";
export const defaultVersion = ({ version, which }: { version: string | number; which: "latest" | "published" }): string =>
  `Standard: Version ${version} (${(which === "latest" ? "neueste" : "veröffentlicht")})`;
export const versionOption = ({ version, published, latest }: { version: string | number; published: "no" | "yes"; latest: "no" | "yes" }): string =>
  `${version}${(published === "yes" ? " (veröffentlicht)" : "")}${(latest === "yes" ? " (neueste)" : "")}`;
export const versionHasNoDefinition = ({ version }: { version: string | number }): string =>
  `Version ${version} hat keine Definition.`;
export const earlierInputs = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Mit den Eingaben ", link("eines früheren Laufs"), ". Ändern Sie, was anders sein soll.");
export const inputsLeftOut = ({ version, names }: { version: string | number; names: string | number }): string =>
  `Version ${version} hat keine Eingabe namens ${names}: weggelassen.`;
export const examples = "Beispiele:";
export const notStarted = ({ count }: { count: number }): string =>
  `Nicht gestartet. Korrigieren Sie oben ${(pluralForm(count) === "one" ? `${formatNumber(count)} Eingabe` : `${formatNumber(count)} Eingaben`)}.`;
export const editDefinition = "Definition bearbeiten";
export const runVersion = ({ version }: { version: string | number }): string =>
  `Version ${version} ausführen`;
export const sameName = ({ workflows, more }: { workflows: ReactNode; more: number }): ReactNode =>
  rich("Ein anderer Workflow hat diesen Namen: ", workflows, (more === 0 ? "" : pluralForm(more) === "one" ? ` und ${formatNumber(more)} weiterer` : ` und ${formatNumber(more)} weitere`), ". Sie können ihn behalten, aber ein eigener Name ist leichter zu finden.");
export const noSchedule = ({ code }: { code: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Kein Zeitplan. Fügen Sie der Definition ", code("schedule"), " hinzu, um den Workflow automatisch auszuführen.");
export const inactiveSchedule = ({ cron, timezone }: { cron: ReactNode; timezone: string | number }): ReactNode =>
  rich(cron, " (", timezone, "). Startet, wenn der Workflow veröffentlicht wird.");
export const scheduleHelp = ({ code, cron, timezone, overlap }: { code: (children: ReactNode) => ReactNode; cron: string | number; timezone: string | number; overlap: "queue" | "skip" }): ReactNode =>
  rich(code(`${cron}`), " in ", timezone, ". ", (overlap === "skip" ? "Überspringt einen Lauf, solange der vorherige noch läuft." : "Reiht einen Lauf ein, solange der vorherige noch läuft."));
export const paused = "Pausiert";
export const pausedHelp = "Es starten keine Läufe, bis Sie ihn fortsetzen.";
export const nextRunsHere = "Nächste Läufe (Ihre Zeitzone):";
export const nextRuns = "Nächste Läufe";
export const lastRun = ({ time }: { time: ReactNode }): ReactNode =>
  rich("Letzter Lauf: ", time);
export const runsLessOften = "Läuft seltener als angegeben";
export const scheduledRunFailed = "Ein geplanter Lauf konnte nicht starten";
export const runsSkipped = ({ count, reason, first, last }: { count: number; reason: "failed" | "limit" | "missed" | "overlap"; first: ReactNode; last: ReactNode }): ReactNode =>
  rich((pluralForm(count) === "one" ? `${formatNumber(count)} Lauf wurde übersprungen` : `${formatNumber(count)} Läufe wurden übersprungen`), ", weil ", (reason === "overlap" ? "der vorherige Lauf noch lief" : reason === "missed" ? "der Dienst nicht lief" : reason === "failed" ? "der Lauf nicht starten konnte" : "ein Limit für Läufe erreicht war"), ": ", first, (pluralForm(count) === "one" ? "" : rich(" bis ", last)), ".");
export const schedulePaused = ({ name }: { name: string | number }): string =>
  `Zeitplan von „${name}“ pausiert.`;
export const scheduleResumed = ({ name }: { name: string | number }): string =>
  `Zeitplan von „${name}“ fortgesetzt.`;
export const pauseFailed = ({ name }: { name: string | number }): string =>
  `Der Zeitplan von „${name}“ konnte nicht pausiert werden`;
export const resumeFailed = ({ name }: { name: string | number }): string =>
  `Der Zeitplan von „${name}“ konnte nicht fortgesetzt werden`;
export const pause = "Pausieren";
export const resume = "Fortsetzen";
export const signatureName = ({ scheme }: { scheme: "github" | "shared_secret" | "slack" | "standard_webhooks" | "stripe" }): string =>
  (scheme === "standard_webhooks" ? "Standard Webhooks" : scheme === "github" ? "GitHub" : scheme === "stripe" ? "Stripe" : scheme === "slack" ? "Slack" : "Gemeinsames Secret");
export const signatureHelp = ({ scheme, header }: { scheme: "github" | "shared_secret" | "slack" | "standard_webhooks" | "stripe"; header: string | number }): string =>
  (scheme === "standard_webhooks" ? "Der Absender signiert mit webhook-id, webhook-timestamp und webhook-signature, und das Secret beginnt mit whsec_." : scheme === "github" ? "Im Repository unter Settings, Webhooks: Geben Sie die URL ein, wählen Sie application/json und geben Sie das Secret ein." : scheme === "stripe" ? "Im Stripe-Dashboard unter Developers, Webhooks: Fügen Sie die URL als Endpunkt hinzu. Dessen Signing Secret (whsec_…) ist das Secret." : scheme === "slack" ? "In den Einstellungen der Slack-App unter Event Subscriptions: Geben Sie die URL ein. Das Signing Secret der App ist das Secret." : `Der Absender sendet das Secret selbst im Header ${header}.`);
export const noStateChanges = "Es sind noch keine Änderungen aufgezeichnet.";
export const stateChanges = "Änderungen des Zustands";
export const stateChange = ({ kind, time, author }: { kind: "commit" | "import" | "reset" | "set"; time: ReactNode; author: ReactNode }): ReactNode =>
  rich((kind === "commit" ? "Geschrieben" : kind === "set" ? "Gesetzt" : kind === "reset" ? "Zurückgesetzt" : "Importiert"), " ", time, " von ", author);
export const stateChangeWithKey = ({ kind, time, author, key }: { kind: "commit" | "import" | "reset" | "set"; time: ReactNode; author: ReactNode; key: string | number }): ReactNode =>
  rich((kind === "commit" ? "Geschrieben" : kind === "set" ? "Gesetzt" : kind === "reset" ? "Zurückgesetzt" : "Importiert"), " ", time, " von ", author, " (Schlüssel ", key, ")");
export const revision = ({ revision }: { revision: string | number }): string =>
  `Revision ${revision}`;
export const notWritten = "nicht geschrieben";
export const itsDefault = "Standardwert";
export const noState = "Die veröffentlichte Version deklariert keinen Zustand.";
export const stateOfWorkflow = "Zustand des Workflows";
export const hideHistory = "Verlauf ausblenden";
export const showHistory = "Verlauf anzeigen";
export const stateNotWritten = "Noch kein Lauf hat ihn geschrieben: Dies sind die Standardwerte.";
export const stateRevised = ({ time, author }: { time: ReactNode; author: ReactNode }): ReactNode =>
  rich("Geändert ", time, " von ", author);
export const noSteps = "Noch keine Schritte";
export const noStepsHelp = "Bearbeiten Sie den Workflow, um den ersten Schritt hinzuzufügen.";
export const graphFailed = "Der Graph konnte nicht gezeichnet werden.";
export const selectStep = "Wählen Sie einen Schritt oder das, was den Workflow startet, um die Definition zu sehen.";
export const step = "Schritt";
export const definitionOfStep = ({ id }: { id: string | number }): string =>
  `Definition von ${id}`;
export const blankTitle = "Leer";
export const blankAbout = "Ein einzelner Schritt als Ausgangspunkt.";
export const queryTitle = "Umsatz nach Region";
export const queryAbout = "Fragt eine Datenbank ab, prüft, dass das Ergebnis nicht leer ist, und gibt die beste Region zurück.";
export const dailyTitle = "Unbezahlte Bestellungen jeden Morgen";
export const dailyAbout = "Läuft werktags am Morgen und listet die unbezahlten Bestellungen auf.";
export const modelTitle = "Umsatz in zwei Sätzen";
export const modelAbout = "Fasst die Zeilen einer Abfrage mit einem Modell zusammen und prüft dessen Ausgabe.";
export const modelNeeds = "Benötigt ein Modell namens writer in der Konfiguration.";
export const approvalTitle = "Um Freigabe bitten";
export const approvalAbout = "Eine Person prüft das Ergebnis der Abfrage, füllt ein Formular aus und entscheidet. Der nächste Schritt hängt von der Entscheidung ab.";
export const notifyTitle = "Das Team benachrichtigen";
export const notifyAbout = "Sendet mit einem Secret an einen Webhook, wiederholt bei Fehlern und sendet eine E-Mail, wenn jeder Versuch fehlschlägt.";
export const notifyNeeds = "Benötigt ein Secret namens team_hook für hooks.example.com und E-Mail an example.com.";
export const webhookTitle = "Neue Bestellungen per Webhook";
export const webhookAbout = "Startet für jede Bestellung, die ein Shop an die URL des Webhooks sendet, genau einen Lauf, auch wenn sie mehrmals gesendet wird.";
export const webhookNeeds = "Benötigt ein Secret namens orders_hook, das der Absender in den Header X-Webhook-Secret schreibt.";
export const joinTitle = "Zwei Abfragen verknüpfen";
export const joinAbout = "Führt zwei Abfragen parallel aus und verknüpft ihre Zeilen im Arbeitsspeicher, auch über Datenbanken hinweg.";
export const deliveryStatus = ({ status }: { status: "failed" | "filtered" | "received" | "refused" | "started" }): string =>
  (status === "received" ? "Empfangen" : status === "started" ? "Lauf gestartet" : status === "filtered" ? "Durch if ausgelassen" : status === "failed" ? "Lauf konnte nicht starten" : "Abgelehnt");
export const recentDeliveries = "Letzte Zustellungen";
export const noDeliveries = "Es wurde noch nichts empfangen.";
export const received = "Empfangen";
export const webhook = "Webhook";
export const outcome = "Ergebnis";
export const deliveredAgainTimes = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? "erneut zugestellt" : `${formatNumber(count)}-mal erneut zugestellt`);
export const moreLikeIt = ({ count }: { count: number }): string =>
  `und ${formatNumber(count)} weitere dieser Art`;
export const sentTimes = ({ count }: { count: number }): string =>
  (count === 2 ? "zweimal gesendet" : pluralForm(count) === "one" ? `${formatNumber(count)}-mal gesendet` : `${formatNumber(count)}-mal gesendet`);
export const redeliveryOf = ({ delivery }: { delivery: ReactNode }): ReactNode =>
  rich("Erneute Zustellung von ", delivery);
export const deliveredAgain = "Erneut zugestellt.";
export const redeliverFailed = "Die erneute Zustellung ist fehlgeschlagen";
export const delivery = "Zustellung";
export const deliveryFacts = ({ trigger, time, outcome }: { trigger: string | number; time: ReactNode; outcome: string | number }): ReactNode =>
  rich("An ", trigger, ", ", time, ". ", outcome, ".");
export const deliveryFactsSender = ({ trigger, time, sender, outcome }: { trigger: string | number; time: ReactNode; sender: string | number; outcome: string | number }): ReactNode =>
  rich("An ", trigger, ", ", time, ", ", sender, ". ", outcome, ".");
export const deliveredAgainAs = ({ deliveries }: { deliveries: ReactNode }): ReactNode =>
  rich("Erneut zugestellt als ", deliveries);
export const body = "Body";
export const headers = "Header";
export const bodyNotStored = "Der Body ist nicht gespeichert: Abgelehnte Zustellungen haben keinen, und bei alten wird er nach 7 Tagen gelöscht.";
export const deliverAgain = "Erneut zustellen";
export const webhooksGetUrls = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? "Der Webhook erhält seine URL" : "Die Webhooks erhalten ihre URLs")}, wenn der Workflow veröffentlicht wird.`;
export const webhookLabel = ({ id }: { id: string | number }): string =>
  `Webhook ${id}`;
export const notSigned = "Nicht signiert";
export const urlHidden = "Die URL sehen nur diejenigen, die den Workflow ändern dürfen.";
export const urlOf = ({ id }: { id: string | number }): string =>
  `URL von ${id}`;
export const unsignedHelp = "Wer die URL hat, kann Läufe starten. Fügen Sie dem Trigger eine Signatur hinzu, wenn der Absender signieren kann.";
export const startsVersion = ({ version, owner }: { version: string | number; owner: string | number }): string =>
  `Startet Läufe von Version ${version} im Namen von ${owner}.`;
export const secretInConfiguration = ({ code, names }: { code: (children: ReactNode) => ReactNode; names: string | number }): ReactNode =>
  rich("Secret in der Konfiguration: ", code(`${names}`));
export const urlReplaced = ({ id }: { id: string | number }): string =>
  `Der Webhook „${id}“ hat eine neue URL. Geben Sie sie dem Absender.`;
export const replaceUrlFailed = ({ id }: { id: string | number }): string =>
  `Die URL von „${id}“ konnte nicht ersetzt werden`;
export const replaceUrlTitle = ({ id }: { id: string | number }): string =>
  `Die URL von „${id}“ ersetzen?`;
export const replaceUrlHelp = "Die alte URL wird sofort abgelehnt, bis ihre Absender die neue haben. Das kann nicht rückgängig gemacht werden.";
export const replaceUrl = "URL ersetzen";
export const leaveTitle = "Ohne Speichern verlassen?";
export const unsavedLoss = ({ what }: { what: string | number }): string =>
  `${what} gehen verloren.`;
export const stay = "Bleiben";
export const leave = "Ohne Speichern verlassen";
export const noChangesSince = ({ version, errors }: { version: string | number; errors: number }): string =>
  `Keine Änderungen seit Version ${version}.${(errors === 0 ? "" : pluralForm(errors) === "one" ? ` Beheben Sie ${formatNumber(errors)} Fehler, bevor Sie ihn ausführen.` : ` Beheben Sie ${formatNumber(errors)} Fehler, bevor Sie ihn ausführen.`)}`;
export const savedDraft = ({ version, errors }: { version: string | number; errors: number }): string =>
  `Als Version ${version} gespeichert.${(errors === 0 ? "" : pluralForm(errors) === "one" ? ` Beheben Sie ${formatNumber(errors)} Fehler, bevor Sie ihn ausführen.` : ` Beheben Sie ${formatNumber(errors)} Fehler, bevor Sie ihn ausführen.`)}`;
export const switchToJsonTitle = "Zu JSON ohne Kommentare wechseln?";
export const switchToJsonHelp = "JSON hat keine Kommentare. Die Kommentare in dieser Definition gehen verloren.";
export const switchToJson = "Zu JSON wechseln";
export const sameAsLatest = ({ version }: { version: string | number }): string =>
  `Version ${version} ist mit der neuesten Version identisch.`;
export const restoredVersion = ({ version, latest }: { version: string | number; latest: string | number }): string =>
  `Version ${version} als Version ${latest} wiederhergestellt.`;
export const restoreVersionFailed = ({ version }: { version: string | number }): string =>
  `Version ${version} konnte nicht wiederhergestellt werden`;
export const archiveAlthoughUsed = ({ name }: { name: string | number }): string =>
  `„${name}“ archivieren, obwohl andere ihn ausführen?`;
export const unpublishAlthoughUsed = ({ name }: { name: string | number }): string =>
  `Veröffentlichung von „${name}“ aufheben, obwohl andere ihn ausführen?`;
export const runsWouldFail = ({ callers }: { callers: string | number }): string =>
  `Läufe dieser Workflows würden fehlschlagen: ${callers}.`;
export const archiveAnyway = "Trotzdem archivieren";
export const unpublishAnyway = "Trotzdem aufheben";
export const restored = ({ name, status }: { name: string | number; status: "archived" | "draft" | "published" }): string =>
  `„${name}“ wiederhergestellt (${(status === "draft" ? "Entwurf" : status === "published" ? "veröffentlicht" : "archiviert")}).`;
export const restoreFailed = ({ name }: { name: string | number }): string =>
  `„${name}“ konnte nicht wiederhergestellt werden`;
export const archived = ({ name }: { name: string | number }): string =>
  `„${name}“ archiviert.`;
export const undo = "Rückgängig";
export const archiveFailed = ({ name }: { name: string | number }): string =>
  `„${name}“ konnte nicht archiviert werden`;
export const unpublished = ({ name }: { name: string | number }): string =>
  `Veröffentlichung von „${name}“ aufgehoben.`;
export const unpublishFailed = ({ name }: { name: string | number }): string =>
  `Die Veröffentlichung von „${name}“ konnte nicht aufgehoben werden`;
export const changesBetween = ({ from, to }: { from: string | number; to: string | number }): string =>
  `Änderungen von Version ${from} zu ${to}`;
export const changedDetails = "Geänderte Details";
export const history = "Verlauf";
export const versions = "Versionen";
export const compare = "Vergleich";
export const created = "Erstellt";
export const author = "Autor";
export const changeNoteColumn = "Änderungsnotiz";
export const compareFrom = ({ version }: { version: string | number }): string =>
  `Vergleich ab Version ${version}`;
export const compareTo = ({ version }: { version: string | number }): string =>
  `Vergleich bis Version ${version}`;
export const versionChange = ({ change }: { change: "archived" | "created" | "restored" | "updated" }): string =>
  (change === "created" ? "erstellt" : change === "updated" ? "geändert" : change === "archived" ? "archiviert" : "wiederhergestellt");
export const prunedHelp = "Der Betreiber hat die Definition gelöscht.";
export const pruned = "gelöscht";
export const publishedBadge = "veröffentlicht";
export const actionsForVersion = ({ version }: { version: string | number }): string =>
  `Aktionen für Version ${version}`;
export const versionsOf = ({ name }: { name: string | number }): string =>
  `Versionen von ${name}`;
export const firstVersion = "Dies ist die erste Version, es gibt also nichts zu vergleichen.";
export const selectTwo = "Wählen Sie zwei Versionen zum Vergleichen.";
export const unpublishTitle = ({ name }: { name: string | number }): string =>
  `Veröffentlichung von „${name}“ aufheben?`;
export const unpublishHelp = "Der Workflow wird zum Entwurf, und sein Zeitplan stoppt. Aktive Läufe werden fortgesetzt.";
export const unpublish = "Veröffentlichung aufheben";
export const moreActions = ({ name }: { name: string | number }): string =>
  `Weitere Aktionen für ${name}`;
export const offerToProjects = "Projekten anbieten …";
export const moveToProject = "In anderes Projekt verschieben …";
export const archiveButton = "Archivieren";
export const versionAndLatest = ({ version, latest }: { version: string | number; latest: string | number }): string =>
  `v${version} (neu: v${latest})`;
export const notFoundTitle = "Workflow nicht gefunden";
export const noSuchWorkflow = "Diesen Workflow gibt es nicht";
export const mayBeMisspelt = "Die ID ist vielleicht falsch geschrieben.";
export const schedule = "Zeitplan";
export const webhooks = "Webhooks";
export const state = "Zustand";
export const updatedCreated = ({ updated, created, by }: { updated: ReactNode; created: ReactNode; by: string | number }): ReactNode =>
  rich("Geändert ", updated, ", erstellt ", created, " von ", by);
export const usedBy = ({ workflows }: { workflows: ReactNode }): ReactNode =>
  rich("Verwendet von ", workflows);
export const archivedTitle = "Archiviert";
export const archivedHelp = "Dieser Workflow kann nicht ausgeführt werden. Seine ID und sein Verlauf bleiben erhalten.";
export const restoreToUse = "Stellen Sie ihn wieder her, um ihn erneut zu verwenden.";
export const unpublishedChanges = "Unveröffentlichte Änderungen";
export const unpublishedChangesHelp = ({ version, published, link }: { version: string | number; published: string | number; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Sie sehen Version ", version, ". Läufe und der Zeitplan verwenden Version ", published, ", bis Sie Version ", version, " veröffentlichen. ", link("Versionen vergleichen"));
export const views = "Ansichten";
export const definition = "Definition";
