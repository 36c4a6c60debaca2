/** The first visit: creates the admin account. */
import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useLocation } from "react-router";
import { send } from "../api/client.ts";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
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
          <AuthCard title="An admin account already exists">
            <Text size="sm">Sign in, or ask an admin to invite you.</Text>
            <Anchor component={Link} to="/sign-in">
              Sign in
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
    <AuthCard title="Create your admin account" about="You can invite others later.">
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
              label="Setup token"
              description="The part after # in the link that the server printed at its first start, or that “millrace users setup-link” prints."
              required
              autoComplete="off"
              value={typedToken}
              onChange={(event) => setTypedToken(event.currentTarget.value)}
              error={issueAt(createAccount.error, "token")}
            />
          )}
          <TextInput
            label="E-mail address"
            {...MAIL_ADDRESS_INPUT}
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
            Create account
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
}
