/** Around what is only a picture of something: where it breaks, the page beside it stays. */
import { Alert } from "@mantine/core";
import { Component, type ReactNode } from "react";

interface GuardProps {
  /** Said in its place: "The graph could not be drawn." */
  message: string;
  /** What it is a picture of: another one is tried anew. */
  of: unknown;
  children: ReactNode;
}

/** A class, as React has no other way to catch what breaks while it draws. */
export class Guard extends Component<GuardProps, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override componentDidUpdate(before: GuardProps) {
    if (this.state.broken && before.of !== this.props.of) this.setState({ broken: false });
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <Alert color="gray" role="status">
        {this.props.message}
      </Alert>
    );
  }
}
