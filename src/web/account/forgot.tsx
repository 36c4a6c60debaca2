/** The page for a forgotten password: sends a reset link, or says whom to ask where mail is not configured. */
import { Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link, Navigate } from "react-router";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { signInOptions } from "./sign-in-options.ts";

export default function Forgot() {
  const options = useQuery(signInOptions);
  if (options.data && options.data.mode !== "built-in") return <Navigate to="/sign-in" replace />;
  return (
    <AuthCard title={texts.resetPassword}>
      <QueryContent query={options}>{({ mail }) => (mail ? <Form /> : <NoMailNotice />)}</QueryContent>
      <Anchor component={Link} to="/sign-in" size="sm">
        {texts.backToSignIn}
      </Anchor>
    </AuthCard>
  );
}

const code = (text: ReactNode) => <code>{text}</code>;

function NoMailNotice() {
  return <Text size="sm">{texts.noMail({ code })}</Text>;
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
        {texts.resetLinkSent({ email: email.trim() })}
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
          label={texts.email}
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={issueAt(requestReset.error, "email")}
        />
        <Button type="submit" loading={requestReset.isPending}>
          {texts.sendResetLink}
        </Button>
      </Stack>
    </form>
  );
}
