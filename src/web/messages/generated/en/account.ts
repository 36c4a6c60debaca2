/** Generated from src/web/messages/en/account.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const account = "Account";
export const aboutUser = ({ email, role }: { email: string | number; role: "admin" | "editor" | "member" | "viewer" }): string =>
  `${email} · ${(role === "member" ? "member" : role === "viewer" ? "viewer" : role === "editor" ? "editor" : "admin")}`;
export const password = "Password";
export const twoFactor = "Two-factor authentication";
export const signInMethod = "Sign-in method";
export const passwordAtProvider = "You sign in at your organisation's identity provider. Change your password and second factors there.";
export const absence = "Absence";
export const activeSessions = "Active sessions";
export const mailSent = ({ email }: { email: string | number }): string =>
  `E-mail sent to ${email}.`;
export const mailFailed = "The e-mail wasn't sent";
export const confirmAddress = "Confirm your e-mail address";
export const openMailedLink = ({ email }: { email: string | number }): string =>
  `Open the link in the e-mail that was sent to ${email}. It works for 24 hours.`;
export const resendMail = "Resend e-mail";
export const absenceHelp = "While you are away, your substitute can decide the approvals that are assigned to you as well, and gets their mail. What you may not decide yourself, your substitute may not decide for you.";
export const standInFor = ({ people }: { people: string | number }): string =>
  `You stand in for ${people}`;
export const standInHelp = "You can decide the approvals that are assigned to them.";
export const absenceEnded = "Nobody decides in your place any more.";
export const absenceEndFailed = "The absence wasn't ended";
export const awayNow = ({ from, until, substitute }: { from: ReactNode; until: ReactNode; substitute: string | number }): ReactNode =>
  rich("You are away from ", from, " until ", until, ". ", substitute, " decides in your place.");
export const awayLater = ({ from, until, substitute }: { from: ReactNode; until: ReactNode; substitute: string | number }): ReactNode =>
  rich("You will be away from ", from, " until ", until, ". ", substitute, " decides in your place.");
export const back = "I'm back";
export const removeAbsence = "Remove";
export const absenceSaved = "Your absence is saved.";
export const awayFrom = "Away from";
export const awayFromHelp = "Left empty, from now on.";
export const backAt = "Back at";
export const substitute = "Substitute";
export const substituteHelp = "The e-mail address of a colleague.";
export const saveAbsence = "Save absence";
export const scanCode = "Scan this with an authenticator app, such as the one of your password manager, and enter the code that it shows.";
export const qrCode = "QR code for the authenticator app";
export const cannotScan = "Can't scan it? Enter this key in the app:";
export const keyLabel = "key";
export const code = "Code";
export const newCodeHelp = "The six digits that the app shows.";
export const addApp = "Add authenticator app";
export const passkeyHelp = "A passkey is on your device, in your password manager or on a security key. Your browser asks you for it when you sign in.";
export const addPasskey = "Add passkey";
export const name = "Name";
export const factorNameHelp = "So that you recognize it later.";
export const passwordChanged = "Password changed. You're signed out everywhere else.";
export const email = "E-mail address";
export const currentPassword = "Current password";
export const showCurrentPassword = "Show current password";
export const newPassword = "New password";
export const changePassword = "Change password";
export const byPassword = "Use your password";
export const bySecondFactor = "Use your second factor";
export const confirm = "Confirm";
export const enterPassword = "Enter your password to confirm that it's you.";
export const showPassword = "Show password";
export const byPasskey = "Use a passkey";
export const recoveryCode = "Recovery code";
export const recoveryCodeHelp = "One of the codes that you saved when you set up your second factor.";
export const codeHelp = "The six digits that your authenticator app shows for Millrace.";
export const byRecoveryCode = "Use a recovery code";
export const lostFactor = "Lost it? Ask an admin to reset your second factor.";
export const resetPassword = "Reset your password";
export const backToSignIn = "Back to sign-in";
export const noMail = ({ code }: { code: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("This server can't send e-mail. Ask an admin for a reset link; they create it on the People page. If you're the only admin, run ", code("millrace users reset <e-mail>"), " on the server.");
export const resetLinkSent = ({ email }: { email: string | number }): string =>
  `If ${email} has an account here, we sent it a reset link. The link works for 30 minutes. If nothing arrives, check your spam folder or ask an admin.`;
export const sendResetLink = "Send reset link";
export const linkBroken = "This link doesn't work";
export const welcome = "Welcome to Millrace";
export const choosePassword = "Choose a new password";
export const welcomeHelp = "Choose a password to create your account.";
export const choosePasswordHelp = "This signs you out everywhere else.";
export const createAccount = "Create account";
export const saveAndSignIn = "Save and sign in";
export const addressConfirmed = ({ email }: { email: string | number }): string =>
  `${email} is confirmed.`;
export const continueButton = "Continue";
export const isYourAddress = ({ email }: { email: string | number }): string =>
  `Is ${email} your address?`;
export const passkeyNotUsed = "The passkey wasn't used: it was cancelled, took too long, or isn't on this device.";
export const passkeyExists = "This device has a passkey of your account already.";
export const passwordRule = "At least 12 characters, or at least 8 with upper case, lower case, a number and a symbol.";
export const passwordIssue = ({ code }: { code: string }): string =>
  (code === "invalid_text" ? "The password must not contain NUL or half a surrogate pair." : code === "too_long" ? "The password is longer than 256 characters." : code === "too_short" ? "The password has fewer than 8 characters." : code === "too_simple" ? "The password has fewer than 12 characters and not all four kinds of characters." : "The password can't be used.");
export const strength = "Strength";
export const checkingStrength = "Checking strength…";
export const strengthIs = ({ level }: { level: "fair" | "good" | "strong" | "veryWeak" | "weak" }): string =>
  `Strength: ${(level === "veryWeak" ? "very weak" : level === "weak" ? "weak" : level === "fair" ? "fair" : level === "good" ? "good" : "strong")}.`;
export const codesFile = ({ email, host }: { email: string | number; host: string | number }): string =>
  `Recovery codes of ${email} for Millrace on ${host}`;
export const saveCodes = "Save these recovery codes now";
export const saveCodesHelp = "They aren't shown again. Each one signs you in once if you lose your second factor. Earlier codes no longer work.";
export const codesLabel = "recovery codes";
export const download = "Download";
export const codesSaved = "Done, I've saved them";
export const keepCodes = "Keep them where your second factor isn't: in a password manager, or on paper.";
export const setUpFactor = "Set up a second factor";
export const setUpFactorHelp = ({ email }: { email: string | number }): string =>
  `Your role in Millrace requires one. Set it up to continue as ${email}.`;
export const factorDialog = ({ kind }: { kind: "codes" | "passkey" | "remove" | "show" | "totp" }): string =>
  (kind === "totp" ? "Add an authenticator app" : kind === "passkey" ? "Add a passkey" : kind === "codes" ? "New recovery codes" : kind === "remove" ? "Remove a second factor" : "Recovery codes");
export const factorRemoved = "Second factor removed.";
export const factorFailed = "Couldn't change the second factor";
export const factorAdded = "Second factor added.";
export const noFactors = "With a second factor, your password alone doesn't open your account.";
export const someFactors = "When you sign in, one of these is asked for after your password.";
export const roleRequiresFactor = "Your role requires one.";
export const removeFactorTitle = ({ name }: { name: string | number }): string =>
  `Remove "${name}"?`;
export const removeLastFactor = "It's your only second factor: your password alone opens your account then, and your recovery codes stop working.";
export const removeOtherFactor = "You can't sign in with it any more.";
export const removeFactor = "Remove";
export const newCodes = "New recovery codes";
export const codesLeft = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} recovery code is left.` : `${formatNumber(count)} recovery codes are left.`);
export const confirmYourself = "Confirm that it's you";
export const close = "Close";
export const passkeysNeedName = "Passkeys need a host name: this server is reached by an IP address.";
export const passkeysElsewhere = ({ origin }: { origin: string | number }): string =>
  `Passkeys work only at ${origin}/ui/. Open Millrace there to add one.`;
export const noPasskeys = "This browser has no passkeys here: they need https, or localhost.";
export const factorKind = ({ kind }: { kind: "passkey" | "totp" }): string =>
  (kind === "totp" ? "authenticator app" : "passkey");
export const factorTimes = ({ added, used }: { added: ReactNode; used: ReactNode }): ReactNode =>
  rich("added ", added, " · last used ", used);
export const factorUnused = ({ added }: { added: ReactNode }): ReactNode =>
  rich("added ", added);
export const removeNamed = ({ name }: { name: string | number }): string =>
  `Remove ${name}`;
export const showFactor = "Your password is right. Show your second factor to sign in.";
export const backToPassword = "Back to the password";
export const sessionsEnded = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} session ended.` : `${formatNumber(count)} sessions ended.`);
export const sessionsEndFailed = "Couldn't end the sessions";
export const signOutOthersTitle = "Sign out everywhere else?";
export const signOutOthersHelp = "Every other browser has to sign in again. API keys keep working.";
export const signOutOthers = "Sign out everywhere else";
export const clientSignedOut = ({ client }: { client: string | number }): string =>
  `${client} is signed out.`;
export const sessionEndFailed = "Couldn't end the session";
export const thisBrowser = "this browser";
export const sessionTimes = ({ address, created, seen }: { address: string | number; created: ReactNode; seen: ReactNode }): ReactNode =>
  rich(address, " · signed in ", created, " · last active ", seen);
export const signOutClient = ({ client }: { client: string | number }): string =>
  `Sign out ${client}`;
export const adminExists = "An admin account already exists";
export const adminExistsHelp = "Sign in, or ask an admin to invite you.";
export const createAdmin = "Create your admin account";
export const createAdminHelp = "You can invite others later.";
export const setupToken = "Setup token";
export const setupTokenHelp = "The part after # in the link that the server printed at its first start, or that “millrace users setup-link” prints.";
export const forgotPassword = "Forgot your password?";
export const signIn = "Sign in";
export const signOut = "Sign out";
