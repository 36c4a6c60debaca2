/** Generated from src/web/messages/de/trials.json by `npm run generate`. Edit that file instead. */

export const effectsTitle = ({ steps }: { steps: string | number }): string =>
  `Effekte von ${steps} zulassen?`;
export const effectsConsequence = "Die Schritte schreiben, senden oder starten tatsächlich, was in ihnen steht. Der Test kann das nicht rückgängig machen.";
export const effectsConfirm = "Mit Effekten testen";
export const whatToTest = "Was getestet wird";
export const wholeDraft = "Der ganze Entwurf";
export const onlyStep = ({ step }: { step: string | number }): string =>
  `Nur ${step}`;
export const reuseOutputs = ({ steps }: { steps: string | number }): string =>
  `Letzte Ausgaben von ${steps} wiederverwenden`;
export const leftOut = ({ steps }: { steps: string | number }): string =>
  `Ausgelassen wegen ihrer Effekte: ${steps}.`;
export const letEffects = ({ steps }: { steps: string | number }): string =>
  `Effekte von ${steps} zulassen`;
export const letEffectsHint = "Sonst hält der Test dort an und zeigt, was gesendet würde.";
export const testDraft = "Entwurf testen";
export const testStep = ({ step }: { step: string | number }): string =>
  `${step} testen`;
export const fixSyntax = "Beheben Sie die Syntaxfehler, um den Entwurf zu testen.";
export const addStep = "Fügen Sie einen Schritt hinzu, um den Entwurf zu testen.";
export const fixInputs = "Nicht gestartet. Korrigieren Sie die Eingaben oben.";
export const inputsOf = "Eingaben von:";
export const loading = "Test wird geladen";
export const result = "Ergebnis des Tests";
export const draft = "Der Entwurf";
export const openRun = "Lauf öffnen";
export const draftOutput = "Ausgabe des Entwurfs";
export const notRun = "nicht ausgeführt";
export const heldBack = "Zurückgehalten";
export const heldBackHelp = ({ message }: { message: string | number }): string =>
  `${message} Damit würde der Schritt arbeiten:`;
export const stepInput = ({ step }: { step: string | number }): string =>
  `Eingabe von ${step}`;
export const conditionFalse = "Die Bedingung war nicht erfüllt.";
export const noOutput = "Keine Ausgabe.";
export const stepOutput = ({ step }: { step: string | number }): string =>
  `Ausgabe von ${step}`;
