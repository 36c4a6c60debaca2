/** Generated from src/web/messages/de/account.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const account = "Konto";
export const aboutUser = ({ email, role }: { email: string | number; role: "admin" | "editor" | "member" | "viewer" }): string =>
  `${email} · ${(role === "member" ? "Mitglied" : role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : "Admin")}`;
export const password = "Passwort";
export const twoFactor = "Zwei-Faktor-Authentifizierung";
export const signInMethod = "Anmeldeverfahren";
export const passwordAtProvider = "Sie melden sich beim Identitätsanbieter Ihrer Organisation an. Ändern Sie Ihr Passwort und Ihre zweiten Faktoren dort.";
export const absence = "Abwesenheit";
export const activeSessions = "Aktive Sitzungen";
export const mailSent = ({ email }: { email: string | number }): string =>
  `E-Mail an ${email} gesendet.`;
export const mailFailed = "Die E-Mail wurde nicht gesendet";
export const confirmAddress = "E-Mail-Adresse bestätigen";
export const openMailedLink = ({ email }: { email: string | number }): string =>
  `Öffnen Sie den Link in der E-Mail, die an ${email} gesendet wurde. Er gilt 24 Stunden.`;
export const resendMail = "Erneut senden";
export const absenceHelp = "Während Sie abwesend sind, kann auch Ihre Vertretung über die Ihnen zugewiesenen Freigaben entscheiden und erhält die E-Mails dazu. Was Sie selbst nicht entscheiden dürfen, darf auch Ihre Vertretung nicht für Sie entscheiden.";
export const standInFor = ({ people }: { people: string | number }): string =>
  `Sie vertreten ${people}`;
export const standInHelp = "Sie können über die Freigaben entscheiden, die dort zugewiesen sind.";
export const absenceEnded = "Niemand entscheidet mehr an Ihrer Stelle.";
export const absenceEndFailed = "Die Abwesenheit wurde nicht beendet";
export const awayNow = ({ from, until, substitute }: { from: ReactNode; until: ReactNode; substitute: string | number }): ReactNode =>
  rich("Sie sind vom ", from, " bis zum ", until, " abwesend. ", substitute, " entscheidet an Ihrer Stelle.");
export const awayLater = ({ from, until, substitute }: { from: ReactNode; until: ReactNode; substitute: string | number }): ReactNode =>
  rich("Sie werden vom ", from, " bis zum ", until, " abwesend sein. ", substitute, " entscheidet an Ihrer Stelle.");
export const back = "Ich bin zurück";
export const removeAbsence = "Entfernen";
export const absenceSaved = "Ihre Abwesenheit ist gespeichert.";
export const awayFrom = "Abwesend ab";
export const awayFromHelp = "Ohne Angabe ab sofort.";
export const backAt = "Zurück am";
export const substitute = "Vertretung";
export const substituteHelp = "Die E-Mail-Adresse eines Kollegen oder einer Kollegin.";
export const saveAbsence = "Abwesenheit speichern";
export const scanCode = "Scannen Sie dies mit einer Authentifizierungs-App, etwa der Ihres Passwortmanagers, und geben Sie den Code ein, den sie anzeigt.";
export const qrCode = "QR-Code für die Authentifizierungs-App";
export const cannotScan = "Scannen nicht möglich? Geben Sie diesen Schlüssel in der App ein:";
export const keyLabel = "Schlüssel";
export const code = "Code";
export const newCodeHelp = "Die sechs Ziffern, die die App anzeigt.";
export const addApp = "Authentifizierungs-App hinzufügen";
export const passkeyHelp = "Ein Passkey liegt auf Ihrem Gerät, in Ihrem Passwortmanager oder auf einem Sicherheitsschlüssel. Ihr Browser fragt beim Anmelden danach.";
export const addPasskey = "Passkey hinzufügen";
export const name = "Name";
export const factorNameHelp = "Damit Sie ihn später wiedererkennen.";
export const passwordChanged = "Passwort geändert. Alle anderen Sitzungen wurden beendet.";
export const email = "E-Mail-Adresse";
export const currentPassword = "Aktuelles Passwort";
export const showCurrentPassword = "Aktuelles Passwort anzeigen";
export const newPassword = "Neues Passwort";
export const changePassword = "Passwort ändern";
export const byPassword = "Passwort verwenden";
export const bySecondFactor = "Zweiten Faktor verwenden";
export const confirm = "Bestätigen";
export const enterPassword = "Geben Sie Ihr Passwort ein, um zu bestätigen, dass Sie es sind.";
export const showPassword = "Passwort anzeigen";
export const byPasskey = "Passkey verwenden";
export const recoveryCode = "Wiederherstellungscode";
export const recoveryCodeHelp = "Einer der Codes, die Sie beim Einrichten Ihres zweiten Faktors gespeichert haben.";
export const codeHelp = "Die sechs Ziffern, die Ihre Authentifizierungs-App für Millrace anzeigt.";
export const byRecoveryCode = "Wiederherstellungscode verwenden";
export const lostFactor = "Verloren? Bitten Sie einen Admin, Ihren zweiten Faktor zurückzusetzen.";
export const resetPassword = "Passwort zurücksetzen";
export const backToSignIn = "Zurück zur Anmeldung";
export const noMail = ({ code }: { code: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Dieser Server kann keine E-Mails senden. Bitten Sie einen Admin um einen Link zum Zurücksetzen; er lässt sich auf der Seite „Benutzer“ erstellen. Wenn Sie der einzige Admin sind, führen Sie auf dem Server ", code("millrace users reset <E-Mail>"), " aus.");
export const resetLinkSent = ({ email }: { email: string | number }): string =>
  `Wenn ${email} hier ein Konto hat, haben wir einen Link zum Zurücksetzen dorthin gesendet. Der Link gilt 30 Minuten. Wenn nichts ankommt, sehen Sie im Spam-Ordner nach oder fragen Sie einen Admin.`;
export const sendResetLink = "Link senden";
export const linkBroken = "Dieser Link funktioniert nicht";
export const welcome = "Willkommen bei Millrace";
export const choosePassword = "Neues Passwort wählen";
export const welcomeHelp = "Wählen Sie ein Passwort, um Ihr Konto zu erstellen.";
export const choosePasswordHelp = "Alle anderen Sitzungen werden dadurch beendet.";
export const createAccount = "Konto erstellen";
export const saveAndSignIn = "Speichern und anmelden";
export const addressConfirmed = ({ email }: { email: string | number }): string =>
  `${email} ist bestätigt.`;
export const continueButton = "Weiter";
export const isYourAddress = ({ email }: { email: string | number }): string =>
  `Ist ${email} Ihre Adresse?`;
export const passkeyNotUsed = "Der Passkey wurde nicht verwendet: Der Vorgang wurde abgebrochen, dauerte zu lange, oder der Passkey ist nicht auf diesem Gerät.";
export const passkeyExists = "Dieses Gerät hat bereits einen Passkey Ihres Kontos.";
export const passwordRule = "Mindestens 12 Zeichen, oder mindestens 8 mit Großbuchstaben, Kleinbuchstaben, einer Ziffer und einem Sonderzeichen.";
export const passwordIssue = ({ code }: { code: string }): string =>
  (code === "invalid_text" ? "Das Passwort darf weder NUL noch ein halbes Surrogatpaar enthalten." : code === "too_long" ? "Das Passwort ist länger als 256 Zeichen." : code === "too_short" ? "Das Passwort hat weniger als 8 Zeichen." : code === "too_simple" ? "Das Passwort hat weniger als 12 Zeichen und nicht alle vier Arten von Zeichen." : "Das Passwort kann nicht verwendet werden.");
export const strength = "Stärke";
export const checkingStrength = "Stärke wird geprüft …";
export const strengthIs = ({ level }: { level: "fair" | "good" | "strong" | "veryWeak" | "weak" }): string =>
  `Stärke: ${(level === "veryWeak" ? "sehr schwach" : level === "weak" ? "schwach" : level === "fair" ? "mittel" : level === "good" ? "gut" : "stark")}.`;
export const codesFile = ({ email, host }: { email: string | number; host: string | number }): string =>
  `Wiederherstellungscodes von ${email} für Millrace auf ${host}`;
export const saveCodes = "Speichern Sie diese Wiederherstellungscodes jetzt";
export const saveCodesHelp = "Sie werden nicht noch einmal angezeigt. Mit jedem Code können Sie sich einmal anmelden, wenn Sie Ihren zweiten Faktor verlieren. Frühere Codes funktionieren nicht mehr.";
export const codesLabel = "Wiederherstellungscodes";
export const download = "Herunterladen";
export const codesSaved = "Fertig, gespeichert";
export const keepCodes = "Bewahren Sie sie getrennt von Ihrem zweiten Faktor auf: in einem Passwortmanager oder auf Papier.";
export const setUpFactor = "Zweiten Faktor einrichten";
export const setUpFactorHelp = ({ email }: { email: string | number }): string =>
  `Ihre Rolle in Millrace verlangt einen. Richten Sie ihn ein, um als ${email} fortzufahren.`;
export const factorDialog = ({ kind }: { kind: "codes" | "passkey" | "remove" | "show" | "totp" }): string =>
  (kind === "totp" ? "Authentifizierungs-App hinzufügen" : kind === "passkey" ? "Passkey hinzufügen" : kind === "codes" ? "Neue Wiederherstellungscodes" : kind === "remove" ? "Zweiten Faktor entfernen" : "Wiederherstellungscodes");
export const factorRemoved = "Zweiter Faktor entfernt.";
export const factorFailed = "Der zweite Faktor konnte nicht geändert werden";
export const factorAdded = "Zweiter Faktor hinzugefügt.";
export const noFactors = "Mit einem zweiten Faktor reicht das Passwort allein nicht mehr für die Anmeldung.";
export const someFactors = "Beim Anmelden wird nach Ihrem Passwort einer dieser Faktoren verlangt.";
export const roleRequiresFactor = "Ihre Rolle verlangt einen zweiten Faktor.";
export const removeFactorTitle = ({ name }: { name: string | number }): string =>
  `„${name}“ entfernen?`;
export const removeLastFactor = "Das ist Ihr einziger zweiter Faktor: Danach reicht Ihr Passwort allein für die Anmeldung, und Ihre Wiederherstellungscodes funktionieren nicht mehr.";
export const removeOtherFactor = "Sie können sich damit nicht mehr anmelden.";
export const removeFactor = "Entfernen";
export const newCodes = "Neue Wiederherstellungscodes";
export const codesLeft = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Wiederherstellungscode ist übrig.` : `${formatNumber(count)} Wiederherstellungscodes sind übrig.`);
export const confirmYourself = "Bestätigen Sie, dass Sie es sind";
export const close = "Schließen";
export const passkeysNeedName = "Passkeys brauchen einen Hostnamen: Dieser Server wird über eine IP-Adresse erreicht.";
export const passkeysElsewhere = ({ origin }: { origin: string | number }): string =>
  `Passkeys funktionieren nur unter ${origin}/ui/. Öffnen Sie Millrace dort, um einen hinzuzufügen.`;
export const noPasskeys = "Dieser Browser kann hier keine Passkeys verwenden: Dafür ist https oder localhost nötig.";
export const factorKind = ({ kind }: { kind: "passkey" | "totp" }): string =>
  (kind === "totp" ? "Authentifizierungs-App" : "Passkey");
export const factorTimes = ({ added, used }: { added: ReactNode; used: ReactNode }): ReactNode =>
  rich("hinzugefügt ", added, " · zuletzt verwendet ", used);
export const factorUnused = ({ added }: { added: ReactNode }): ReactNode =>
  rich("hinzugefügt ", added);
export const removeNamed = ({ name }: { name: string | number }): string =>
  `${name} entfernen`;
export const showFactor = "Ihr Passwort ist richtig. Bestätigen Sie die Anmeldung mit Ihrem zweiten Faktor.";
export const backToPassword = "Zurück zum Passwort";
export const sessionsEnded = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Sitzung beendet.` : `${formatNumber(count)} Sitzungen beendet.`);
export const sessionsEndFailed = "Die Sitzungen konnten nicht beendet werden";
export const signOutOthersTitle = "Andere Sitzungen beenden?";
export const signOutOthersHelp = "In jedem anderen Browser ist dann eine neue Anmeldung nötig. API-Schlüssel funktionieren weiter.";
export const signOutOthers = "Andere Sitzungen beenden";
export const clientSignedOut = ({ client }: { client: string | number }): string =>
  `${client} ist abgemeldet.`;
export const sessionEndFailed = "Die Sitzung konnte nicht beendet werden";
export const thisBrowser = "dieser Browser";
export const sessionTimes = ({ address, created, seen }: { address: string | number; created: ReactNode; seen: ReactNode }): ReactNode =>
  rich(address, " · angemeldet ", created, " · zuletzt aktiv ", seen);
export const signOutClient = ({ client }: { client: string | number }): string =>
  `${client} abmelden`;
export const adminExists = "Es gibt bereits ein Admin-Konto";
export const adminExistsHelp = "Melden Sie sich an, oder bitten Sie einen Admin um eine Einladung.";
export const createAdmin = "Admin-Konto erstellen";
export const createAdminHelp = "Andere können Sie später einladen.";
export const setupToken = "Einrichtungstoken";
export const setupTokenHelp = "Der Teil nach # in dem Link, den der Server beim ersten Start ausgegeben hat oder den „millrace users setup-link“ ausgibt.";
export const forgotPassword = "Passwort vergessen?";
export const signIn = "Anmelden";
export const signOut = "Abmelden";
