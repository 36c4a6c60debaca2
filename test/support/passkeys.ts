/** An authenticator in software: passkeys with P-256 and a signature counter (Web Authentication Level 3, 6). */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { PasskeyAssertion, PasskeyRegistration } from "../../schemas/second-factor.ts";

interface Options {
  challenge: string;
  rp?: { id?: string };
  rpId?: string;
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
const b64 = (data: Buffer | string): string => Buffer.from(data).toString("base64url");

const USER_PRESENT = 0x01;
const ATTESTED = 0x40;

/**
 * A passkey for one origin. `counter` can be set, as that of a copy would be.
 * @param idBytes length of its id, in bytes
 */
export function softwarePasskey(origin: string, idBytes = 16) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  const id = randomBytes(idBytes);
  const clientData = (type: string, challenge: string): string =>
    JSON.stringify({ type, challenge, origin: passkey.origin, crossOrigin: false });
  const authenticatorData = (rpId: string, flags: number): Buffer => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(passkey.counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter]);
  };
  const passkey = {
    origin,
    counter: 0,
    id: b64(id),

    register({ challenge, rp }: Options): PasskeyRegistration {
      // COSE: kty EC2, alg ES256, crv P-256, x, y (RFC 9053, 7.1.1).
      const key = Buffer.concat([
        Buffer.from("a501020326200121", "hex"),
        Buffer.from("5820", "hex"),
        Buffer.from(x!, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y!, "base64url"),
      ]);
      const data = Buffer.concat([
        authenticatorData(rp!.id!, USER_PRESENT | ATTESTED),
        Buffer.alloc(16),
        Buffer.from([id.length >> 8, id.length & 255]),
        id,
        key,
      ]);
      const object = Buffer.concat([
        Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746159", "hex"),
        Buffer.from([data.length >> 8, data.length & 255]),
        data,
      ]);
      return {
        id: b64(id),
        client_data_json: b64(clientData("webauthn.create", challenge)),
        attestation_object: b64(object),
        transports: ["internal"],
      };
    },

    assert({ challenge, rpId }: Options): PasskeyAssertion {
      passkey.counter += 1;
      const data = authenticatorData(rpId!, USER_PRESENT);
      const client = clientData("webauthn.get", challenge);
      return {
        id: b64(id),
        client_data_json: b64(client),
        authenticator_data: b64(data),
        signature: b64(sign("sha256", Buffer.concat([data, sha256(client)]), privateKey)),
      };
    },
  };
  return passkey;
}
