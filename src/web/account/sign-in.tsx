import { Page } from "../ui/page.tsx";

export default function SignIn() {
  return <Page title="SignIn">To be made.</Page>;
}
