/** The sign-in page, for every authentication mode. */
import { Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useSearchParams } from "react-router";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { useSessionQuery } from "../app/session.tsx";
import { LanguageChoice } from "../locale/language-choice.tsx";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt, redirectTarget } from "./form-errors.ts";
import { signInOptions } from "./sign-in-options.ts";
import { SecondStepForm, useSecondStep } from "./second-step.tsx";
import { CloseTabNotice, SsoSignIn, LoadBalancerSignIn } from "./sso-sign-in.tsx";
import { useCompleteSignIn } from "./use-complete-sign-in.ts";

export default function SignIn() {
  return (
    <>
      <SignInContent />
      <LanguageChoice />
    </>
  );
}

function SignInContent() {
  const options = useQuery(signInOptions);
  const session = useSessionQuery();
  const [search] = useSearchParams();
  const to = redirectTarget(search);
  if (session.data) return search.has("back") ? <CloseTabNotice /> : <Navigate to={to} replace />;
  return (
    <QueryContent query={options}>
      {({ mode, setup, mail }) => {
        if (mode === "oidc") return <SsoSignIn to={search.has("back") ? "/sign-in?back=1" : to} />;
        if (mode === "cognito")
          return <LoadBalancerSignIn to={search.has("back") ? "/sign-in?back=1" : to} />;
        return setup ? <Navigate to="/setup" replace /> : <Form mail={mail} to={to} />;
      }}
    </QueryContent>
  );
}

function Form({ mail, to }: { mail: boolean; to: string }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const completeSignIn = useCompleteSignIn(to);
  const { step, take, cancel } = useSecondStep(completeSignIn);
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => take(data),
  });
  const formError = formLevelError(signIn.error, ["email", "password"]);
  if (step !== undefined)
    return (
      <AuthCard title={texts.signIn}>
        <SecondStepForm step={step} complete={completeSignIn} cancel={cancel} />
      </AuthCard>
    );
  return (
    <AuthCard title={texts.signIn}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput
            label={texts.email}
            type="email"
            autoComplete="username"
            required
            data-autofocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(signIn.error, "email")}
          />
          <PasswordInput
            label={texts.password}
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={issueAt(signIn.error, "password")}
            visibilityToggleButtonProps={{ "aria-label": texts.showPassword, tabIndex: 0 }}
          />
          <Button type="submit" loading={signIn.isPending}>
            {texts.signIn}
          </Button>
          <Anchor component={Link} to={mail ? "/forgot" : "/forgot?mail=no"} size="sm">
            {texts.forgotPassword}
          </Anchor>
        </Stack>
      </form>
    </AuthCard>
  );
}
