/** What reached the outside world: mails, writing requests and writing tool calls. */
export interface Effect {
  kind: "mail" | "request" | "tool";
  /** One line for people, such as `POST /orders`. */
  summary: string;
}
