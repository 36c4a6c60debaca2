/** Asks for a second factor: a code, a passkey or a recovery code. */
import { Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { IconFingerprint } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/account";
import type { PasskeyAssertion } from "../../../schemas/second-factor.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { hasPasskeys, passkeyError, signWithPasskey } from "./passkey.ts";

type Proof = { code: string } | { recovery_code: string } | { passkey: PasskeyAssertion };

interface FactorProofFormProps {
  /** `totp`, `passkey` and `recovery_code`, as far as the person has them. */
  methods: readonly string[];
  /** Label of the button that sends a code. */
  label: string;
  /** Asks the server for the challenge of a passkey. */
  challenge: () => Promise<Record<string, unknown>>;
  /** Sends a proof, and continues. */
  prove: (proof: Proof) => Promise<void>;
}

/** Outside of a dialog, nothing else moves the focus from the step before to this field. */
const focusOnMount = (input: HTMLInputElement | null): void => input?.focus();

export function FactorProofForm({ methods, label, challenge, prove }: FactorProofFormProps) {
  const [value, setValue] = useState("");
  const [recovering, setRecovering] = useState(!methods.includes("totp") && !methods.includes("passkey"));
  const sendCode = useMutation({
    mutationFn: () => prove(recovering ? { recovery_code: value } : { code: value }),
    onError: () => setValue(""),
  });
  const provePasskey = useMutation({
    mutationFn: async () => {
      const options = await challenge();
      const passkey = await signWithPasskey(options).catch((error: Error) => {
        throw passkeyError(error);
      });
      await prove({ passkey });
    },
  });
  const field = recovering ? "recovery_code" : "code";
  const error = provePasskey.error ?? formLevelError(sendCode.error, [field]);
  const asksCode = recovering || methods.includes("totp");
  return (
    <Stack>
      {error && <ErrorAlert error={error} />}
      {!recovering && methods.includes("passkey") && (
        <Button
          variant={asksCode ? "default" : "filled"}
          leftSection={<IconFingerprint size={18} aria-hidden />}
          loading={provePasskey.isPending}
          disabled={!hasPasskeys()}
          data-autofocus={!asksCode}
          onClick={() => {
            sendCode.reset();
            provePasskey.mutate();
          }}
        >
          {texts.byPasskey}
        </Button>
      )}
      {asksCode && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            provePasskey.reset();
            sendCode.mutate();
          }}
        >
          <Stack>
            <TextInput
              key={field}
              label={recovering ? texts.recoveryCode : texts.code}
              description={recovering ? texts.recoveryCodeHelp : texts.codeHelp}
              required
              autoComplete={recovering ? "off" : "one-time-code"}
              inputMode={recovering ? "text" : "numeric"}
              data-autofocus
              ref={focusOnMount}
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
              error={issueAt(sendCode.error, field)}
            />
            <Button type="submit" loading={sendCode.isPending}>
              {label}
            </Button>
          </Stack>
        </form>
      )}
      {methods.includes("recovery_code") && methods.length > 1 && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="start"
          onClick={() => {
            setRecovering(!recovering);
            setValue("");
            sendCode.reset();
            provePasskey.reset();
          }}
        >
          {recovering ? texts.bySecondFactor : texts.byRecoveryCode}
        </Anchor>
      )}
      {!methods.includes("recovery_code") && (
        <Text size="sm" c="dimmed">
          {texts.lostFactor}
        </Text>
      )}
    </Stack>
  );
}
