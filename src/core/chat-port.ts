/** The port to the chats of the configuration, which approvals are posted to. `src/connections/chats` implements it. */
import type { CallContext, NamedConnection } from "./connections.ts";

/** The ids of the buttons under a message. */
export const APPROVE = "millrace_approve";
export const DECLINE = "millrace_decline";

/** What a chat shows of an approval. */
export interface ChatMessage {
  /** One line, also for notifications. */
  title: string;
  /** The evidence and the plan as lines of text, with aligned tables. */
  text: string;
  /** The page of the approval, for those who sign in. */
  url: string;
  /** What buttons decide on; null once it is decided, and where none can be offered. */
  decision: { approvalId: string; planDigest: string; canApprove: boolean } | null;
}

/** A member of a chat who has pressed a button. */
export interface ChatMember {
  team: string;
  id: string;
}

export interface Chats {
  list(): readonly NamedConnection[];
  /**
   * Posts a message. @returns what identifies it, to update it; null if it can't be updated
   * @throws StepError
   */
  post(name: string, message: ChatMessage, call: CallContext): Promise<string | null>;
  /** Replaces a message that `post` has returned the reference of. @throws StepError */
  update(name: string, reference: string, message: ChatMessage, call: CallContext): Promise<void>;
  /** The values of the signing secrets of a Slack app; none for a name that is not one. */
  signingSecrets(name: string): readonly string[];
  /**
   * The mail address of a member of the app's workspace: as configured, else as Slack knows it. Null for members of other
   * workspaces, bots, deleted members, and those without an address.
   * @throws StepError
   */
  memberEmail(name: string, member: ChatMember, call: CallContext): Promise<string | null>;
  /** Answers a member alone, at the URL that came with the interaction. @throws StepError */
  respond(name: string, responseUrl: string, text: string, call: CallContext): Promise<void>;
}
