/** The dialog that covers the page when the session has ended: sign in again and continue. */
import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import type { AuthMode } from "../../../schemas/user.ts";
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
      title="You are signed out"
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
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => {
      client.setQueryData(sessionQuery.queryKey, data);
      notifyOtherTabs();
      refetchFailedQueries(client);
    },
  });
  const formError = formLevelError(signIn.error, ["password"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          Your session has ended. Your unsaved input is still here. Sign in again as <b>{email}</b> to
          continue.
        </Text>
        {formError && <ErrorAlert error={formError} />}
        {/* Tells password managers which account the password belongs to. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={issueAt(signIn.error, "password")}
          visibilityToggleButtonProps={{ "aria-label": "Show password", tabIndex: 0 }}
        />
        <Group justify="space-between">
          <Button variant="default" onClick={() => signOutTo("/sign-in")}>
            Use another account
          </Button>
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
