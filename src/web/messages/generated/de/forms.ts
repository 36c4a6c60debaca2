/** Generated from src/web/messages/de/forms.json by `npm run generate`. Edit that file instead. */

export const enterJson = "Geben Sie JSON ein.";
export const removeItem = ({ list, number }: { list: string | number; number: string | number }): string =>
  `${list} ${number} entfernen`;
export const addTo = ({ list }: { list: string | number }): string =>
  `Zu ${list} hinzufügen`;
export const add = "Hinzufügen";
export const required = "Erforderlich.";
export const pathRequired = ({ path }: { path: string | number }): string =>
  `${path} ist erforderlich.`;
export const mustBeObject = "Muss ein JSON-Objekt sein: { … }";
export const invalidJson = ({ message }: { message: string | number }): string =>
  `Ungültiges JSON: ${message}`;
export const inTimeZone = ({ zone }: { zone: string | number }): string =>
  `In Ihrer Zeitzone, ${zone}.`;
export const atLeast = ({ min }: { min: string | number }): string =>
  `(mindestens ${min})`;
export const atMost = ({ max }: { max: string | number }): string =>
  `(höchstens ${max})`;
export const between = ({ min, max }: { min: string | number; max: string | number }): string =>
  `(mindestens ${min}, höchstens ${max})`;
export const yes = "Ja";
export const no = "Nein";
export const notSet = "Nicht gesetzt";
export const select = "Auswählen";
export const noFields = "Keine Felder auszufüllen.";
export const inputMode = "Eingabemodus";
export const formMode = "Formular";
export const jsonMode = "JSON";
export const valuesAsJson = "Werte als JSON";
