import { decideAuthorization, getAuthorizationRequest } from "../oauth/consent-endpoints.ts";
import {
  choosePassword,
  forgotPassword,
  inspectLink,
  sendVerification,
  verifyEmail,
} from "./link-endpoints.ts";
import type { SessionEndpoint } from "./endpoint.ts";
import { setUp } from "./set-up.ts";
import { changePassword, checkMcpUrl, getSession, signIn, signInOptions, signOut } from "./sign-in.ts";

/** All session endpoints. */
export const sessionEndpoints: readonly SessionEndpoint[] = [
  getSession,
  checkMcpUrl,
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
  getAuthorizationRequest,
  decideAuthorization,
];
