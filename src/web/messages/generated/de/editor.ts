/** Generated from src/web/messages/de/editor.json by `npm run generate`. Edit that file instead. */
import { formatNumber, pluralForm } from "../../format.ts";

export const databaseDetail = ({ type, access }: { type: string | number; access: "readOnly" | "readWrite" }): string =>
  `${type}, ${(access === "readOnly" ? "nur lesen" : "lesen und schreiben")}`;
export const scratchDetail = "DuckDB im Arbeitsspeicher";
export const sameDefinition = ({ before, after }: { before: string | number; after: string | number }): string =>
  `Keine Änderungen. ${before} und ${after} haben dieselbe Definition.`;
export const changes = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Änderung` : `${formatNumber(count)} Änderungen`);
export const previousChange = "Vorherige Änderung";
export const nextChange = "Nächste Änderung";
export const showUnchanged = "Unveränderte Zeilen anzeigen";
export const bothVersions = ({ before, after }: { before: string | number; after: string | number }): string =>
  `${before} und ${after}`;
export const unchangedLines = "$ unveränderte Zeilen";
export const keysHint = "Strg-Leertaste vervollständigt, Strg-. wendet die Korrektur am Cursor an, F8 springt zum nächsten Fehler. Mit Esc und dann Tab verlassen Sie den Editor.";
export const noFixTitle = "Keine Korrektur anwendbar";
export const noFixHelp = "Ändern Sie die Definition, wie bei den Fehlern beschrieben.";
export const fixFailed = "Die Korrektur lässt sich nicht anwenden";
export const pathMissing = ({ path }: { path: string | number }): string =>
  `${path} ist nicht vorhanden`;
export const fixSyntaxFirst = "Beheben Sie zuerst die Syntaxfehler.";
export const issues = "Fehler und Warnungen";
export const applyAllFixes = "Alle korrigieren";
export const applyFix = "Korrigieren";
export const applyFixOf = ({ issue }: { issue: string | number }): string =>
  `Korrigieren: ${issue}`;
export const severity = ({ severity }: { severity: "error" | "warning" }): string =>
  (severity === "error" ? "Fehler" : "Warnung");
export const line = ({ line }: { line: string | number }): string =>
  `Zeile ${line}:`;
export const errors = ({ errors }: { errors: number }): string =>
  (pluralForm(errors) === "one" ? `${formatNumber(errors)} Fehler` : `${formatNumber(errors)} Fehler`);
export const warnings = ({ warnings }: { warnings: number }): string =>
  (pluralForm(warnings) === "one" ? `${formatNumber(warnings)} Warnung` : `${formatNumber(warnings)} Warnungen`);
export const errorsAndWarnings = ({ errors, warnings }: { errors: number; warnings: number }): string =>
  `${(pluralForm(errors) === "one" ? `${formatNumber(errors)} Fehler` : `${formatNumber(errors)} Fehler`)}, ${(pluralForm(warnings) === "one" ? `${formatNumber(warnings)} Warnung` : `${formatNumber(warnings)} Warnungen`)}`;
export const emptyDefinition = "Leere Definition";
export const notChecked = "Nicht geprüft";
export const checking = "Seit der letzten Änderung nicht geprüft. Wird geprüft …";
export const notCheckedBecause = ({ reason }: { reason: string | number }): string =>
  `Nicht geprüft: ${reason}`;
export const syntaxError = "Syntaxfehler";
export const savableOnly = "Kann gespeichert, aber noch nicht ausgeführt werden.";
export const partlyChecked = "Keine Fehler, aber ein Teil wurde nicht geprüft: siehe Warnungen.";
export const valid = "Gültig und ausführbar.";
export const checkAgain = "Erneut prüfen";
export const noAnswer = "Der Server antwortet nicht.";
export const checkerNotLoaded = "Die Prüfung konnte nicht geladen werden. Prüfen Sie Ihre Verbindung.";
export const serverUnreachable = "Der Server ist nicht erreichbar.";
export const offline = "Sie sind offline.";
export const definitionEmpty = "Die Definition ist leer";
export const definitionNotObject = ({ kind }: { kind: "boolean" | "list" | "null" | "number" | "text" }): string =>
  `Die Definition muss ein Objekt sein, nicht ${(kind === "null" ? "null" : kind === "list" ? "eine Liste" : kind === "text" ? "ein Text" : kind === "number" ? "eine Zahl" : "ein Wahrheitswert")}`;
export const startWithSteps = "Beginnen Sie mit `steps`: einer Liste von Schritten, jeder mit `id` und `type`.";
export const didYouMean = ({ near }: { near: string | number }): string =>
  `Meinten Sie ${near}?`;
export const invalidJson = ({ problem }: { problem: string | number }): string =>
  `Ungültiges JSON: ${problem}`;
export const textAfterEnd = "unerwarteter Text nach dem Ende";
export const keepOneObject = "Behalten Sie ein Objekt und löschen Sie den Rest.";
export const noComments = "Kommentare sind nicht erlaubt";
export const switchToYaml = "Wechseln Sie zu YAML, oder löschen Sie den Kommentar.";
export const tooDeep = ({ max }: { max: string | number }): string =>
  `mehr als ${max} Ebenen der Verschachtelung`;
export const flattenValue = "Verschachteln Sie den Wert weniger tief.";
export const needsDoubleQuotes = "Zeichenketten brauchen doppelte Anführungszeichen";
export const replaceSingleQuotes = "Ersetzen Sie die einfachen durch doppelte Anführungszeichen.";
export const unexpectedEnd = "unerwartetes Ende des Textes";
export const closeBrackets = "Schließen Sie die offenen Klammern.";
export const valueMissing = ({ found }: { found: string | number }): string =>
  `vor ${found} fehlt ein Wert`;
export const notJsonValue = ({ word }: { word: string | number }): string =>
  `${word} ist kein JSON-Wert`;
export const quoteText = "Setzen Sie Text in gerade doppelte Anführungszeichen.";
export const bracketMissing = ({ bracket }: { bracket: string | number }): string =>
  `${bracket} fehlt`;
export const closeBracketOfLine = ({ line }: { line: string | number }): string =>
  `Schließen Sie die Klammer, die in Zeile ${line} geöffnet wird.`;
export const commaMissing = "ein Komma fehlt";
export const addComma = ({ bracket }: { bracket: string | number }): string =>
  `Ergänzen Sie ein Komma, oder schließen Sie mit ${bracket}.`;
export const trailingComma = ({ bracket }: { bracket: string | number }): string =>
  `überzähliges Komma vor ${bracket}`;
export const deleteComma = "Löschen Sie das Komma.";
export const keyExpected = "Schlüssel in doppelten Anführungszeichen erwartet";
export const writeKeyAs = ({ code }: { code: string | number }): string =>
  `Schreiben Sie ihn so: ${code}.`;
export const duplicateKey = ({ key }: { key: string | number }): string =>
  `doppelter Schlüssel ${key}`;
export const deleteOneOfTwo = "Löschen Sie einen der beiden.";
export const colonMissing = ({ key }: { key: string | number }): string =>
  `nach ${key} fehlt ein Doppelpunkt`;
export const writeColon = ({ code }: { code: string | number }): string =>
  `Schreiben Sie ${code}.`;
export const unterminatedString = "nicht abgeschlossene Zeichenkette";
export const endString = ({ quote }: { quote: string | number }): string =>
  `Beenden Sie sie mit ${quote} in derselben Zeile. Schreiben Sie einen Zeilenumbruch als \\n.`;
export const controlCharacter = "Steuerzeichen in einer Zeichenkette";
export const writeTab = "Schreiben Sie einen Tabulator als \\t.";
export const invalidEscape = "ungültige Escape-Sequenz";
export const writeBackslash = "Schreiben Sie einen Backslash als \\\\.";
export const invalidYaml = ({ problem }: { problem: string | number }): string =>
  `Ungültiges YAML: ${problem}`;
export const alignLine = "Rücken Sie die Zeile so ein wie ihre Nachbarn.";
export const quoteValue = "Setzen Sie den Text in Anführungszeichen.";
export const quoteColon = "Setzen Sie Text mit einem Doppelpunkt in Anführungszeichen.";
export const deleteOneKey = "Löschen Sie einen der beiden Schlüssel.";
export const addColon = "Ergänzen Sie einen Doppelpunkt nach dem Schlüssel, oder prüfen Sie die Einrückung.";
export const indentWithSpaces = "Rücken Sie mit Leerzeichen ein.";
export const deleteTag = "Löschen Sie das Tag, oder setzen Sie den Text in Anführungszeichen.";
export const checkYaml = "Prüfen Sie hier Einrückung, Anführungszeichen und Klammern.";
export const valueType = ({ type }: { type: string }): string =>
  (type === "string" ? "Text" : type === "integer" ? "Ganzzahl" : type === "number" ? "Zahl" : type === "boolean" ? "Wahrheitswert" : type === "array" ? "Liste" : type === "object" ? "Objekt" : type === "null" ? "null" : `${type}`);
export const alternatives = ({ first, second }: { first: string | number; second: string | number }): string =>
  `${first} oder ${second}`;
export const oneOf = ({ values }: { values: string | number }): string =>
  `Erlaubt: ${values}.`;
export const defaultIs = ({ value }: { value: string | number }): string =>
  `Standard: ${value}`;
export const example = ({ value }: { value: string | number }): string =>
  `Beispiel: ${value}`;
export const schemaType = "Typ des Werts.";
export const schemaDescription = "Beschreibung des Werts, in Formularen angezeigt.";
export const schemaProperties = "Felder des Objekts.";
export const schemaRequired = "Namen der Pflichtfelder.";
export const schemaAdditional = "Ob andere Felder als die in `properties` erlaubt sind.";
export const schemaItems = "Schema jedes Listenelements.";
export const schemaEnum = "Erlaubte Werte.";
export const schemaDefault = "Standardwert.";
export const schemaFormat = "Format der Zeichenkette.";
export const schemaPattern = "Regulärer Ausdruck (RE2), dem die Zeichenkette entsprechen muss.";
export const schemaMinimum = "Kleinster Wert.";
export const schemaMaximum = "Größter Wert.";
export const schemaMinLength = "Mindestlänge in Zeichen.";
export const schemaMaxLength = "Höchstlänge in Zeichen.";
export const schemaMinItems = "Mindestanzahl der Listenelemente.";
export const schemaMaxItems = "Höchstanzahl der Listenelemente.";
export const schemaTitle = "Beschriftung des Felds.";
export const stateKey = "Zustand";
export const stepKey = "Schritt";
export const runKey = "ein Lauf";
export const newListItem = "neues Listenelement";
export const forStepTypes = ({ types }: { types: string | number }): string =>
  `für ${types}`;
export const requiredKey = ({ kinds }: { kinds: string | number }): string =>
  `${kinds}, Pflichtfeld`;
export const defaultValue = "Standardwert";
export const lastTest = ({ value }: { value: string | number }): string =>
  `Im letzten Testlauf: ${value}`;
export const lastTestOf = ({ name, value }: { name: string | number; value: string | number }): string =>
  `${name} im letzten Testlauf: ${value}`;
export const items = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Element` : `${formatNumber(count)} Elemente`);
export const nothing = "nichts";
export const iterationIndex = "Durchlauf, ab 0";
export const received = "was empfangen wurde";
export const runInputs = "Eingaben des Laufs";
export const stepOutputs = "Ausgaben der Schritte";
export const currentRun = "der aktuelle Lauf";
export const workflowState = "Zustand des Workflows";
export const iterationVariables = "Variablen des Durchlaufs";
export const runOutput = "Ausgabe des Laufs";
export const resultOutput = "Ausgabe des Schritts oder Durchlaufs";
export const currentItem = "aktuelles Element von for_each";
export const itemIndex = "Index des Elements, ab 0";
export const sqlParameter = "Parameter";
export const nullableColumn = ({ type }: { type: string | number }): string =>
  `${type}, NULL erlaubt`;
