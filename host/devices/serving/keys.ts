/** Who calls: a key is known by its SHA-256 only, and compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** `owner` may grant and take back; `connector` may use what was granted, and never grant. */
export type Role = 'owner' | 'connector';

export interface DeviceKey {
  id: string;
  role: Role;
  /** Hex SHA-256 of the key. */
  sha256: string;
}

export class DeviceKeys {
  readonly #keys: { id: string; role: Role; digest: Buffer }[];

  constructor(keys: readonly DeviceKey[]) {
    this.#keys = keys.map(({ id, role, sha256 }) => ({ id, role, digest: Buffer.from(sha256, 'hex') }));
  }

  /** @param authorization the header's value. @returns nothing when the key is not known. */
  find(authorization: string | undefined): { id: string; role: Role } | undefined {
    const secret = /^Bearer ([\x21-\x7e]{8,512})$/i.exec(authorization ?? '')?.[1];
    if (secret === undefined) return undefined;
    const digest = createHash('sha256').update(secret).digest();
    let found: { id: string; role: Role } | undefined;
    for (const key of this.#keys) {
      if (key.digest.length === digest.length && timingSafeEqual(key.digest, digest))
        found = { id: key.id, role: key.role };
    }
    return found;
  }
}

export const sha256Hex = (secret: string): string => createHash('sha256').update(secret).digest('hex');
