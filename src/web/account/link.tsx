/** What a link out of a mail leads to: an invitation, a new password, or a confirmed address. */
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
      <AuthCard title="This link does not work">
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
        if (kind === "verification") return <Confirm token={token} email={email ?? ""} />;
        return <Choose token={token} email={email ?? ""} invited={kind === "invitation"} />;
      }}
    </QueryContent>
  );
}

function Choose({ token, email, invited }: { token: string; email: string; invited: boolean }) {
  const [password, setPassword] = useState("");
  const enter = useCompleteSignIn("/");
  const choose = useMutation({
    mutationFn: () => send("post", "/session/password", { body: { token, password } }),
    onSuccess: ({ data }) => enter(data),
  });
  const other = formLevelError(choose.error, ["password"]);
  return (
    <AuthCard
      title={invited ? "Welcome to Millrace" : "Choose a new password"}
      about={invited ? "Choose a password, and you are in." : "You are signed out everywhere else then."}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          choose.mutate();
        }}
      >
        <Stack>
          {other && <ErrorAlert error={other} />}
          <TextInput label="E-mail address" type="email" autoComplete="username" readOnly value={email} />
          <PasswordField
            value={password}
            onChange={setPassword}
            email={email}
            error={issueAt(choose.error, "password")}
          />
          <Button type="submit" loading={choose.isPending}>
            {invited ? "Begin" : "Save and sign in"}
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
}

/** By a click, not by opening: programs that look into mails open every link in them. */
function Confirm({ token, email }: { token: string; email: string }) {
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
            Go on
          </Button>
        </>
      ) : (
        <>
          <Text size="sm">Is {email} your address?</Text>
          <Button onClick={() => confirm.mutate()} loading={confirm.isPending}>
            Yes, confirm it
          </Button>
        </>
      )}
    </AuthCard>
  );
}
