/** The first visit: creates the admin account. */
import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useLocation } from "react-router";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt, tokenFromHash } from "./form-errors.ts";
import { signInOptions } from "./sign-in-options.ts";
import { PasswordField } from "./password-field.tsx";
import { useCompleteSignIn } from "./use-complete-sign-in.ts";

export default function Setup() {
  const options = useQuery(signInOptions);
  if (options.data && options.data.mode !== "built-in") return <Navigate to="/sign-in" replace />;
  return (
    <QueryContent query={options}>
      {({ setup }) =>
        setup ? (
          <Form />
        ) : (
          <AuthCard title={texts.adminExists}>
            <Text size="sm">{texts.adminExistsHelp}</Text>
            <Anchor component={Link} to="/sign-in">
              {texts.signIn}
            </Anchor>
          </AuthCard>
        )
      }
    </QueryContent>
  );
}

function Form() {
  const linkToken = tokenFromHash(useLocation().hash);
  const [typedToken, setTypedToken] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const completeSignIn = useCompleteSignIn("/");
  const createAccount = useMutation({
    mutationFn: () =>
      send("post", "/session/setup", { body: { token: linkToken || typedToken.trim(), email, password } }),
    onSuccess: ({ data }) => completeSignIn(data),
  });
  const formError = formLevelError(createAccount.error, ["email", "password", "token"]);
  return (
    <AuthCard title={texts.createAdmin} about={texts.createAdminHelp}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          createAccount.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          {linkToken === "" && (
            <PasswordInput
              label={texts.setupToken}
              description={texts.setupTokenHelp}
              required
              autoComplete="off"
              value={typedToken}
              onChange={(event) => setTypedToken(event.currentTarget.value)}
              error={issueAt(createAccount.error, "token")}
            />
          )}
          <TextInput
            label={texts.email}
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(createAccount.error, "email")}
          />
          <PasswordField
            value={password}
            onChange={setPassword}
            email={email}
            error={issueAt(createAccount.error, "password")}
          />
          <Button type="submit" loading={createAccount.isPending}>
            {texts.createAccount}
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
}
