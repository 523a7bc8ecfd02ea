import type { Json } from '../../../protocol/bindings'
import { isRecord, isTexts } from '../../../protocol/configuration'

/** What an exchange keeps with the authorization that it begins. */
export interface ExchangeHistory {
  /** Who acts for the subject, the last one first (RFC 8693 4.1). Empty for impersonation. */
  readonly actors: readonly string[]
  /** The targets that the token is for; empty when it names none. */
  readonly audience: readonly string[]
}

/** A chain that is longer than this is refused: it would grow a record without end. */
export const actorsAtMost = 8

/** What an exchange kept; an authorization of another origin has no history. */
export function historyIn(data: Json | undefined): ExchangeHistory {
  const fields = isRecord(data) ? data : {}
  return { actors: textsIn(fields['actors']), audience: textsIn(fields['audience']) }
}

/** As introspection tells it: `act` (RFC 8693 4.1) and `aud` (RFC 7662 2.2). */
export function introspectedHistory(data: Json): Readonly<Record<string, Json>> {
  const { actors, audience } = historyIn(data)
  const act = actors.reduceRight<Json | undefined>(
    (earlier, sub) => (earlier === undefined ? { sub } : { sub, act: earlier }),
    undefined,
  )
  return { ...(act === undefined ? {} : { act }), ...(audience.length === 0 ? {} : { aud: audience }) }
}

/** The actors of a claim `act`, the last one first; undefined when it is malformed or too long. */
export function actorsIn(act: unknown): readonly string[] | undefined {
  const actors: unknown[] = []
  for (let next = act; next !== undefined; next = isRecord(next) ? next['act'] : undefined) {
    if (actors.length === actorsAtMost) return undefined
    actors.push(isRecord(next) ? next['sub'] : undefined)
  }
  return isTexts(actors) ? actors : undefined
}

const textsIn = (value: unknown): readonly string[] => (isTexts(value) ? value : [])
