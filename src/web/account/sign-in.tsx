/** The sign-in page, for every authentication mode. */
import { Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useSearchParams } from "react-router";
import { send } from "../api/client.ts";
import { useSessionQuery } from "../app/session.tsx";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt, redirectTarget } from "./form-errors.ts";
import { signInOptions } from "./sign-in-options.ts";
import { CloseTabNotice, SsoSignIn, LoadBalancerSignIn } from "./sso-sign-in.tsx";
import { useCompleteSignIn } from "./use-complete-sign-in.ts";

export default function SignIn() {
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
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => completeSignIn(data),
  });
  const formError = formLevelError(signIn.error, ["email", "password"]);
  return (
    <AuthCard title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput
            label="E-mail address"
            {...MAIL_ADDRESS_INPUT}
            autoComplete="username"
            required
            data-autofocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(signIn.error, "email")}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={issueAt(signIn.error, "password")}
            visibilityToggleButtonProps={{ "aria-label": "Show password", tabIndex: 0 }}
          />
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
          <Anchor component={Link} to={mail ? "/forgot" : "/forgot?mail=no"} size="sm">
            Forgot your password?
          </Anchor>
        </Stack>
      </form>
    </AuthCard>
  );
}
