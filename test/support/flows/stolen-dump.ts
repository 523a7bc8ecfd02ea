import type { Authorization } from '../../../lib/authorization/authorization'
import { decodeAuthorization } from '../../../lib/authorization/codec'
import type { Redis } from 'ioredis'

/** Everything that a Redis holds: each key with its value, whatever its type; and what of it is merely encoded. */
export async function dumpOf(redis: Redis): Promise<readonly string[]> {
  const texts: string[] = []
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key)
    if (type === 'string') texts.push(key, String(await redis.get(key)))
    else if (type === 'set') texts.push(key, ...(await redis.smembers(key)))
    else if (type === 'hash')
      texts.push(key, ...Object.entries(await redis.hgetall(key)).flatMap(([field, value]) => [field, value]))
    else throw new Error(`The dump does not know how to read the ${type} ${key}.`)
  }
  return [...texts, ...texts.flatMap(decoded)]
}

/** What is only encoded, and not encrypted. */
function decoded(text: string): readonly string[] {
  const runs = text.match(/[A-Za-z0-9_+/-]{44,}/g) ?? []
  return runs.flatMap((run) =>
    (['base64url', 'hex'] as const).map((encoding) => Buffer.from(run, encoding).toString('latin1')),
  )
}

const revisionLength = 22
// No request can carry anything else.
const sendable = /^[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?$/

/** What an attacker could try of a dump: each text, each part of it, and what credentials could be put together from. */
export function lootOf(dump: readonly string[]): readonly string[] {
  const loot = new Set<string>()
  for (const text of dump) {
    const parts = [text, ...leavesOf(text.slice(revisionLength)), ...text.split(':')]
    const runs = text.match(/[A-Za-z0-9_-]{22,}/g) ?? []
    const long = runs.filter((run) => run.length >= 40)
    for (const part of [...parts, ...long, ...long.flatMap(dressed)]) if (sendable.test(part)) loot.add(part)
    // The id of the record with each digest where the secret would be.
    for (const id of runs.filter((run) => run.length === 22))
      for (const secret of runs.filter((run) => run.length === 43))
        for (const made of dressed(id + secret)) loot.add(made)
  }
  return [...loot]
}

/** The records of authorizations. */
export const recordsIn = (dump: readonly string[]): readonly Authorization[] =>
  dump.flatMap((text, at) => {
    const [, id] = /authorization:([\w-]{22})$/.exec(text) ?? []
    return id === undefined ? [] : [decodeAuthorization(id, dump[at + 1]?.slice(22) ?? '')]
  })

/** The keys under which refresh tokens are tagged, with the ids of their authorizations. */
export const tagKeysIn = (
  dump: readonly string[],
): readonly { readonly id: string; readonly tagKey: string }[] =>
  recordsIn(dump).flatMap((record) =>
    record.state === 'active' && record.refreshToken !== undefined
      ? [{ id: record.id, tagKey: record.refreshToken.tagKey }]
      : [],
  )

/** How a credential could stand in a dump. */
export function spellingsOf(credential: string): readonly string[] {
  const bytes = Buffer.from(credential)
  const secret = Buffer.from(credential.slice(-43), 'base64url')
  const encodings = ['base64', 'base64url', 'hex'] as const
  return [
    credential,
    credential.slice(-40),
    encodeURIComponent(credential),
    ...encodings.map((encoding) => bytes.toString(encoding).replace(/=+$/, '')),
    ...(secret.length === 32
      ? encodings.map((encoding) => secret.toString(encoding).replace(/=+$/, ''))
      : []),
  ]
}

/** The text in the form of each kind of credential. */
const dressed = (text: string) => [
  ...['at_', 'ac_', 'ar_'].map((prefix) => prefix + text.slice(0, 65)),
  `rt_${text.padEnd(82, text).slice(0, 82)}`,
]

function leavesOf(json: string): readonly string[] {
  try {
    return leaves(JSON.parse(json))
  } catch {
    return []
  }
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
