import type { Active } from '../authorization/authorization'
import { ClientMarks } from '../authorization/client-marks'
import type { GrantResult, TokenRequest } from '../authorization/grant-type'
import { activeOf, type Issued } from '../authorization/issue'
import { issuerDigest } from '../authorization/issuer'
import { idOfUse } from '../authorization/one-time-use'
import { entryName } from '../authorization/owner-entries'
import { isRevoked, namesIn, ownerName, Owners } from '../authorization/owners'
import { rotateRefreshToken } from '../authorization/refresh'
import type { Transition } from '../authorization/transition'
import type { Plugin, PluginServer } from '../doors/plug-in'
import { resourceIndicatorsName } from '../extensions/resource-indicators/resource-indicators'
import { madeInTime } from '../primitives/clock'
import { readOptions, requireShape } from '../primitives/schema'
import { requireBoolean } from '../primitives/values'
import { type AccessTokenReader, mayBeFormatted } from '../protocol/access-token-format'
import { createTagKey, digest } from '../protocol/credential'
import type { ExtensionData } from '../protocol/extension-data'
import type { ClientRequest } from '../protocol/extension'
import { refused } from '../protocol/refusals'
import { RefreshFromElsewhere } from '../token-endpoint/grant-types/built-in'
import {
  legacyFields,
  type LegacyTerms,
  type LegacyToken,
  legacyToken,
  type LegacyTokensOptions,
} from './legacy-tokens-options'

const name = 'legacy-tokens'

/**
 * Takes the live tokens of the server from which a host moves, so that the move logs nobody out. Guards on the store
 * and introspection accept its access tokens until they end. The first refresh with one of its refresh tokens moves the
 * grant: the client gets tokens of this server, by the rules of every refresh. Of any number of parallel moves, one
 * wins. Within `lifetimes.refreshTokenGrace` the old token gets the same answer; later it ends the grant (RFC 9700
 * 4.14.2).
 *
 * A token of a moved grant is `bearer` unless the registration, or an extension such as `dpop()`, says otherwise. It has
 * no ID token before the next login.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function legacyTokens(options: LegacyTokensOptions): Plugin {
  const terms = readOptions('legacyTokens()', legacyFields, options)
  return {
    name,
    open(server) {
      const { refreshToken, accessToken } = server.context().lifetimes
      const longest = 2 * Math.max(refreshToken, accessToken)
      // What ends everything of an owner or a client is remembered for so long.
      if (terms.until > server.now() + longest)
        throw new Error(
          `has until later than ${longest} seconds from now, twice the longest of the lifetimes.`,
        )
      const tokens = new LegacyTokens(terms, server)
      return {
        accessTokenFormats: [{ ...tokens.reader, issues: false, encode: writesNone }],
        grantTypes: [new RefreshFromElsewhere((request) => move(tokens, server, request))],
        prepare: (request) => tokens.revoke(request),
      }
    },
    openInGuard({ issuer, now, storage }) {
      if (storage === undefined) throw new Error('needs the option store of the guard.')
      return { accessTokenFormats: [new LegacyTokens(terms, { issuer, now, storage }).reader] }
    },
  }
}

const writesNone = () => Promise.reject(new Error('Only the other server writes such tokens.'))

type Verb = 'findAccess' | 'findRefresh'

/** The tokens of the other server, as the host knows them. */
class LegacyTokens {
  private readonly issuerDigest: string
  private readonly owners: Owners
  private readonly marks: ClientMarks

  constructor(
    private readonly terms: LegacyTerms,
    private readonly guard: Pick<PluginServer, 'issuer' | 'now' | 'storage'>,
  ) {
    const { issuer, now, storage: store } = guard
    this.issuerDigest = issuerDigest(issuer)
    this.owners = new Owners(store, now, 0)
    this.marks = new ClientMarks({ store, issuerDigest: this.issuerDigest, clock: () => now() * 1000 })
  }

  readonly reader: AccessTokenReader = {
    name,
    decode: async (text) => ((await this.mayHold(text)) ? this.referenceTo(text) : undefined),
    find: async (text) => {
      const token = (await this.mayHold(text)) ? await this.find('findAccess', text) : undefined
      if (token === undefined) return undefined
      const { clientId, subject, scope, expiresAt } = token
      const access = { clientId, subject, scope, expiresAt, login: undefined, isPlain: true }
      return { ...this.referenceTo(text), ...access, tokenExtensionData: resourcesOf(token) }
    },
  }

  /** Never for a token of this server. */
  async mayHold(text: string): Promise<boolean> {
    return mayBeFormatted(text) && asked('form', text, () => this.terms.form(text), requireAnswer)
  }

  /** Names the record that a refresh token begins: of any number of moves, one creates it. */
  referenceTo(text: string) {
    return { authorizationId: idOfUse([this.guard.issuer, name, text]), tokenId: digest(text) }
  }

