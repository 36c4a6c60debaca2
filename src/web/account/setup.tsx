/** The first visit: the admin account. */
import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useLocation } from "react-router";
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
          <AuthCard title="The first admin exists already">
            <Text size="sm">Sign in, or ask an admin for an invitation.</Text>
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
  const fromLink = tokenFromHash(useLocation().hash);
  const [typed, setTyped] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const enter = useCompleteSignIn("/");
  const make = useMutation({
    mutationFn: () =>
      send("post", "/session/setup", { body: { token: fromLink || typed.trim(), email, password } }),
    onSuccess: ({ data }) => enter(data),
  });
  const other = formLevelError(make.error, ["email", "password", "token"]);
  return (
    <AuthCard
      title="Make your admin account"
      about="You are the first one here. Others come by your invitation."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Stack>
          {other && <ErrorAlert error={other} />}
          {fromLink === "" && (
            <PasswordInput
              label="Setup token"
              description="What stands behind the # of the link that the server printed when it started."
              required
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              error={issueAt(make.error, "token")}
            />
          )}
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(make.error, "email")}
          />
          <PasswordField
            value={password}
            onChange={setPassword}
            email={email}
            error={issueAt(make.error, "password")}
          />
          <Button type="submit" loading={make.isPending}>
            Make the account
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
}
