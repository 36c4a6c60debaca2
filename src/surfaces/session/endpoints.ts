import { decideAuthorization, getAuthorizationRequest } from "../oauth/consent-endpoints.ts";
import {
  choosePassword,
  forgotPassword,
  inspectLink,
  sendVerification,
  verifyEmail,
} from "./link-endpoints.ts";
import {
  addPasskey,
  addTotp,
  beginPasskey,
  beginTotp,
  getSecondFactors,
  removeFactor,
  renewRecoveryCodes,
} from "./factor-endpoints.ts";
import {
  beginConfirmationPasskey,
  beginSecondStepPasskey,
  completeSecondStep,
  confirmIdentity,
} from "./second-step-endpoints.ts";
import type { SessionEndpoint } from "./endpoint.ts";
import { setUp } from "./set-up.ts";
import { changePassword, getSession, signIn, signInOptions, signOut } from "./sign-in.ts";

/** All session endpoints. */
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
  completeSecondStep,
  beginSecondStepPasskey,
  confirmIdentity,
  beginConfirmationPasskey,
  getSecondFactors,
  beginTotp,
  addTotp,
  beginPasskey,
  addPasskey,
  removeFactor,
  renewRecoveryCodes,
  getAuthorizationRequest,
  decideAuthorization,
];
