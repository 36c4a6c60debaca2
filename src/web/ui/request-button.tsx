/** The element of all buttons. One that sends a request is off while the server can't be reached. */
import type { ComponentProps } from "react";
import { useConnection } from "../api/connection.ts";

/** The class with which the theme marks the buttons that send a request: those with the prop `loading`. */
export const SENDS_REQUEST = "sends-request";

export function RequestButton({
  className = "",
  disabled,
  title,
  type = "button",
  ...rest
}: ComponentProps<"button">) {
  const { isReachable } = useConnection();
  const isOff = !isReachable && className.split(" ").includes(SENDS_REQUEST);
  return (
    <button
      {...rest}
      // oxlint-disable-next-line react/button-has-type -- passed on
      type={type}
      className={className}
      disabled={disabled === true || isOff}
      title={isOff ? "The server can't be reached" : title}
      {...(isOff && { "data-disabled": true })}
    />
  );
}
