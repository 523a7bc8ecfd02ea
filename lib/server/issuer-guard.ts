import { kind, optional, type Place } from '../primitives/schema'
import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { protectedResource, type ProtectedResourcePart } from '../http/protected-resource'
import type { AuthorizationServerEvents } from '../audit/events'
import { metadataUrlOf, OwnResource } from '../endpoints/protected-resource-metadata'
import { isText } from '../primitives/values'
import { bareResource, isResourceUri, Resources } from '../extensions/resource-indicators/resources'
import { bearer } from '../extensions/token-types/bearer'
import type { FindToken } from '../resource-server/admit'
import { guardEdge } from './guard-edge'
import { lifecycle } from './lifecycle'
import { type ReadRemoteGuard, readProvingGuard, standaloneFields } from './remote-guard'

/** A bearer guard for the tokens of one issuer, without a store. */
export interface IssuerGuard extends BearerGuard {
  /** Refusals and failures: see `docs/events.md`. */
  readonly events: AuthorizationServerEvents
  /**
   * The metadata of this resource server (RFC 9728): `app.use(guard.protectedResource())` at the root of the
   * host. Challenges then name its URL. Name the scopes, which the guard does not know, in the second
   * parameter: `{ scopes_supported: ['photos:read'] }`.
   */
  readonly protectedResource: ProtectedResourcePart
  /**
   * Closes for good. New requests get `temporarily_unavailable` with `Connection: close`; those in flight may
   * finish within `closeDeadline` seconds. Further calls return the same promise.
   */
  close(): Promise<void>
  /**
   * Whether the guard has what it needs of the issuer, such as keys, and is not closed. Fetches what is
   * missing, so the first request does not wait. Never rejects.
   */
  ready(): Promise<boolean>
}

interface IssuerGuardParts {
  readonly own: OwnResource | undefined
  readonly alone: Pick<ReadRemoteGuard, 'issuer' | 'limits' | keyof typeof standaloneFields>
  readonly guard: ReturnType<typeof readProvingGuard>
  readonly findToken: FindToken
  /** Rejects if the issuer does not answer. */
  readonly answers: (now: number) => Promise<void>
}

/** Returns placeholders after a mistake. */
export function readIssuerGuard(
  at: Place,
  { issuer, clock }: { readonly issuer: string; readonly clock: () => number },
) {
  const proving = readProvingGuard(at, { issuer, clock, storage: undefined }, storeDeadline)
  for (const { name, confirmationMethod } of proving.tokenTypes)
    if (name !== bearer.name && confirmationMethod === undefined)
      at.wrong('tokenTypes', `have "${name}" ${withoutMethod}`)
  return proving
}

const withoutMethod =
  'without confirmationMethod, such as jkt: a guard without the store finds the type of a token by cnf (RFC 7800).'

export function guardOfIssuer(parts: IssuerGuardParts): IssuerGuard {
  const { own, alone, findToken, answers } = parts
  const { tokenTypes, extensions, counters, start } = parts.guard
  const settings = {
    ...alone,
    implied: alone.implies,
    scopes: undefined,
    tokenTypes,
    accessTokenFormats: [],
    extensions,
    resources: undefined,
    ownResource: own,
  }
  const guards = guardEdge(settings, { counters, singleUseLimit: alone.limits.singleUses }, { findToken })
  start(guards)
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

/** @param given default: the audience, if it is one URI that could be a resource. */
export function ownResource(given: string | undefined, audience: readonly string[]): OwnResource | undefined {
  if (given !== undefined) return new OwnResource(given, true)
  const [only, second] = audience
  return second === undefined && isOwnUri(only) ? new OwnResource(only, false) : undefined
}

const ownExpectation =
  'must be a URI without a fragment, such as https://api.example.com/mcp: https, or http on a loopback host.'
const isOwnUri = (value: unknown): value is string =>
  isText(value) && isResourceUri(value) && metadataUrlOf(value) !== undefined

export const issuerGuardFields = {
  ...standaloneFields,
  resource: optional(kind(isOwnUri, ownExpectation)),
}

function tableOf(uri: string): Resources {
  const resource = bareResource(uri)
  return new Resources([resource], resource)
}

// Seconds for one call of the counters, as the default of guards with a store.
const storeDeadline = 0.5
