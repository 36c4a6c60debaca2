/** The page behind the links in e-mails: accept an invitation, reset a password, or confirm an address. */
import { Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useLocation, useNavigate } from "react-router";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { sessionQuery } from "../app/session.tsx";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { AuthCard } from "./auth-card.tsx";
import { formLevelError, issueAt, tokenFromHash } from "./form-errors.ts";
import { PasswordField } from "./password-field.tsx";
import { SecondStepForm, useSecondStep } from "./second-step.tsx";
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
      <AuthCard title={texts.linkBroken}>
        <ErrorAlert error={link.error} />
        <Anchor component={Link} to="/sign-in">
          {texts.signIn}
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
  const navigate = useNavigate();
  const { step, take } = useSecondStep(completeSignIn);
  const setNewPassword = useMutation({
    mutationFn: () => send("post", "/session/password", { body: { token, password } }),
    onSuccess: ({ data }) => take(data),
  });
  const formError = formLevelError(setNewPassword.error, ["password"]);
  if (step !== undefined)
    return (
      <AuthCard title={texts.signIn}>
        <SecondStepForm
          step={step}
          complete={completeSignIn}
          cancel={() => void navigate("/sign-in", { replace: true })}
        />
      </AuthCard>
    );
  return (
    <AuthCard
      title={invited ? texts.welcome : texts.choosePassword}
      about={invited ? texts.welcomeHelp : texts.choosePasswordHelp}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setNewPassword.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput label={texts.email} type="email" autoComplete="username" readOnly value={email} />
          <PasswordField
            value={password}
            onChange={setPassword}
            email={email}
            error={issueAt(setNewPassword.error, "password")}
          />
          <Button type="submit" loading={setNewPassword.isPending}>
            {invited ? texts.createAccount : texts.saveAndSignIn}
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
    <AuthCard title={texts.confirmAddress}>
      {confirm.error && <ErrorAlert error={confirm.error} />}
      {confirm.isSuccess ? (
        <>
          <Text role="status">{texts.addressConfirmed({ email })}</Text>
          <Button component={Link} to="/">
            {texts.continueButton}
          </Button>
        </>
      ) : (
        <>
          <Text size="sm">{texts.isYourAddress({ email })}</Text>
          <Button onClick={() => confirm.mutate()} loading={confirm.isPending}>
            {texts.confirm}
          </Button>
        </>
      )}
    </AuthCard>
  );
}
