/** The page for a forgotten password: sends a reset link, or says whom to ask where mail is not configured. */
import { Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate } from "react-router";
import { send } from "../api/client.ts";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { signInOptions } from "./sign-in-options.ts";

export default function Forgot() {
  const options = useQuery(signInOptions);
  if (options.data && options.data.mode !== "built-in") return <Navigate to="/sign-in" replace />;
  return (
    <AuthCard title="Reset your password">
      <QueryContent query={options}>{({ mail }) => (mail ? <Form /> : <NoMailNotice />)}</QueryContent>
      <Anchor component={Link} to="/sign-in" size="sm">
        Back to sign-in
      </Anchor>
    </AuthCard>
  );
}

function NoMailNotice() {
  return (
    <Text size="sm">
      This server can&apos;t send e-mail. Ask an admin for a reset link; they create it on the People page. If
      you&apos;re the only admin, run <code>millrace users reset &lt;e-mail&gt;</code> on the server.
    </Text>
  );
}

function Form() {
  const [email, setEmail] = useState("");
  const requestReset = useMutation({
    mutationFn: () => send("post", "/session/password-reset", { body: { email } }),
  });
  const formError = formLevelError(requestReset.error, ["email"]);
  if (requestReset.isSuccess) {
    return (
      <Text size="sm" role="status">
        If {email.trim()} has an account here, we sent it a reset link. The link works for 30 minutes. If
        nothing arrives, check your spam folder or ask an admin.
      </Text>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        requestReset.mutate();
      }}
    >
      <Stack>
        {formError && <ErrorAlert error={formError} />}
        <TextInput
          label="E-mail address"
          {...MAIL_ADDRESS_INPUT}
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={issueAt(requestReset.error, "email")}
        />
        <Button type="submit" loading={requestReset.isPending}>
          Send reset link
        </Button>
      </Stack>
    </form>
  );
}
