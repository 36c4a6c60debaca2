/** Signing in. */
import { Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useSearchParams } from "react-router";
import { send } from "../api/client.ts";
import { useSessionQuery } from "../app/session.tsx";
import { Failed, Loaded } from "../ui/page.tsx";
import { Card } from "./card.tsx";
import { besideFields, faultAt, placeAfter } from "./fields.ts";
import { signInOptions } from "./options.ts";
import { BackInTab, SignOn, SignOnBefore } from "./sign-on.tsx";
import { useEnter } from "./use-enter.ts";

export default function SignIn() {
  const options = useQuery(signInOptions);
  const session = useSessionQuery();
  const [search] = useSearchParams();
  const to = placeAfter(search);
  if (session.data) return search.has("back") ? <BackInTab /> : <Navigate to={to} replace />;
  return (
    <Loaded query={options}>
      {({ mode, setup, mail }) => {
        if (mode === "oidc") return <SignOn to={search.has("back") ? "/sign-in?back=1" : to} />;
        if (mode === "cognito") return <SignOnBefore to={search.has("back") ? "/sign-in?back=1" : to} />;
        return setup ? <Navigate to="/setup" replace /> : <Form mail={mail} to={to} />;
      }}
    </Loaded>
  );
}

function Form({ mail, to }: { mail: boolean; to: string }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const enter = useEnter(to);
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => enter(data),
  });
  const other = besideFields(signIn.error, ["email", "password"]);
  return (
    <Card title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <Stack>
          {other && <Failed error={other} />}
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            required
            data-autofocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={faultAt(signIn.error, "email")}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={faultAt(signIn.error, "password")}
            visibilityToggleButtonProps={{ "aria-label": "Show the password", tabIndex: 0 }}
          />
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
          <Anchor component={Link} to={mail ? "/forgot" : "/forgot?mail=no"} size="sm">
            Forgotten your password?
          </Anchor>
        </Stack>
      </form>
    </Card>
  );
}
