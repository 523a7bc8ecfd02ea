import { isRecord, isTexts } from '../../../primitives/values'
import type { Json } from '../../../protocol/json'

/** RFC 8693 2.1. An authorization stores its exchange history under the same name. */
export const tokenExchangeName = 'urn:ietf:params:oauth:grant-type:token-exchange'

interface ExchangeHistory {
  /** The latest first (RFC 8693 4.1). Empty if no exchange had an actor token. */
  readonly actors: readonly string[]
  readonly audience: readonly string[]
}

export const historyData = ({ actors, audience }: ExchangeHistory): Readonly<Record<string, Json>> =>
  actors.length + audience.length === 0 ? {} : { [tokenExchangeName]: { actors, audience } }

/** Without a bound, each exchange could enlarge the record. */
export const actorsAtMost = 8

export function historyIn(data: Json | undefined): ExchangeHistory {
  const fields = isRecord(data) ? data : {}
  return { actors: textsIn(fields['actors']), audience: textsIn(fields['audience']) }
}

/** `act` (RFC 8693 4.1) and `aud` (RFC 7662 2.2). */
export function introspectedHistory(data: Json): Readonly<Record<string, Json>> {
  const { actors, audience } = historyIn(data)
  const act = actors.reduceRight<Json | undefined>(
    (earlier, sub) => (earlier === undefined ? { sub } : { sub, act: earlier }),
    undefined,
  )
  return { ...(act === undefined ? {} : { act }), ...(audience.length === 0 ? {} : { aud: audience }) }
}

/** The latest first; undefined if `act` is malformed or too long. */
export function actorsIn(act: unknown): readonly string[] | undefined {
  const actors: unknown[] = []
  for (let next = act; next !== undefined; next = isRecord(next) ? next['act'] : undefined) {
    if (actors.length === actorsAtMost) return undefined
    actors.push(isRecord(next) ? next['sub'] : undefined)
  }
  return isTexts(actors) ? actors : undefined
}

const textsIn = (value: unknown): readonly string[] => (isTexts(value) ? value : [])
