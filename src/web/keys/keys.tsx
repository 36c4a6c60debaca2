import { Page } from "../ui/page.tsx";

export default function Keys() {
  return <Page title="Keys">To be made.</Page>;
}
