import type { StoreWarning } from './caution'
import type { RedisCommands } from './redis-commands'

// Servers restart at least that often where they are looked after; a name that was given up is forgotten as soon.
const rememberedSeconds = 7 * 24 * 3600

/** Where issuers are noted: the client and how its keys begin, and the clock of this process in milliseconds. */
interface IssuerNotes {
  readonly client: RedisCommands
  readonly prefix: string
  readonly clock: () => number
}

/**
 * Notes that this issuer works below the prefix, and tells of others that were noted there within a week. One hash has a
 * field for each issuer: the seconds of its last note and its name. Trouble with it is no news: other looks tell.
 */
export async function otherIssuersBelow(
  notes: IssuerNotes,
  issuer: string,
): Promise<StoreWarning | undefined> {
  const others = await noted(notes, issuer).catch(() => [])
  if (others.length === 0) return undefined
  const message = `The issuer ${issuer} shares the Redis prefix "${notes.prefix}" with ${others.join(', ')}. They have the same registered clients and nothing else in common: give each issuer a prefix of its own. An issuer that has changed its name is told of for a week.`
  return { code: 'EAS_SHARED_STORE', message }
}

async function noted({ client, prefix, clock }: IssuerNotes, issuer: string): Promise<readonly string[]> {
  const key = `${prefix}issuers`
  const now = Math.floor(clock() / 1000)
  const values = await client.call('HVALS', key)
  await client.call('HSET', key, issuer, `${now} ${issuer}`)
  const others = (Array.isArray(values) ? values : []).map(noteOf).filter(({ name }) => name !== issuer)
  const forgotten = others.filter(({ seconds }) => seconds < now - rememberedSeconds).map(({ name }) => name)
  if (forgotten.length > 0) await client.call('HDEL', key, ...forgotten)
  return others.map(({ name }) => name).filter((name) => !forgotten.includes(name))
}

function noteOf(value: unknown): { readonly seconds: number; readonly name: string } {
  const [seconds = '', name = ''] = String(value).split(' ', 2)
  return { seconds: Number(seconds), name }
}
