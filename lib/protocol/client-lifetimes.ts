import { aWhole } from '../primitives/fields'
import { optional } from '../primitives/schema'
import type { ConfigurationIssue } from '../primitives/configuration-error'
import type { OptionsReader } from '../primitives/options-reader'
import { tenYears } from '../primitives/values'

/** Whole seconds. Undefined means the lifetime of the server. */
export interface ClientLifetimes {
  readonly access_token_lifetime: number | undefined
  readonly refresh_token_lifetime: number | undefined
  readonly grant_lifetime: number | undefined
}

/** The option `lifetimes`, which bounds those of clients. */
export interface LifetimeBounds {
  readonly accessToken: number
  readonly refreshToken: number
  /** Undefined if grants have no absolute end. */
  readonly grant?: number | undefined
}

const bounds = {
  access_token_lifetime: 'accessToken',
  refresh_token_lifetime: 'refreshToken',
  grant_lifetime: 'grant',
} as const

export function readClientLifetimes(reading: OptionsReader): ClientLifetimes {
  const seconds = (key: keyof ClientLifetimes) => reading.field(key, optional(aWhole(1, tenYears)))
  return {
    access_token_lifetime: seconds('access_token_lifetime'),
    refresh_token_lifetime: seconds('refresh_token_lifetime'),
    grant_lifetime: seconds('grant_lifetime'),
  }
}

/** Lifetimes longer than the server's would have no effect. */
export function longerLifetimes(
  client: ClientLifetimes,
  server: LifetimeBounds,
): readonly ConfigurationIssue[] {
  return (['access_token_lifetime', 'refresh_token_lifetime', 'grant_lifetime'] as const).flatMap((path) => {
    const bound = bounds[path]
    const [own, most = Infinity] = [client[path], server[bound]]
    if (own === undefined || own <= most) return []
    return [{ path, message: `must be at most ${most}, lifetimes.${bound} of the server.` }]
  })
}
