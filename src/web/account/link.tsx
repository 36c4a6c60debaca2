/** The page behind the links in e-mails: accept an invitation, reset a password, or confirm an address. */
import { Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useLocation } from "react-router";
import { send } from "../api/client.ts";
import { sessionQuery } from "../app/session.tsx";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt, tokenFromHash } from "./form-errors.ts";
import { PasswordField } from "./password-field.tsx";
import { useCompleteSignIn } from "./use-complete-sign-in.ts";

export default function LinkPage() {
  const token = tokenFromHash(useLocation().hash);
  const link = useQuery({
    queryKey: ["link", token],
    queryFn: async ({ signal }) => (await send("post", "/session/link", { body: { token }, signal })).data,
    enabled: token !== "",
    staleTime: Infinity,
  });
  if (token === "") return <Navigate to="/sign-in" replace />;
  if (link.isError) {
    return (
      <AuthCard title="This link doesn't work">
        <ErrorAlert error={link.error} />
        <Anchor component={Link} to="/sign-in">
          Sign in
        </Anchor>
      </AuthCard>
    );
  }
  return (
    <QueryContent query={link}>
      {({ kind, email }) => {
        if (kind === "setup") return <Navigate to={`/setup#${token}`} replace />;
        if (kind === "verification") return <ConfirmEmail token={token} email={email ?? ""} />;
        return <ChoosePassword token={token} email={email ?? ""} invited={kind === "invitation"} />;
      }}
    </QueryContent>
  );
}

function ChoosePassword({ token, email, invited }: { token: string; email: string; invited: boolean }) {
  const [password, setPassword] = useState("");
  const completeSignIn = useCompleteSignIn("/");
  const setNewPassword = useMutation({
    mutationFn: () => send("post", "/session/password", { body: { token, password } }),
    onSuccess: ({ data }) => completeSignIn(data),
  });
  const formError = formLevelError(setNewPassword.error, ["password"]);
  return (
    <AuthCard
      title={invited ? "Welcome to Millrace" : "Choose a new password"}
      about={invited ? "Choose a password to create your account." : "This signs you out everywhere else."}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setNewPassword.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput label="E-mail address" type="email" autoComplete="username" readOnly value={email} />
          <PasswordField
            value={password}
            onChange={setPassword}
            email={email}
            error={issueAt(setNewPassword.error, "password")}
          />
          <Button type="submit" loading={setNewPassword.isPending}>
            {invited ? "Create account" : "Save and sign in"}
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
}

/** Needs a click: mail scanners open every link, and would confirm the address by opening the page. */
function ConfirmEmail({ token, email }: { token: string; email: string }) {
  const client = useQueryClient();
  const confirm = useMutation({
    mutationFn: () => send("post", "/session/verification", { body: { token } }),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  return (
    <AuthCard title="Confirm your e-mail address">
      {confirm.error && <ErrorAlert error={confirm.error} />}
      {confirm.isSuccess ? (
        <>
          <Text role="status">{email} is confirmed.</Text>
          <Button component={Link} to="/">
            Continue
          </Button>
        </>
      ) : (
        <>
          <Text size="sm">Is {email} your address?</Text>
          <Button onClick={() => confirm.mutate()} loading={confirm.isPending}>
            Confirm
          </Button>
        </>
      )}
    </AuthCard>
  );
}
