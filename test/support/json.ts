/** JSON as it came over the wire: what it is, the assertions say. */
// oxlint-disable-next-line typescript/no-explicit-any -- a type here would be a second, unchecked assertion
export type Json = any;
