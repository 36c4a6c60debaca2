/** A forgotten password: a link by mail, or whom to ask where no mail is sent. */
import { Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate } from "react-router";
import { send } from "../api/client.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { signInOptions } from "./sign-in-options.ts";

export default function Forgot() {
  const options = useQuery(signInOptions);
  if (options.data && options.data.mode !== "built-in") return <Navigate to="/sign-in" replace />;
  return (
    <AuthCard title="A new password">
      <QueryContent query={options}>{({ mail }) => (mail ? <Form /> : <ByHand />)}</QueryContent>
      <Anchor component={Link} to="/sign-in" size="sm">
        Back to signing in
      </Anchor>
    </AuthCard>
  );
}

function ByHand() {
  return (
    <Text size="sm">
      Mail is not set up here, so ask an admin: under People they make a link with which you choose a new
      password. If you are the only admin, whoever runs the server does it with{" "}
      <code>millrace users reset &lt;e-mail&gt;</code>.
    </Text>
  );
}

function Form() {
  const [email, setEmail] = useState("");
  const ask = useMutation({ mutationFn: () => send("post", "/session/password-reset", { body: { email } }) });
  const other = formLevelError(ask.error, ["email"]);
  if (ask.isSuccess) {
    return (
      <Text size="sm" role="status">
        If {email.trim()} is somebody&apos;s address here, a mail with a link is on its way. It works for 30
        minutes. Nothing came? Look among the unwanted mail, or ask an admin.
      </Text>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate();
      }}
    >
      <Stack>
        {other && <ErrorAlert error={other} />}
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={issueAt(ask.error, "email")}
        />
        <Button type="submit" loading={ask.isPending}>
          Send me a link
        </Button>
      </Stack>
    </form>
  );
}
