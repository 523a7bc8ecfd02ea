import { createHmac, timingSafeEqual } from 'node:crypto'

/** `mac_algorithm` on the wire. SHA-1 is for clients that cannot be changed any more. */
export type MacAlgorithm = 'hmac-sha-256' | 'hmac-sha-1'

const hashes: Readonly<Record<MacAlgorithm, string>> = { 'hmac-sha-256': 'sha256', 'hmac-sha-1': 'sha1' }

export const isMacAlgorithm = (value: unknown): value is MacAlgorithm =>
  value === 'hmac-sha-256' || value === 'hmac-sha-1'

/** The MAC of a text in base64, as requests carry it. The bytes of the key are its ASCII characters. */
export function macOf(text: string, key: string, algorithm: MacAlgorithm): string {
  return createHmac(hashes[algorithm], key).update(text).digest('base64')
}

/** Whether this is the MAC of the text, letter by letter and in constant time. */
export function hasMac(text: string, key: string, algorithm: MacAlgorithm, shownMac: string): boolean {
  const wanted = Buffer.from(macOf(text, key, algorithm))
  const actual = Buffer.from(shownMac)
  return actual.length === wanted.length && timingSafeEqual(actual, wanted)
}