  /** Undefined also for what was revoked here before it came. */
  async find(verb: Verb, text: string): Promise<Found | undefined> {
    const found = await this.ask(verb, text)
    if (found === undefined) return undefined
    const { clientId, subject, expiresAt, grantedAt = 0 } = found
    const [mark, owner] = await Promise.all([
      this.marks.read(clientId),
      subject === undefined ? undefined : this.owners.read(ownerName(this.issuerDigest, subject)),
    ])
    if (grantedAt <= mark || (owner !== undefined && isRevoked(owner, grantedAt))) return undefined
    const names: ExtensionData = owner === undefined ? {} : { [entryName]: namesIn(owner) }
    const { until } = this.terms
    return { ...found, expiresAt: Math.min(expiresAt, until), usedUntil: until + clocksApart, names }
  }

  /** RFC 7009 2.1: only for the client of the token. The endpoint then ends what this server has of the grant. */
  async revoke({ endpoint, client, parameters }: ClientRequest): Promise<undefined> {
    const { revoke } = this.terms
    const text = endpoint === 'revocation' ? parameters.get('token') : undefined
    if (text === undefined || revoke === undefined || !(await this.mayHold(text))) return
    for (const [verb, kind] of kinds)
      if ((await this.ask(verb, text))?.clientId === client.client_id)
        await asked('revoke', text, () => revoke(text, kind), ignore)
  }

  private ask(verb: Verb, text: string): Promise<LegacyToken | undefined> {
    const read = (found: unknown) =>
      found === undefined
        ? undefined
        : requireShape(legacyToken, found, 'The token is wrong:', this.guard.now())
    return asked(verb, text, () => this.terms[verb](text), read)
  }
}

/** Seconds. */
const clocksApart = 300

interface Found extends LegacyToken {
  /** When no process takes the token any more, whatever the host may say of its end then. */
  readonly usedUntil: number
  /** Those that were read with the owner; none of a client that acts for itself. */
  readonly names: ExtensionData
}

const kinds = [
  ['findRefresh', 'refresh_token'],
  ['findAccess', 'access_token'],
] as const

/** Asks a function of the host. The other server may still know the token: its client must not lose it. */
function asked<Answer>(
  option: keyof LegacyTerms,
  text: string,
  ask: () => unknown,
  read: (answer: unknown) => Answer,
): Promise<Answer> {
  // A message of a database may quote the token.
  const failure = (what: string) => {
    const cause = new Error(`${option} of legacyTokens() failed: ${what.replaceAll(text, 'the token')}`)
    return refused('legacy_lookup_failed', {}, { cause })
  }
  const late = () => failure('no answer came within 10 seconds')
  return madeInTime(
    async () => ask(),
    { seconds: 10, late, failed: (thrown) => failure(wordsOf(thrown)) },
    read,
  )
}

const wordsOf = (thrown: unknown) =>
  thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : 'it threw no error'

const ignore = () => undefined

const requireAnswer = (answer: unknown) => requireBoolean(answer, 'It')

const resourcesOf = ({ resources }: LegacyToken): ExtensionData =>
  resources === undefined ? {} : { [resourceIndicatorsName]: resources }

/** Undefined for a text that is none of the other server. */
async function move(
  tokens: LegacyTokens,
  server: PluginServer,
  { client, parameters, context }: TokenRequest,
): Promise<GrantResult | undefined> {
  const text = parameters.require('refresh_token')
  if (!(await tokens.mayHold(text))) return undefined
  const { authorizationId } = tokens.referenceTo(text)
  // A repetition needs nothing of the host, which may have forgotten the token.
  const isMoved = (await server.find(authorizationId)) !== undefined
  const before = isMoved ? undefined : await grantOf(tokens, text, client.token_type, context)
  const refresh = { refreshToken: text, clientId: client.client_id, scope: parameters.get('scope') }
  const rotating = { ...context, keepsRefreshToken: undefined }
  let first: Active | undefined
  const transition: Transition<Issued> = (current, superseded) => {
    if (current === undefined) first = before
    // Not moved yet when this request first read the record: slow, not stolen.
    return rotateRefreshToken(current ?? before, refresh, rotating, first ?? superseded)
  }
  return { authorizationId, transition }
}

/** As if this server had issued the refresh token. The first refresh stores it. */
async function grantOf(
  tokens: LegacyTokens,
  text: string,
  tokenType = 'bearer',
  { issuerDigest: ownDigest, now, random }: TokenRequest['context'],
): Promise<Active> {
  const found = await tokens.find('findRefresh', text)
  if (found === undefined) throw refused('refresh_token_unknown')
  const { clientId, subject, scope, expiresAt, usedUntil, grantedAt = now } = found
  const { authorizationId: id, tokenId: spentCode } = tokens.referenceTo(text)
  const extensionData = { ...resourcesOf(found), ...found.names }
  const grant = { id, issuerDigest: ownDigest, clientId, subject, scope, tokenType, extensionData }
  return {
    ...activeOf(grant, Math.min(grantedAt, now), { spentCode, usedUntil }),
    refreshToken: { digest: spentCode, generation: -1, tagKey: createTagKey(random), expiresAt },
  }
}