export const tableKind = ({ kind }: { kind: string }): string =>
  (kind === "table" ? "Tabelle" : kind === "view" ? "View" : `${kind}`);
export const tableWithRows = ({ kind, rows }: { kind: string | number; rows: number }): string =>
  `${kind}, ${(pluralForm(rows) === "one" ? `${formatNumber(rows)} Zeile` : `${formatNumber(rows)} Zeilen`)}`;
export const sqlType = "Typ";
export const sqlKeyword = "Schlüsselwort";
export const searchFind = "Suchen";
export const searchReplace = "Ersetzen";
export const searchNext = "weiter";
export const searchPrevious = "zurück";
export const searchAll = "alle";
export const searchMatchCase = "Groß-/Kleinschreibung";
export const searchRegexp = "regulärer Ausdruck";
export const searchByWord = "ganzes Wort";
export const searchReplaceOne = "ersetzen";
export const searchReplaceAll = "alle ersetzen";
export const searchClose = "schließen";
export const currentMatch = "aktueller Treffer";
export const onLine = "in Zeile";
export const replacedMatch = "Treffer in Zeile $ ersetzt";
export const replacedMatches = "$ Treffer ersetzt";
export const goToLine = "Gehe zu Zeile";
export const goToLineSubmit = "gehen";
export const completions = "Vervollständigungen";
export const foldedLines = "Eingeklappt: Zeilen";
export const unfoldedLines = "Ausgeklappt: Zeilen";
export const linesTo = "bis";
export const foldedCode = "eingeklappter Bereich";
export const unfold = "ausklappen";
export const foldLine = "Zeile einklappen";
export const unfoldLine = "Zeile ausklappen";
export const selectionDeleted = "Auswahl gelöscht";
