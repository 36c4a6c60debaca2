/** The only page of a user whose role requires a second factor, until they have set one up. */
import { Anchor, Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { notifyOtherTabs, useSession, useSignOutTo } from "../app/session.tsx";
import { AuthCard } from "./auth-card.tsx";
import { SecondFactors } from "./second-factors.tsx";

/** @param onSetUp called when they have one, and have saved their recovery codes */
export default function RequiredSetUp({ onSetUp }: { onSetUp: () => void }) {
  const { user } = useSession();
  const signOutTo = useSignOutTo();
  const signOut = useMutation({
    mutationFn: () => send("delete", "/session", {}),
    onSettled: () => {
      notifyOtherTabs();
      signOutTo("/sign-in");
    },
  });
  return (
    <AuthCard title={texts.setUpFactor} about={texts.setUpFactorHelp({ email: user.email })}>
      <SecondFactors email={user.email} onSetUp={onSetUp} />
      {/* They have set one up in another tab, or the role was changed. */}
      {user.second_factor !== "missing" && <Button onClick={onSetUp}>{texts.continueButton}</Button>}
      <Anchor component="button" type="button" size="sm" ta="start" onClick={() => signOut.mutate()}>
        {texts.signOut}
      </Anchor>
    </AuthCard>
  );
}
