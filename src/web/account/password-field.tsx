/** The field for a new password. It shows the rule, a strength meter and the server's error. */
import { PasswordInput, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import * as texts from "#texts/account";
import { passwordIssue } from "../../../schemas/password.ts";

const LEVELS = [
  { level: "veryWeak", color: "red" },
  { level: "weak", color: "red" },
  { level: "fair", color: "orange" },
  { level: "good", color: "lime" },
  { level: "strong", color: "green" },
] as const;

interface PasswordFieldProps {
  label?: string;
  value: string;
  onChange: (value: string) => void;
  /** The user's e-mail address. A password that contains it counts as weaker. */
  email?: string;
  error?: string | undefined;
}

export function PasswordField({
  label = texts.password,
  value,
  onChange,
  email = "",
  error,
}: PasswordFieldProps) {
  return (
    <Stack gap={6}>
      <PasswordInput
        label={label}
        description={texts.passwordRule}
        required
        autoComplete="new-password"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
        visibilityToggleButtonProps={{ "aria-label": texts.showPassword, tabIndex: 0 }}
      />
      {value !== "" && <StrengthMeter password={value} email={email} />}
    </Stack>
  );
}

function StrengthMeter({ password, email }: { password: string; email: string }) {
  const deferred = useDeferredValue(password);
  const issue = passwordIssue(deferred);
  // Loaded on demand: the dictionaries are larger than the rest of the page.
  const strength = useQuery({
    queryKey: ["password-strength"],
    queryFn: async () => (await import("./password-strength.ts")).passwordStrength,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const rating = strength.data?.(deferred, email);
  const score = issue === undefined ? (rating ?? 0) : Math.min(rating ?? 0, 1);
  const { level, color } = LEVELS[score]!;
  return (
    <Stack gap={4}>
      <Progress value={(score + 1) * 20} color={color} size="sm" aria-label={texts.strength} />
      <Text size="xs" c="dimmed" aria-live="polite">
        {issue !== undefined
          ? texts.passwordIssue(issue)
          : rating === undefined
            ? texts.checkingStrength
            : texts.strengthIs({ level })}
      </Text>
    </Stack>
  );
}
