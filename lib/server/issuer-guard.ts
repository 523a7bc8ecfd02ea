import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { protectedResource, type ProtectedResourcePart } from '../http/protected-resource'
import type { AuthorizationServerEvents } from '../audit/events'
import { metadataUrlOf, OwnResource } from '../endpoints/protected-resource-metadata'
import { isText, type OptionsReader } from '../primitives/options-reader'
import { bareResource, isResourceUri, Resources } from '../extensions/resource-indicators/resources'
import { bearer } from '../extensions/token-types/bearer'
import type { FindToken } from '../resource-server/admit'
import { createGuardContext } from './create-guard-context'
import { lifecycle } from './lifecycle'
import type { readStandaloneGuard } from './remote-guard'

/** A bearer guard for the tokens of one issuer, without a store. */
export interface IssuerGuard extends BearerGuard {
  /** The events of the guard: refusals and failures. `docs/events.md` explains each event. */
  readonly events: AuthorizationServerEvents
  /**
   * The metadata of this resource server (RFC 9728): mount `app.use(guard.protectedResource())` at the root of the host.
   * Challenges then name its URL. Name the scopes in the second parameter, because the guard does not know them:
   * `{ scopes_supported: ['photos:read'] }`.
   */
  readonly protectedResource: ProtectedResourcePart
  /**
   * Closes the guard for good. New requests get `temporarily_unavailable` with `Connection: close`. Requests in flight
   * may finish, for `closeDeadline` seconds at most. Further calls return the same promise.
   */
  close(): Promise<void>
  /**
   * Whether the guard can serve requests: it has what it needs of the issuer, such as keys, and the host has not called
   * `close()`. Fetches what is missing, so the first request does not wait. Never rejects.
   */
  ready(): Promise<boolean>
}

/** The parts of such a guard. */
interface IssuerGuardParts {
  readonly issuer: string
  /** The resource that the guard protects; undefined if the options name none. */
  readonly own: OwnResource | undefined
  readonly alone: ReturnType<typeof readStandaloneGuard>
  readonly findToken: FindToken
  /** Gets what the guard needs of the issuer. Rejects if the issuer does not answer. */
  readonly answers: (now: number) => Promise<void>
}

/** Makes a guard that looks its tokens up without a store. */
export function guardOfIssuer({ issuer, own, alone, findToken, answers }: IssuerGuardParts): IssuerGuard {
  const settings = {
    issuer,
    scopes: undefined,
    tokenTypes: [bearer],
    accessTokenFormats: [],
    extensions: [],
    resources: undefined,
    ownResource: own,
    ...alone,
  }
  const guards = createGuardContext(settings, {
    findToken,
    findSignedToken: undefined,
    observeToken: undefined,
    counters: { add: neverAsked, useOnce: neverAsked },
  })
  const living = {
    requests: guards.requests,
    closeDeadline: alone.closeDeadline,
    answers: () => answers(guards.now()),
    release: async () => {},
  }
  return Object.assign(bearerGuard(guards), {
    events: guards.audit.events,
    protectedResource: protectedResource(
      { ...settings, resources: own && tableOf(own.uri) },
      'needs the option resource, such as https://api.example.com/mcp.',
      () => own?.publish(),
    ),
    ...lifecycle(living),
  })
}

/** Reads the option `resource`. Default: the audience, if it is one URI that could be a resource. */
export function readOwnResource(
  reading: OptionsReader,
  audience: readonly string[],
): OwnResource | undefined {
  const given = reading.optional<string | undefined>('resource', undefined, isOwnUri, ownExpectation)
  if (given !== undefined) return new OwnResource(given, true)
  const [only, second] = audience
  return second === undefined && isOwnUri(only) ? new OwnResource(only, false) : undefined
}

const ownExpectation =
  'must be a URI without a fragment, such as https://api.example.com/mcp: https, or http on a loopback host.'
const isOwnUri = (value: unknown): value is string =>
  isText(value) && isResourceUri(value) && metadataUrlOf(value) !== undefined

function tableOf(uri: string): Resources {
  const resource = bareResource(uri)
  return new Resources([resource], resource)
}

// RFC 6750: a client may use a bearer token any number of times.
const neverAsked = () => Promise.reject(new Error('Bearer tokens have no single-use values.'))
