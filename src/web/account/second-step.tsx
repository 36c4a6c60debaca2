/** The second step of a sign-in. Its form is loaded when it is needed: few sign-ins of a browser have one. */
import { lazy, Suspense, useState } from "react";
import type { SecondStep as Step } from "../../../schemas/second-factor.ts";
import type { SessionInfo, SignInResult } from "../../../schemas/user.ts";
import type { SecondStepProps } from "./second-step-form.tsx";

const Form = lazy(() => import("./second-step-form.tsx"));

/**
 * Takes what a right password leads to.
 * @returns the second step that is due, and a function that takes the server's answer
 */
export function useSecondStep(complete: (session: SessionInfo) => void) {
  const [step, setStep] = useState<Step>();
  const take = (result: SignInResult): void => {
    if ("second_factor" in result) setStep(result);
    else complete(result);
  };
  return { step, take, cancel: () => setStep(undefined) };
}

export function SecondStepForm(props: SecondStepProps) {
  return (
    <Suspense fallback={null}>
      <Form {...props} />
    </Suspense>
  );
}
