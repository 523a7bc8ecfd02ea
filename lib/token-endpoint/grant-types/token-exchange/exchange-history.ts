import { isRecord, isTexts } from '../../../primitives/options-reader'
import type { Json } from '../../../protocol/json'

/**
 * The `grant_type` of a token exchange (RFC 8693 2.1). An authorization stores its exchange history under the same
 * name.
 */
export const tokenExchangeName = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** What the authorization of an exchange stores about the exchange. */
interface ExchangeHistory {
  /**
   * The parties that act for the subject, the latest first (RFC 8693 4.1). Empty if no exchange had an actor token.
   */
  readonly actors: readonly string[]
  /** The targets of the token; empty if the token names none. */
  readonly audience: readonly string[]
}

/** The data that the authorization of an exchange keeps; none without actors and targets. */
export const historyData = ({ actors, audience }: ExchangeHistory): Readonly<Record<string, Json>> =>
  actors.length + audience.length === 0 ? {} : { [tokenExchangeName]: { actors, audience } }

/** The longest chain of actors. Without this bound, each exchange could enlarge the record. */
export const actorsAtMost = 8

/** Reads the stored history of an exchange. An authorization that began without an exchange has an empty history. */
export function historyIn(data: Json | undefined): ExchangeHistory {
  const fields = isRecord(data) ? data : {}
  return { actors: textsIn(fields['actors']), audience: textsIn(fields['audience']) }
}

/** The members that introspection adds: `act` (RFC 8693 4.1) and `aud` (RFC 7662 2.2). */
export function introspectedHistory(data: Json): Readonly<Record<string, Json>> {
  const { actors, audience } = historyIn(data)
  const act = actors.reduceRight<Json | undefined>(
    (earlier, sub) => (earlier === undefined ? { sub } : { sub, act: earlier }),
    undefined,
  )
  return { ...(act === undefined ? {} : { act }), ...(audience.length === 0 ? {} : { aud: audience }) }
}

/**
 * The actors of a claim `act`, the latest first; undefined if the claim is malformed or has more than eight actors.
 */
export function actorsIn(act: unknown): readonly string[] | undefined {
  const actors: unknown[] = []
  for (let next = act; next !== undefined; next = isRecord(next) ? next['act'] : undefined) {
    if (actors.length === actorsAtMost) return undefined
    actors.push(isRecord(next) ? next['sub'] : undefined)
  }
  return isTexts(actors) ? actors : undefined
}

const textsIn = (value: unknown): readonly string[] => (isTexts(value) ? value : [])
