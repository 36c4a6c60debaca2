/** The dialog that covers the page when the session has ended: sign in again and continue. */
import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/app";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { SecondStepForm, useSecondStep } from "../account/second-step.tsx";
import { send } from "../api/client.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import type { AuthMode, SessionInfo } from "../../../schemas/user.ts";
import { refetchFailedQueries, sessionQuery, notifyOtherTabs, useSignOutTo } from "./session.tsx";
import { SsoReauthentication } from "./sso-reauthentication.tsx";

/** Above every other dialog, which may be open when the session ends. */
const Z_INDEX = 350;

export function ReauthenticationDialog({ email, mode }: { email: string; mode: AuthMode }) {
  useRestoreFocus();
  const signOutTo = useSignOutTo();
  return (
    <Modal
      opened
      onClose={() => signOutTo("/sign-in")}
      title={texts.signedOutTitle}
      centered
      zIndex={Z_INDEX}
      overlayProps={{ blur: 6 }}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {mode === "built-in" ? (
        <PasswordReauthentication email={email} />
      ) : (
        <SsoReauthentication email={email} mode={mode} />
      )}
    </Modal>
  );
}

function PasswordReauthentication({ email }: { email: string }) {
  const client = useQueryClient();
  const signOutTo = useSignOutTo();
  const [password, setPassword] = useState("");
  const complete = (session: SessionInfo): void => {
    client.setQueryData(sessionQuery.queryKey, session);
    notifyOtherTabs();
    refetchFailedQueries(client);
  };
  const { step, take, cancel } = useSecondStep(complete);
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => take(data),
  });
  const formError = formLevelError(signIn.error, ["password"]);
  if (step !== undefined) return <SecondStepForm step={step} complete={complete} cancel={cancel} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack>
        <Text size="sm">{texts.sessionEnded({ user: <b>{email}</b> })}</Text>
        {formError && <ErrorAlert error={formError} />}
        {/* Tells password managers which account the password belongs to. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label={texts.password}
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={issueAt(signIn.error, "password")}
          visibilityToggleButtonProps={{ "aria-label": texts.showPassword, tabIndex: 0 }}
        />
        <Group justify="space-between">
          <Button variant="default" onClick={() => signOutTo("/sign-in")}>
            {texts.otherAccount}
          </Button>
          <Button type="submit" loading={signIn.isPending}>
            {texts.signIn}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
