/** Signing in and out, the first visit, and the links that mails carry. */
import {
  choosePassword,
  forgotPassword,
  inspectLink,
  sendVerification,
  verifyEmail,
} from "./link-endpoints.ts";
import type { SessionEndpoint } from "./endpoint.ts";
import { setUp } from "./set-up.ts";
import { changePassword, getSession, signIn, signInOptions, signOut } from "./sign-in.ts";

/** Every endpoint of signing in. */
export const sessionEndpoints: readonly SessionEndpoint[] = [
  getSession,
  signIn,
  signOut,
  signInOptions,
  setUp,
  inspectLink,
  choosePassword,
  forgotPassword,
  verifyEmail,
  sendVerification,
  changePassword,
];
